"""Mass matrix, bias and constraint rows of one mechanism on the same symbols: what the forms of closed loops start from."""

from __future__ import annotations

import functools

import casadi as ca
from casadi import SX

from articulus.dynamics.constraints import Constraints, constraints
from articulus.dynamics.coupled import Coupled
from articulus.dynamics.external import External
from articulus.dynamics.quantities import Question, equations, stored_energy
from articulus.dynamics.tree import Tree, tree_of
from articulus.model.mechanism import Description


class ClosedEquations:
    """The equations M vdot + bias + G' lambda = tau, G vdot + gamma = 0 on symbols, zeros kept.

    Parameters
    ----------
    description : Description
    t : SX
        Symbol of the time [s].
    """

    def __init__(self, description: Description, t: SX):
        self._description, self.t = description, t

    @functools.cached_property
    def tree(self) -> Tree:
        """The mechanism with all loops cut."""
        return tree_of(self._description, regroup=True)

    @functools.cached_property
    def symbols(self) -> Tree | Coupled:
        """Whose q, v and p everything is written on: those of the tree, or of the independent joints where others follow."""
        return Coupled(self._description) if self._description.couplings else self.tree

    @functools.cached_property
    def free(self) -> tuple[SX, SX]:
        """The mass matrix and the bias without wrenches."""
        return self.equations({})

    def equations(self, external: External) -> tuple[SX, SX]:
        """Return the mass matrix and the bias, from which external wrenches are taken off."""
        M, bias = self._here(*equations(Question(self.tree, {"v": self.tree.v}, (), external)))
        if not isinstance(self.symbols, Coupled):
            return M, bias
        T = self.symbols.T
        whole = ca.triu2symm(ca.triu(ca.mtimes([T.T, M, T])))
        return ca.sparsify(whole), ca.mtimes(T.T, bias + ca.mtimes(M, self.symbols.convective_acceleration))

    @functools.cached_property
    def rows(self) -> Constraints:
        """All constraint rows."""
        tree = constraints(self.tree, self.tree.v, self.t)
        if not isinstance(self.symbols, Coupled):
            return tree
        g, G, rate, gamma = self._here(tree.g, tree.G, tree.rate, tree.gamma)
        reduced = ca.sparsify(ca.mtimes(G, self.symbols.T))
        return Constraints(g, reduced, rate, gamma + ca.mtimes(G, self.symbols.convective_acceleration))

    def energy(self) -> SX:
        """Return kinetic and potential energy together [J]."""
        tree = self.tree
        return self._here(stored_energy(Question(tree, {"q": tree.q, "v": tree.v}, (), {})))[0]

    def _here(self, *expressions: SX) -> list[SX]:
        """Return expressions of the tree at the positions and velocities of all joints."""
        tree, m = self.tree, self.symbols
        if not isinstance(m, Coupled):
            return list(expressions)
        of_tree = ca.vertcat(tree.q, tree.v, tree.p)
        here = ca.vertcat(m.positions, ca.mtimes(m.T, m.v), m.p[: tree.p.numel()])
        return [SX(x) for x in ca.substitute(list(expressions), [of_tree], [ca.densify(here)])]
