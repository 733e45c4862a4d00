"""Joint forces as a linear function of the inertial parameters of the bodies."""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import MX, SX

from articulus.dynamics.inverse import newton_euler
from articulus.dynamics.pair_matrices import Entries, blocks, span
from articulus.dynamics.recursion import Inline, Runner
from articulus.dynamics.relative import merge_pose
from articulus.dynamics.tree import ROOT, Node, Tree
from articulus.spatial import Motion, Transform, skew

PARAMETERS = ("m", "hx", "hy", "hz", "Jxx", "Jyy", "Jzz", "Jxy", "Jxz", "Jyz")
"""Of each body: mass [kg], first moment m c [kg m], moment of inertia about the body's origin [kg m^2], body axes."""
SHORT = 4
"""Nodes of a path whose block of Y is computed whole, although half of it is zero."""


def regressor(tree: Tree, v: SX, vdot: SX) -> SX:
    """Return Y with Y phi the joint forces of the bodies' inertia and weight at (q, v, vdot), (nv, 10 bodies).

    phi are the ten `PARAMETERS` of every body in the order of declaration. Armature, rotors, friction and springs have no part
    in it. The forces of each body, linear in its parameters, are carried inward and projected on the joints in front of it.

    Source: Atkeson, An & Hollerbach 1986. Cost: O(n d).
    """
    motion = newton_euler(Inline(tree), v, vdot)
    Y = SX.zeros(tree.description.nv, 10 * len(tree.description.bodies))
    for b, body in enumerate(tree.description.bodies):
        node, X = tree.frame(body.name)
        if node == ROOT:
            continue
        n, f = _inward(X, *_forces(X, motion.w[node], motion.A[node]))
        for i in tree.path(node):
            for S, k in zip(tree.nodes[i].S, tree.dofs[i]):
                Y[k, 10 * b : 10 * (b + 1)] = ca.mtimes(S.w.T, n) + ca.mtimes(S.v.T, f)
            n, f = _inward(merge_pose(tree.nodes[i].X), n, f)
    return Y


def regressor_of_columns(run: Runner, v: Any, vdot: Any) -> MX:
    """Return the same as products of the directions and the forces of unit parameters, in ground axes about the ground origin.

    Fewer operations than carrying ten forces from node to node in a chain of more than 16 nodes, and far less code.
    """
    tree, bodies = run.tree, run.tree.description.bodies
    motion = newton_euler(run, v, vdot)
    X: list = []
    S: list = []
    for i, p in enumerate(tree.parents):
        for values, found in zip((X, S), run(ground_directions, i, None if p == ROOT else X[p])):
            values.append(found)
    columns: list[list[int]] = [[] for _ in tree.nodes]
    forces: list = [None] * len(bodies)
    for b, body in enumerate(bodies):
        node, at = tree.frame(body.name)
        if node == ROOT:
            forces[b] = MX(ca.DM.zeros(60))
            continue
        columns[node] += range(10 * b, 10 * b + 10)
        (forces[b],) = run(unit_forces, node, run.value(at), X[node], motion.w[node], motion.A[node])
    nv = tree.description.nv
    F = ca.reshape(ca.vertcat(*forces), 6, 10 * len(bodies))
    return _project(tree, columns, ca.reshape(ca.vertcat(*S), 6, nv), F)


def _project(tree: Tree, columns: list[list[int]], S: MX, F: MX) -> MX:
    """Return S' F, but zero where a degree of freedom does not move the body; `columns` of F that belong to the bodies of each node."""
    entries = Entries(S.size2(), F.size2())
    for inner, outer in blocks(tree.parents, SHORT):
        rows, across = [k for i in inner for k in tree.dofs[i]], [k for i in outer for k in columns[i]]
        product = ca.mtimes(S[:, span(rows)].T, F[:, span(across)])
        if inner is not outer:
            entries.put(rows, across, product)
            continue
        r = c = 0
        for i in inner:
            r, first, c = r + len(tree.dofs[i]), c, c + len(columns[i])
            entries.put(rows[:r], columns[i], product[:r, first:c])
    return entries.matrix()


def ground_directions(node: Node, Xp: Transform | None) -> tuple[Transform, SX]:
    """Return the pose of a node and its directions in ground axes about the ground origin."""
    X = merge_pose(node.X) if Xp is None else Xp @ merge_pose(node.X)
    return X, ca.vertcat(SX(0, 1), *(X.motion_to_parent(s).column() for s in node.S))


def unit_forces(node: Node, at: Transform, X: Transform, w: SX, A: Motion) -> tuple[SX]:
    """Return the forces on a body for each unit parameter in ground axes about the ground origin, (6, 10) by columns."""
    n, f = _inward(X @ at, *_forces(at, w, A))
    return (ca.vec(ca.vertcat(n, f)),)


def _forces(X: Transform, w_node: SX, A_node: Motion) -> tuple[SX, SX]:
    """Return moments and forces on a body for each unit parameter, (3, 10) each, in its frame at pose X in its node."""
    A, w = X.acceleration_to_child(A_node, w_node), X.rotate_to_child(w_node)
    W = skew(w)
    moments = _products(A.w) + ca.mtimes(W, _products(w))
    n = ca.horzcat(SX.zeros(3), -skew(A.v), moments)
    return n, ca.horzcat(A.v, skew(A.w) + ca.mtimes(W, W), SX.zeros(3, 6))


def _inward(X: Transform, n: SX, f: SX) -> tuple[SX, SX]:
    """Return moments and forces, columns of matrices, in the frame in which theirs is at pose X."""
    force = ca.mtimes(X.R, f)
    return ca.mtimes(X.R, n) + ca.mtimes(skew(X.p), force), force


def _products(w: SX) -> SX:
    """Return the matrix whose product with (Jxx, Jyy, Jzz, Jxy, Jxz, Jyz) is J w, (3, 6)."""
    x, y, z = w[0], w[1], w[2]
    return ca.blockcat([[x, 0, 0, y, z, 0], [0, y, 0, x, 0, z], [0, 0, z, 0, x, y]])
