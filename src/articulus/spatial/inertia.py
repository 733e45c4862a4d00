"""Spatial inertia of a rigid body and of an articulated body, about the origin of their frame."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.spatial.rotation import plane_turn, shear, shears, turn_vector
from articulus.spatial.vector import Force, Motion, cross, skew, turning


def symmetric(upper: SX) -> SX:
    """Return the symmetric 3 x 3 matrix with the upper triangle of `upper`."""
    return ca.triu2symm(ca.triu(upper))


def turn(a: SX, R: SX) -> SX:
    """Return R a R', the components of a 3 x 3 matrix in other axes.

    A turn in the plane of x and y leaves the sum of the diagonal there as it is: with t = s (xx - yy) + c (xy + yx) the entries
    become xx - s t, yy + s t, c t - yx, c t - xy. Half of the products of the general form.
    """
    found = plane_turn(R)
    if found is None:
        return ca.mtimes(R, ca.mtimes(a, R.T))
    axis, c, s = found
    if not R.is_constant():
        return _plane_turned(axis)(a, c, s, 0, 0)
    quarters, *factors = shears(c, s)
    return _plane_turned(axis, quarters)(a, c, s, *factors)


@functools.cache
def _plane_turned(k: int, quarters: int | None = None) -> ca.Function:
    """(matrix, cosine, sine, factors of the shears) -> the matrix turned about axis k, rows and columns by shears if the angle is known."""
    a, c, s, t, f = SX.sym("a", 3, 3), SX.sym("c"), SX.sym("s"), SX.sym("t"), SX.sym("f")
    i, j = (k + 1) % 3, (k + 2) % 3

    def pair(y: SX, z: SX) -> tuple[SX, SX]:
        return (c * y - s * z, s * y + c * z) if quarters is None else shear(y, z, quarters, t, f)

    both = s * (a[i, i] - a[j, j]) + c * (a[i, j] + a[j, i])
    less, across = s * both, c * both
    out = SX(a)
    out[i, i], out[j, j] = a[i, i] - less, a[j, j] + less
    out[i, j], out[j, i] = across - a[j, i], across - a[i, j]
    out[i, k], out[j, k] = pair(a[i, k], a[j, k])
    out[k, i], out[k, j] = pair(a[k, i], a[k, j])
    return ca.Function("plane_turned", [a, c, s, t, f], [out])


def upper_triangle(a: SX) -> SX:
    """Return the six numbers of a symmetric 3 x 3 matrix, by rows."""
    return ca.vertcat(a[0, 0], a[0, 1], a[0, 2], a[1, 1], a[1, 2], a[2, 2])


def from_upper_triangle(six: SX) -> SX:
    """Return the symmetric 3 x 3 matrix of six numbers."""
    a = six
    return ca.blockcat([[a[0], a[1], a[2]], [a[1], a[3], a[4]], [a[2], a[4], a[5]]])


def reciprocal(d: SX) -> SX:
    """Return 1/d in a form that CasADi keeps as one division; written as 1/d, every product with it becomes another."""
    return 0.5 / (0.5 * d)


def over(U: Force, d: SX, d_inverse: SX) -> Force:
    """Return U/d by products with 1/d; an entry that is d itself gives exactly 1, so that symbols cancel."""

    def part(u: SX) -> SX:
        exact = [u[i] / d for i in range(3)]
        return ca.vertcat(*(e if e.is_constant() else u[i] * d_inverse for i, e in enumerate(exact)))

    return Force(part(U.n), part(U.f))


def outer(u: SX, w: SX, x: SX, y: SX) -> SX:
    """Return u x'/d for w = u/d and y = x/d, each entry as u y or w x, whichever has the constant factor."""
    return ca.blockcat(
        [[u[i] * y[j] if y[j].is_constant() else w[i] * x[j] for j in range(3)] for i in range(3)]
    )


@functools.cache
def _euler() -> ca.Function:
    """(J, w, w', `turning` of both) -> J w' + w x J w."""
    J, w, rate, U = SX.sym("J", 3, 3), SX.sym("w", 3), SX.sym("rate", 3), SX.sym("U", 3, 3)
    n = [
        J[i, i] * rate[i]
        + (J[k, k] - J[j, j]) * (w[j] * w[k])
        + J[i, k] * U[j, i]
        - J[i, j] * U[k, i]
        + J[j, k] * (w[j] * w[j] - w[k] * w[k])
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    ]
    return ca.Function("euler", [J, w, rate, U], [ca.vertcat(*n)])


@dataclass(frozen=True)
class RigidInertia:
    """Mass `m`, first moment `h` = m c and moment of inertia `J` about the origin."""

    m: SX
    h: SX
    J: SX

    @staticmethod
    def zero() -> RigidInertia:
        return RigidInertia(SX(0), SX.zeros(3), SX.zeros(3, 3))

    @staticmethod
    def about_com(mass: SX, com: SX, inertia: SX) -> RigidInertia:
        """Return the inertia of a body from its moment of inertia about the center of mass."""
        shift = ca.dot(com, com) * SX.eye(3) - ca.mtimes(com, com.T)
        return RigidInertia(mass, mass * com, symmetric(inertia + mass * shift))

    def __add__(self, other: RigidInertia) -> RigidInertia:
        return RigidInertia(self.m + other.m, self.h + other.h, self.J + other.J)

    def __matmul__(self, a: Motion) -> Force:
        """Return the momentum of a velocity: J w + h x v, m v - h x w."""
        return Force(ca.mtimes(self.J, a.w) + cross(self.h, a.v), self.m * a.v - cross(self.h, a.w))

    def driving_force(self, a: Motion, w: SX) -> Force:
        """Return the force that gives the acceleration `a` of the origin at the angular velocity `w` (Newton and Euler).

        h x v + J w' + w x J w and m v + w' x h + w x (w x h), with the products of w computed once (Khalil & Kleinfinger 1987).
        """
        U = turning(w, a.w)
        n = _euler()(self.J, w, a.w, U)
        return Force(cross(self.h, a.v) + n, self.m * a.v + ca.mtimes(U, self.h))

    def rotate(self, R: SX) -> RigidInertia:
        return RigidInertia(self.m, turn_vector(R, self.h), symmetric(turn(self.J, R)))

    def shift(self, p: SX) -> RigidInertia:
        """Return the inertia about a point from which this frame's origin is at `p`."""
        k = 2 * self.h + self.m * p
        outer = ca.mtimes(p, k.T)
        J = self.J + ca.dot(p, k) * SX.eye(3) - 0.5 * (outer + outer.T)
        return RigidInertia(self.m, self.h + self.m * p, symmetric(J))

    def pack(self) -> SX:
        """Return the ten numbers m, h, J (upper triangle by rows) as a column."""
        return ca.vertcat(self.m, self.h, upper_triangle(self.J))

    @staticmethod
    def unpack(ten: SX) -> RigidInertia:
        return RigidInertia(ten[0], ten[1:4], from_upper_triangle(ten[4:10]))

    def as_articulated(self) -> ArticulatedInertia:
        return ArticulatedInertia(self.J, skew(self.h), self.m * SX.eye(3))

    def matrix(self) -> SX:
        """Return the 6 x 6 matrix."""
        H = skew(self.h)
        return ca.blockcat([[self.J, H], [H.T, self.m * SX.eye(3)]])


@dataclass(frozen=True)
class ArticulatedInertia:
    """The symmetric 6 x 6 matrix [[J, H], [H', M]] that takes accelerations to forces."""

    J: SX
    H: SX
    M: SX

    def pack(self) -> SX:
        """Return the 21 numbers J and M (upper triangles), H (by columns) as a column."""
        return ca.vertcat(upper_triangle(self.J), upper_triangle(self.M), ca.vec(self.H))

    @staticmethod
    def unpack(numbers: SX) -> ArticulatedInertia:
        return ArticulatedInertia(
            from_upper_triangle(numbers[:6]),
            ca.reshape(numbers[12:21], 3, 3),
            from_upper_triangle(numbers[6:12]),
        )

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.J + other.J, self.H + other.H, self.M + other.M)

    def __matmul__(self, a: Motion) -> Force:
        return Force(
            ca.mtimes(self.J, a.w) + ca.mtimes(self.H, a.v), ca.mtimes(self.H.T, a.w) + ca.mtimes(self.M, a.v)
        )

    def minus_dyad(self, U: Force, W: Force) -> ArticulatedInertia:
        """Return this inertia less U W' = U U'/d, what a free joint direction takes away."""
        return ArticulatedInertia(
            symmetric(self.J - outer(U.n, W.n, U.n, W.n)),
            self.H - outer(U.n, W.n, U.f, W.f),
            symmetric(self.M - outer(U.f, W.f, U.f, W.f)),
        )

    def rotate(self, R: SX) -> ArticulatedInertia:
        return ArticulatedInertia(symmetric(turn(self.J, R)), turn(self.H, R), symmetric(turn(self.M, R)))

    def shift(self, p: SX) -> ArticulatedInertia:
        """Return the inertia about a point from which this frame's origin is at `p`."""
        P = skew(p)
        H = self.H + ca.mtimes(P, self.M)
        J = self.J - ca.mtimes(self.H, P) + ca.mtimes(P, H.T)
        return ArticulatedInertia(symmetric(J), H, self.M)
