"""Mass matrix of trees of rigid and flexible bodies, by composite bodies."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.tree import FlexibleTree, motion_matrix
from articulus.dynamics.tree import ROOT


def mass_matrix(tree: FlexibleTree) -> SX:
    """Return M, (nv, nv).

    From tip to base every node gathers the inertia of what hangs on it, as if the joints behind were locked; the force
    that a unit acceleration needs is then carried to the base, through the places of joints on flexible bodies.
    Source: King 1988, equations 2-62 to 2-83, for trees.
    """
    nodes = tree.nodes
    X = [motion_matrix(node.place.X) for node in nodes]
    rr = [node.body.rr if node.body is not None else SX.zeros(6, 6) for node in nodes]
    M = SX(tree.description.nv, tree.description.nv)
    for i in reversed(range(len(nodes))):
        node = nodes[i]
        columns: list[tuple[int, SX]] = []
        if node.modes.stop > node.modes.start:
            assert node.body is not None
            coupling, own = node.body.rf, node.body.ff
            for j, child in enumerate(nodes):
                if child.parent == i:
                    U = child.place.U
                    IU = ca.mtimes(rr[j], U)
                    coupling, own = coupling + ca.mtimes(X[j].T, IU), own + ca.mtimes(U.T, IU)
            M[node.modes, node.modes] = own
            columns += [(node.modes.start + k, coupling[:, k]) for k in range(own.shape[0])]
        IS = ca.mtimes(rr[i], node.S)
        columns += [(node.v.start + k, IS[:, k]) for k in range(node.S.shape[1])]
        for column, force in columns:
            _carry(tree, M, X, i, column, force)
        for k in range(node.S.shape[1]):
            at = node.v.start + k
            M[at, at] = M[at, at] + node.armature[k]
        if node.parent != ROOT:
            rr[node.parent] = rr[node.parent] + ca.mtimes(X[i].T, ca.mtimes(rr[i], X[i]))
    return M


def _carry(tree: FlexibleTree, M: SX, X: list[SX], i: int, column: int, force: SX) -> None:
    """Enter the entries that the force of one unit acceleration makes on the way from node i to the base."""
    while i != ROOT:
        node = tree.nodes[i]
        for k in range(node.S.shape[1]):
            _enter(M, node.v.start + k, column, ca.dot(node.S[:, k], force))
        U = node.place.U
        if U.shape[1] and node.parent != ROOT:
            for k in range(U.shape[1]):
                _enter(M, tree.nodes[node.parent].modes.start + k, column, ca.dot(U[:, k], force))
        force, i = ca.mtimes(X[i].T, force), node.parent


def _enter(M: SX, row: int, column: int, value: SX) -> None:
    M[row, column] = value
    M[column, row] = value
