"""Poses: where a frame B is in a frame A, and what that does to motions, forces and inertias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import casadi as ca
from casadi import SX

from articulus.spatial.inertia import ArticulatedInertia, RigidInertia
from articulus.spatial.rotation import turn_vector
from articulus.spatial.vector import Force, Motion, cross, turning

AnyInertia = TypeVar("AnyInertia", RigidInertia, ArticulatedInertia)


@dataclass(frozen=True)
class Transform:
    """Pose X_AB: rotation `R` = R_AB and position `p` of B's origin in A.

    Forces and inertias take constant turns as shears (`turn_vector`). Motions do not: a link waits for that of the link before, and
    a product with the matrix is ready sooner.
    """

    R: SX
    p: SX

    @staticmethod
    def identity() -> Transform:
        return Transform(SX.eye(3), SX.zeros(3))

    def __matmul__(self, other: Transform) -> Transform:
        """Return X_AC = X_AB X_BC."""
        return Transform(ca.mtimes(self.R, other.R), self.p + ca.mtimes(self.R, other.p))

    def inverse(self) -> Transform:
        return Transform(self.R.T, -ca.mtimes(self.R.T, self.p))

    def pack(self) -> SX:
        """Return the twelve numbers R (by columns) and p as a column."""
        return ca.vertcat(ca.vec(self.R), self.p)

    @staticmethod
    def unpack(twelve: SX) -> Transform:
        return Transform(ca.reshape(twelve[:9], 3, 3), twelve[9:])

    def matrix(self) -> SX:
        """Return the 4 x 4 homogeneous matrix."""
        return ca.vertcat(ca.horzcat(self.R, self.p), SX([[0, 0, 0, 1]]))

    def motion_to_parent(self, m: Motion) -> Motion:
        w = ca.mtimes(self.R, m.w)
        return Motion(w, ca.mtimes(self.R, m.v) + cross(self.p, w))

    def motion_to_child(self, m: Motion) -> Motion:
        return Motion(ca.mtimes(self.R.T, m.w), ca.mtimes(self.R.T, m.v - cross(self.p, m.w)))

    def acceleration_to_child(self, a: Motion, w: SX) -> Motion:
        """Return the acceleration of B's origin when A has the acceleration `a` and the angular velocity `w`.

        Accelerations in the everyday sense: second derivative of the origin's position, in the frame's axes.
        """
        v = a.v + ca.mtimes(turning(w, a.w), self.p)
        return Motion(ca.mtimes(self.R.T, a.w), ca.mtimes(self.R.T, v))

    def rotate_to_child(self, w: SX) -> SX:
        """Return the components in B of a vector in A."""
        return ca.mtimes(self.R.T, w)

    def force_to_parent(self, f: Force) -> Force:
        force = turn_vector(self.R, f.f)
        return Force(turn_vector(self.R, f.n) + cross(self.p, force), force)

    def force_to_child(self, f: Force) -> Force:
        return Force(turn_vector(self.R.T, f.n - cross(self.p, f.f)), turn_vector(self.R.T, f.f))

    def inertia_to_parent(self, inertia: AnyInertia) -> AnyInertia:
        return inertia.rotate(self.R).shift(self.p)


@dataclass(frozen=True)
class Product:
    """The pose X_AB X_BC kept as two factors: cheaper to apply when each is sparse."""

    first: Transform
    second: Transform

    def merge(self) -> Transform:
        return self.first @ self.second

    def motion_to_child(self, m: Motion) -> Motion:
        return self.second.motion_to_child(self.first.motion_to_child(m))

    def rotate_to_child(self, w: SX) -> SX:
        return self.second.rotate_to_child(self.first.rotate_to_child(w))

    def acceleration_to_child(self, a: Motion, w: SX) -> Motion:
        between = self.first.acceleration_to_child(a, w)
        return self.second.acceleration_to_child(between, self.first.rotate_to_child(w))

    def motion_to_parent(self, m: Motion) -> Motion:
        return self.first.motion_to_parent(self.second.motion_to_parent(m))

    def force_to_parent(self, f: Force) -> Force:
        return self.first.force_to_parent(self.second.force_to_parent(f))

    def force_to_child(self, f: Force) -> Force:
        return self.second.force_to_child(self.first.force_to_child(f))

    def inertia_to_parent(self, inertia: AnyInertia) -> AnyInertia:
        return self.first.inertia_to_parent(self.second.inertia_to_parent(inertia))
