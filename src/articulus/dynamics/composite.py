"""Forward dynamics of short mechanisms: mass matrix by composite bodies, factored along the tree.

O(n^3) in general, but the way with the fewest operations up to some ten degrees of freedom (Walker & Orin 1982); the
articulated-body algorithm takes over beyond.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.operators import inward, next_inward
from articulus.dynamics.tree import Tree
from articulus.spatial import reciprocal


def solve_factored(tree: Tree, M: SX, force: SX) -> SX:
    """Return M^-1 force by M = L' D L, which keeps the zeros between branches, (nv,).

    Source: Featherstone 2008, tables 6.3 and 6.4. Cost: O(n d^2) with d the depth of the tree.
    """
    n = tree.description.nv
    chain = next_inward(tree)
    outside_in = sorted(range(n), key=lambda k: len(inward(chain, k)), reverse=True)
    entry = {(k, i): M[k, i] for k in range(n) for i in [k, *inward(chain, k)]}
    x = [force[k] for k in range(n)]
    L: dict[tuple[int, int], SX] = {}
    d_inverse = {}
    for k in outside_in:
        ancestors = inward(chain, k)
        d_inverse[k] = reciprocal(entry[k, k])
        for i in ancestors:
            L[k, i] = entry[k, i] * d_inverse[k]
        for a, i in enumerate(ancestors):
            for j in ancestors[a:]:
                entry[i, j] -= L[k, i] * entry[k, j]
            x[i] -= L[k, i] * x[k]
    for k in reversed(outside_in):
        x[k] *= d_inverse[k]
        for i in reversed(inward(chain, k)):  # the value found last comes last: a shorter wait
            x[k] -= L[k, i] * x[i]
    return ca.vertcat(SX(0, 1), *x)
