"""Rotation matrices of axes, angles and quaternions; `R_AB` takes components in B to components in A."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.spatial.vector import skew

ROUND_OFF = 5e-16
"""Entries of a constant rotation this near to 0, 1 or -1 are meant to be exactly that."""


def exact(matrix: np.ndarray) -> np.ndarray:
    """Return a constant array with entries within round-off of -1, 0 and 1 made exact.

    cos(pi/2) is 6e-17 in floating point; as an exact zero it lets the symbols cancel.
    """
    nearest = np.round(matrix)
    unit = (np.abs(matrix - nearest) <= ROUND_OFF) & (np.abs(nearest) <= 1)
    return np.where(unit, nearest, matrix) + 0.0


def axis_angle(axis: Sequence[float] | SX, sine: SX, cosine: SX) -> SX:
    """Return the rotation about a unit axis by the angle of the given sine and cosine (Rodrigues)."""
    a = SX(ca.DM(list(axis))) if not isinstance(axis, SX) else axis
    return cosine * SX.eye(3) + sine * skew(a) + (1 - cosine) * ca.mtimes(a, a.T)


OFF_PLANE = ((1, 2, 3, 6), (1, 3, 5, 7), (2, 5, 6, 7))
"""Of a rotation about each coordinate axis: where its zeros are, counted by columns."""


def plane_turn(R: SX) -> tuple[int, SX, SX] | None:
    """Return axis, cosine and sine of a rotation about a coordinate axis; None for any other.

    None also for quarter turns, which only exchange components.
    """
    entries: list[Any] = ca.densify(R).nonzeros()
    for k, off in enumerate(OFF_PLANE):
        if entries[4 * k].is_one() and all(entries[i].is_zero() for i in off):
            i, j = (k + 1) % 3, (k + 2) % 3
            c, s = entries[4 * i], entries[j + 3 * i]
            return None if c.is_zero() or s.is_zero() else (k, c, s)
    return None


def turn_vector(R: SX, v: SX) -> SX:
    """Return R v; a constant turn about a coordinate axis as three shears, which save one product in four (see `shears`)."""
    found = plane_turn(R) if R.is_constant() else None
    if found is None or any(v[(found[0] + 1 + n) % 3].is_zero() for n in range(2)):
        return ca.mtimes(R, v)
    axis, cosine, sine = found
    quarters, *factors = shears(cosine, sine)
    return _sheared_vector(axis, quarters)(v, *factors)


def shears(cosine: SX, sine: SX) -> tuple[int, float, float]:
    """Return a constant turn as quarter turns (0, 1 or -1) and the tangent of half the angle that is left, below 1, and its sine."""
    c, s = float(cosine), float(sine)
    quarters = 0 if c > 0 else 1 if s > 0 else -1
    if quarters:
        c, s = quarters * s, -quarters * c
    return quarters, s / (1 + c), s


def shear(y: SX, z: SX, quarters: int, t: SX, s: SX) -> tuple[SX, SX]:
    """Return two components turned in their plane: y1 = y - t z, z' = z + s y1, y' = y1 - t z' (Paeth 1986)."""
    y, z = {0: (y, z), 1: (-z, y), -1: (z, -y)}[quarters]
    first = y - t * z
    second = z + s * first
    return first - t * second, second


@functools.cache
def _sheared_vector(axis: int, quarters: int) -> ca.Function:
    v, t, s = SX.sym("v", 3), SX.sym("t"), SX.sym("s")
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out = SX(v)
    out[i], out[j] = shear(v[i], v[j], quarters, t, s)
    return ca.Function("shear", [v, t, s], [out])


def rpy_matrix(rpy: SX) -> SX:
    """Return the rotation by roll, pitch, yaw about the fixed axes x, y, z: Rz(yaw) Ry(pitch) Rx(roll)."""
    s, c = [ca.sin(rpy[i]) for i in range(3)], [ca.cos(rpy[i]) for i in range(3)]
    return ca.blockcat(
        [
            [c[2] * c[1], c[2] * s[1] * s[0] - s[2] * c[0], c[2] * s[1] * c[0] + s[2] * s[0]],
            [s[2] * c[1], s[2] * s[1] * s[0] + c[2] * c[0], s[2] * s[1] * c[0] - c[2] * s[0]],
            [-s[1], c[1] * s[0], c[1] * c[0]],
        ]
    )


def quaternion_matrix(quaternion: SX) -> SX:
    """Return the rotation of a quaternion (w, x, y, z); any norm but zero gives a proper rotation."""
    w, u = quaternion[0], quaternion[1:4]
    scale = 2 / ca.sumsqr(quaternion)
    U = skew(u)
    return SX.eye(3) + scale * (w * U + ca.mtimes(U, U))


def matrix_quaternion(R: SX) -> SX:
    """Return the unit quaternion (w, x, y, z), of either sign, of a rotation matrix: `quaternion_of_rotation` on symbols."""
    a, b, c = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    d, e, f = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    x, y, z = R[0, 0], R[1, 1], R[2, 2]
    ways = [
        ca.vertcat(1 + x + y + z, a, b, c),
        ca.vertcat(a, 1 + x - y - z, d, e),
        ca.vertcat(b, d, 1 - x + y - z, f),
        ca.vertcat(c, e, f, 1 - x - y + z),
    ]
    found = ways[0]
    for k in range(1, 4):  # that with the largest entry of its own
        found = ca.if_else(ways[k][k] > ca.mmax(ca.vertcat(*(ways[j][j] for j in range(k)))), ways[k], found)
    return found / ca.norm_2(found)


def quaternion_product(a: SX, b: SX) -> SX:
    """Return the quaternion product a b (rotation b first, seen from a's frame)."""
    w = a[0] * b[0] - ca.dot(a[1:4], b[1:4])
    u = a[0] * b[1:4] + b[0] * a[1:4] + ca.cross(a[1:4], b[1:4])
    return ca.vertcat(w, u)


def quaternion_rate(quaternion: SX, w: SX) -> SX:
    """Return d(quaternion)/dt for the angular velocity `w` in the turning frame."""
    return 0.5 * quaternion_product(quaternion, ca.vertcat(0, w))


def frame_with_z(axis: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return a constant rotation whose third column is the unit vector `axis`.

    For the coordinate axes it is a signed permutation, so that no symbol is lost to round-off.
    """
    z = np.asarray(axis, dtype=float)
    helper = np.roll(np.eye(3)[np.argmax(np.abs(z))], 1)
    x = helper - z * (z @ helper)
    x /= np.linalg.norm(x)
    return exact(np.column_stack([x, np.cross(z, x), z]))


def cayley(theta: SX) -> tuple[SX, SX]:
    """Return the rotation of a small rotation vector, and the map from its rate to the angular velocity in child axes.

    R = I + 2 (C + C^2) / (1 + c'c) with c = theta / 2, C = c x; w = (I - C) theta' / (1 + c'c). It is the rotation by theta up
    to terms of third order, orthogonal and with the exact rate for any theta, and has no root that vanishes at zero.
    """
    c = theta / 2
    C, scale = skew(c), 1 / (1 + ca.dot(c, c))
    return SX.eye(3) + 2 * scale * (C + ca.mtimes(C, C)), scale * (SX.eye(3) - C)
