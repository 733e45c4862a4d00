"""Inverse kinematics: the forward kinematics of what it returns, limits, loops, targets out of reach."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import articulus as art
import closed_zoo
import flexible_zoo
import zoo
from articulus.errors import InputError
from robots.packages import ROBOTS, files_of, missing

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
    assert found.ok
    np.testing.assert_allclose(mech.pose("tool", found.q), target, atol=ROUND)


def test_a_point_leaves_the_attitude_free() -> None:
    arm = art.load("puma600")
    target = arm.pose("tool", np.array([0.3, -0.6, 1.4, 0.2, -0.5, 0.1]))[:3, 3]
    found = art.inverse_kinematics(arm, "tool", target)
    assert found.ok
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
    assert not found.ok
    assert found.distance == pytest.approx(3.0, abs=1e-6)
    np.testing.assert_allclose(
        two_links().pose("tip", found.q)[:3, 3], (1.2, 1.6, 0), atol=2e-3
    )  # flat minimum


def test_limits_are_kept_and_the_best_is_found_within() -> None:
    m = two_links(art.Limits(lower=(-0.4,), upper=(0.5,)))
    found = art.inverse_kinematics(m, "tip", (0.0, 1.5, 0.0), [0.1, 0.1])
    assert not found.ok
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
    assert found.ok
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
    assert found.ok
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
    assert found.ok
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
    assert not found.ok


def test_with_every_joint_fixed_an_open_loop_stays_open() -> None:
    m = art.load("n_four_bar", n=1)
    apart = m.neutral + 0.3
    found = art.inverse_kinematics(
        m, m.body_names[0], m.pose(m.body_names[0], apart), apart, fixed=m.joint_names
    )
    np.testing.assert_array_equal(found.q, apart)
    assert found.residual == pytest.approx(np.abs(m.constraint_residual(apart)).max())
    assert not found.ok


def test_what_cannot_be_moved_stays() -> None:
    """A frame of ground, and a body whose origin is on its axis: no joint moves the point, and nothing breaks."""
    m = two_links().frame("wall", "ground", at=art.Pose((0, 0, 1)))
    for frame in ("wall", "a"):
        found = art.inverse_kinematics(m, frame, (0.0, 0.0, 3.0), [0.1, 0.2])
        assert not found.ok
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


# several goals, batches


def test_a_batch_is_its_rows() -> None:
    """Rows do not know of each other: alone or together they end at the same place."""
    arm = art.load("puma600")
    there = arm.random_position(1, 12)
    start = arm.integrate_position(there, 0.2 * np.random.default_rng(2).normal(size=(12, 6)))
    targets = arm.pose("tool", there)
    found = art.inverse_kinematics(arm, "tool", targets.reshape(3, 4, 4, 4), start.reshape(3, 4, 6))
    assert found.q.shape == (3, 4, 6)
    assert found.ok.shape == found.distance.shape == found.steps.shape == (3, 4)
    assert found.ok.mean() > 0.9
    alone = [art.inverse_kinematics(arm, "tool", X, q) for X, q in zip(targets, start)]
    np.testing.assert_array_equal([one.ok for one in alone], found.ok.ravel())
    done = found.ok.ravel()
    np.testing.assert_allclose(
        np.array([one.q for one in alone])[done], found.q.reshape(-1, 6)[done], atol=1e-6
    )
    np.testing.assert_allclose(arm.pose("tool", found.q.reshape(-1, 6)[done]), targets[done], atol=ROUND)


def test_one_start_for_many_points() -> None:
    points = np.random.default_rng(3).uniform(-0.9, 0.9, (20, 3)) * (1, 1, 0)
    found = art.inverse_kinematics(two_links(), "tip", points, [0.3, 0.8])
    assert found.q.shape == (20, 2)
    assert found.ok.all()
    np.testing.assert_allclose(two_links().pose("tip", found.q)[:, :3, 3], points, atol=ROUND)


def test_no_target_at_all_is_a_batch_of_none() -> None:
    found = art.inverse_kinematics(two_links(), "tip", np.zeros((0, 3)))
    assert (found.q.shape, found.ok.shape) == ((0, 2), (0,))


def test_loops_in_a_batch() -> None:
    m = closed_zoo.four_bar()
    there = np.array([art.assemble(m, [a, 0.0, 0.0], fixed=("crank_pin",)).q for a in (0.2, 0.4, -0.3)])
    found = art.inverse_kinematics(m, "coupler", m.pose("coupler", there)[:, :3, 3])
    assert found.ok.all()
    np.testing.assert_allclose(found.q, there, atol=1e-6)


def tree() -> art.Mechanism:
    """Return a floating trunk with two arms of three joints."""
    m = art.Mechanism("two arms").body("trunk", 10.0, inertia=(1.0, 1.0, 1.0))
    m.joint("float", art.Free(), "ground", "trunk")
    for side, y in (("left", 0.3), ("right", -0.3)):
        parent, at = "trunk", (0.0, y, 0.0)
        for k, axis in enumerate(((0, 0, 1), (0, 1, 0), (0, 1, 0))):
            m.body(f"{side}{k}", 1.0, (0.2, 0, 0), (0.02, 0.02, 0.02))
            m.joint(f"{side}_{k}", art.Revolute(axis), parent, f"{side}{k}", at=at)
            parent, at = f"{side}{k}", (0.4, 0.0, 0.0)
        m.frame(side, parent, at=(0.4, 0, 0))
    return m


def test_two_hands_the_center_of_mass_and_a_look() -> None:
    m = tree()
    left, right, aim = (0.6, 0.4, 0.1), (0.5, -0.3, -0.2), np.array([3.0, 1.0, 0.5])
    goals = [
        art.goals.FramePoint("left", left),
        art.goals.FramePoint("right", right),
        art.goals.CenterOfMass((0.2, 0.05, np.nan)),
        art.goals.LookAt("trunk", aim, axis=(1.0, 0.0, 0.0)),
    ]
    found = art.inverse_kinematics(
        m, goals, guess={f"{side}_{k}": 0.5 for side in ("left", "right") for k in (1, 2)}
    )
    assert found.ok
    poses = m.poses(found.q)
    np.testing.assert_allclose(poses["left"][:3, 3], left, atol=ROUND)
    np.testing.assert_allclose(poses["right"][:3, 3], right, atol=ROUND)
    np.testing.assert_allclose(m.center_of_mass(found.q)[:2], (0.2, 0.05), atol=ROUND)
    sight = aim - poses["trunk"][:3, 3]
    np.testing.assert_allclose(poses["trunk"][:3, 0], sight / np.linalg.norm(sight), atol=ROUND)


def test_a_look_backwards_turns_round() -> None:
    """Opposite to the target the error is a half turn about some normal; the search leaves that place."""
    m = (
        art.Mechanism("head")
        .body("head", 1.0, inertia=(0.1,) * 3)
        .joint("neck", art.Universal(), "ground", "head")
    )
    found = art.inverse_kinematics(
        m, art.goals.LookAt("head", (0.0, 0.0, -2.0), axis=(0, 0, 1)), guess=[1e-3, 0.0]
    )
    assert found.ok
    np.testing.assert_allclose(m.pose("head", found.q)[:3, 2], (0, 0, -1), atol=ROUND)


def test_weights_divide_what_cannot_be_met() -> None:
    """One slide, two targets 1 m apart: the weighted mean, w1^2 (x - 0) = w2^2 (1 - x)."""
    m = art.Mechanism("slide").body("b", 1.0, inertia=(0.1,) * 3)
    m.joint("j", art.Prismatic((1, 0, 0)), "ground", "b")
    goals = [art.goals.FramePoint("b", (0, 0, 0), weight=2.0), art.goals.FramePoint("b", (1, 0, 0))]
    found = art.inverse_kinematics(m, goals)
    assert not found.ok
    assert found.q[0] == pytest.approx(0.2, abs=1e-9)
    assert found.distance == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize(
    ("frame", "target", "message"),
    [
        ("tip", None, "target: found none for frame 'tip'"),
        ([], None, "expected the name of a frame and a target, or goals"),
        ([art.goals.FramePoint("tip", (0, 0, 0))], np.eye(4), "with a target"),
        (art.goals.FramePoint("tipp", (0, 0, 0)), None, "no body or frame 'tipp'"),
        (art.goals.FramePoint("tip", (0, 0, 0), weight=0.0), None, "weight = 0.0"),
        ([art.goals.FramePoint("tip", np.zeros((2, 3))), art.goals.FramePoint("b", np.zeros((3, 3)))], None,
         "do not broadcast"),
    ],
)  # fmt: skip
def test_wrong_goals(frame: object, target: object, message: str) -> None:
    with pytest.raises(art.InputError, match=message):
        art.inverse_kinematics(two_links(), frame, target)


def test_an_axis_of_no_length() -> None:
    with pytest.raises(art.InputError, match=r"LookAt\.axis"):
        art.goals.LookAt("tip", (0, 0, 1), axis=(0, 0, 0))


@pytest.mark.skipif(not files_of(ROBOTS, ".urdf"), reason=missing(ROBOTS))
@pytest.mark.parametrize(
    ("name", "frame"), [("ur5_robot.urdf", "wrist_3_link"), ("panda.urdf", "panda_hand")]
)
def test_restarts_find_what_can_be_reached(name: str, frame: str) -> None:
    """Robots with limits: from one estimate a search ends at limits for two of five targets, with further searches it arrives."""
    robot = art.load(next(file for file in files_of(ROBOTS, ".urdf") if file.name == name))
    targets = robot.pose(frame, robot.random_position(seed=2, size=40))
    once = art.inverse_kinematics(robot, frame, targets, restarts=0)
    found = art.inverse_kinematics(robot, frame, targets)
    assert once.ok.mean() < 0.9 < found.ok.mean()
    assert np.abs(robot.pose(frame, found.q)[found.ok] - targets[found.ok]).max() < 1e-7
    assert (found.q[once.ok] == once.q[once.ok]).all()  # what arrives at once stays
    limits = robot.limits
    assert (found.q >= limits.lower).all()
    assert (found.q <= limits.upper).all()
    row = int(np.flatnonzero(found.ok & ~once.ok)[0])  # a row of a batch is what it is alone
    np.testing.assert_allclose(art.inverse_kinematics(robot, frame, targets[row]).q, found.q[row], atol=1e-9)


def test_an_estimate_keeps_its_result() -> None:
    """With a guess nothing begins again unless asked to; wrong numbers of restarts are refused."""
    arm = art.load("puma600")
    q = arm.random_position(seed=3)
    target = arm.pose("tool", q)
    assert (
        art.inverse_kinematics(arm, "tool", target, guess=q).q
        == art.inverse_kinematics(arm, "tool", target, guess=q, restarts=0).q
    ).all()
    for restarts in (-1, 0.5):
        with pytest.raises(InputError, match="restarts"):
            art.inverse_kinematics(arm, "tool", target, restarts=restarts)
