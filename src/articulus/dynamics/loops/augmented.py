"""Augmented Lagrangian form of acceleration, ALF1: goes through singular positions, accepts redundant constraints."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.loops.base import Factored, Problem, Solution


def augmented(
    problem: Problem,
    penalty: SX | float,
    frequency: SX | float = 0.0,
    damping: SX | float = 1.0,
    iterations: int = 3,
    active: SX | float = 1.0,
) -> Solution:
    """Return vdot and multipliers after a fixed number of iterations.

    (M + G' a G) vdot_{i+1} = M vdot_i - G' a (gamma + 2 w mu (G v + g_t) + w^2 g),   M vdot_0 = f
    lambda_{i+1} = lambda_i + a (G vdot_{i+1} + gamma + 2 w mu (G v + g_t) + w^2 g)

    One iteration is the generic penalty method. The matrix is positive definite whatever the rank of G.

    Parameters
    ----------
    problem : Problem
    penalty, frequency, damping : numbers or (m,)
        a [1/unit of M], w [rad/s] and mu [-] of the stabilised constraints.
    iterations : int
    active : number or (m,)
        1 where a row holds, 0 where it is switched off.

    Source: Bayo & Avello 1994, equations 26 and 27.
    """
    c, M = problem.constraints, problem.M
    a = active * penalty * SX.ones(c.g.shape)
    weighted = ca.mtimes(ca.diag(a), c.G)
    matrix = Factored(M + ca.mtimes(c.G.T, weighted))
    wanted = c.gamma + 2 * frequency * damping * c.rate + frequency**2 * c.g
    pull = ca.mtimes(weighted.T, wanted)
    right, multipliers = problem.f, SX.zeros(c.g.shape)
    for i in range(iterations):
        vdot = matrix.solve(right - pull)
        multipliers = multipliers + a * (ca.mtimes(c.G, vdot) + wanted)
        if i + 1 < iterations:
            right = ca.mtimes(M, vdot)
    return Solution(vdot, multipliers)
