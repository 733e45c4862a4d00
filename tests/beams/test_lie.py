"""Poses as a group: laws on random poses and motions."""

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from scipy.linalg import expm

from articulus.simulation.exact_beams import lie

POSE, OTHER, MOTION = SX.sym("A", 7), SX.sym("B", 7), SX.sym("d", 6)
displaced = ca.Function("displaced", [POSE, MOTION], [lie.displace(POSE, MOTION)])
between = ca.Function("between", [POSE, OTHER], [lie.logarithm(lie.relative(POSE, OTHER))])
rates = ca.Function("rates", [MOTION], list(lie.logarithm_rates(MOTION)))
bracket = ca.Function("bracket", [MOTION], [lie.ad(MOTION)])


def move(pose, motion):
    return np.array(displaced(pose, motion)).ravel()


def difference(A, B):
    return np.array(between(A, B)).ravel()


def random_pose(rng):
    q = rng.normal(size=4)
    return np.concatenate([q / np.linalg.norm(q), rng.normal(size=3)])


def random_motion(rng, angle):
    w = rng.normal(size=3)
    return np.concatenate([angle * w / np.linalg.norm(w), rng.normal(size=3)])


def matrix(pose):
    """Return the 4 x 4 matrix of a pose."""
    w, x, y, z = pose[:4]
    R = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.block([[np.array(R), pose[4:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-6, 1e-3, 0.3, 1.0, 2.0])
def test_logarithm_undoes_displacement(angle):
    rng = np.random.default_rng(1)
    A, d = random_pose(rng), random_motion(rng, angle)
    B = move(A, d)
    np.testing.assert_allclose(difference(A, B), d, atol=3e-15)
    B[:4] *= -1  # the same rotation
    np.testing.assert_allclose(difference(A, B), d, atol=3e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.3, 2.0, 5.0])
def test_displacement_is_the_exponential(angle):
    rng = np.random.default_rng(2)
    A, d = random_pose(rng), random_motion(rng, angle)
    x, y, z = d[:3]
    twist = np.zeros((4, 4))
    twist[:3, :3], twist[:3, 3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]], d[3:]
    np.testing.assert_allclose(matrix(move(A, d)), matrix(A) @ expm(twist), atol=3e-15)


@pytest.mark.parametrize("angle", [0.0, 0.1, 1.0, 1.8])
def test_rates_of_the_logarithm(angle):
    """Central differences: error of order step^2 and rounding over step, 1e-9 in all."""
    rng = np.random.default_rng(3)
    A, d, step = random_pose(rng), random_motion(rng, angle), 1e-5
    B = move(A, d)
    by_A, by_B = (np.array(each) for each in rates(d))
    for v in np.eye(6) * step:
        np.testing.assert_allclose(
            (difference(move(A, v), B) - difference(move(A, -v), B)) / 2, by_A @ v, atol=1e-9 * step * 10
        )
        np.testing.assert_allclose(
            (difference(A, move(B, v)) - difference(A, move(B, -v))) / 2, by_B @ v, atol=1e-9 * step * 10
        )


def test_bracket_is_the_commutator():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=6), rng.normal(size=6)
    e = 1e-4
    loop = move(move(move(move(np.array([1.0, 0, 0, 0, 0, 0, 0]), e * a), e * b), -e * a), -e * b)
    found = difference(np.array([1.0, 0, 0, 0, 0, 0, 0]), loop) / e**2
    np.testing.assert_allclose(found, np.array(bracket(a)) @ b, atol=1e-3)
