"""No joint at all: a body that floats."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.model.mechanism.joint.base import Joint
from articulus.model.mechanism.joint.spherical import (
    quaternion_exponential,
    quaternion_logarithm,
    rotation_between,
    turn_between,
)
from articulus.spatial import (
    Motion,
    Transform,
    cross,
    quaternion_matrix,
    quaternion_product,
    quaternion_rate,
)


@dataclass(frozen=True)
class Free(Joint):
    """All six degrees of freedom.

    q = (qw, qx, qy, qz, x, y, z): quaternion and position of the child in the parent; v = (angular, linear)
    velocity of the child's frame in the child's axes.
    """

    type_name = "free"
    nq = 7
    nv = 6
    coordinate_names = ("qw", "qx", "qy", "qz", "x", "y", "z")
    velocity_names = ("wx", "wy", "wz", "vx", "vy", "vz")
    rotational = (True, True, True, False, False, False)

    def transform(self, q: SX) -> Transform:
        return Transform(quaternion_matrix(q[:4]), q[4:7])

    def motion_subspace(self) -> list[Motion]:
        return [Motion.of(row.tolist()) for row in np.eye(6)]

    def position_rate(self, q: SX, v: SX) -> SX:
        return ca.vertcat(quaternion_rate(q[:4], v[:3]), ca.mtimes(quaternion_matrix(q[:4]), v[3:6]))

    def integrate(self, q: SX, step: SX) -> SX:
        return ca.vertcat(
            quaternion_product(q[:4], quaternion_exponential(step[:3])),
            q[4:7] + ca.mtimes(quaternion_matrix(q[:4]), screw_advance(step[:3], step[3:6])),
        )

    def neutral(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def difference(self, start: SX, end: SX) -> SX:
        return ca.vertcat(rotation_between(start, end), end[4:7] - start[4:7])

    def step_between(self, start: SX, end: SX) -> SX:
        turn = quaternion_logarithm(turn_between(start, end))
        shift = ca.mtimes(quaternion_matrix(start[:4]).T, end[4:7] - start[4:7])
        return ca.vertcat(turn, screw_velocity(turn, shift))


def screw_advance(w: SX, v: SX) -> SX:
    """Return the displacement after one second of a constant body-fixed twist (w, v), in the starting axes."""
    square = ca.dot(w, w)
    small = square < 1e-6
    angle = ca.sqrt(ca.if_else(small, 1.0, square))
    a = ca.if_else(small, 0.5 - square / 24, (1 - ca.cos(angle)) / angle**2)
    b = ca.if_else(small, 1 / 6 - square / 120, (angle - ca.sin(angle)) / angle**3)
    return v + a * cross(w, v) + b * cross(w, cross(w, v))


def screw_velocity(w: SX, shift: SX) -> SX:
    """Return the v of the constant twist (w, v) whose displacement after one second is `shift`; |w| is at most pi."""
    square = ca.dot(w, w)
    small = square < 1e-3
    half = ca.sqrt(ca.if_else(small, 1.0, square)) / 2
    series = 1 / 12 + square / 720 + square**2 / 30240
    c = ca.if_else(small, series, (1 - half * ca.cos(half) / ca.sin(half)) / (4 * half**2))
    return shift - 0.5 * cross(w, shift) + c * cross(w, cross(w, shift))
