"""What every way of closing loops starts from and gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from casadi import SX

from articulus.dynamics.constraints import Constraints
from articulus.dynamics.loops.factor import Factored, solve


@dataclass(frozen=True)
class Problem:
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
class Solution:
    """Accelerations and multipliers; -G' lambda are the constraint forces on the joints."""

    vdot: SX
    multipliers: SX


def stabilised(c: Constraints, frequency: SX | float, damping: SX | float) -> SX:
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

    The mass is that of the diagonal, 1 / sum_j G_ij^2 / M_jj; a row that moves nothing there gets the largest of the
    others. `number` has no unit: every iteration of an augmented form divides the error by about as much.

    Parameters
    ----------
    M : array, (nv, nv)
    G : array, (m, nv)
    number : float [-]
        1e9 to 1e12 for `regularised` and `Projection`; 1e5 to 1e7 for `augmented`, which rounds more with larger
        ones (Bayo & Avello 1994).
    """
    mobility = (np.asarray(G) ** 2 / np.diag(M)).sum(axis=1)
    mass = np.divide(1.0, mobility, out=np.zeros_like(mobility), where=mobility > 0)
    return number * np.where(mobility > 0, mass, mass.max(initial=0.0) or 1.0)


__all__ = ["Factored", "Problem", "Solution", "solve", "stabilised", "suggested_penalty", "weights"]
