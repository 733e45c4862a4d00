"""Writing MJCF: MuJoCo reads it and has our mass matrix and bias; we read it and have the same mechanism; or it is refused by name."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import articulus as art
from articulus import structure
from articulus.errors import DoubtfulModel, InputError, ModelError
from articulus.model.files import parse_mjcf
from articulus.model.mechanism import Box, Lock, Mesh, PointOnPoint, Prescribed, Sphere, Strut
from files.mjcf_models import MODELS
from files.test_mjcf import FOUR_BAR, LOOPS
from loop.components.test_devices import ROBOT

from .mujoco_twin import Twin
from .test_mjcf_small import EQUALITIES, HAND

TEXTS = {name: MODELS[name] for name in ("springs", "several", "ball", "free", "static")}
TEXTS |= {name: HAND.replace("EQUALITIES", EQUALITIES[name][0]) for name in ("polynomial", "two tendons")}
TEXTS |= {name: FOUR_BAR.replace("EQUALITY", LOOPS[name][0]) for name in ("connect sites", "weld", "lock")}
TEXTS["robot"] = ROBOT


def again(arm: art.Mechanism, tmp_path: Path) -> art.Mechanism:
    arm.save(tmp_path / "x.xml")
    return art.load(tmp_path / "x.xml", strict=True)


def require_same(arm: art.Mechanism, other: art.Mechanism) -> None:
    """Mass matrix, bias and poses at a random state, to rounding; joints may come in another order."""
    rng = np.random.default_rng(4)
    d, e = arm.description, other.description
    assert set(arm.joint_names) <= set(other.joint_names)
    q, v = d.neutral + rng.uniform(-0.5, 0.5, d.nq), rng.uniform(-1, 1, d.nv)
    for _, at in d.quaternions:
        q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
    p, w, order = np.zeros(e.nq), np.zeros(e.nv), np.zeros(d.nv, dtype=int)
    for name in arm.joint_names:
        p[e.q_slices[name]], w[e.v_slices[name]] = q[d.q_slices[name]], v[d.v_slices[name]]
        order[d.v_slices[name]] = range(e.v_slices[name].start, e.v_slices[name].stop)
    M, bias = arm.mass_matrix(q), arm.bias(q, v)
    np.testing.assert_allclose(
        other.mass_matrix(p)[np.ix_(order, order)], M, rtol=1e-12, atol=1e-13 * np.abs(M).max()
    )
    np.testing.assert_allclose(other.bias(p, w)[order], bias, rtol=1e-11, atol=1e-12 * np.abs(bias).max())
    poses, others = arm.poses(q), other.poses(p)
    assert set(poses) <= set(others)
    between = {b.name for b in d.bodies if b.massless}  # frames between joints in a row are nobody's
    for name, X in poses.items():
        if name in between:
            continue
        np.testing.assert_allclose(others[name], X, atol=1e-13)
    if d.constraints:
        ours, theirs = arm.constraint_residual(q), other.constraint_residual(p)
        np.testing.assert_allclose(np.linalg.norm(theirs[:3]), np.linalg.norm(ours[:3]), atol=1e-13)


@pytest.mark.parametrize("name", TEXTS)
def test_round_trip(name: str, tmp_path: Path) -> None:
    arm = art.Mechanism.from_description(parse_mjcf(TEXTS[name]))
    other = again(arm, tmp_path)
    require_same(arm, other)
    assert other.description.equipment.devices == arm.description.equipment.devices
    for mine, found in zip(arm.states.values(), other.states.values(), strict=True):
        np.testing.assert_allclose(np.r_[found.q, found.v], np.r_[mine.q, mine.v], atol=1e-14)
        assert found.commands == mine.commands
    assert other.description.couplings == arm.description.couplings
    twin = Twin(other, mujoco.MjModel.from_xml_path(str(tmp_path / "x.xml")))
    assert max(twin.errors(np.random.default_rng(3)).values()) < 1e-12


def crane() -> art.Mechanism:
    """A mechanism of our own: other joint types, pictures, limits, a lock, a coupling and a loop."""
    m = art.Mechanism("crane", gravity=(0, 0, -9.81), visuals=[Box(size=(1, 2, 0.1), color="#102030")])
    tetrahedron = Mesh(np.eye(4, 3), [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    m.body("tower", 100.0, (0.1, 0, 1), (30, 31, 5, 0.1, 0.2, 0.3), visuals=[tetrahedron, Sphere(radius=0.2)])
    m.body("boom", 20.0, (1, 0, 0), (1, 8, 8))
    m.body("hook", 2.0, (0, 0, -0.1), (0.1, 0.1, 0.1))
    m.body("wheel", 2.0, (0, 0, 0), (0.1, 0.1, 0.1))
    limits = art.Limits(lower=(-2.0,), upper=(2.0,), velocity=(0.5,), effort=(1e4,))
    m.joint(
        "slew",
        art.Revolute(axis=(0, 0, 1)),
        "ground",
        "tower",
        limits=limits,
        coulomb=3.0,
        coulomb_speed=0.02,
    )
    pose = art.Pose((0, 0, 2), rpy=(0.1, 0.2, 0.3))
    m.joint("luff", art.Planar(), "tower", "boom", at=pose, child_at=art.Pose((0.1, 0, 0), rpy=(0.3, 0, 0.1)))
    m.joint("rope", art.Universal(), "boom", "hook", at=(2, 0, 0), damping=(0.3, 0.4))
    m.joint("axle", art.Revolute(axis=(0, 1, 0)), "tower", "wheel", at=(0, 1, 0), stiffness=4.0, rest=0.2)
    m.frame("tip", "boom", (2, 0, 0)).frame("peg", "ground", (1, 0, 1))
    return m


def test_joints_of_several_dofs_become_joints_in_a_row(tmp_path: Path) -> None:
    arm, other = crane(), again(crane(), tmp_path)
    assert other.joint_names == (
        "slew", "luff.x", "luff.y", "luff.angle", "rope.first", "rope.second", "axle",
    )  # fmt: skip
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-0.5, 0.5, (2, 7))
    np.testing.assert_allclose(other.mass_matrix(q), arm.mass_matrix(q), rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(other.bias(q, v), arm.bias(q, v), rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(other.pose("tip", q), arm.pose("tip", q), atol=1e-13)
    slew, ours = other.description.connections[0], arm.description.connections[0]
    assert (slew.limits, slew.coulomb_speed) == (ours.limits, ours.coulomb_speed)


def test_pictures_are_carried(tmp_path: Path) -> None:
    other = again(crane(), tmp_path)
    ground, (mesh, ball) = other.description.visuals[0], other.description.bodies[0].visuals
    assert (ground.size, ground.color) == ((1.0, 2.0, 0.1), "#102030")
    assert ball.radius == 0.2
    X = mesh.at.matrix()
    corners = mesh.vertices @ X[:3, :3].T + X[:3, 3]
    assert sorted(map(tuple, corners.round(6) + 0.0)) == sorted(map(tuple, np.eye(4, 3)))


def test_constraints_and_couplings(tmp_path: Path) -> None:
    arm = crane().constrain(Lock("held", "axle", (0.3,))).constrain(PointOnPoint("pin", "tip", "peg"))
    other = again(arm, tmp_path)
    q = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    np.testing.assert_allclose(other.constraint_residual(q), arm.constraint_residual(q), atol=1e-13)
    coupled = crane().couple("axle", "slew", ratio=3.0, offset=0.1)
    assert again(coupled, tmp_path).description.couplings == coupled.description.couplings


def flexible() -> art.Mechanism:
    m = art.Mechanism("boom").flexible("boom", structure.beam_body(1.0, EI=500.0, mass_per_length=5.0))
    return m.joint("hinge", art.Revolute(axis=(0, 0, 1)), parent="ground", child="boom")


def with_rotor() -> art.Mechanism:
    m = art.Mechanism("geared").body("b", 1.0, inertia=(1, 1, 1))
    return m.joint("j", art.Revolute(), "ground", "b", rotor=art.Rotor(0.1, 10.0))


def on_screw() -> art.Mechanism:
    return (
        art.Mechanism("screw")
        .body("b", 1.0, inertia=(1, 1, 1))
        .joint("j", art.Helical(pitch=0.1), "ground", "b")
    )


def driven() -> art.Mechanism:
    return crane().constrain(Prescribed("drive", "slew", 0.5))


REFUSED = {
    flexible: "the flexible body 'boom'",
    with_rotor: "the rotor of joint 'j'",
    on_screw: "the helical joint 'j'",
    driven: "the prescribed 'drive'",
}


@pytest.mark.parametrize("make", REFUSED)
def test_what_the_format_cannot_carry_is_named_and_nothing_is_written(make: object, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        make().save(tmp_path / "x.xml")  # type: ignore[operator]
    assert REFUSED[make] in str(caught.value)  # type: ignore[index]
    assert not list(tmp_path.iterdir())


def test_pictures_without_a_place_are_left_out_with_a_warning(tmp_path: Path) -> None:
    m = art.Mechanism("m").body(
        "b", 1.0, inertia=(1, 1, 1), visuals=[Strut(body="ground", end=(1, 0, 0), radius=0.1)]
    )
    m.joint("j", art.Revolute(), "ground", "b")
    with pytest.warns(DoubtfulModel, match="a strut of 'b'"):
        m.save(tmp_path / "x.xml")


def test_colors_of_triangles_are_left_out_with_a_warning(tmp_path: Path) -> None:
    painted = Mesh(np.eye(4, 3), [[0, 2, 1], [0, 1, 3]], [(255, 0, 0), (0, 0, 255)])
    m = art.Mechanism("m").body("b", 1.0, inertia=(1, 1, 1), visuals=[painted])
    m.joint("j", art.Revolute((0, 0, 1)), "ground", "b")
    with pytest.warns(DoubtfulModel, match="colors of the triangles of a mesh of 'b'"):
        m.save(tmp_path / "x.xml")


def test_an_unknown_suffix_is_no_toml_under_a_false_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'\.txt'; expected one of \.toml"):
        crane().save(tmp_path / "crane.txt")
    assert not list(tmp_path.iterdir())
