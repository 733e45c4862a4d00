"""Constrained equations through the Schur complement G M^-1 G' of the mass matrix."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.loops.factor import Factorization

DEPENDENT = 1e-10
"""Part of the mobility of a constraint row, the other rows held, below which the row counts as dependent on them."""


class Schur:
    """M x + G' lambda = b, G x + wanted = compliance lambda, factored.

    With M = L D L' and Y = L^-1 G' the complement is Y' D^-1 Y + compliance: half the substitutions of M^-1 G'.

    Parameters
    ----------
    M : SX, (n, n)
        Positive definite.
    G : SX, (m, n)
    compliance : SX, (m,), optional
        What a unit multiplier lets a row yield; positive. None for rigid constraints: rows that depend on others then
        get no multiplier.
    """

    def __init__(self, M: SX, G: SX, compliance: SX | None = None):
        self._mass = Factorization(M)
        self._Y = self._mass.forward(ca.sparsify(G.T))
        complement = ca.mtimes(self._Y.T, self._mass.divide_by_pivots(self._Y))
        if compliance is None:
            self._complement = Factorization(complement, DEPENDENT)
        else:
            self._complement = Factorization(complement + ca.diag(compliance))

    def free(self, b: SX) -> SX:
        """Return M^-1 b."""
        return self._mass.solve(b)

    def multipliers(self, residual: SX) -> SX:
        """Return lambda that takes a residual G x + wanted away."""
        return self._complement.solve(residual)

    def response(self, multipliers: SX) -> SX:
        """Return M^-1 G' lambda."""
        return self._mass.backward(ca.mtimes(self._Y, multipliers))
