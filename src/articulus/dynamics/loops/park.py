"""Multipliers by stabilized penalty: no parameters to tune, no trouble with redundant rows."""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics.loops.base import ConstraintSolution, solve


def penalty_multipliers(
    M_inverse: SX, G: SX, free: SX, rate: SX, before: SX, softness: Any, step: Any
) -> ConstraintSolution:
    """Return vdot and multipliers in the middle of a step.

    The constraint g = 0 is replaced by lambda = g / eps and differentiated, eps lambdadot = G v + g_t. With the
    mid-point rule over half a step d = h/2, at which the velocity is v + d vdot:

        (eps I + d^2 G M^-1 G') lambda = eps lambda_before + d (G v + g_t) + d^2 G vdot_free
        vdot = vdot_free - M^-1 G' lambda

    The matrix is positive definite whatever the rank of G. At the end of the step the multipliers are
    2 lambda - lambda_before.

    Parameters
    ----------
    M_inverse : SX, (nv, nv)
        Inverse of the mass matrix.
    G : SX, (m, nv)
        Constraint Jacobian in the middle of the step.
    free : SX, (nv,)
        Accelerations that applied and gyroscopic forces would give without constraints.
    rate : SX, (m,)
        Constraint rates with the velocity at the beginning of the step.
    before : SX, (m,)
        Multipliers at the beginning.
    softness : number or (m,)
        eps; rows are violated by about eps lambda.
    step : number [s]
        h.

    Source: Park 1993, equations 9.11 to 9.15.
    """
    d = step / 2
    eps = softness * SX.ones(before.shape)
    pulled = ca.mtimes(M_inverse, G.T)
    matrix = ca.diag(eps) + d**2 * ca.mtimes(G, pulled)
    multipliers = solve(matrix, eps * before + d * rate + d**2 * ca.mtimes(G, free))
    return ConstraintSolution(free - ca.mtimes(pulled, multipliers), multipliers)
