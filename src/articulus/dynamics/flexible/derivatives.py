"""Derivatives of the dynamics of mechanisms with flexible bodies, and the inverse mass matrix, at given forces.

Everything comes from the columns of the derivatives of inverse dynamics: the mass matrix, and the acceleration at which the derivatives
are taken. Inertia forces are quadratic in the velocities v, so that at zero acceleration they are 1/2 (d tau/d v) v; a mechanism
at rest takes of gravity g what its momentum for unit rates has along -g.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.inverse_derivatives import Columns, columns, pairs
from articulus.dynamics.loops.factor import Factored
from articulus.dynamics.passes import Inline
from articulus.dynamics.passive import passive_forces, passive_rates
from articulus.dynamics.tree import Tree


def slopes_and_inverse(tree: Tree, tau: SX) -> tuple[SX, SX, SX]:
    """Return d tau/d q and d tau/d v at the acceleration that forces tau give, friction and springs included, and M^-1.

    Parameters
    ----------
    tree : Tree
        For masses and forces.
    tau : SX, (nv,)

    Returns
    -------
    tuple of SX, (nv, nv)
        M^-1 times minus the first two are the derivatives of forward dynamics.
    """
    vdot = SX.sym("vdot", tau.numel())
    found = columns(Inline(tree), tree.v, vdot)
    by_q, by_v, M = pairs(tree, found)
    opposing = _bias(tree, found, by_v) - passive_forces(tree, tree.v)
    position, rate = passive_rates(tree, tree.v)
    inverse = Factored(M).inverse()
    outputs = [by_q - ca.diag(position), by_v - ca.diag(rate), inverse]
    at = ca.Function("at", [tree.q, tree.v, tree.p, vdot], [ca.densify(x) for x in outputs])
    by_q, by_v, inverse = at.call([tree.q, tree.v, tree.p, ca.mtimes(inverse, tau - opposing)])
    return by_q, by_v, inverse


def _bias(tree: Tree, found: Columns, by_v: SX) -> SX:
    """Return inverse dynamics at zero acceleration, (nv,), without friction and springs of the joints.

    Damping of the bodies is linear in the rates: half of it is in the product with `by_v`, half in the elastic forces.
    """
    bias = 0.5 * ca.mtimes(by_v, tree.v) - ca.mtimes(found.row[3:, :].T, tree.gravity)
    for i, node in enumerate(tree.nodes):
        if node.body is not None:
            bias[tree.modal(i)] += node.body.restoring(0.5 * tree.v[tree.modal(i)])
    return bias
