"""Lagrange multipliers with Baumgarte's stabilization: the joint-coordinate equations of index 1."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.loops.base import ConstraintProblem, ConstraintSolution, stabilized_residual
from articulus.dynamics.loops.schur import Schur


def lagrange(
    problem: ConstraintProblem, frequency: SX | float = 0.0, damping: SX | float = 1.0
) -> ConstraintSolution:
    """Return vdot and multipliers of

    [ M  G' ] [ vdot   ]   [ f                                      ]
    [ G  0  ] [ lambda ] = [ -(gamma + 2 w mu (G v + g_t) + w^2 g)  ]

    by (G M^-1 G') lambda = G M^-1 f + gamma + ... . Exact but for rounding. A row that depends on earlier ones, such as
    the three rows of a planar loop that keep it in its plane, is omitted (multiplier 0). Near a singular position, where
    a row is about to become dependent, the result is inaccurate: use `regularized`.

    Parameters
    ----------
    problem : Problem
    frequency, damping : numbers or (m,)
        w [rad/s] and mu [-] of the stabilized constraints.

    Source: Nikravesh, Gim, Arabyan & Rein 1989, equations 11-14 (nu = -lambda); Bayo & Avello 1994, equation 4.
    """
    c = problem.constraints
    schur = Schur(problem.M, c.G)
    free = schur.free(problem.f)
    multipliers = schur.multipliers(ca.mtimes(c.G, free) + stabilized_residual(c, frequency, damping))
    return ConstraintSolution(free - schur.response(multipliers), multipliers)
