"""The equations of a mechanism in joint coordinates: the tree that is left when loops are cut, and what closes them."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
from casadi import SX

from articulus.dynamics.constraints import constraints
from articulus.dynamics.external import taken_up
from articulus.dynamics.inverse import newton_euler
from articulus.dynamics.loops.base import Problem
from articulus.dynamics.mass_matrix import mass_matrix
from articulus.dynamics.passes import Inline
from articulus.dynamics.passive import passive_forces
from articulus.dynamics.tree import Tree


def joint_form(tree: Tree, v: SX, tau: SX, t: SX, external: Mapping[str, SX] | None = None) -> Problem:
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
    surroundings = taken_up(Inline(tree), dict(external or {}))
    bias = newton_euler(Inline(tree), v, SX.zeros(tree.description.nv), force=surroundings).tau
    return Problem(
        ca.sparsify(mass_matrix(tree)), tau + passive_forces(tree, v) - bias, constraints(tree, v, t)
    )
