"""Trusses of variable geometry and redundant arms: lengths, poses, weights of curves, what is out of reach."""

import numpy as np
import pytest

import articulus as art
from articulus.motion import trajectory
from articulus.motion.trajectory.truss.settle import settle


def lifted(truss, rise, steps=5):
    """Return poses of the end that go straight along a vector [m]."""
    poses = np.tile(truss.pose(truss.nodes), (steps, 1, 1))
    poses[:, :3, 3] += np.linspace(0, 1, steps + 1)[1:, None] * np.array(rise)
    return poses


def test_degrees_of_freedom():
    assert trajectory.truss.octahedral(5).dof == 30  # six legs a bay
    assert trajectory.truss.double_octahedral(5).dof == 15  # three


@pytest.mark.parametrize("make", [trajectory.truss.octahedral, trajectory.truss.double_octahedral])
def test_nodes_follow_and_rods_keep_their_lengths(make):
    truss = make(3)
    poses = lifted(truss, (0.1, 0.05, 0.05))
    motion = trajectory.truss.track_nodes(truss, poses)
    assert not motion.violations
    rods = truss.lengths(motion.nodes, truss.rods) - truss.lengths(truss.nodes, truss.rods)
    assert np.abs(rods).max() < 1e-10  # Newton steps end at 1e-12
    for nodes, pose in zip(motion.nodes, poses):
        np.testing.assert_allclose(truss.pose(nodes), pose, atol=1e-10)


def test_a_straight_lift_along_a_curve_is_the_same_for_every_bay():
    """A straight curve has no other shape: faces at equal distances, all legs of one length, by hand."""
    truss = trajectory.truss.octahedral(4)
    poses = lifted(truss, (0, 0, 0.4))
    for curve in (trajectory.truss.ShapeCurve(5), trajectory.truss.ShapeCurve(7, "bspline")):
        motion = trajectory.truss.follow_curve(truss, poses, curve)
        assert not motion.violations
        heights = (2.0 + np.linspace(0, 0.4, 6)[1:]) / 4
        flat = np.sqrt(truss.lengths(truss.nodes)[0] ** 2 - 0.5**2)
        np.testing.assert_allclose(
            motion.lengths, np.sqrt(flat**2 + heights**2)[:, None] * np.ones(24), atol=1e-9
        )


@pytest.mark.parametrize("curve", [trajectory.truss.ShapeCurve(6), trajectory.truss.ShapeCurve(8, "bspline")])
def test_weights_sum_to_one_and_touch_both_ends(curve):
    s = np.linspace(0, 1, 9)
    weights, slopes = curve.weights(s)
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-14)
    np.testing.assert_allclose(slopes.sum(1), 0, atol=1e-12)
    assert weights[0, 0] == pytest.approx(1)
    assert weights[-1, -1] == pytest.approx(1)
    small = 1e-6
    near = curve.weights(s[1:-1] + small)[0] - curve.weights(s[1:-1] - small)[0]
    np.testing.assert_allclose(near / (2 * small), slopes[1:-1], atol=1e-7)


def test_what_is_out_of_reach_is_told():
    truss = trajectory.truss.octahedral(2)
    motion = trajectory.truss.track_nodes(truss, lifted(truss, (0, 0, 3.0)))
    assert any("leg" in c or "out of reach" in c for c in motion.violations)
    cube = trajectory.Crate((0.0, 0.0, 1.0), (0.2, 0.2, 0.2))  # where the end itself has to be
    motion = trajectory.truss.track_nodes(truss, lifted(truss, (0, 0, 0.0), 1), obstacles=[cube], margin=0.3)
    assert any("clearance" in c for c in motion.violations)


def test_bad_input_is_named():
    with pytest.raises(art.InputError, match="orthogonal"):
        trajectory.truss.track_nodes(trajectory.truss.octahedral(1), 2 * np.eye(4)[None])
    truss = trajectory.truss.double_octahedral(2)
    with pytest.raises(art.InputError, match="bay 0 has 3 degrees of freedom"):
        trajectory.truss.follow_curve(truss, lifted(truss, (0, 0, 0.1)))
    with pytest.raises(art.InputError, match="stroke"):
        trajectory.truss.octahedral(2, stroke=(0.1, 0.2))
    with pytest.raises(art.InputError, match="4 or more"):
        trajectory.truss.ShapeCurve(3)


def test_settle_keeps_equations_before_limits_before_wishes():
    """Nearest point to (2, 2) on the line x + y = 1 with x <= 0.3: by hand (0.3, 0.7)."""
    x, off, least = settle(
        np.array([0.0, 1.0]),
        lambda x: (np.array([x.sum() - 1]), np.ones((1, 2))),
        lambda x: (np.array([0.3 - x[0]]), np.array([[-1.0, 0.0]])),
        wish=lambda x: (x - np.array([2.0, 0.0]), np.eye(2)),
    )
    np.testing.assert_allclose(x, [0.3, 0.7], atol=1e-5)  # a limit is left by 1e-6 of the size of x
    assert off < 1e-12
    assert least >= 0


def test_an_arm_of_seven_joints_keeps_its_elbow_clear_and_reaches_a_posture():
    arm = art.load("rrc7")
    q0 = np.array([0.1, 0.5, 0.2, 0.9, 0.3, 0.5, 0.1])
    poses = np.tile(arm.pose("tool", q0), (6, 1, 1))
    poses[:, 1, 3] += np.linspace(0, 0.15, 6)
    free = trajectory.truss.track_frame(arm, "tool", poses, q0)
    elbow = arm.pose("link4", free.q)[:, :3, 3]
    ball = trajectory.Ball(tuple(elbow[3] + [0.0, 0.05, 0.0]), 0.05)
    motion = trajectory.truss.track_frame(
        arm,
        "tool",
        poses,
        q0,
        hulls=[trajectory.Hull("link4", (0, 0, 0), (0, 0, 0), 0.05, balls=1)],
        obstacles=[ball],
        margin=0.02,
    )
    assert not motion.violations
    assert motion.clearance.min() >= 0.02
    np.testing.assert_allclose(arm.pose("tool", motion.q), poses, atol=1e-9)
    # the places of the elbow that were found are reachable: as a wish they are met from the start of the free motion
    points = arm.pose("link4", motion.q)[:, None, :3, 3]
    wished = trajectory.truss.track_frame(arm, "tool", poses, q0, frames=["link4"], points=points)
    np.testing.assert_allclose(arm.pose("link4", wished.q)[:, None, :3, 3], points, atol=1e-4)
    np.testing.assert_allclose(arm.pose("tool", wished.q), poses, atol=1e-9)


def test_the_arm_of_the_library_has_the_corners_of_its_truss():
    arm, truss = art.load("truss_arm"), trajectory.truss.octahedral(5)
    poses = arm.poses(arm.neutral)
    corners = [poses[f"face{k}.{i}"][:3, 3] for k in range(1, 6) for i in (1, 2, 3)]
    np.testing.assert_allclose(corners, truss.nodes[3:], atol=1e-14)
    assert arm.nv == truss.dof


def test_a_frame_half_a_turn_away_is_not_there():
    """One hinge about z: half a turn about it is reached, half a turn about x is not."""
    arm = art.Mechanism("turner", gravity=(0, 0, 0))
    arm.body("hand", 1.0, (0, 0, 0), (1, 1, 1))
    arm.joint("wrist", art.Revolute((0, 0, 1)), "ground", "hand")
    away = np.diag([-1.0, -1.0, 1.0, 1.0])[None]
    motion = trajectory.truss.track_frame(arm, "hand", away, [0.0])
    assert abs(motion.q[0, 0]) == pytest.approx(np.pi, abs=1e-9)
    assert not motion.violations
    flipped = np.diag([1.0, -1.0, -1.0, 1.0])[None]  # about x: out of reach, and told so
    assert trajectory.truss.track_frame(arm, "hand", flipped, [0.0]).violations


def test_arms_and_poses_that_make_no_sense():
    arm = art.load("rrc7")
    pose = arm.pose("tool", np.zeros(7))[None]
    with pytest.raises(art.InputError, match="left hand"):
        trajectory.truss.track_frame(arm, "tool", pose @ np.diag([-1.0, 1, 1, 1]), np.zeros(7))
    with pytest.raises(art.InputError, match="expected 7 finite numbers"):
        trajectory.truss.track_frame(arm, "tool", pose, np.zeros(6))
    with pytest.raises(art.InputError, match="obstacles, but no hulls"):
        trajectory.truss.track_frame(
            arm, "tool", pose, np.zeros(7), obstacles=[trajectory.Ball((0, 0, 0), 0.1)]
        )
    bars = art.load("n_four_bar", n=1)
    with pytest.raises(art.InputError, match="has closed loops"):
        trajectory.truss.track_frame(bars, bars.body_names[0], np.eye(4)[None], np.zeros(bars.nq))
