"""What every way of closing loops starts from and gives."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.constraints import Constraints


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


def solve(A: SX, b: SX) -> SX:
    """Return A^-1 b for a symmetric positive definite A; zeros stay zeros (fill-reducing L D L')."""
    return Factored(A).solve(b)


class Factored:
    """A symmetric positive definite matrix as L D L', rows exchanged so that few zeros fill."""

    def __init__(self, A: SX):
        self._factors = ca.ldl(ca.sparsify(A), True)

    def solve(self, b: SX) -> SX:
        """Return A^-1 b."""
        return ca.ldl_solve(ca.densify(b), *self._factors)
