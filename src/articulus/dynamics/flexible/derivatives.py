"""Derivatives of the dynamics of mechanisms with flexible bodies, and the inverse mass matrix, at given forces; written out.

Everything comes from the columns of the derivatives of inverse dynamics: the mass matrix, and the acceleration at which the derivatives
are taken. Inertia forces are quadratic in the velocities v, so that at zero acceleration they are 1/2 (d tau/d v) v; a mechanism
at rest takes of gravity g what its momentum for unit rates has along -g.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible import elimination
from articulus.dynamics.inverse_derivatives import columns, pairs
from articulus.dynamics.loops.factor import Factorization
from articulus.dynamics.passive import passive_forces, passive_rates
from articulus.dynamics.recursion import Inline
from articulus.dynamics.tree import Tree

Three = tuple[SX, SX, SX]


class WrittenDerivatives:
    """Derivatives at the acceleration that forces tau give, friction and springs included.

    Parameters
    ----------
    tree : Tree
        For masses and forces.
    tau : SX, (nv,)
    """

    def __init__(self, tree: Tree, tau: SX):
        self._tree, self._tau = tree, tau
        self._vdot = SX.sym("vdot", tau.numel())
        self._columns = columns(Inline(tree), tree.v, self._vdot)

    def inverse_dynamics(self) -> Three:
        """Return d tau/d q, d tau/d v and M^-1, (nv, nv): M^-1 times minus the first two are the derivatives of forward dynamics."""
        by_q, by_v, M = pairs(self._tree, self._columns)
        position, rate = passive_rates(self._tree, self._tree.v)
        return self._at_forces(
            (by_q - ca.diag(position), by_v - ca.diag(rate), Factorization(M).inverse()), by_v
        )

    def forward_dynamics(self) -> Three:
        """Return d vdot/d q, d vdot/d v and M^-1, (nv, nv), by `elimination`."""
        _, by_v, _ = pairs(self._tree, self._columns)
        slopes = passive_rates(self._tree, self._tree.v)
        return self._at_forces(elimination.derivatives(self._tree, self._columns, slopes), by_v)

    def eliminates(self) -> bool:
        """Tell whether `forward_dynamics` takes less than `inverse_dynamics` and two products with M^-1.

        That depends on the degrees of freedom n and on the rows r of the motions that are not zero, 3 in a plane and 6 in space. Operations of two
        links in a plane: 7 % more at n = 6, 11 % less at 10, 24 % less at 14; of three links in space 17 % more at n = 12.
        """
        rows = sum(not row.is_zero() for row in ca.vertsplit(self._columns.S))
        return self._tree.description.nv >= rows**2

    def _at_forces(self, outputs: Three, by_v: SX) -> Three:
        """Return outputs, the last of them M^-1, at the acceleration that the forces give."""
        tree = self._tree
        at = ca.Function("at", [tree.q, tree.v, tree.p, self._vdot], [ca.densify(x) for x in outputs])
        accelerating = self._tau - self._bias(by_v) + passive_forces(tree, tree.v)
        by_q, by_v, inverse = at.call([tree.q, tree.v, tree.p, ca.mtimes(outputs[2], accelerating)])
        return by_q, by_v, inverse

    def _bias(self, by_v: SX) -> SX:
        """Return inverse dynamics at zero acceleration, (nv,), without friction and springs of the joints.

        Damping of the bodies is linear in the rates: half of it is in the product with `by_v`, half in the elastic forces.
        """
        tree = self._tree
        bias = 0.5 * ca.mtimes(by_v, tree.v) - ca.mtimes(self._columns.row[3:, :].T, tree.gravity)
        for i, node in enumerate(tree.nodes):
            if node.body is not None:
                bias[tree.modal(i)] += node.body.restoring(0.5 * tree.v[tree.modal(i)])
        return bias
