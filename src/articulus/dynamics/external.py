"""Wrenches on named frames, brought to the nodes that carry them."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.tree import ROOT, Tree
from articulus.spatial import Force

External = dict[str, SX]
"""Frame name to wrench (6,): moment [N m] about the frame's origin and force [N], in ground axes."""


def external_forces(tree: Tree, external: External | None) -> list[Force]:
    """Return the total external force on every node, in the node's frame."""
    out = [Force.zero() for _ in tree.nodes]
    for name, wrench in (external or {}).items():
        node, X = tree.frame(name)
        if node == ROOT:
            continue
        R = ca.mtimes(tree.world[node].R, X.R)
        local = Force(ca.mtimes(R.T, wrench[:3]), ca.mtimes(R.T, wrench[3:]))
        out[node] = out[node] + X.force_to_parent(local)
    return out
