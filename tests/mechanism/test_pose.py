"""Poses: every form of giving one, and back."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import articulus as art
from articulus.model.mechanism.pose import quaternion_of

RNG = np.random.default_rng(91)


@pytest.mark.parametrize("rpy", [*RNG.uniform(-np.pi, np.pi, (5, 3)), (0, np.pi / 2, 0.3), (np.pi, 0, np.pi)])
def test_roll_pitch_yaw_is_about_fixed_axes(rpy):
    found = art.Pose(rpy=tuple(rpy)).rotation()
    assert_allclose(found, Rotation.from_euler("xyz", rpy).as_matrix(), atol=2e-15)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 40.0, -1.0])
def test_quaternion_of_any_norm(scale):
    q = RNG.normal(size=4)
    found = art.Pose(quaternion=tuple(scale * q)).rotation()
    assert_allclose(found, Rotation.from_quat(np.roll(q, -1)).as_matrix(), atol=2e-15)


@pytest.mark.parametrize(
    "R",
    [
        *Rotation.random(8, random_state=3).as_matrix(),
        np.eye(3),
        *(np.diag(d) for d in ((1, -1, -1), (-1, 1, -1), (-1, -1, 1))),
    ],
)
def test_matrix_there_and_back(R):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, (1.0, 2.0, 3.0)
    assert_allclose(art.Pose.from_matrix(X).matrix(), X, atol=2e-15)
    assert quaternion_of(R)[0] >= 0
    assert np.linalg.norm(quaternion_of(R)) == pytest.approx(1.0, abs=1e-15)


def test_right_angles_are_exact():
    """Symbols cancel only if cos(pi/2) is zero."""
    assert np.array_equal(art.Pose(rpy=(np.pi / 2, 0, np.pi)).rotation(), [[-1, 0, 0], [0, 0, 1], [0, 1, 0]])
    h = np.sqrt(0.5)
    assert np.array_equal(art.Pose(quaternion=(h, h, 0, 0)).rotation(), [[1, 0, 0], [0, 0, -1], [0, 1, 0]])


def test_what_a_pose_may_be_made_of():
    assert art.Pose.of(None) == art.Pose()
    assert art.Pose.of((1, 2, 3)) == art.Pose((1.0, 2.0, 3.0))
    assert art.Pose.of(np.eye(4)) == art.Pose()
    pose = art.Pose((1, 0, 0))
    assert art.Pose.of(pose) is pose


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: art.Pose((1, 2)), "Pose.xyz: expected 3 numbers, found 2"),
        (lambda: art.Pose(rpy=(1, 2, "x")), "Pose.rpy: expected a number, found 'x'"),
        (lambda: art.Pose(quaternion=(1, 0, 0)), "Pose.quaternion: expected 4 numbers"),
        (lambda: art.Pose(quaternion=(0, 0, 0, 0)), "all four numbers are zero"),
        (lambda: art.Pose(rpy=(1, 0, 0), quaternion=(0, 1, 0, 0)), "rpy or quaternion, not both"),
        (lambda: art.Pose.of(np.diag([1, 1, -1, 1])), "not a rotation"),
        (lambda: art.Pose.of(np.diag([2, 1, 1, 1])), "not a rotation"),
        (lambda: art.Pose.of(np.diag([1, 1, 1, 2])), "last row"),
        (lambda: art.Pose.of("here"), "expected"),
        (lambda: art.Pose.of(1.0), "expected 3 numbers"),
        (lambda: art.Pose((True, 0, 0)), "expected a number"),
    ],
)
def test_what_a_pose_may_not_be_made_of(make, words):
    with pytest.raises(art.InputError, match=words):
        make()
