"""Mass matrix of trees of rigid and flexible bodies, by composite bodies."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.shortening import mirrored
from articulus.dynamics.flexible.tree import FlexibleTree, motion_matrix
from articulus.dynamics.tree import ROOT


def mass_matrix(tree: FlexibleTree) -> SX:
    """Return M, (nv, nv).

    From tip to base every node gathers the mass matrix [[rr, rf], [rf', ff]] of what hangs on it, as if the joints and
    modes behind were locked; the force that a unit acceleration needs is then carried to the base, through the places of
    joints on flexible bodies. Source: King 1988, equations 2-62 to 2-83, for trees.
    """
    nodes, M = tree.nodes, SX(tree.description.nv, tree.description.nv)
    X = [motion_matrix(node.place.X) for node in nodes]
    rr = [node.body.rr if node.body is not None else SX.zeros(6, 6) for node in nodes]
    rf = [node.body.rf if node.body is not None else SX(6, 0) for node in nodes]
    ff = [node.body.ff if node.body is not None else SX(0, 0) for node in nodes]
    for i in reversed(range(len(nodes))):
        node, p = nodes[i], nodes[i].parent
        M[node.modes, node.modes] = mirrored(ff[i])
        _carry(tree, M, X, i, node.modes, rf[i])
        IS = ca.mtimes(rr[i], node.S)
        M[node.v, node.v] = mirrored(ca.mtimes(node.S.T, IS)) + ca.diag(node.armature)
        _pass(tree, M, X, i, node.v, IS if node.rotor.is_zero() else IS + node.rotor)
        if p != ROOT:
            rr[p] = rr[p] + mirrored(ca.mtimes(X[i].T, ca.mtimes(rr[i], X[i])))
            if node.place.U.shape[1]:
                IU = ca.mtimes(rr[i], node.place.U)
                rf[p], ff[p] = rf[p] + ca.mtimes(X[i].T, IU), ff[p] + mirrored(ca.mtimes(node.place.U.T, IU))
    return M


def _carry(tree: FlexibleTree, M: SX, X: list[SX], i: int, columns: slice, forces: SX) -> None:
    """Enter what the forces (6, m) on node i, needed by unit accelerations, make in its joint and from there to the base."""
    node = tree.nodes[i]
    _enter(M, node.v, columns, ca.mtimes(node.S.T, forces))
    _pass(tree, M, X, i, columns, forces)


def _pass(tree: FlexibleTree, M: SX, X: list[SX], i: int, columns: slice, forces: SX) -> None:
    """Enter the same for forces that have passed the joint of node i."""
    node = tree.nodes[i]
    if node.parent != ROOT and columns.stop > columns.start:
        _enter(M, tree.nodes[node.parent].modes, columns, ca.mtimes(node.place.U.T, forces))
        _carry(tree, M, X, node.parent, columns, ca.mtimes(X[i].T, forces))


def _enter(M: SX, rows: slice, columns: slice, block: SX) -> None:
    if block.numel():
        M[rows, columns] = block
        M[columns, rows] = block.T
