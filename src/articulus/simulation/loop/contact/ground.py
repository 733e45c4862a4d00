"""Shapes on planes and on ground of varying height: every corner is a ball that meets the surface."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.simulation.loop.contact.cores import Drum, clamp, direction
from articulus.simulation.loop.contact.rims import rim
from articulus.simulation.loop.contact.shapes import HeightField
from articulus.simulation.loop.contact.solid import ContactSolid, Touch, touch


@dataclass(frozen=True)
class Surface:
    """A plane z = 0 of its own axes, placed; or the surface of a height field."""

    R: SX
    o: SX
    field: HeightField | None = None
    margin = SX(0)

    def distance(self, p: SX) -> tuple[SX, SX]:
        """Return the height of a point above the surface, along its normal, and that normal; ground axes."""
        local = ca.mtimes(self.R.T, p - self.o)
        if self.field is None:
            return local[2], self.R[:, 2]
        gap, n = _above(self.field, local, local)
        gap, n = _above(self.field, local, local - gap * n)  # measured from the foot
        return gap, ca.mtimes(self.R, n)


def touches(first: ContactSolid, second: Surface) -> list[Touch]:
    """Return where a solid touches a surface."""
    if isinstance(first.core, Drum):
        centers = rim(first, second)
    else:
        centers = [first.outside(p) for p in first.core.points()]
    return [touch(p, first.margin, second) for p in centers]


def _above(field: HeightField, p: SX, at: SX) -> tuple[SX, SX]:
    """Return the distance of p from the tangent plane of the surface at x and y of `at`, and its normal."""
    c = _coefficients(field)
    spots, weights, slopes = [], [], []
    for axis, (spacing, count) in enumerate(zip(field.spacing, np.array(field.heights).shape)):
        half = (count - 1) / 2 * spacing
        x = clamp(at[axis], -half, half)
        knots = (x + half) / spacing - np.arange(-1, count + 1)
        spots.append(x)
        weights.append(_bell(knots))
        slopes.append(_bell_slope(knots) / spacing * ca.if_else(ca.fabs(at[axis]) > half, 0, 1))
    (wx, wy), (sx, sy) = weights, slopes
    along_y, sloping_y = ca.mtimes(c, wy), ca.mtimes(c, sy)
    h, hx, hy = ca.dot(wx, along_y), ca.dot(sx, along_y), ca.dot(wx, sloping_y)
    n = direction(ca.vertcat(-hx, -hy, 1))
    base = ca.vertcat(at[0], at[1], h)  # beyond the rim the surface goes on level
    return ca.dot(p - base, n), n


def _bell(x: SX) -> SX:
    """Return the cubic B-spline of unit spacing."""
    far, near = ca.fmax(2 - ca.fabs(x), 0), ca.fmax(1 - ca.fabs(x), 0)
    return (far**3 - 4 * near**3) / 6


def _bell_slope(x: SX) -> SX:
    """Return the derivative of `_bell`."""
    far, near = ca.fmax(2 - ca.fabs(x), 0), ca.fmax(1 - ca.fabs(x), 0)
    return -ca.sign(x) * (far**2 - 4 * near**2) / 2


def _coefficients(field: HeightField) -> ca.DM:
    """Return the factors of the B-splines whose sum goes through the heights, (rows + 2, columns + 2)."""
    c = np.array(field.heights)
    for _ in range(2):  # along x, then along y
        c = _spline_factors(c).T
    return ca.DM(c)


def _spline_factors(values: np.ndarray) -> np.ndarray:
    """Return spline factors on uniform knots for each column; the two pieces at each end are one cubic."""
    n = len(values)
    A = np.zeros((n + 2, n + 2))
    for i in range(n):
        A[i, i : i + 3] = np.array([1, 4, 1]) / 6
    A[n, :5] = A[n + 1, -5:] = 1, -4, 6, -4, 1
    return np.linalg.solve(A, np.vstack([values, np.zeros((2, values.shape[1]))]))
