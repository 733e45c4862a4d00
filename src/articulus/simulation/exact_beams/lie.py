"""Poses as a group, on symbols: logarithm, displacement, and the operators of body motions.

A pose is seven numbers: quaternion (w, x, y, z) and position. Motions are in body axes, angular part first. The series have no
root that vanishes at zero, so that they may be differentiated anywhere.

Source: Sonneville, Cardona & Brüls 2014.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import SX
from scipy.special import zeta

from articulus.spatial.rotation import quaternion_matrix, quaternion_product
from articulus.spatial.vector import cross, skew

ATAN_TERMS = 12
"""Terms of arctan(t)/t for t up to tan(pi/16): rounding."""
EVEN = [2 * float(zeta(2 * k)) / (2 * np.pi) ** (2 * k) for k in range(1, 17)]
"""(1 - (x/2) cot(x/2)) / x^2 = sum_k EVEN[k] x^(2k): to rounding for x up to 2 rad, to 1e-9 for half a turn."""


def ad(motion: SX) -> SX:
    """Return the 6 x 6 matrix of the motion's Lie bracket: ad(a) b = (wa x wb, va x wb + wa x vb)."""
    w, v = skew(motion[:3]), skew(motion[3:])
    return ca.blockcat([[w, SX(3, 3)], [v, w]])


def relative(A: SX, B: SX) -> SX:
    """Return the pose of B as seen from A, A^-1 B."""
    inverse = ca.vertcat(A[0], -A[1:4])
    return ca.vertcat(
        quaternion_product(inverse, B[:4]), ca.mtimes(quaternion_matrix(A[:4]).T, B[4:] - A[4:])
    )


def logarithm(pose: SX) -> SX:
    """Return the constant body motion that leads to a pose in one second; up to half a turn.

    The angle comes from the tangent of a sixteenth of it, by two halvings and a short series. Either sign of the quaternion will do.
    """
    shorter = ca.if_else(pose[0] < 0, -1, 1)
    tangent = shorter * pose[1:4] / (shorter * pose[0] + ca.sqrt(ca.sumsqr(pose[:4])))
    for _ in range(2):
        tangent = tangent / (1 + ca.sqrt(1 + ca.sumsqr(tangent)))
    y = ca.sumsqr(tangent)
    w = 16 * tangent * _horner([(-1) ** k / (2 * k + 1) for k in range(ATAN_TERMS)], y)
    p = pose[4:]
    wp = cross(w, p)
    return ca.vertcat(w, p - wp / 2 + _horner(EVEN, ca.sumsqr(w)) * cross(w, wp))


def logarithm_rates(d: SX) -> tuple[SX, SX]:
    """Return the 6 x 6 matrices D_A, D_B of d' = D_A v_A + D_B v_B, where d is the logarithm of A^-1 B.

    D_B = x / (1 - exp(-x)) = E + x/2 and D_A = -(E - x/2) with x = ad(d); E = (x/2) coth(x/2) = 1 + c2 x^2 + c4 x^4, because the
    eigenvalues of x are those of a rotation, twice each.
    """
    angle = SX.sym("angle2")
    series = _horner(EVEN, angle)
    slope = ca.Function("even", [angle], [series, ca.jacobian(series, angle)])
    square = ca.sumsqr(d[:3])
    c0, c1 = slope(square)
    x = ad(d)
    x2 = ca.mtimes(x, x)
    even = SX.eye(6) + (c0 - c1 * square) * x2 - c1 * ca.mtimes(x2, x2)
    return x / 2 - even, even + x / 2


def displace(pose: SX, motion: SX) -> SX:
    """Return the pose that is reached when the body moves with a constant body motion for one second; any angle."""
    w, v = motion[:3], motion[3:]
    angle = ca.sqrt(ca.fmax(ca.sumsqr(w), 1e-20))
    half = ca.sin(angle / 2) / angle
    turn = ca.vertcat(ca.cos(angle / 2), half * w)
    wv = cross(w, v)
    shift = v + 2 * half**2 * wv + (angle - ca.sin(angle)) / angle**3 * cross(w, wv)
    turned = quaternion_product(pose[:4], turn)
    unit = turned * (1.5 - 0.5 * ca.sumsqr(turned))
    return ca.vertcat(unit, pose[4:] + ca.mtimes(quaternion_matrix(pose[:4]), shift))


def _horner(coefficients: list[float], x: SX) -> SX:
    total = SX(coefficients[-1])
    for each in reversed(coefficients[:-1]):
        total = each + x * total
    return total
