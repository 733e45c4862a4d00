"""A ball joint."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.model.mechanism.joint.base import Joint
from articulus.spatial import Motion, Transform, quaternion_matrix, quaternion_product, quaternion_rate


@dataclass(frozen=True)
class Spherical(Joint):
    """Any rotation; q = quaternion (w, x, y, z), v = angular velocity in the child's axes."""

    type_name = "spherical"
    nq = 4
    nv = 3
    coordinate_names = ("qw", "qx", "qy", "qz")
    velocity_names = ("wx", "wy", "wz")
    rotational = (True, True, True)
    closure_names = ("x", "y", "z")

    def transform(self, q: SX) -> Transform:
        return Transform(quaternion_matrix(q), SX.zeros(3))

    def motion_subspace(self) -> list[Motion]:
        return [Motion(SX(ca.DM(np.eye(3)[i])), SX.zeros(3)) for i in range(3)]

    def position_rate(self, q: SX, v: SX) -> SX:
        return quaternion_rate(q, v)

    def integrate(self, q: SX, step: SX) -> SX:
        return quaternion_product(q, quaternion_exponential(step))

    def neutral(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def difference(self, start: SX, end: SX) -> SX:
        return rotation_between(start, end)

    def step_between(self, start: SX, end: SX) -> SX:
        return quaternion_logarithm(turn_between(start, end))

    def closure(self, X: Transform) -> SX:
        return X.p


def rotation_between(start: SX, end: SX) -> SX:
    """Return 2 tan(angle/2) times the axis of the rotation that leads from one quaternion to another."""
    turn = turn_between(start, end)
    return 2 * turn[1:4] / turn[0]


def turn_between(start: SX, end: SX) -> SX:
    """Return the quaternion of the rotation that leads from one quaternion to another, in the axes of the first."""
    return quaternion_product(ca.vertcat(start[0], -start[1:4]), end[:4])


def quaternion_logarithm(quaternion: SX) -> SX:
    """Return the rotation vector of a quaternion of any norm, at most pi long; a power series takes over near zero."""
    w, u = ca.fabs(quaternion[0]), ca.if_else(quaternion[0] < 0, -1, 1) * quaternion[1:4]
    square = ca.dot(u, u)
    small = square < 1e-6 * w**2
    sine = ca.sqrt(ca.if_else(small, 1.0, square))
    ratio = ca.if_else(small, square / w**2, 0.0)
    series = 2 * (1 - ratio / 3 * (1 - 0.6 * ratio)) / ca.if_else(small, w, 1.0)
    return u * ca.if_else(small, series, 2 * ca.atan2(sine, w) / sine)


def quaternion_exponential(rotation_vector: SX) -> SX:
    """Return the unit quaternion of a rotation vector; a power series takes over near zero."""
    square = ca.dot(rotation_vector, rotation_vector)
    small = square < 1e-6
    half = ca.sqrt(ca.if_else(small, 1.0, square)) / 2
    series_cos = 1 - square / 8 * (1 - square / 48)
    series_sinc = 0.5 - square / 48 * (1 - square / 80)
    return ca.vertcat(
        ca.if_else(small, series_cos, ca.cos(half)),
        rotation_vector * ca.if_else(small, series_sinc, ca.sin(half) / (2 * half)),
    )
