"""Wrenches on named frames, brought to the nodes that carry them."""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics.recursion import Runner
from articulus.dynamics.tree import ROOT, Node
from articulus.spatial import Force, Transform

External = dict[str, Any]
"""Frame name to wrench (6,): moment [N m] about the frame's origin and force [N], in ground axes."""


def applied_wrenches(run: Runner, external: External) -> list:
    """Return the force that the surroundings take up from every node: minus the external one, None where none acts."""
    out: list = [None] * len(run.tree)
    for name, wrench in external.items():
        node, X = run.tree.frame(name)
        if node != ROOT:
            R: Any = run.orientation(node)
            (out[node],) = run(oppose, node, R, run.value(X), wrench, out[node])
    return out


def oppose(_: Node, R_node: SX, X: Transform, wrench: SX, before: Force | None) -> tuple[Force]:
    """Return the force taken up with that of a wrench on a frame at X, the node's rotation in ground axes given."""
    R = ca.mtimes(ca.reshape(R_node, 3, 3), X.R)
    local = Force(ca.mtimes(R.T, wrench[:3]), ca.mtimes(R.T, wrench[3:]))
    return ((before or Force.zero()) - X.force_to_parent(local),)
