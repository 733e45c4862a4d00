"""Geometric calibration: what was wrong with a mechanism is found from poses, points and planes, or named where it cannot be."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import articulus as art
from articulus.design.calibration import FrameMeasurement, calibrate
from articulus.errors import DoubtfulResult, InputError, UnsupportedOperation
from articulus.model.mechanism.edit import rebuilt
from articulus.model.mechanism.pose import Pose
from articulus.spatial.lie import exp_se3, inverse_pose, log_se3


@pytest.fixture(scope="module")
def arm():
    return art.load("puma600")


def wrong_by(arm, twists: dict[str, np.ndarray]) -> art.Mechanism:
    """The arm with joint frames moved by twists, angular first, in their own axes."""
    connections = []
    for c in arm.description.connections:
        at = np.eye(4)
        at[:3, :3], at[:3, 3] = c.at.rotation(), c.at.xyz
        moved = Pose.from_matrix(at @ exp_se3(twists[c.name])) if c.name in twists else c.at
        connections.append(dataclasses.replace(c, at=moved))
    return art.Mechanism.from_description(rebuilt(arm.description, connections=tuple(connections)))


def offsets(arm, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        c.name: np.array([*(random.normal() * 0.02 * np.array(c.joint.axis)), 0, 0, 0])
        for c in arm.description.connections[1:]
    }


SENSOR, MARKER = exp_se3([0.3, -0.2, 1.0, 0.5, 0.2, -0.1]), exp_se3([0.1, 0.2, -0.3, 0.02, 0.01, 0.05])


def test_offsets_from_poses(arm) -> None:
    """Exact poses in an unknown sensor frame of an unknown marker: offsets of all joints that these do not take up, to rounding."""
    true = wrong_by(arm, offsets(arm, 0))
    q = arm.random_position(1, 40)
    Z = inverse_pose(SENSOR) @ true.pose("tool", q) @ MARKER
    joints = [c.name for c in arm.description.connections[1:-1]]
    seen = FrameMeasurement("tool", q, Z, sensor="camera", marker="target")
    found = calibrate(arm, seen, offsets=joints)
    for name, twist in offsets(arm, 0).items():
        if name in joints:
            axis = next(c.joint.axis for c in arm.description.connections if c.name == name)
            assert found[f"{name}.offset"] == pytest.approx(twist[:3] @ axis, abs=1e-9)
    assert found.validation < 1e-6
    assert found.before > 1.0
    np.testing.assert_allclose(log_se3(inverse_pose(SENSOR) @ found.frames["camera"]), 0.0, atol=1e-8)


def test_offsets_that_cannot_be_told_are_named(arm) -> None:
    """The first joint's zero and the sensor's frame are one thing, so are the last one's and the marker's."""
    q = arm.random_position(1, 30)
    Z = inverse_pose(SENSOR) @ arm.pose("tool", q) @ MARKER
    with pytest.warns(DoubtfulResult, match="do not tell"):
        found = calibrate(arm, FrameMeasurement("tool", q, Z, sensor="camera", marker="target"))
    first = arm.description.connections[0].name
    assert any(f"{first}.offset" in d for d in found.null_directions)
    assert abs(found[f"{first}.offset"]) < 1e-9


@pytest.mark.parametrize("kind", ["point", "plane"])
def test_points_and_planes(arm, kind: str) -> None:
    """Points of a marker, or distances from an unknown plane, with noise: as far off as deviations say."""
    away = []
    names = [c.name for c in arm.description.connections[1:4]]
    for seed in range(4):
        twists = {n: t for n, t in offsets(arm, seed).items() if n in names}
        true = wrong_by(arm, twists)
        random = np.random.default_rng(seed)
        q = arm.random_position(seed, 80)
        place = true.pose("tool", q)[:, :3, 3]
        noise = 1e-4 * random.normal(size=place.shape)
        if kind == "point":
            seen = FrameMeasurement(
                "tool",
                q,
                (place + noise - SENSOR[:3, 3]) @ SENSOR[:3, :3],
                sensor="tracker",
                deviations=(1e-3, 1e-4),
            )
        else:
            plane = exp_se3([0.2, 0.1, 0, 0, 0, -0.5])
            heights = (place + noise - plane[:3, 3]) @ plane[:3, 2]
            seen = FrameMeasurement(
                "tool", q, heights, plane="floor", deviations=(1e-3, 1e-4), start={"floor": np.eye(4)}
            )
        found = calibrate(arm, seen, offsets=names)
        for n, t in twists.items():
            axis = next(c.joint.axis for c in arm.description.connections if c.name == n)
            at = found.names.index(f"{n}.offset")
            away.append((found.values[at] - t[:3] @ axis) / found.deviations[at])
    assert np.sqrt(np.mean(np.square(away))) == pytest.approx(1.0, abs=0.6)  # 12 numbers: 0.2


def test_frames_of_joints(arm) -> None:
    """All six motions of one joint's frame, told by poses in the ground frame; the mechanism that comes out has the measured poses."""
    name = arm.description.connections[2].name
    twist = np.array([0.01, -0.02, 0.005, 0.002, 0.001, -0.003])
    true = wrong_by(arm, {name: twist})
    q = arm.random_position(3, 20)
    found = calibrate(arm, FrameMeasurement("tool", q, true.pose("tool", q)), offsets=False, frames=[name])
    np.testing.assert_allclose(found.values, twist, atol=1e-10)
    other = arm.random_position(9, 5)
    np.testing.assert_allclose(found.mechanism.pose("tool", other), true.pose("tool", other), atol=1e-9)


def test_refusals(arm) -> None:
    q = arm.random_position(0, 5)
    poses = arm.pose("tool", q)
    with pytest.raises(InputError, match="no joint 'elbo'"):
        calibrate(arm, FrameMeasurement("tool", q, poses), offsets=["elbo"])
    with pytest.raises(InputError, match="no frame 'toool'"):
        calibrate(arm, FrameMeasurement("toool", q, poses))
    with pytest.raises(InputError, match="expected \\(samples, nq\\)"):
        FrameMeasurement("tool", q, poses[:3])
    with pytest.raises(InputError, match="nothing to estimate"):
        calibrate(arm, FrameMeasurement("tool", q, poses), offsets=False)


@pytest.mark.parametrize("what", ["millimeters", "inverse", "outlier"])
def test_measurements_that_do_not_fit_are_doubted(arm, what: str) -> None:
    """Places in millimeters, poses the wrong way round, and one outlier: what is left is far above the stated deviations, and the worst sample is named."""
    q = arm.random_position(0, 40)
    poses = wrong_by(arm, offsets(arm, 0)).pose("tool", q)
    if what == "millimeters":
        poses[:, :3, 3] *= 1000
    elif what == "inverse":
        poses = inverse_pose(poses)
    else:
        poses[7, :3, 3] += [0.5, 0, 0]
    with pytest.warns(DoubtfulResult, match="of the stated deviations"):
        found = calibrate(arm, FrameMeasurement("tool", q, poses))
    assert found.warnings
    if what == "outlier":
        assert any("in sample 7 of the measurement of 'tool'" in w for w in found.warnings)


def test_no_more_numbers_than_unknowns_is_doubted(arm) -> None:
    """One point for three offsets is met exactly: its deviation is the stated one, not zero, and there is a doubt."""
    q = arm.random_position(0, 1)
    points = arm.pose("tool", q)[:, :3, 3]
    joints = [c.name for c in arm.description.connections[:3]]
    size = 2e-3
    with pytest.warns(DoubtfulResult, match="3 measured numbers for 3 unknowns"):
        found = calibrate(arm, FrameMeasurement("tool", q, points, deviations=(1e-3, size)), joints)
    J = arm.jacobian("tool", q[0])[3:, :3]
    np.testing.assert_allclose(found.deviations, size * np.sqrt(np.diag(np.linalg.inv(J.T @ J))), rtol=1e-6)


def test_poses_that_are_none_are_refused(arm) -> None:
    q = arm.random_position(0, 5)
    poses = arm.pose("tool", q)
    mirror = poses @ np.diag([1.0, 1.0, -1.0, 1.0])
    stretched = poses @ np.diag([1.01, 1.0, 1.0, 1.0])
    for wrong in (poses.transpose(0, 2, 1), mirror, stretched):
        with pytest.raises(InputError, match="pose 0 is no pose"):
            FrameMeasurement("tool", q, wrong)
    FrameMeasurement("tool", q, np.round(poses, 4))  # as files have them


def with_gripper() -> art.Mechanism:
    """An arm of three joints whose two fingers open together."""
    m = art.Mechanism("arm")
    for k, axis in enumerate([(0, 0, 1), (0, 1, 0), (0, 1, 0)]):
        m.body(f"link{k}", 1.0, com=(0.1, 0, 0.1), inertia=(0.02, 0.02, 0.02))
        at = Pose((0.1, 0.0, 0.3)) if k else Pose()
        m.joint(
            f"joint{k}", art.model.mechanism.Revolute(axis), f"link{k - 1}" if k else "ground", f"link{k}", at
        )
    for k, way in enumerate((1.0, -1.0)):
        m.body(f"finger{k}", 0.1, inertia=(1e-4, 1e-4, 1e-4))
        m.joint(
            f"slide{k}", art.model.mechanism.Prismatic((0, way, 0)), "link2", f"finger{k}", Pose((0, 0, 0.2))
        )
    m.couple("slide1", "slide0")
    m.frame("flange", "link2", Pose((0, 0, 0.2)))
    return m


def test_arms_with_grippers() -> None:
    """Fingers that follow each other do not carry the flange: offsets of the arm are found; a frame on the coupled finger is refused by name."""
    arm = with_gripper()
    twists = {"joint1": np.array([0, 0.01, 0, 0, 0, 0]), "joint2": np.array([0, -0.02, 0, 0, 0, 0])}
    q = arm.random_position(0, 20)
    poses = wrong_by(arm, twists).pose("flange", q)
    found = calibrate(arm, FrameMeasurement("flange", q, poses), ["joint1", "joint2"])
    np.testing.assert_allclose(found.values, [0.01, -0.02], atol=1e-10)
    assert len(found.mechanism.description.couplings) == 1
    with pytest.raises(UnsupportedOperation, match="'slide1' that carries 'finger1' is a coupled joint"):
        calibrate(arm, FrameMeasurement("finger1", q, arm.pose("finger1", q)))
    with pytest.raises(UnsupportedOperation, match=r"with_locked\('slide0'\)"):
        art.design.base_parameters(arm)
    assert len(art.design.base_parameters(arm.with_locked("slide0"))) > 0
