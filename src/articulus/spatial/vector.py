"""Motion and force vectors: six numbers each, angular part first, and different types on purpose."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
from casadi import SX


def plus(a: SX, b: SX) -> SX:
    """Return a + b. The operator of CasADi tries numbers and other types first, which takes five times as long; so it is for `minus` and `times`."""
    return SX.binary(ca.OP_ADD, a, b)


def minus(a: SX, b: SX) -> SX:
    """Return a - b."""
    return SX.binary(ca.OP_SUB, a, b)


def times(a: SX, b: SX | float) -> SX:
    """Return a b, element by element, where one may be a scalar."""
    return SX.binary(ca.OP_MUL, a, b)


def cross(a: SX, b: SX) -> SX:
    """Return a x b of two 3-vectors."""
    return ca.cross(a, b)


def skew(a: SX) -> SX:
    """Return the 3 x 3 matrix of `a x`."""
    return ca.skew(a)


def turning(w: SX, rate: SX) -> SX:
    """Return the matrix that takes a point of a turning body to its acceleration: w x (w x p) + rate x p."""
    return _turning()(w, rate)


@functools.cache
def _turning() -> ca.Function:
    w, rate = SX.sym("w", 3), SX.sym("rate", 3)
    x, y, z = ca.vertsplit(w)
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    rows = [
        [-(yy + zz), xy - rate[2], xz + rate[1]],
        [xy + rate[2], -(xx + zz), yz - rate[0]],
        [xz - rate[1], yz + rate[0], -(xx + yy)],
    ]
    return ca.Function("turning", [w, rate], [ca.blockcat(rows)])


@dataclass(frozen=True)
class Motion:
    """Spatial velocity or acceleration: angular part `w`, linear part `v` of the frame's origin."""

    w: SX
    v: SX

    @staticmethod
    def zero() -> Motion:
        return Motion(SX.zeros(3), SX.zeros(3))

    @staticmethod
    def of(six: Sequence[float] | SX) -> Motion:
        column = SX(ca.vertcat(six)) if isinstance(six, SX) else SX(ca.DM(list(six)))
        return Motion(column[:3], column[3:])

    def column(self) -> SX:
        return ca.vertcat(self.w, self.v)

    def pack(self) -> SX:
        return self.column()

    @staticmethod
    def unpack(six: SX) -> Motion:
        return Motion(six[:3], six[3:])

    def __add__(self, other: Motion) -> Motion:
        return Motion(plus(self.w, other.w), plus(self.v, other.v))

    def __sub__(self, other: Motion) -> Motion:
        return Motion(minus(self.w, other.w), minus(self.v, other.v))

    def __mul__(self, scale: SX | float) -> Motion:
        return Motion(times(self.w, scale), times(self.v, scale))

    def dot(self, force: Force) -> SX:
        """Return the power of a force along this motion."""
        return plus(ca.dot(self.w, force.n), ca.dot(self.v, force.f))

    def cross(self, other: Motion) -> Motion:
        """Return self x other: the rate of `other` when it is carried along by this motion."""
        return Motion(cross(self.w, other.w), plus(cross(self.w, other.v), cross(self.v, other.w)))

    def cross_force(self, force: Force) -> Force:
        """Return self x* force: the rate of `force` when it is carried along by this motion."""
        return Force(plus(cross(self.w, force.n), cross(self.v, force.f)), cross(self.w, force.f))


@dataclass(frozen=True)
class Force:
    """Wrench or momentum: moment `n` about the frame's origin, force `f`."""

    n: SX
    f: SX

    @staticmethod
    def zero() -> Force:
        return Force(SX.zeros(3), SX.zeros(3))

    @staticmethod
    def of(six: SX) -> Force:
        return Force(six[:3], six[3:])

    def column(self) -> SX:
        return ca.vertcat(self.n, self.f)

    def pack(self) -> SX:
        return self.column()

    @staticmethod
    def unpack(six: SX) -> Force:
        return Force(six[:3], six[3:])

    def __add__(self, other: Force) -> Force:
        return Force(plus(self.n, other.n), plus(self.f, other.f))

    def __sub__(self, other: Force) -> Force:
        return Force(minus(self.n, other.n), minus(self.f, other.f))

    def __mul__(self, scale: SX | float) -> Force:
        return Force(times(self.n, scale), times(self.f, scale))

    def dot(self, motion: Motion) -> SX:
        """Return the power of this force along a motion."""
        return motion.dot(self)
