"""Positions: by name, between two of them, at random within limits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import articulus as art
import flexible_zoo
import zoo
from articulus.model.mechanism import ALL_JOINTS
from zoo import ask

NAMES = ("every_joint", "spacecraft", "balls", "parameters_quaternion")


def soft() -> art.Mechanism:
    return flexible_zoo.soften(zoo.random_mechanism(71, 3, [art.Spherical, art.Revolute]), 72)


def step_between(mech: art.Mechanism, q: np.ndarray, q_end: np.ndarray) -> np.ndarray:
    return ask(mech, "position_difference", q, q_end)


def reached(mech: art.Mechanism, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    return ask(mech, "integrate_position", q, step)


def unsigned(mech: art.Mechanism, q: np.ndarray) -> np.ndarray:
    """Return a position whose quaternions are unit and have w >= 0: one for each place."""
    out = q.copy()
    for _, at in mech.description.quaternions:
        quaternion = q[at : at + 4]
        out[at : at + 4] = quaternion / np.linalg.norm(quaternion) * (1 if quaternion[0] >= 0 else -1)
    return out


# difference and interpolation


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 2e-3, 0.05, 1.0, 3.1])
@pytest.mark.parametrize("kind", ALL_JOINTS)
def test_the_difference_is_the_step_of_every_joint(kind: type, size: float) -> None:
    """difference(q, integrate(q, v)) = v up to half a turn, on both sides of the ends of the power series."""
    mech = zoo.random_mechanism(73, 1, [kind])
    q = zoo.random_state(mech, 1).q
    step = np.random.default_rng(2).normal(size=mech.nv)
    step *= size / np.abs(np.linalg.norm(step[:3]) or 1.0)
    found = step_between(mech, q, reached(mech, q, step))
    # of a turn by x, rounding of the quaternion leaves 1e-16 / (pi - x) of x
    assert_allclose(found, step, rtol=1e-13, atol=2e-14 + 5e-15 * size)


@pytest.mark.parametrize("name", [*NAMES, "flexible"])
def test_the_difference_leads_to_the_end(name: str) -> None:
    mech = soft() if name == "flexible" else zoo.get(name)
    draw = flexible_zoo.state if name == "flexible" else zoo.random_state
    a, b = draw(mech, 1).q, draw(mech, 2).q
    step = step_between(mech, a, b)
    assert_allclose(unsigned(mech, reached(mech, a, step)), unsigned(mech, b), atol=1e-12)
    assert_allclose(step_between(mech, b, a), -step, atol=1e-12)  # a twist is the same at both of its ends
    assert_allclose(step_between(mech, a, a), 0, atol=1e-15)


def test_half_way_is_the_middle_and_a_path_has_constant_speed() -> None:
    mech = zoo.get("spacecraft")
    a, b = mech.random_position(1), mech.random_position(2)
    path = mech.interpolate_position(a, b, np.linspace(0, 1, 5))
    assert_allclose(path[0], a, atol=1e-15)
    assert_allclose(unsigned(mech, path[-1]), unsigned(mech, b), atol=1e-12)
    pieces = mech.position_distance(path[:-1], path[1:])
    assert_allclose(pieces, mech.position_distance(a, b) / 4, rtol=1e-12)


def test_hinges_are_not_wrapped_and_batches_broadcast() -> None:
    arm = art.load("two_link")
    assert_array_equal(arm.position_difference([0.0, 0.0], [7.0, -7.0]), [7.0, -7.0])
    between = arm.interpolate_position(np.zeros((3, 2)), np.ones(2), [[0.0], [0.5], [1.0], [0.25]])
    assert between.shape == (4, 3, 2)
    assert_array_equal(between[:, 1, 0], [0.0, 0.5, 1.0, 0.25])


def test_a_quaternion_of_zeros_is_named() -> None:
    mech = zoo.get("free_body")
    with pytest.raises(art.InputError, match="quaternion of zeros"):
        mech.position_difference(mech.neutral, np.zeros(7))


# at random


def limited() -> art.Mechanism:
    m = art.Mechanism("m")
    kinds = {
        "hinge": (art.Revolute(), art.Limits(lower=0.5, upper=0.7)),
        "low": (art.Prismatic(), art.Limits(lower=3.0)),
        "free": (art.Free(), None),
        "open": (art.Planar(), None),
    }
    for name, (joint, limits) in kinds.items():
        m.body(f"{name}_body", 1.0, inertia=(0.1, 0.1, 0.1))
        m.joint(name, joint, "ground", f"{name}_body", limits=limits)
    return m


def test_random_positions_are_within_limits_and_repeat() -> None:
    m = limited()
    q = m.random_position(3, (200, 5), reach=0.25)
    assert q.shape == (200, 5, m.nq)
    assert_array_equal(q, m.random_position(3, (200, 5), reach=0.25))
    assert (q >= m.limits.lower).all()
    assert (q <= m.limits.upper).all()
    by_name = {name: q[..., m.q_slice(name)] for name in m.joint_names}
    assert 0.5 <= by_name["hinge"].min() < 0.51 < 0.69 < by_name["hinge"].max() <= 0.7
    assert 3.0 <= by_name["low"].min() < by_name["low"].max() <= 3.5
    assert_allclose(np.linalg.norm(by_name["free"][..., :4], axis=-1), 1, rtol=1e-14)
    assert np.abs(by_name["free"][..., 4:]).max() <= 0.25
    assert np.abs(by_name["open"][..., 2]).max() <= np.pi
    # the mean rotation matrix of uniform rotations is zero; 1000 samples leave 1/sqrt(3000) of each entry
    turned = m.poses(q)["free_body"][..., :3, :3].mean(axis=(0, 1))
    assert np.abs(turned).max() < 0.1


def test_random_positions_of_wrong_reach() -> None:
    with pytest.raises(art.InputError, match="reach = -1"):
        limited().random_position(0, reach=-1.0)


# by name


def test_a_position_by_name() -> None:
    m = limited()
    q = m.q({"free.y": 0.5, "open": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]}, hinge=0.6)
    assert q.shape == (2, m.nq)
    assert_array_equal(q[1], [0.6, 0.0, 1.0, 0, 0, 0, 0, 0.5, 0, 4.0, 5.0, 6.0])
    assert_array_equal(m.q(), m.neutral)
    assert_array_equal(m.v(low=[1.0, 2.0])[:, 1], [1.0, 2.0])
    assert (m.joint_index("free"), m.v_slice("open")) == (2, slice(8, 11))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hinges": 1.0}, "no joint or coordinate 'hinges'; did you mean 'hinge'"),
        ({"open": 1.0}, r"'open' has shape \(\); expected \(\.\.\., 3\)"),
        ({"hinge": "x"}, "expected numbers"),
        ({"hinge": [1.0, 2.0], "low": [1.0, 2.0, 3.0]}, "do not broadcast"),
    ],
)
def test_wrong_names_and_shapes(given: dict, message: str) -> None:
    with pytest.raises(art.InputError, match=message):
        limited().q(given)


def test_names_of_modes() -> None:
    m = soft()
    body = next(b for b in m.description.bodies if b.modes)
    at = m.description.mode_slices(body.name)[1]
    values = np.arange(1.0, 1.0 + body.modes.count)
    assert_array_equal(m.q({body.name: values if len(values) > 1 else values[0]})[at], values)
    assert_array_equal(m.q({f"{body.name}.{body.modes.names[0]}": 0.3})[at.start], 0.3)


def test_dictionaries_wherever_positions_go() -> None:
    arm = art.load("two_link")
    q, v = {"joint2": 0.3}, {"joint1": 1.0}
    a, b = arm.q(q), arm.v(v)
    assert_array_equal(arm.mass_matrix(q), arm.mass_matrix(a))
    assert_array_equal(arm.forward_dynamics(q, v, {}), arm.forward_dynamics(a, b, np.zeros(2)))
    assert_array_equal(arm.poses(q)["link2"], arm.pose("link2", a))
    assert_array_equal(arm.linearize(q, v).A, arm.linearize(a, b).A)
    assert_array_equal(arm.position_difference(a, {"joint1": 1.0}), [1.0, -0.3])
    run = art.simulate(arm, 0.01, q0=q, v0=v)
    assert_array_equal(run.q[0], a)
    assert_array_equal(run.v[0], b)
    assert art.inverse_kinematics(arm, "link2", arm.pose("link2", a)[:3, 3], q).ok
    assert_array_equal(art.assemble(arm, q).q, a)
    runs = art.rollout(arm, 0.01, q0={"joint2": [0.1, 0.2]}, v0=np.zeros((2, 2)))
    assert_array_equal(runs.q[:, 0, 1], [0.1, 0.2])
    with pytest.raises(art.InputError, match="no joint or coordinate 'joint3'"):
        arm.mass_matrix({"joint3": 1.0})


def test_limits_are_arrays() -> None:
    m = limited()
    limits = m.limits
    assert_array_equal(limits.lower[:2], [0.5, 3.0])
    assert_array_equal(limits.upper[:2], [0.7, np.inf])
    assert np.isinf(limits.lower[2:]).all()
    assert (limits.velocity.shape, limits.effort.shape) == ((m.nv,), (m.nv,))
    with pytest.raises(art.InputError, match="no joint 'hing'"):
        m.joint_index("hing")


def following(limits: art.Limits, **law: object) -> art.Mechanism:
    m = art.Mechanism("chain")
    for k, parent in ((1, "ground"), (2, "b1"), (3, "b2")):
        m.body(f"b{k}", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(1e-2, 1e-2, 1e-2))
        m.joint(f"j{k}", art.Revolute((0, 1, 0)), parent, f"b{k}", limits=limits if k == 3 else None)
    return m.couple("j2", "j1", ratio=2.0, offset=0.1).couple("j3", **law)


def test_limits_of_coupled_joints_limit_the_joint_that_they_follow() -> None:
    m = following(art.Limits(-0.5, 0.5, 3.0), to="j2", ratio=-0.5, offset=0.2)
    # q3 = 0.2 - 0.5 (0.1 + 2 q1) = 0.15 - q1
    assert_allclose(m.limits.lower, [-0.35], rtol=1e-14)
    assert_allclose(m.limits.upper, [0.65], rtol=1e-14)
    assert_allclose(m.limits.velocity, [3.0], rtol=1e-14)
    q = m.random_position(seed=4, size=50)
    assert (np.abs(0.15 - q) <= 0.5 + 1e-12).all()
    beyond = art.inverse_kinematics(m, "b3", m.pose("b3", [1.2]), guess=[0.0])
    assert not beyond.ok
    assert beyond.q[0] <= 0.65 + 1e-12


def test_limits_of_coupled_joints_that_leave_no_range_do_not_count() -> None:
    assert np.isinf(following(art.Limits(0.0, 0.0), to="j1").limits.lower).all()
    curved = following(art.Limits(-0.5, 0.5), to="j1", polynomial=(0.0, 1.0, 0.5))
    assert np.isinf(curved.limits.upper).all()


def test_gravity_that_is_no_vector_names_the_argument() -> None:
    with pytest.raises(art.InputError, match=r"^gravity: expected 3 numbers, found 9.81 .*m/s"):
        art.load("two_link").with_gravity(9.81)  # type: ignore[arg-type]
    link = "<robot name='r'><link name='a'/></robot>"
    with pytest.raises(art.InputError, match=r"^gravity: expected 3 numbers, found 9.81"):
        art.load(link, gravity=9.81)
