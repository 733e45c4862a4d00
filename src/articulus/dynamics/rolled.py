"""Derivatives and the inverse mass matrix of long mechanisms as graphs of calls: columns by passes, then products."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
from casadi import MX, SX

from articulus.dynamics import forward, linearise, operators
from articulus.dynamics.inverse_matrix import inverse_mass_matrix
from articulus.dynamics.pairs import Pairs, same_joint
from articulus.dynamics.passive import passive_rates
from articulus.dynamics.tree import Tree

if TYPE_CHECKING:
    from articulus.dynamics.quantities import Question


PRODUCTS_FROM = 60
"""Nodes from which matrices are put together from products; up to there their entries are written out, which runs faster
(at 30 nodes by a quarter) and compiles as fast."""


def derivatives(s: Question) -> tuple[MX, MX, MX]:
    """Return d vdot/d q, d vdot/d v and M^-1: -M^-1 times the derivatives of inverse dynamics."""
    vdot, factors = forward.accelerations_and_factors(s.run, s["v"], s["tau"] + s.passive)
    if len(s.tree) < PRODUCTS_FROM:
        inverse_mass = _inverse_mass(s.tree)(*factors)
        by_q, by_v = _written_pairs(s, vdot)
    else:
        inverse_mass = inverse_mass_matrix(s.tree, *factors)
        by_q, by_v, _ = inverse_dynamics_derivatives(s, vdot)
    return -ca.mtimes(inverse_mass, by_q), -ca.mtimes(inverse_mass, by_v), inverse_mass


def _inverse_mass(tree: Tree) -> ca.Function:
    nv = tree.description.nv
    S, K, D_inverse = SX.sym("S", 6, nv), SX.sym("K", 6, nv), SX.sym("D_inverse", nv)
    factors = operators.Factors.of_matrices(S, K, D_inverse, tree)
    return ca.Function("inverse_mass", [S, K, D_inverse], [operators.mass_matrix_inverse(factors)])


def _written_pairs(s: Question, vdot: MX) -> list[MX]:
    """Return d tau/d q and d tau/d v with every entry written out."""
    nv, columns = s.tree.description.nv, linearise.columns(s.run, s["v"], vdot).matrices()
    symbols = [SX.sym("c", *x.shape) for x in columns]
    by_q, by_v, _ = linearise.pairs(s.tree, linearise.Columns(*symbols))
    position, rate = SX.sym("position", nv), SX.sym("rate", nv)
    outputs = [ca.densify(by_q - ca.diag(position)), ca.densify(by_v - ca.diag(rate))]
    written = ca.Function("pairs", [*symbols, position, rate], outputs)
    rates: list = [s.run.expression(ca.densify(x)) for x in passive_rates(s.tree, s.tree.v)]
    return list(written(*columns, *rates))


def inverse_dynamics_derivatives(s: Question, vdot: MX) -> tuple[MX, MX, MX]:
    """Return d tau/d q, d tau/d v and M, friction and springs included."""
    c, pairs = linearise.columns(s.run, s["v"], vdot), Pairs(s.tree)
    position, rate = (s.run.expression(_on_diagonal(s.tree, x)) for x in passive_rates(s.tree, s.tree.v))
    same_q, same_v, same_m = ca.vertsplit(c.same)
    rows = ca.vertcat(c.row, c.row_rate)
    by_q = pairs.matrix((c.S, c.by_q), (ca.vertcat(c.psidd, c.psid), rows), same_q.T - position)
    by_v = pairs.matrix((c.S, c.by_v), (ca.vertcat(c.rate, c.S[:3, :]), rows), same_v.T - rate)
    return by_q, by_v, pairs.matrix((c.S, c.row), (c.S, c.row), same_m.T)


def mass_matrix_inverse(s: Question) -> tuple[MX]:
    """Return M^-1."""
    _, factors = forward.accelerations_and_factors(s.run, s.zero(), s.zero())
    return (inverse_mass_matrix(s.tree, *factors),)


def _on_diagonal(tree: Tree, entries: SX) -> SX:
    """Return entries of the freedoms in the order of `same_joint`."""
    return ca.vertcat(*(entries[a] if a == b else SX(0) for a, b in same_joint(tree)))
