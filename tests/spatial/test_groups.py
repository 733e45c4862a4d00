"""Exponentials and logarithms of rotations and poses, quaternions: laws, and SciPy and Pinocchio as references."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from articulus import spatial

TIGHT = {"rtol": 1e-13, "atol": 1e-13}
"""A few dozen roundings on numbers of order one."""
LENGTHS = (0.0, 1e-300, 1e-160, 1e-9, 1e-4, 0.0316, 0.0317, 0.5, 3.0, np.pi - 1e-6)
"""Turns on both sides of the ends of the power series."""


def vectors(length: float, count: int = 20) -> np.ndarray:
    v = np.random.default_rng(1).normal(size=(count, 3))
    return length * v / np.linalg.norm(v, axis=-1, keepdims=True)


def twists(length: float) -> np.ndarray:
    return np.concatenate([vectors(length), np.random.default_rng(2).normal(size=(20, 3))], axis=-1)


@pytest.mark.parametrize("length", LENGTHS)
def test_logarithms_invert_exponentials(length: float) -> None:
    loose = {"rtol": 1e-13, "atol": 1e-15 + 1e-14 * length}
    assert_allclose(spatial.quaternion_log(spatial.quaternion_exp(vectors(length))), vectors(length), **loose)
    assert_allclose(spatial.log_so3(spatial.exp_so3(vectors(length))), vectors(length), rtol=1e-9, atol=1e-15)
    assert_allclose(spatial.log_se3(spatial.exp_se3(twists(length))), twists(length), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("length", LENGTHS)
def test_exponentials_are_those_of_matrices(length: float) -> None:
    for xi in twists(length)[:3]:
        w, v = xi[:3], xi[3:]
        W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        generator = np.block([[W, v[:, None]], [np.zeros((1, 4))]])
        assert_allclose(spatial.exp_se3(xi), expm(generator), **TIGHT)
        assert_allclose(spatial.exp_so3(w), Rotation.from_rotvec(w).as_matrix(), **TIGHT)


def test_half_turns() -> None:
    """The logarithm of a half turn is either of two vectors; both lead back to it."""
    for axis in np.eye(3):
        R = spatial.exp_so3(np.pi * axis)
        assert np.linalg.norm(spatial.log_so3(R)) == pytest.approx(np.pi, rel=1e-15)
        assert_allclose(spatial.exp_so3(spatial.log_so3(R)), R, **TIGHT)


def test_quaternions_are_scipys() -> None:
    a, b = (Rotation.random(50, random_state=k) for k in (3, 4))
    qa, qb = (spatial.quaternion_of_rotation(r.as_matrix()) for r in (a, b))
    assert_allclose(np.roll(qa, -1, axis=-1), a.as_quat(canonical=True), **TIGHT)
    assert_allclose(spatial.rotation_of_quaternion(3 * qa), a.as_matrix(), **TIGHT)
    product = spatial.rotation_of_quaternion(spatial.quaternion_multiply(qa, qb))
    assert_allclose(product, (a * b).as_matrix(), **TIGHT)
    one = spatial.quaternion_multiply(2 * qa, spatial.quaternion_inverse(2 * qa))
    assert_allclose(one, np.tile([1.0, 0, 0, 0], (50, 1)), **TIGHT)
    angles = spatial.rpy_of_rotation(a.as_matrix())
    assert_allclose(angles, a.as_euler("xyz"), **TIGHT)
    assert_allclose(spatial.rotation_of_rpy(angles), a.as_matrix(), **TIGHT)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_upright_rotations_have_roll_alone(pitch: float) -> None:
    R = spatial.rotation_of_rpy([0.3, pitch, 0.8])
    angles = spatial.rpy_of_rotation(R)
    assert angles[2] == 0
    assert_allclose(spatial.rotation_of_rpy(angles), R, atol=1e-12)


def test_slerp_is_the_shorter_turn_at_constant_speed() -> None:
    a, b = spatial.quaternion_exp([0.1, 0.2, 0.3]), -spatial.quaternion_exp([1.0, -0.5, 0.2])
    path = spatial.slerp(a, b, np.linspace(0, 1, 5))
    assert_allclose(path[0], a, **TIGHT)
    assert_allclose(np.abs(path[-1] @ b), 1, **TIGHT)
    steps = spatial.quaternion_multiply(spatial.quaternion_inverse(path[:-1]), path[1:])
    assert_allclose(spatial.quaternion_log(steps), np.tile(spatial.quaternion_log(steps[0]), (4, 1)), **TIGHT)


def test_adjoint_carries_twists() -> None:
    """X exp(xi) X^-1 = exp(Ad_X xi)."""
    X, xi = spatial.exp_se3([0.4, -0.3, 1.2, 0.5, 0.1, -2.0]), np.array([0.3, 0.2, -0.7, 1.0, 2.0, 3.0])
    carried = spatial.exp_se3(spatial.adjoint(X) @ xi)
    assert_allclose(X @ spatial.exp_se3(xi) @ spatial.inverse_pose(X), carried, **TIGHT)
    assert_allclose(spatial.inverse_pose(X) @ X, np.eye(4), **TIGHT)


def test_pinocchio_agrees() -> None:
    pin = pytest.importorskip("pinocchio")
    swap = [3, 4, 5, 0, 1, 2]
    for xi in np.concatenate([twists(0.7), twists(3.0)]):
        theirs = pin.exp6(pin.Motion(xi[swap])).homogeneous
        assert_allclose(spatial.exp_se3(xi), theirs, **TIGHT)
        assert_allclose(
            spatial.log_se3(theirs), pin.log6(pin.SE3(theirs)).vector[swap], rtol=1e-11, atol=1e-11
        )
        assert_allclose(spatial.adjoint(theirs), pin.SE3(theirs).action[np.ix_(swap, swap)], **TIGHT)
