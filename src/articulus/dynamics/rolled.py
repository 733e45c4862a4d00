"""Derivatives of long mechanisms as a graph of calls: their columns by passes, the pairs of freedoms by two functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
from casadi import MX, SX

from articulus.dynamics import forward, linearise, operators
from articulus.dynamics.passive import passive_rates
from articulus.dynamics.tree import Tree

if TYPE_CHECKING:
    from articulus.dynamics.quantities import Question


def derivatives(s: Question) -> tuple[MX, MX, MX]:
    """Return d vdot/d q, d vdot/d v and M^-1: -M^-1 times the derivatives of inverse dynamics."""
    tree, run, v = s.tree, s.run, s["v"]
    vdot, factors = forward.accelerations_and_factors(run, v, s["tau"] + s.passive)
    inverse_mass = _inverse_mass(tree)(*factors)
    columns = linearise.columns(run, v, vdot)
    rates = [run.expression(ca.densify(x)) for x in passive_rates(tree, tree.v)]
    by_q, by_v = _pairs(tree)(*columns.matrices(), *rates)
    return -ca.mtimes(inverse_mass, by_q), -ca.mtimes(inverse_mass, by_v), inverse_mass


def _inverse_mass(tree: Tree) -> ca.Function:
    nv = tree.description.nv
    S, K, D_inverse = SX.sym("S", 6, nv), SX.sym("K", 6, nv), SX.sym("D_inverse", nv)
    factors = operators.Factors.of_matrices(S, K, D_inverse, tree)
    return ca.Function("inverse_mass", [S, K, D_inverse], [operators.mass_matrix_inverse(factors)])


def _pairs(tree: Tree) -> ca.Function:
    nv, same = tree.description.nv, len(linearise.same_joint(tree))
    sizes = (6, 3, 6, 6, 6, 6, 6, 3)
    symbols = [SX.sym(f"c{k}", rows, nv) for k, rows in enumerate(sizes)] + [SX.sym("same", 3, same)]
    by_q, by_v, _ = linearise.pairs(tree, linearise.Columns(*symbols))
    position, rate = SX.sym("position", nv), SX.sym("rate", nv)
    outputs = [ca.densify(by_q - ca.diag(position)), ca.densify(by_v - ca.diag(rate))]
    return ca.Function("pairs", [*symbols, position, rate], outputs)
