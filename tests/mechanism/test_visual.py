"""Visuals are checked when they are made, move with frames, and leave the equations alone."""

import copy

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import articulus as art
from articulus.model.mechanism import ALL_VISUALS, Body, Pose
from articulus.model.mechanism.visual import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Mesh,
    Sphere,
    Strut,
    color_text,
)

SOME = {
    "box": Box((1.0, 2.0, 3.0)),
    "cylinder": Cylinder(0.5, 3.0),
    "capsule": Capsule(0.5, 2.0),
    "sphere": Sphere(0.7),
    "ellipsoid": Ellipsoid((1.0, 2.0, 0.5)),
    "strut": Strut("rod", (0.0, 0.0, -1.0), 0.05),
    "mesh": Mesh(np.eye(3), [[0, 1, 2]]),
}
HALF = {
    "box": (0.5, 1, 1.5), "cylinder": (0.5, 0.5, 1.5), "capsule": (0.5, 0.5, 1.5), "sphere": (0.7, 0.7, 0.7),
    "ellipsoid": (1, 2, 0.5), "strut": (0.05, 0.05, 0.05),
}  # fmt: skip


def pendulum(**options):
    m = art.Mechanism("pendulum", visuals=options.pop("standing", ()))
    m.body("rod", 1.0, (0, 0, -0.5), (0.1, 0.1, 0.01), **options)
    return m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "rod")


def test_every_kind_has_its_name():
    assert {kind.type_name: kind for kind in ALL_VISUALS} == {name: type(v) for name, v in SOME.items()}


@pytest.mark.parametrize("name", HALF)
def test_boxes_around_solids(name):
    np.testing.assert_array_equal(SOME[name].bounds(), [-np.array(HALF[name]), HALF[name]])


@pytest.mark.parametrize("name", SOME)
def test_corners_are_turned_and_shifted(name):
    R = Rotation.from_euler("xyz", [0.3, -0.5, 0.7]).as_matrix()
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, (1, 2, 3)
    moved = SOME[name].move(X)
    np.testing.assert_allclose(moved.corners(), SOME[name].corners() @ R.T + X[:3, 3], atol=1e-12)
    back = moved.move(np.linalg.inv(X))
    np.testing.assert_allclose(back.at.matrix(), np.eye(4), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Box((1, 2)), r"Box.size: expected 3 numbers, found 2"),
        (lambda: Box((1, 2, -3)), r"Box.size: found -3.0; expected a plain number above zero"),
        (lambda: Sphere(np.inf), r"Sphere.radius: found inf"),
        (lambda: Sphere(np.nan), r"Sphere.radius: found nan"),
        (lambda: Cylinder(art.Parameter("r", 1.0), 1), r"Cylinder.radius: found Parameter"),
        (lambda: Sphere(1, color="red"), r"""Sphere.color: found 'red'; expected a color such as "#d55e00\""""),
        (lambda: Sphere(1, at=Pose((art.Parameter("x", 1.0), 0, 0))), "Sphere.at: found a parameter"),
        (lambda: Sphere(1, at=(np.nan, 0, 0)), "Sphere.at: .*expected finite numbers"),
        (lambda: Mesh(np.eye(3), [[0, 1, 3]]), "Mesh.triangles: found the vertex 3; expected 0 to 2"),
        (lambda: Mesh(np.eye(3), [[0, 1, -1]]), "Mesh.triangles: found a vertex -1"),
        (lambda: Mesh(np.eye(3), [[0, 1, 1.5]]), "Mesh.triangles: .*whole numbers"),
        (lambda: Mesh(np.eye(3), np.zeros((0, 3), int)), "Mesh.triangles: .*n at least 1"),
        (lambda: Mesh(np.eye(3), np.zeros((1_000_001, 3), int)), "at most 1000000"),
        (lambda: Mesh(np.full((3, 3), np.nan), [[0, 1, 2]]), "Mesh.vertices: .*expected finite numbers"),
        (lambda: Mesh("no", [[0, 1, 2]]), "Mesh.vertices: found an array of shape"),
        (lambda: Body("rod", visuals=SOME["box"]), "Body.visuals: found Box.*expected a list"),
        (lambda: pendulum(visuals=[3]), "body 'rod', visuals: found 3; expected a shape such as Box"),
        (lambda: pendulum(standing=[3]), "mechanism 'pendulum', visuals: found 3; expected a shape"),
    ],
)  # fmt: skip
def test_refusals(make, said):
    with pytest.raises(art.InputError, match=said):
        make()


def test_arrays_of_a_mesh_are_its_own_and_cannot_be_written_to():
    vertices = np.eye(3)
    mesh = Mesh(vertices, [[0, 1, 2]])
    vertices[:] = 7
    np.testing.assert_array_equal(mesh.vertices, np.eye(3))
    for array in (mesh.vertices, mesh.triangles, mesh.bounds()):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


def test_meshes_are_equal_when_they_look_alike():
    mesh = SOME["mesh"]
    same = copy.deepcopy(mesh)
    assert same == mesh
    assert hash(same) == hash(mesh)
    others = [
        mesh.scale((1, 1, 2)),
        mesh.move(np.diag([1.0, -1, -1, 1])),
        Mesh(np.eye(3), [[0, 2, 1]]),
        SOME["box"],
    ]
    assert all(other != mesh for other in others)


def test_a_mirrored_mesh_still_faces_outwards():
    mesh = SOME["mesh"].scale((1, -1, 2))
    a, b, c = mesh.vertices[mesh.triangles[0]]
    assert np.cross(b - a, c - a) @ a > 0
    np.testing.assert_array_equal(mesh.vertices, np.diag([1, -1, 2]))


def test_colors_of_numbers():
    assert color_text((1, 0.5, 0, 1)) == "#ff8000"
    assert color_text((0, 0, 1, 0.5)) == "#0000ff80"
    assert color_text((1, 1, 1, 1)) == "#ffffff"
    assert color_text((2, -1, 0, 1)) == "#ff0000"


def test_equations_do_not_know_what_is_drawn():
    plain, drawn = pendulum(), pendulum(visuals=SOME.values(), standing=[SOME["box"]])
    assert drawn.description.fingerprint == plain.description.fingerprint
    assert drawn.description != plain.description
    assert drawn.description.bodies[0].visuals == tuple(SOME.values())
    again = art.Mechanism.from_description(drawn.description).body("more", massless="test")
    assert again._visuals == (SOME["box"],)


def test_a_flexible_body_has_none():
    from articulus import structure

    modes = structure.beam_body(1.0, EI=1.0, mass_per_length=1.0)
    body = Body("beam", modes=modes, visuals=(SOME["box"],))
    joint = art.mechanism.Connection("root", art.Fixed(), "ground", "beam")
    with pytest.raises(art.ModelError, match=r"body.beam.visuals: found 1 shapes on a flexible body"):
        art.mechanism.Description.build("m", (body,), (joint,))


def test_a_strut_names_a_body_that_is_there():
    assert pendulum(standing=[Strut("rod", (0, 0, -1), 0.05)]).description.visuals
    with pytest.raises(art.ModelError, match=r"a strut to 'rd'.*did you mean 'rod'"):
        _ = pendulum(standing=[Strut("rd", (0, 0, -1), 0.05)]).description
    crane = art.load("cat215b")
    on = art.load("two_link").with_attached(crane, "tip", prefix="a_")
    ends = {v.body for b in on.description.bodies for v in b.visuals if isinstance(v, Strut)}
    assert ends == {"a_boom", "a_stick", "a_bucket"}
    less = crane.without("bucket")
    assert {v.body for b in less.description.bodies for v in b.visuals if isinstance(v, Strut)} == {
        "boom",
        "stick",
    }
