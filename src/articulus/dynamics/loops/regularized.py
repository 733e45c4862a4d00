"""The iterates of ALF1 from the multipliers' side: as robust, and free of the rounding that a penalty brings."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.loops.base import ConstraintProblem, ConstraintSolution, stabilized_residual, weights
from articulus.dynamics.loops.schur import Schur


def regularized_dynamics(
    problem: ConstraintProblem,
    penalty: SX | float,
    frequency: SX | float = 0.0,
    damping: SX | float = 1.0,
    iterations: int = 1,
    active: SX | float = 1.0,
) -> ConstraintSolution:
    """Return vdot and multipliers after a fixed number of iterations, equal to those of `augmented`.

    (G M^-1 G' + 1/a) dlambda = G vdot_i + gamma + 2 w mu (G v + g_t) + w^2 g,   M vdot_0 = f
    lambda_{i+1} = lambda_i + dlambda,   vdot_{i+1} = vdot_i - M^-1 G' dlambda

    By the matrix identity of Woodbury this is ALF1. The matrix is positive definite whatever the rank of G; no number
    of the size of the penalty meets one of the size of the masses, so that a may be as large as one likes.

    Parameters
    ----------
    problem : Problem
        With a positive definite M.
    penalty, frequency, damping : numbers or (m,)
        a [1/unit of M], w [rad/s] and mu [-] of the stabilized constraints.
    iterations : int
        Each divides the error by about penalty times G M^-1 G'; one is enough with a large penalty.
    active : number or (m,)
        1 where a row holds, 0 where it is switched off.

    Source: Bayo & Avello 1994, equations 26 and 27, transformed.
    """
    c = problem.constraints
    on = weights(c, 1.0, active)
    G = ca.mtimes(ca.diag(on), c.G)
    compliance = 1 / (penalty * SX.ones(on.shape))
    return regularized_solve(
        problem.M, G, problem.f, on * stabilized_residual(c, frequency, damping), compliance, iterations
    )


def regularized_solve(M: SX, G: SX, b: SX, wanted: SX, compliance: SX, iterations: int) -> ConstraintSolution:
    """Return x and multipliers of M x + G' lambda = b, G x + wanted = 0, by iteration with compliances, (m,).

    What is left of G x + wanted after an iteration is compliance times its dlambda: a further one costs two
    substitutions, and M^-1 is applied to the sum.
    """
    schur = Schur(M, G, compliance)
    x = schur.free(b)
    multipliers = step = schur.multipliers(ca.mtimes(G, x) + wanted)
    for _ in range(iterations - 1):
        step = schur.multipliers(compliance * step)
        multipliers = multipliers + step
    return ConstraintSolution(x - schur.response(multipliers), multipliers)
