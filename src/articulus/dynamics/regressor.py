"""Joint forces as a linear function of the inertial parameters of the bodies."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.inverse import newton_euler
from articulus.dynamics.passes import Inline
from articulus.dynamics.relative import merged
from articulus.dynamics.tree import ROOT, Tree
from articulus.spatial import Motion, Transform, skew

PARAMETERS = ("m", "hx", "hy", "hz", "Jxx", "Jyy", "Jzz", "Jxy", "Jxz", "Jyz")
"""Of each body: mass [kg], first moment m c [kg m], moment of inertia about the body's origin [kg m^2], body axes."""


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
            for S, k in zip(tree.nodes[i].S, tree.freedoms[i]):
                Y[k, 10 * b : 10 * (b + 1)] = ca.mtimes(S.w.T, n) + ca.mtimes(S.v.T, f)
            n, f = _inward(merged(tree.nodes[i].X), n, f)
    return Y


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
