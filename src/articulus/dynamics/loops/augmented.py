"""Augmented Lagrangian form of acceleration, ALF1: goes through singular positions, accepts redundant constraints."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.loops.base import (
    ConstraintProblem,
    ConstraintSolution,
    Factorization,
    stabilized_residual,
    weights,
)


def augmented(
    problem: ConstraintProblem,
    penalty: SX | float,
    frequency: SX | float = 0.0,
    damping: SX | float = 1.0,
    iterations: int = 3,
    active: SX | float = 1.0,
) -> ConstraintSolution:
    """Return vdot and multipliers after a fixed number of iterations.

    (M + G' a G) vdot_{i+1} = M vdot_i - G' a (gamma + 2 w mu (G v + g_t) + w^2 g),   M vdot_0 = f
    lambda_{i+1} = lambda_i + a (G vdot_{i+1} + gamma + 2 w mu (G v + g_t) + w^2 g)

    The matrix is positive definite whatever the rank of G, and also where M is so only on the motions that G allows.
    Rounding grows with the penalty: about 1e-16 a over the mass. Where M has an inverse, `regularized` gives the
    same iterates without that.

    Parameters
    ----------
    problem : Problem
    penalty, frequency, damping : numbers or (m,)
        a [1/unit of M], w [rad/s] and mu [-] of the stabilized constraints.
    iterations : int
        One is the generic penalty method.
    active : number or (m,)
        1 where a row holds, 0 where it is switched off.

    Source: Bayo & Avello 1994, equations 26 and 27. Cost: one factorization, then one substitution an iteration.
    """
    c = problem.constraints
    a = weights(c, penalty, active)
    return augmented_solve(
        problem.M, c.G, problem.f, stabilized_residual(c, frequency, damping), a, iterations
    )


def augmented_solve(M: SX, G: SX, b: SX, wanted: SX, a: SX, iterations: int) -> ConstraintSolution:
    """Return x and multipliers of M x + G' lambda = b, G x + wanted = 0, by iteration with the penalties a, (m,).

    M x_i = (M + G' a G) x_i - G' a G x_i turns the printed iteration into corrections, which round less:
    x_{i+1} = x_i - (M + G' a G)^-1 G' r_i,  r_i = a (G x_i + wanted).
    """
    weighted = ca.mtimes(ca.diag(a), G)
    matrix = Factorization(M + ca.mtimes(G.T, weighted))
    x = matrix.solve(b - ca.mtimes(weighted.T, wanted))
    residual = a * (ca.mtimes(G, x) + wanted)
    multipliers = residual
    for _ in range(iterations - 1):
        x = x - matrix.solve(ca.mtimes(G.T, residual))
        residual = a * (ca.mtimes(G, x) + wanted)
        multipliers = multipliers + residual
    return ConstraintSolution(x, multipliers)
