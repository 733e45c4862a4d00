"""How one frame on rigid and flexible bodies moves as seen from another (see `dynamics.relative`)."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.tree import FlexibleTree, Place
from articulus.dynamics.relative import Relative
from articulus.dynamics.tree import ROOT
from articulus.spatial import Motion, Transform


def relative(tree: FlexibleTree, v: SX, a: str, b: str) -> Relative:
    """Return how body or frame b moves as seen from a; only joints and modes between the two enter.

    The nearest common ancestor counts as fixed. Modes of that body itself move both frames.
    """
    (node_a, place_a), (node_b, place_b) = tree.frame(a), tree.frame(b)
    shared = set(tree.path(node_a)) & set(tree.path(node_b))
    seen_b, seen_a = (_below(tree, v, n, p, shared) for n, p in ((node_b, place_b), (node_a, place_a)))
    return _seen_from(seen_b, seen_a)


def _seen_from(b: Relative, a: Relative) -> Relative:
    """Return b as seen from a; freedoms that move both (modes of the ancestor) have the difference of their columns."""
    found, X = b.seen_from(a), a.X.inverse() @ b.X
    both = {k: b.columns[k] - X.motion_to_child(a.columns[k]) for k in b.columns.keys() & a.columns.keys()}
    return Relative(found.X, found.V, found.A, found.columns | both)


def _below(tree: FlexibleTree, v: SX, node: int, place: Place, shared: set[int]) -> Relative:
    """Return a place on a node as seen from the node's nearest ancestor among `shared`, or from the ground."""
    path = [i for i in tree.path(node) if i not in shared]
    steps = [
        (tree.nodes[i].parent, tree.nodes[i].place, tree.nodes[i].S, tree.nodes[i].v) for i in path[::-1]
    ]
    steps.append((node, place, SX(6, 0), slice(0, 0)))
    X, V, A = Transform.identity(), Motion.zero(), Motion.zero()
    columns: dict[int, Motion] = {}
    for carrier, at, S, own in steps:
        rate, joint = tree.modal(carrier, v), Motion.of(ca.mtimes(S, v[own, :]))
        bend = ca.mtimes(at.U, rate)
        bending = ca.jtimes(bend, tree.eta(carrier), rate) if rate.numel() else SX.zeros(6)
        bent, carried = Motion.of(bend), at.X.motion_to_child(V)
        A = at.X.motion_to_child(A) + carried.cross(bent + joint) + Motion.of(bending) + bent.cross(joint)
        V, X = carried + bent + joint, X @ at.X
        columns = {k: at.X.motion_to_child(c) for k, c in columns.items()}
        modes = tree.nodes[carrier].modes if carrier != ROOT else slice(0, 0)
        columns |= {modes.start + k: Motion.of(at.U[:, k]) for k in range(at.U.shape[1])}
        columns |= {own.start + k: Motion.of(S[:, k]) for k in range(S.shape[1])}
    return Relative(X, V, A, columns)
