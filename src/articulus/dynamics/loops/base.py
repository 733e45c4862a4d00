"""What every way of closing loops starts from and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.constraints import Constraints
from articulus.dynamics.loops.factor import Factorization, solve

ROW_FLOOR = 1e-8
"""Share of the mobility of all rows that one row has at least [-]."""
ROUNDED = 1e-20
"""Share below which a row's mobility is taken as rounding: 1e-10 in its entries [-]."""


@dataclass(frozen=True)
class ConstraintProblem:
    """M vdot + G' lambda = f with G vdot + gamma = 0.

    Parameters
    ----------
    M : SX, (nv, nv), sparse
        Mass matrix of the tree that is left when all loops are cut.
    f : SX, (nv,)
        Joint forces minus bias of that tree.
    constraints : Constraints
    """

    M: SX
    f: SX
    constraints: Constraints


@dataclass(frozen=True)
class ConstraintSolution:
    """Accelerations and multipliers; -G' lambda are the constraint forces on the joints."""

    vdot: SX
    multipliers: SX


def stabilized_residual(c: Constraints, frequency: SX | float, damping: SX | float) -> SX:
    """Return the acceleration residual at vdot = 0 with Baumgarte's terms, gamma + 2 w mu (G v + g_t) + w^2 g, (m,).

    Parameters
    ----------
    c : Constraints
    frequency, damping : numbers or (m,)
        w [rad/s] and mu [-] with which a violation dies out; w = 0 adds nothing.
    """
    return c.gamma + 2 * frequency * damping * c.rate + frequency**2 * c.g


def weights(c: Constraints, penalty: SX | float, active: SX | float = 1.0) -> SX:
    """Return the penalty of every row, zero where the row is switched off, (m,)."""
    return active * penalty * SX.ones(c.g.shape)


def suggested_penalty(M: np.ndarray, G: np.ndarray, number: float = 1e10) -> np.ndarray:
    """Return a penalty for every row, `number` times the mass that the row feels at one position, (m,).

    The mass is that of the diagonal, 1 / sum_j G_ij^2 / M_jj (see `floor_mobilities`). `number` has no unit: every iteration of an
    augmented form divides the error by about as much.

    Parameters
    ----------
    M : array, (nv, nv)
    G : array, (m, nv)
    number : float [-]
        1e9 to 1e12 for `regularized` and `Projection`; 1e5 to 1e7 for `augmented`, which rounds more with larger
        ones (Bayo & Avello 1994).
    """
    mobility = (np.asarray(G) ** 2 / np.diag(M)).sum(axis=1)
    return number / np.array(floor_mobilities(ca.DM(mobility))).ravel()


def floor_mobilities(mobility: Any) -> Any:
    """Return the mobilities of rows, (m,), such that none is zero: rows that move little or nothing do no harm.

    A row has at least ROW_FLOOR of the mobility of all rows together. One that is but rounding of zero, as the rows out
    of the plane of a plane linkage are, gets all of it: its own rounding would make multipliers of any size.
    """
    total = ca.sum1(mobility)
    return mobility + ca.if_else(mobility > ROUNDED * total, ROW_FLOOR, 1.0) * total + 1e-100


__all__ = [
    "ConstraintProblem",
    "ConstraintSolution",
    "Factorization",
    "solve",
    "stabilized_residual",
    "suggested_penalty",
    "weights",
]
