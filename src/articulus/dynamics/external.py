"""Wrenches on named frames, brought to the nodes that carry them."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.tree import ROOT, Tree
from articulus.spatial import Force

External = dict[str, SX]
"""Frame name to wrench (6,): moment [N m] about the frame's origin and force [N], in ground axes."""


def taken_up(tree: Tree, external: External) -> list[Force | None]:
    """Return the force that the surroundings take up from every node: minus the external one, None where none acts."""
    out: list[Force | None] = [None] * len(tree)
    for name, wrench in external.items():
        node, X = tree.frame(name)
        if node == ROOT:
            continue
        R = ca.mtimes(tree.world[node].R, X.R)
        local = Force(ca.mtimes(R.T, wrench[:3]), ca.mtimes(R.T, wrench[3:]))
        before = out[node] or Force.zero()
        out[node] = before - X.force_to_parent(local)
    return out
