"""The equations of a mechanism in joint coordinates: the tree that is left when loops are cut, and what closes them."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
from casadi import SX

from articulus.dynamics.constraints import constraints
from articulus.dynamics.external import applied_wrenches
from articulus.dynamics.inverse import newton_euler
from articulus.dynamics.loops.base import ConstraintProblem
from articulus.dynamics.mass_matrix import mass_matrix
from articulus.dynamics.passive import passive_forces
from articulus.dynamics.recursion import Inline
from articulus.dynamics.tree import Tree


def joint_form(
    tree: Tree, v: SX, tau: SX, t: SX, external: Mapping[str, SX] | None = None
) -> ConstraintProblem:
    """Return M(q), f(q, v, tau) and the constraints of a mechanism.

    f is the joint forces, friction and springs included, minus the bias of the tree.

    Parameters
    ----------
    tree : Tree
    v, tau : SX, (nv,)
    t : SX [s]
        Time, for constraints that depend on it.
    external : mapping, optional
        Frame name to wrench (6,), see `dynamics.external`.

    Source: Nikravesh, Gim, Arabyan & Rein 1989, equations 11-14.
    """
    surroundings = applied_wrenches(Inline(tree), dict(external or {}))
    bias = newton_euler(Inline(tree), v, SX.zeros(tree.description.nv), force=surroundings).tau
    return ConstraintProblem(
        ca.sparsify(mass_matrix(tree)), tau + passive_forces(tree, v) - bias, constraints(tree, v, t)
    )
