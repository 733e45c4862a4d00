"""The mass matrix as M = L D L', L unit upper triangular: degrees of freedom are eliminated from the tips to the base."""

from __future__ import annotations

import casadi as ca
from casadi import SX


def mass_matrix_factors(M: SX) -> tuple[SX, SX, SX]:
    """Return L, (nv, nv), D, (nv,), and L^-1, (nv, nv).

    With the degrees of freedom in the order of the tree no zero fills: L has the pattern of the paths to the ground, and for rigid
    bodies it is the factor I + H phi K of the operator form (`dynamics.operators`).
    """
    n = M.shape[0]
    rest, L, D = SX(ca.sparsify(M)), SX.eye(n), SX.zeros(n)
    for k in reversed(range(n)):
        D[k] = rest[k, k]
        column = rest[:k, k] / D[k]
        L[:k, k] = column
        rest[:k, :k] = rest[:k, :k] - ca.mtimes(column, rest[k, :k])
    return ca.densify(L), D, ca.densify(_inverse(L))


def _inverse(L: SX) -> SX:
    """Return the inverse of a unit upper triangular matrix."""
    out = SX.eye(L.shape[0])
    for k in range(L.shape[0]):
        out[:k, k] = -ca.mtimes(out[:k, :k], L[:k, k])
    return out
