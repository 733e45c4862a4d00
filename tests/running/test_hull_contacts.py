"""Convex hulls against each other and against primitives: beside MuJoCo, and laws of what touches."""

from __future__ import annotations

import re

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.simulation.loop.contact import Box, Capsule, ConvexHull, Cylinder, Sphere
from articulus.simulation.loop.contact.polyhedra import HullKind, polyhedron
from articulus.simulation.running.shape_contacts import DEPTH, shape_contacts

mujoco = pytest.importorskip("mujoco")


def cube(x: float, y: float, z: float) -> str:
    return " ".join(f"{i} {j} {k}" for i in (-x, x) for j in (-y, y) for k in (-z, z))


MESHES = (
    f'<mesh name="small" vertex="{cube(0.1, 0.1, 0.1)}"/><mesh name="big" vertex="{cube(0.3, 0.3, 0.3)}"/>'
)
HULL, BOX = 'type="mesh" mesh="small"', 'type="box" size=".1 .1 .1"'
ROUND = {
    "sphere": ('type="sphere" size=".1"', 0.1),
    "capsule": ('type="capsule" size=".05 .1" euler="0 90 0"', 0.05),
    "cylinder": ('type="cylinder" size=".1 .1"', 0.1),
}


def table(
    thing: str, z: float, top: str = 'type="mesh" mesh="big"', option: str = "", surface: str = ""
) -> str:
    return (
        f'<mujoco><option {option}/><asset>{MESHES}</asset><worldbody><geom {top} {surface} pos="0 0 -.3"/>'
        f'<body name="thing" pos="0 0 {z}"><freejoint/><geom {thing} {surface}/></body></worldbody></mujoco>'
    )


def settled(text: str, z: float) -> art.Run:
    start = [1, 0, 0, 0, 0, 0, z]
    return art.simulate(art.load(text), 0.6, start, contacts=True, step=4e-4, sample=0.6, method="semi_implicit_euler", outputs=())  # fmt: skip


def beside_mujoco(text: str) -> float:
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(500):
        mujoco.mj_step(model, data)
    return float(data.qpos[2])


@pytest.mark.parametrize("kind", ROUND)
def test_primitives_rest_on_a_hull_where_mujoco_has_them(kind: str) -> None:
    """Both sink in: MuJoCo by about 0.4 mm, we by at most a hundredth of the length of the mechanism."""
    numbers, half = ROUND[kind]
    text = table(numbers, half + 0.001)
    run = settled(text, half + 0.001)
    depth = half - run.q[-1][6]
    assert 0 < depth <= DEPTH * art.load(text).description.scales().length
    assert abs(run.q[-1][6] - beside_mujoco(text)) < 1e-3
    assert abs(run.v[-1]).max() < 1e-3


def test_hulls_and_boxes_are_the_same_on_each_other() -> None:
    """A cube as a mesh on a mesh or a box, and as a box on a mesh: one height, at which four corners carry the weight."""
    tops = {"mesh": 'type="mesh" mesh="big"', "box": 'type="box" size=".3 .3 .3"'}
    rows = [(HULL, "mesh"), (HULL, "box"), (BOX, "mesh")]
    heights = [settled(table(thing, 0.101, tops[top]), 0.101).q[-1][6] for thing, top in rows]
    np.testing.assert_allclose(heights, heights[0], atol=1e-7)
    assert abs(heights[0] - beside_mujoco(table(HULL, 0.101))) < 1e-3


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_friction_cone_of_hulls(share: float) -> None:
    """On a slope of tan = 0.9 mu a mesh stays on a mesh, at 1.1 mu it slides with g (sin - mu cos)."""
    mu, t_end = 0.5, 0.6
    slope = np.arctan(share * mu)
    gravity = f'gravity="{9.81 * np.sin(slope)} 0 {-9.81 * np.cos(slope)}"'
    text = table(HULL, 0.1, option=gravity, surface=f'friction="{mu} 0 0"')
    start = [1, 0, 0, 0, 0, 0, 0.1]
    run = art.simulate(art.load(text), t_end, start, contacts=True, step=4e-4, sample=t_end / 2, method="semi_implicit_euler", outputs=())  # fmt: skip
    expected = 9.81 * max(np.sin(slope) - mu * np.cos(slope), 0.0)
    assert (run.v[2][3] - run.v[1][3]) / (t_end / 2) == pytest.approx(expected, abs=5e-3)


def test_planks_cross() -> None:
    """No corner of either is in the other: edges carry the upper one, level, on its middle."""
    names = f'<mesh name="along" vertex="{cube(0.3, 0.05, 0.02)}"/><mesh name="across" vertex="{cube(0.05, 0.3, 0.02)}"/>'
    text = (
        f'<mujoco><asset>{names}</asset><worldbody><geom type="mesh" mesh="along"/><body pos="0 0 .041"><freejoint/>'
        '<geom type="mesh" mesh="across"/></body></worldbody></mujoco>'
    )
    run = settled(text, 0.041)
    assert 0.037 < run.q[-1][6] < 0.04
    assert abs(run.q[-1][1:4]).max() < 1e-6


def hull(frame: str, corners: int, radius: float, rng: np.random.Generator) -> ConvexHull:
    points = rng.normal(size=(corners, 3))
    points *= radius / np.linalg.norm(points, axis=1)[:, None]
    return ConvexHull(frame, vertices=tuple(map(tuple, points)))


def test_collisions_of_hulls_conserve_momentum_and_energy() -> None:
    """Two bodies that collide without friction and losses: places of edges are known to a hundredth of the depth, so is the energy."""
    rng = np.random.default_rng(1)
    m = art.Mechanism("two", gravity=(0, 0, 0))
    for body in "ab":
        m.body(body, 1.0, inertia=(0.004, 0.005, 0.006))
        m.joint(body, art.Free(), "ground", body)
    shapes = [hull("a", 20, 0.1, rng), hull("b", 12, 0.12, rng)]
    q = np.array([1, 0, 0, 0, -0.14, 0, 0, 1, 0, 0, 0, 0.14, 0.03, 0.02])
    v = np.array([0.5, 0.3, -0.2, 1, 0, 0, -0.4, 0.1, 0.6, -1, 0, 0])
    contact = art.components.Contacts(shapes, 1e5)
    run = art.simulate(m, 0.15, q, v, components=[contact], step=1e-4, sample=1e-3, method="rk4")
    energy = [v @ m.mass_matrix(q) @ v / 2 for q, v in zip(run.q, run.v)]
    assert run["contacts.touching"].max() >= 2
    assert min(energy) < 0.9 * energy[0]
    assert energy[-1] == pytest.approx(energy[0], rel=1e-2)
    momentum = np.array([m.momentum(q, v) for q, v in zip(run.q, run.v)])
    np.testing.assert_allclose(momentum[-1], momentum[0], atol=1e-9)


def test_polyhedra_obey_euler() -> None:
    rng = np.random.default_rng(2)
    shapes = [hull("b", n, 0.3, rng) for n in (4, 11, 64)]
    shapes += [
        ConvexHull(
            "b", vertices=tuple(map(tuple, np.reshape([float(x) for x in cube(1, 2, 3).split()], (8, 3))))
        )
    ]
    for shape in [*shapes, Box("b", (1, 2, 3)), Cylinder("b", 0.5, 2.0)]:
        solid = polyhedron(shape)
        assert solid is not None
        assert len(solid.corners) - len(solid.edges) + len(solid.offsets) == 2
        heights = solid.corners.astype(float) @ solid.normals.T - np.array(solid.offsets, float)
        assert heights.max() < 1e-9
        assert ((abs(heights) < 1e-9).sum(axis=0) >= 3).all()
    assert polyhedron(Sphere("b", 1.0)) is None


def test_distance_from_a_hull_is_that_of_the_nearest_point() -> None:
    """Beside the nearest combination of corners with shares of at least 0, by non-negative least squares."""
    from scipy.optimize import nnls

    rng = np.random.default_rng(4)
    shape = hull("b", 14, 0.2, rng)
    kind, corners = HullKind.of(shape), np.array(shape.vertices)
    p = ca.SX.sym("p", 3)
    core = kind.core([ca.SX(x) for x in kind.column(shape)], ca.SX(shape.bound))
    distance = ca.Function("distance", [p], core.distance(p))
    weight = 1e3
    for point in rng.normal(size=(40, 3)):
        A = np.vstack([corners.T, weight * np.ones(len(corners))])
        shares = nnls(A, np.append(point, weight))[0]
        away = point - corners.T @ shares
        if np.linalg.norm(away) < 1e-6:
            continue
        found, gradient = (np.array(x).ravel() for x in distance(point))
        assert found[0] == pytest.approx(np.linalg.norm(away), rel=1e-5)
        np.testing.assert_allclose(gradient, away / np.linalg.norm(away), atol=1e-4)


def test_flat_hulls_touch_surfaces_alone() -> None:
    flat = ConvexHull("a", vertices=((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)))
    m = art.Mechanism("two").body("a", 1.0, inertia=(1, 1, 1)).joint("a", art.Free(), "ground", "a")
    with pytest.raises(InputError, match="flat hull"):
        art.simulate(
            m, 0.1, components=[art.components.Contacts((flat, Box("ground", (1, 1, 1))), 1e3)], step=1e-3
        )


PAIRS = (
    '<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1" contype="0" conaffinity="0"/>'
    '<body name="one" pos="0 0 .11"><freejoint/><geom name="ball" size=".1" {off}/></body>'
    '<body name="two" pos="1 0 .11"><freejoint/><geom name="other" size=".1"/></body></worldbody>'
    "<contact>{contact}</contact></mujoco>"
)


def test_pairs_have_their_own_friction_and_margin() -> None:
    """What a pair names touches whatever groups and exclusions say, with its numbers; nothing else does where groups are empty."""
    pair = '<pair geom1="ball" geom2="floor" friction=".3 .3 .01 .001 .001" margin=".02" gap=".005"/>'
    robot = art.load(
        PAIRS.format(off='contype="0" conaffinity="0"', contact=pair + '<exclude body1="one" body2="two"/>')
    )
    (contacts,) = shape_contacts(robot)
    assert contacts.pairs(robot.description) == [(0, 1)]
    assert contacts.friction == 0.3
    start = np.array([1, 0, 0, 0, 0, 0, 0.12, 1, 0, 0, 0, 1, 0, 0.5])
    run = art.simulate(robot, 0.6, start, contacts=True, step=4e-4, sample=0.6, method="semi_implicit_euler", outputs=())  # fmt: skip
    assert run.q[-1][6] == pytest.approx(0.115, abs=2e-3)  # the margin without the gap
    assert run.q[-1][13] < -0.5  # falls through the floor


def test_a_pair_replaces_what_groups_would_give() -> None:
    pair = '<pair geom1="other" geom2="ball" condim="1"/>'
    robot = art.load(PAIRS.format(off="", contact=pair))
    floor, named = shape_contacts(robot)  # the file's own floor touches nothing, so there is another one
    assert (floor.friction, named.friction) == (1.0, 0.0)
    assert [len(c.pairs(robot.description)) for c in (floor, named)] == [2, 1]


def test_pairs_survive_toml(tmp_path) -> None:
    pair = '<pair geom1="ball" geom2="floor" friction=".3 .3 .01 .001 .001" margin=".02"/>'
    robot = art.load(PAIRS.format(off="", contact=pair))
    robot.save(tmp_path / "pairs.toml")
    assert (
        art.load(tmp_path / "pairs.toml").description.equipment.collisions
        == robot.description.equipment.collisions
    )
    text = (tmp_path / "pairs.toml").read_text()
    (tmp_path / "bad.toml").write_text(re.sub(r'pairs = \["\w+"\]', 'pairs = ["flour"]', text))
    with pytest.raises(InputError, match=r"flour.*floor"):
        shape_contacts(art.load(tmp_path / "bad.toml"))


def test_capsule_beside_an_edge_touches_there() -> None:
    """A capsule along the edge of a cube, 45 degrees outside: the normal goes from the edge to its axis."""
    corners = tuple(
        tuple(map(float, row)) for row in np.reshape([float(x) for x in cube(0.1, 0.1, 0.1).split()], (8, 3))
    )
    m = (
        art.Mechanism("capsule", gravity=(0, 0, 0))
        .body("b", 1.0, inertia=(0.01, 0.01, 0.01))
        .joint("b", art.Free(), "ground", "b")
    )
    shapes = (Capsule("b", 0.05, 0.1), ConvexHull("ground", vertices=corners))
    out = 0.1 + 0.049 / np.sqrt(2)
    run = art.simulate(
        m, 1e-4, [1, 0, 0, 0, out, out, 0], components=[art.components.Contacts(shapes, 1e4)], step=1e-4
    )
    force = run["contacts.force"][0][:3]
    assert force[0] == pytest.approx(force[1], rel=1e-9)
    assert abs(force[2]) < 1e-9
    assert np.linalg.norm(force) == pytest.approx(2 * 1e4 * 1e-3**1.5, rel=1e-6)  # at both of its ends


def test_edge_on_edge_pushes_across_both() -> None:
    """Two roofs of 45 degrees, ridge across ridge at a depth d: each ridge is d / sqrt(2) behind the faces of the other, whose mean is 1 / sqrt(2) long."""

    def roof(frame: str, turned: bool, up: int) -> ConvexHull:
        rows = [(x, y, z * up) for x in (-0.2, 0.2) for y, z in ((-0.1, -0.1), (0.1, -0.1), (0.0, 0.0))]
        return ConvexHull(frame, vertices=tuple((y, x, z) if turned else (x, y, z) for x, y, z in rows))

    m = (
        art.Mechanism("roofs", gravity=(0, 0, 0))
        .body("b", 1.0, inertia=(0.01, 0.01, 0.01))
        .joint("b", art.Free(), "ground", "b")
    )
    k, d = 1e5, 2e-3
    contact = art.components.Contacts((roof("b", True, -1), roof("ground", False, 1)), k)
    run = art.simulate(m, 1e-5, [1, 0, 0, 0, 0.03, -0.02, -d], components=[contact], step=1e-5)
    expected = 2 * k * (d / np.sqrt(2)) ** 1.5 / np.sqrt(2)
    np.testing.assert_allclose(run["contacts.force"][0][:3], [0, 0, expected], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run["contacts.point"][0], [0.03, 0, -d / 2], atol=1e-9)
