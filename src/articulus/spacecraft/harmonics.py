"""The potential of spherical harmonics of any degree, without a singularity at the poles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import casadi as ca
from casadi import SX

Coefficients = Sequence[tuple[int, int, float, float]]
"""Rows of degree n, order m, C and S, fully normalized."""


def potential(p: SX, radius: float, rows: Coefficients) -> SX:
    """Return sum_nm (C_nm V_nm + S_nm W_nm), of a position in the axes of the body, (3,) [m].

    V_nm and W_nm are (R/r)^(n+1) P_nm(sin latitude) times cos and sin of m longitudes, fully normalized. Times mu / R it is the
    potential of gravity (its gradient the acceleration), times R that of the magnetic field of Gauss coefficients.
    The recursion is that of Cunningham, normalized: in Cartesian coordinates, stable and regular at the poles.
    Source: Cunningham 1970; Montenbruck & Gill 2000, section 3.2.4. Cost: about 8 n^2 operations.
    """
    wanted = {(n, m): (c, s) for n, m, c, s in rows if c or s}
    if not wanted:
        return SX(0)
    degree, order = max(n for n, _ in wanted), max(m for _, m in wanted)
    scale = radius / (p[0] ** 2 + p[1] ** 2 + p[2] ** 2)
    x, y, z, shrink = p[0] * scale, p[1] * scale, p[2] * scale, radius * scale
    V, W = ca.sqrt(shrink), SX(0)
    total = SX(0)
    for m in range(order + 1):
        if m:
            f = math.sqrt(3.0) if m == 1 else math.sqrt((2 * m + 1) / (2 * m))
            V, W = f * (x * V - y * W), f * (x * W + y * V)
        before: tuple[Any, Any] = (SX(0), SX(0))
        here: tuple[Any, Any] = (V, W)
        for n in range(m, degree + 1):
            if n > m:
                a = math.sqrt((2 * n - 1) * (2 * n + 1) / ((n - m) * (n + m)))
                b = 0.0
                if n > m + 1:
                    b = math.sqrt((2 * n + 1) * (n + m - 1) * (n - m - 1) / ((n - m) * (n + m) * (2 * n - 3)))
                here, before = (
                    (a * z * here[0] - b * shrink * before[0], a * z * here[1] - b * shrink * before[1]),
                    here,
                )
            if (n, m) in wanted:
                C, S = wanted[n, m]
                total += C * here[0] + S * here[1]
    return total


def from_schmidt(n: int, value: float) -> float:
    """Return a coefficient of Schmidt's normalization, as magnetic fields have it, in full normalization."""
    return value / math.sqrt(2 * n + 1)


def from_unnormalized(n: int, m: int, value: float) -> float:
    """Return a coefficient without normalization, such as -J2, in full normalization."""
    factorial = math.exp(math.lgamma(n - m + 1) - math.lgamma(n + m + 1))
    return value / math.sqrt((2 - (m == 0)) * (2 * n + 1) * factorial)
