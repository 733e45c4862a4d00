"""Inverse kinematics: the forward kinematics of what it returns, limits, loops, targets out of reach."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import articulus as art
import closed_zoo
import flexible_zoo
import zoo

JOINTS = (art.Revolute, art.Spherical, art.Revolute, art.Universal, art.Prismatic)
ROUND = 1e-7
"""Error of a found pose [m, rad]: the square of the last step of a quadratic search, far above round-off."""


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("floating", [False, True])
def test_forward_of_inverse_is_the_target(seed: int, floating: bool) -> None:
    mech = zoo.random_mechanism(seed, 5, JOINTS, branching=0.0, floating=floating)
    there = zoo.random_state(mech, seed).q
    start = mech.integrate_position(there, 0.15 * np.random.default_rng(seed).normal(size=mech.nv))
    target = mech.pose("tool", there)
    found = art.inverse_kinematics(mech, "tool", target, start)
    assert found.reached
    np.testing.assert_allclose(mech.pose("tool", found.q), target, atol=ROUND)


def test_a_point_leaves_the_attitude_free() -> None:
    arm = art.load("puma600")
    target = arm.pose("tool", np.array([0.3, -0.6, 1.4, 0.2, -0.5, 0.1]))[:3, 3]
    found = art.inverse_kinematics(arm, "tool", target)
    assert found.reached
    assert found.angle == 0
    np.testing.assert_allclose(arm.pose("tool", found.q)[:3, 3], target, atol=ROUND)


def two_links(limits: art.Limits | None = None) -> art.Mechanism:
    m = art.Mechanism("two links", gravity=(0, 0, 0))
    for k, parent in enumerate(("ground", "a")):
        name = "ab"[k]
        m.body(name, mass=1.0, com=(0.5, 0, 0), inertia=(0.1,) * 3)
        at = art.Pose((1.0 * k, 0, 0))
        m.joint(f"j{k}", art.Revolute((0, 0, 1)), parent, name, at=at, limits=limits)
    return m.frame("tip", "b", at=art.Pose((1.0, 0, 0)))


def test_out_of_reach_it_points_at_the_target() -> None:
    """Two links of 1 m reach 2 m; a point 5 m away is missed by 3 m on the straight line to it."""
    found = art.inverse_kinematics(two_links(), "tip", (3.0, 4.0, 0.0), [0.2, 0.5])
    assert not found.reached
    assert found.distance == pytest.approx(3.0, abs=1e-6)
    np.testing.assert_allclose(
        two_links().pose("tip", found.q)[:3, 3], (1.2, 1.6, 0), atol=2e-3
    )  # flat minimum


def test_limits_are_kept_and_the_best_is_found_within() -> None:
    m = two_links(art.Limits(lower=(-0.4,), upper=(0.5,)))
    found = art.inverse_kinematics(m, "tip", (0.0, 1.5, 0.0), [0.1, 0.1])
    assert not found.reached
    assert (found.q >= -0.4).all()
    assert (found.q <= 0.5).all()

    def miss(q: np.ndarray) -> float:
        return float(np.sum((m.pose("tip", q)[:3, 3] - (0.0, 1.5, 0.0)) ** 2))

    best = min(
        minimize(miss, q0, bounds=[(-0.4, 0.5)] * 2, tol=1e-14).fun
        for q0 in ([0, 0], [0.4, 0.4], [-0.3, 0.4])
    )
    assert found.distance**2 == pytest.approx(best, rel=1e-6)


def test_fixed_joints_stay() -> None:
    arm = art.load("puma600")
    start = np.array([0.1, -0.5, 1.2, 0.0, 0.3, 0.0])
    there = start + np.array([0, 0.1, -0.2, 0, 0.1, 0])
    found = art.inverse_kinematics(arm, "tool", arm.pose("tool", there), start, fixed=(arm.joint_names[0],))
    assert found.reached
    assert found.q[0] == start[0]
    with pytest.raises(art.InputError, match="inverse_kinematics: no joint or flexible body 'elbo'"):
        art.inverse_kinematics(arm, "tool", np.eye(4), fixed=("elbo",))


@pytest.mark.parametrize("seed", range(3))
def test_loops_stay_closed(seed: int) -> None:
    made = closed_zoo.closed(seed, (art.Spherical,), bodies=6)
    m = made.mechanism
    nudged = art.assemble(
        m, m.integrate_position(made.q, 0.05 * np.random.default_rng(seed).normal(size=m.nv))
    ).q
    target = m.pose("b2", nudged)
    found = art.inverse_kinematics(m, "b2", target, made.q)
    assert found.reached
    np.testing.assert_allclose(m.pose("b2", found.q), target, atol=ROUND)
    assert np.abs(m.constraint_residual(found.q)).max() < 1e-9


def test_flexible_coordinates_stay_as_they_are() -> None:
    rigid = zoo.random_mechanism(3, 4, (art.Revolute,), branching=0.0)
    m = flexible_zoo.soften(rigid, 3)
    s = flexible_zoo.state(m, 3)
    d = m.description
    eta = np.concatenate([np.arange(m.nq)[d.mode_slices(b.name)[1]] for b in d.bodies if b.modes is not None])
    target = m.pose("tool", s.q)[:3, 3]
    start = s.q + np.where(np.isin(np.arange(m.nq), eta), 0.0, 0.05)
    found = art.inverse_kinematics(m, "tool", target, start)
    assert found.reached
    np.testing.assert_array_equal(found.q[eta], s.q[eta])


def pinned() -> art.Mechanism:
    """Return two bars whose end is pinned to a post, with joints that may turn by 0.1 rad only."""
    m = two_links(art.Limits(lower=(-0.1,), upper=(0.1,))).frame("post", "ground", at=art.Pose((1.5, 0, 0)))
    return m.constrain(art.PointOnPoint("pin", "tip", "post"))


def test_limits_and_loops_that_cannot_both_be_kept_are_told() -> None:
    """The pin needs angles of 0.72 and -1.45 rad; the limits hold, the loop stays open, and it says so."""
    found = art.inverse_kinematics(pinned(), "b", (0.99, 0.1, 0.0))
    assert np.abs(found.q).max() <= 0.1 + 1e-12
    assert found.residual > 0.1
    assert not found.reached


def test_with_every_joint_fixed_an_open_loop_stays_open() -> None:
    m = art.load("n_four_bar", n=1)
    apart = m.neutral + 0.3
    found = art.inverse_kinematics(
        m, m.body_names[0], m.pose(m.body_names[0], apart), apart, fixed=m.joint_names
    )
    np.testing.assert_array_equal(found.q, apart)
    assert found.residual == pytest.approx(np.abs(m.constraint_residual(apart)).max())
    assert not found.reached


def test_what_cannot_be_moved_stays() -> None:
    """A frame of ground, and a body whose origin is on its axis: no joint moves the point, and nothing breaks."""
    m = two_links().frame("wall", "ground", at=art.Pose((0, 0, 1)))
    for frame in ("wall", "a"):
        found = art.inverse_kinematics(m, frame, (0.0, 0.0, 3.0), [0.1, 0.2])
        assert not found.reached
        np.testing.assert_array_equal(found.q, [0.1, 0.2])


@pytest.mark.parametrize(
    "target",
    [
        "here",
        (1, 2),
        [[np.nan] * 3] * 3,
        (0, 0, np.inf),
        np.zeros((4, 4)),
        2 * np.eye(4),
        np.diag([1, 1, -1, 1]),
    ],
)
def test_bad_targets(target: object) -> None:
    with pytest.raises(art.InputError, match="target"):
        art.inverse_kinematics(two_links(), "tip", target)
