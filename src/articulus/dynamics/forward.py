"""Forward dynamics by the articulated-body algorithm (ABA): joint accelerations in O(n)."""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics.inverse import (
    angular_velocity,
    base_acceleration,
    gyroscopic_force,
    rotor_turning,
    velocity_product,
)
from articulus.dynamics.passes import Runner
from articulus.dynamics.tree import ROOT, Node
from articulus.spatial import ArticulatedInertia, Force, Motion, Product, Transform, over, reciprocal


def forward_dynamics(run: Runner, v: Any, tau: Any, force: list | None = None) -> Any:
    """Return vdot = M^-1 (tau - bias), the joint accelerations (articulated-body algorithm, ABA).

    Parameters
    ----------
    run : Runner
        Runs the passes over the tree.
    v : (nv,) [rad/s or m/s]
        Generalised velocities.
    tau : (nv,) [N m or N]
        Joint forces, friction and springs included.
    force : list, optional
        Force that the surroundings take up from every node (minus the external force), in its frame.

    Returns
    -------
    (nv,) [rad/s^2 or m/s^2]

    Source: Featherstone 2008, table 7.1, with accelerations of origins as in `newton_euler`; several freedoms of a
    joint are eliminated one after the other; rotors carried by the parent as in Chen & Ou 1989. Cost: O(n).
    """
    return _articulated(run, v, tau, force)[0]


def accelerations_and_factors(run: Runner, v: Any, tau: Any) -> tuple[Any, tuple[Any, Any, Any]]:
    """Return vdot, and the factors of the mass matrix that it found: S and K (6, nv) in ground axes, 1/D (nv,)."""
    vdot, found = _articulated(run, v, tau, None)
    X: list = []
    columns = []
    for i, p in enumerate(run.tree.parents):
        pose, S, K = run(factor_columns, i, _of(X, p), *found[i][:2])
        X.append(pose)
        columns.append((S, K, found[i][1]))
    nv = run.tree.description.nv
    S, K, d_inverse = (ca.vertcat(*parts) for parts in zip(*columns))
    return vdot, (ca.reshape(S, 6, nv), ca.reshape(K, 6, nv), d_inverse)


def _articulated(run: Runner, v: Any, tau: Any, force: list | None) -> tuple[Any, list]:
    tree = run.tree
    n, parents = len(tree), tree.parents
    v_of = [v[tree.span(i)] for i in range(n)]
    w: list = []
    for i in range(n):
        w += run(angular_velocity, i, v_of[i], _of(w, parents[i]))
    IA: list = [None] * n
    pA: list = list(force or [None] * n)
    found: list = [None] * n
    for i in reversed(range(n)):
        p = parents[i]
        inputs = (v_of[i], tau[tree.span(i)], w[i], _of(w, p), IA[i], pA[i])
        if p == ROOT:
            found[i] = run(eliminate, i, *inputs)
        else:
            *found[i], IA[p], pA[p] = run(eliminate_inward, i, *inputs, IA[p], pA[p])
    A: list = []
    vdot = []
    ground = run.value(base_acceleration(tree))
    for i, p in enumerate(parents):
        acceleration, rates = run(accelerate, i, ground if p == ROOT else A[p], *found[i])
        A.append(acceleration)
        vdot.append(rates)
    return (ca.vertcat(*vdot) if vdot else SX(0, 1)), found


def _of(values: list, i: int) -> Any:
    return None if i == ROOT else values[i]


def eliminate(
    node: Node,
    v: SX,
    tau: SX,
    w: SX,
    wp: SX | None,
    IA: ArticulatedInertia | None,
    pA: Force | None,
) -> tuple[SX, SX, SX, Motion]:
    """Return U, 1/d, u and c of the node's freedoms from what its children left (second pass)."""
    return _eliminated(node, v, tau, w, wp, IA, pA)[:4]


def eliminate_inward(
    node: Node,
    v: SX,
    tau: SX,
    w: SX,
    wp: SX,
    IA: ArticulatedInertia | None,
    pA: Force | None,
    IA_parent: ArticulatedInertia | None,
    pA_parent: Force | None,
) -> tuple[SX, SX, SX, Motion, ArticulatedInertia, Force]:
    """Return the same and, added to the parent's sums, the articulated inertia and force that remain."""
    U, d_inverse, u, c, Ia, pa = _eliminated(node, v, tau, w, wp, IA, pA)
    I_up = node.X.inertia_to_parent(Ia)
    p_up = node.X.force_to_parent(pa + Ia @ c)
    for k in range(len(node.S)):
        p_up = p_up + rotor_turning(node, wp, v[k])
    return (
        U,
        d_inverse,
        u,
        c,
        I_up if IA_parent is None else IA_parent + I_up,
        p_up if pA_parent is None else pA_parent + p_up,
    )


def _eliminated(
    node: Node,
    v: SX,
    tau: SX,
    w: SX,
    wp: SX | None,
    IA: ArticulatedInertia | None,
    pA: Force | None,
) -> tuple[SX, SX, SX, Motion, ArticulatedInertia, Force]:
    Ia = node.inertia.articulated()
    Ia = Ia if IA is None else Ia + IA
    pa = gyroscopic_force(node, w)
    pa = pa if pA is None else pa + pA
    c = velocity_product(node, v, w)
    c = c if wp is None else c + node.X.acceleration_to_child(Motion.zero(), wp)
    rotor = node.X.force_to_child(node.rotor)
    U, d_inverse, u = [], [], []
    for k in reversed(range(len(node.S))):
        S = node.S[k]
        IS = Ia @ S
        U.append(IS + rotor)
        d = S.dot(IS) + node.armature[k]
        d_inverse.append(reciprocal(d))
        u.append(tau[k] - S.dot(pa) + rotor.dot(c))
        Ia = Ia.minus_dyad(U[-1], over(U[-1], d, d_inverse[-1]))
        pa = pa + U[-1] * (d_inverse[-1] * u[-1])
    columns = [x.column() for x in reversed(U)]
    return ca.vertcat(*columns), ca.vertcat(*d_inverse[::-1]), ca.vertcat(*u[::-1]), c, Ia, pa


def accelerate(node: Node, Ap: Motion, U: SX, d_inverse: SX, u: SX, c: Motion) -> tuple[Motion, SX]:
    """Return the node's acceleration and that of its freedoms (third pass)."""
    a = node.X.motion_to_child(Ap) + c
    rates = []
    for k, S in enumerate(node.S):
        rates.append(d_inverse[k] * (u[k] - Force.of(U[6 * k : 6 * k + 6]).dot(a)))
        a = a + S * rates[-1]
    return a, ca.vertcat(*rates)


def factor_columns(node: Node, Xp: Transform | None, U: SX, d_inverse: SX) -> tuple[Transform, SX, SX]:
    """Return the node's pose, its directions S and gains K = U/d, all in ground axes about the ground origin."""
    own = node.X.merged() if isinstance(node.X, Product) else node.X
    X = own if Xp is None else Xp @ own
    S = [X.motion_to_parent(s).column() for s in node.S]
    K = [
        X.force_to_parent(Force.of(U[6 * k : 6 * k + 6]) * d_inverse[k]).column() for k in range(len(node.S))
    ]
    return X, ca.vertcat(SX(0, 1), *S), ca.vertcat(SX(0, 1), *K)
