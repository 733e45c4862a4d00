"""Forward dynamics of mechanisms with constraints, and how the equations change from state to state."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.constraints import Constraints, by_displacement
from articulus.dynamics.loops import ConstraintProblem, ConstraintSolution, regularized_dynamics
from articulus.dynamics.loops.base import floor_mobilities
from articulus.dynamics.tree import Tree

STIFFNESS = 1e9
"""Penalty of a row over the mass that the row feels [-]."""
ITERATIONS = 3
"""Each divides what is left of the error by about STIFFNESS over the condition number of the constraints.

Measured on 58 random mechanisms with loops of every type, constraints of condition numbers up to 2e6, against 40-digit
solutions of the same equations: accelerations and multipliers within 2e-10 of the largest, half of them within 4e-15."""


def closed_dynamics(problem: ConstraintProblem) -> ConstraintSolution:
    """Return accelerations and multipliers of M vdot + G' lambda = f, G vdot + gamma = 0.

    Redundant rows share their force; at a singular position the rows that cannot be met are met in the sense of least
    squares. Source: Bayo & Avello 1994 (see `loops.regularized`), penalties scaled by the mobility of the rows.
    """
    return regularized_dynamics(problem, STIFFNESS / mobility(problem), iterations=ITERATIONS)


def mobility(problem: ConstraintProblem) -> SX:
    """Return sum_k G_ik^2 / M_kk for every row i, about the acceleration along it by a unit force, (m,) [1/kg, ...]."""
    G = problem.constraints.G
    return floor_mobilities(ca.mtimes(G**2, 1 / ca.diag(problem.M)))


def constraint_derivatives(tree: Tree, c: Constraints, vdot: SX, multipliers: SX) -> tuple[SX, SX, SX, SX]:
    """Return how constraint forces and rows change with displacements and velocities.

    Returns
    -------
    SX, (nv, nv)
        d(G' lambda)/d(displacement) at constant multipliers.
    SX, (m, nv)
        d(G v + g_t)/d(displacement).
    SX, (m, nv)
        d(G vdot + gamma)/d(displacement).
    SX, (m, nv)
        d(G vdot + gamma)/dv.
    """
    force = ca.mtimes(c.G.T, multipliers)
    along = ca.mtimes(c.G, vdot) + c.gamma
    by_position = (by_displacement(tree, x) for x in (force, c.rate, along))
    return (*by_position, ca.jacobian(along, tree.v))  # type: ignore[return-value]
