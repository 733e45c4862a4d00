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
    at = p / radius
    w = 1 / ca.sumsqr(at)
    return ca.sqrt(w) * _polynomial(at, w, rows)


def potential_and_gradient(p: SX, radius: float, rows: Coefficients) -> tuple[SX, SX]:
    """Return `potential` and its gradient, (3,) [1/m], by one quotient and one root, which the rest does not wait for.

    With x = p / R and w = 1 / x^2 it is U = sqrt(w) P(x, w), and its gradient sqrt(w) (P_x - (P + 2 w P_w) w x) / R.
    """
    x, w = SX.sym("x", 3), SX.sym("w")
    P = _polynomial(x, w, rows)
    bracket = ca.gradient(P, x) - (P + 2 * w * ca.gradient(P, w)) * w * x
    at, near = (
        p * (1 / radius),
        radius**2 / ca.sumsqr(p),
    )  # CasADi makes quotients of products with 1 / y, none of those with c / y
    P, bracket = ca.substitute([P, bracket], [x, w], [at, near])
    root = ca.sqrt(near)
    return root * P, (1 / radius) * root * bracket


def _polynomial(p: SX, w: SX, rows: Coefficients) -> SX:
    """Return the potential over sqrt(w), of a position in radii and w = 1 / p^2."""
    wanted = {(n, m): (c, s) for n, m, c, s in rows if c or s}
    if not wanted:
        return SX(0)
    degree, order = max(n for n, _ in wanted), max(m for _, m in wanted)
    x, y, z = p[0] * w, p[1] * w, p[2] * w
    V, W = SX(1), SX(0)
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
                    (a * z * here[0] - b * w * before[0], a * z * here[1] - b * w * before[1]),
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
