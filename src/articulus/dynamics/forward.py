"""Forward dynamics by the articulated-body algorithm (ABA): joint and modal accelerations in O(n)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.body import ElasticBody
from articulus.dynamics.flexible.modal_elimination import EliminatedModes, ModalElimination
from articulus.dynamics.flexible.shortening import mirror_upper_half
from articulus.dynamics.inverse import (
    angular_velocity,
    base_acceleration,
    gyroscopic_force,
    rotor_turning,
    velocity_product,
)
from articulus.dynamics.loops.factor import Factorization
from articulus.dynamics.recursion import Runner
from articulus.dynamics.tree import ROOT, Node
from articulus.spatial import ArticulatedInertia, Force, Motion, Product, Transform, over, reciprocal


def forward_dynamics(run: Runner, v: Any, tau: Any, force: list | None = None) -> Any:
    """Return vdot = M^-1 (tau - bias), the joint accelerations (articulated-body algorithm, ABA).

    Parameters
    ----------
    run : Runner
        Runs the passes over the tree.
    v : (nv,) [rad/s or m/s]
        Generalized velocities.
    tau : (nv,) [N m or N]
        Joint forces, friction and springs included.
    force : list, optional
        Force that the surroundings take up from every node (minus the external force), in its frame.

    Returns
    -------
    (nv,) [rad/s^2 or m/s^2]

    Source: Featherstone 2008, table 7.1, with accelerations of origins as in `newton_euler`; several degrees of freedom of a
    joint are eliminated one after another; rotors carried by the parent as in Chen & Ou 1989; the modes of a flexible body
    are eliminated before its joint (Jain & Rodriguez 1992). Cost: O(n), cubic in the modes of one body.
    """
    return articulated_bodies(run, v, tau, force)[0]


def solve_mass_matrix(run: Runner, tau: Any) -> Any:
    """Return M^-1 tau, (nv,): the accelerations at rest without gravity. Cost: O(n)."""
    return articulated_bodies(run, 0 * tau, tau, None, gravity=False)[0]


def innovations(run: Runner, v: Any, tau: Any) -> tuple[Any, Any, Any]:
    """Return the diagonalized velocities n, the innovations e of the joint forces, and D, (nv,) each. Cost: O(n).

    With the operators of `operators`, n = (I + H phi K)' v and e = (I - H psi K) tau: the kinetic energy is n' D n / 2 and the
    power n' e; without velocities D n' = e, each degree of freedom for itself.

    Source: Rodriguez 1989, an innovations approach to decoupling of multibody dynamics and control (abstract), whose n has the
    wrong sign in print.
    """
    if not len(run.tree):
        return (SX(0, 1),) * 3
    _, found = articulated_bodies(run, 0 * tau, tau, None, gravity=False)
    V: list = []
    diagonalized: list = []
    for i, p in enumerate(run.tree.parents):
        velocity, own = run(decouple, i, v[run.tree.span(i)], _of(V, p), *found[i][:2])
        V.append(velocity)
        diagonalized.append(own)
    _, d_inverse, e, *_ = zip(*found)
    return ca.vertcat(*diagonalized), ca.vertcat(*e), 1 / ca.vertcat(*d_inverse)


@dataclass(frozen=True)
class MassMatrixFactors:
    """The factors of the mass matrix in ground axes about the ground origin."""

    S: Any
    """(6, nv) Directions; nothing in the columns of modes."""
    K: Any
    """(6, nv) Gains."""
    d_inverse: Any
    """(nv,) 1/D; nothing for modes."""
    modal: dict[int, Any]
    """Of every node with a flexible body, D^-1 of its modes."""
    motions: dict[int, Any]
    """Of every station, the motions of unit modal rates (6, n)."""


def accelerations_and_factors(run: Runner, v: Any, tau: Any) -> tuple[Any, MassMatrixFactors]:
    """Return vdot, and the factors of the mass matrix that it found."""
    tree = run.tree
    vdot, factors = articulated_bodies(run, v, tau, None)
    X: list = []
    S: list[list] = [[]] * len(tree)
    K, d_inverse = list(S), list(S)
    modal, motions = dict[int, Any](), dict[int, Any]()
    for i, p in enumerate(tree.parents):
        if tree.stations[i]:
            pose, motions[i] = run(station_columns, i, X[p])
            X.append(pose)
            continue
        pose, *own = run(factor_columns, i, _of(X, p), *factors[i][:2])
        X.append(pose)
        S[i], K[i], d_inverse[i] = ([x] for x in (*own, factors[i][1]))
        if tree.modes[i]:
            gain, modal[i] = run(modal_columns, i, pose, *factors[i][4:])
            none = [ca.DM.zeros(6 * len(tree.modes[i])), gain, ca.DM.zeros(len(tree.modes[i]))]
            for columns, more in zip((S, K, d_inverse), none):
                columns[i].append(more)
    nv = tree.description.nv
    directions, gains, rest = (ca.vertcat(*(x for own in parts for x in own)) for parts in (S, K, d_inverse))
    return vdot, MassMatrixFactors(
        ca.reshape(directions, 6, nv), ca.reshape(gains, 6, nv), rest, modal, motions
    )


def articulated_bodies(
    run: Runner, v: Any, tau: Any, force: list | None, gravity: bool = True
) -> tuple[Any, list]:
    """Return vdot, and of every node what `eliminate` found; of a flexible body also what its stations left of the modal mass matrix."""
    tree = run.tree
    n, parents = len(tree), tree.parents
    felt = tree.felt(v)
    v_of = [felt[tree.span(i)] for i in range(n)]
    w: list = []
    for i in range(n):
        w += run(angular_velocity, i, v_of[i], _of(w, parents[i]))
    IA: list = [None] * n
    pA: list = list(force or [None] * n)
    modal: list = [(None, None, None)] * n
    eliminated: list = [None] * n
    for i in reversed(range(n)):
        p = parents[i]
        if tree.stations[i]:
            inputs = (v_of[i], w[i], w[p], IA[i], pA[i], IA[p], pA[p], *modal[p])
            *eliminated[i], IA[p], pA[p], M_rf, M_ff, p_f = run(pass_on, i, *inputs)
            modal[p] = (M_rf, M_ff, p_f)
            continue
        inputs = (v_of[i], tau[tree.span(i)], w[i], _of(w, p), IA[i], pA[i])
        own = (*(x[tree.modal(i)] for x in (v, felt, tau)), *modal[i]) if tree.modes[i] else ()
        if p == ROOT:
            eliminated[i] = run(eliminate, i, *inputs, *own)
        else:
            *eliminated[i], IA[p], pA[p] = run(eliminate_inward, i, *inputs, IA[p], pA[p], *own)
    A: list = []
    vdot: list = []
    bent: dict[int, Any] = {}
    ground = run.value(base_acceleration(tree) if gravity else Motion.zero())
    for i, p in enumerate(parents):
        front = ground if p == ROOT else A[p]
        if tree.stations[i]:
            A += run(carry, i, front, *eliminated[i], bent[p])
            continue
        acceleration, *rates = run(accelerate, i, front, *eliminated[i])
        A.append(acceleration)
        vdot += rates
        if tree.modes[i]:
            bent[i] = rates[1]
            eliminated[i] = [*eliminated[i], modal[i][1]]
    return (ca.vertcat(*vdot) if vdot else SX(0, 1)), eliminated


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
    *modal: Any,
) -> tuple:
    """Return U, 1/d, u and c of the node's degrees of freedom from what its children left (second pass); `ModalElimination` modes behind them."""
    return _eliminate_node(node, v, tau, w, wp, IA, pA, *modal)[:-2]


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
    *modal: Any,
) -> tuple:
    """Return the same and, added to the parent's sums, the articulated inertia and force that remain."""
    *found, Ia, pa = _eliminate_node(node, v, tau, w, wp, IA, pA, *modal)
    I_up = node.X.inertia_to_parent(Ia)
    p_up = node.X.force_to_parent(pa + Ia @ found[3])
    for k in range(len(node.S)):
        p_up = p_up + rotor_turning(node, wp, v[k])
    return (*found, _sum(IA_parent, I_up), _sum(pA_parent, p_up))


def _sum(before: Any, more: Any) -> Any:
    return more if before is None else before + more


def _rigid(
    node: Node, w: SX, IA: ArticulatedInertia | None, pA: Force | None
) -> tuple[ArticulatedInertia, Force]:
    """Return inertia and bias force of a rigid body with what its children left."""
    Ia = node.inertia.as_articulated()
    pa = gyroscopic_force(node, w)
    return Ia if IA is None else Ia + IA, pa if pA is None else pa + pA


def _flexible(
    node: Node,
    body: ElasticBody,
    w: SX,
    IA: ArticulatedInertia | None,
    pA: Force | None,
    rate: SX,
    felt: SX,
    tau: SX,
    M_rf: SX | None,
    M_ff: SX | None,
    p_f: SX | None,
) -> tuple[ArticulatedInertia, Force, ModalElimination]:
    """Return the same of a flexible body whose modes yield, and how they do; M_rf, M_ff, p_f: what its stations left."""
    pa, f = body.forces(Motion(w, SX.zeros(3)), felt, Motion.zero(), SX.zeros(rate.numel()))
    drive = tau - f - body.restoring(rate)
    modes = ModalElimination.of(
        body.ff if M_ff is None else body.ff + M_ff,
        body.rf if M_rf is None else body.rf + M_rf,
        drive if p_f is None else drive - p_f,
    )
    Ia = node.inertia.as_articulated()
    Ia, pa = modes.left(Ia if IA is None else Ia + IA, pa if pA is None else pa + pA)
    return Ia, pa, modes


def pass_on(
    node: Node,
    v: SX,
    w: SX,
    wp: SX,
    IA: ArticulatedInertia | None,
    pA: Force | None,
    IA_parent: ArticulatedInertia | None,
    pA_parent: Force | None,
    M_rf: SX | None,
    M_ff: SX | None,
    p_f: SX | None,
) -> tuple[Motion, ArticulatedInertia, Force, SX, SX, SX]:
    """Return c of a station and, added to the sums of its flexible body, what it carries: on the frame and on the modes."""
    Ia, pa = _rigid(node, w, IA, pA)
    c = _bias_acceleration(node, v, w, wp)
    pa = pa + Ia @ c
    IU = [Ia @ S for S in node.S]
    rf = ca.horzcat(*(node.X.force_to_parent(F).column() for F in IU))
    U = ca.horzcat(*(S.column() for S in node.S))
    ff = mirror_upper_half(ca.mtimes(U.T, ca.horzcat(*(F.column() for F in IU))))
    return (
        c,
        _sum(IA_parent, node.X.inertia_to_parent(Ia)),
        _sum(pA_parent, node.X.force_to_parent(pa)),
        _sum(M_rf, rf),
        _sum(M_ff, ff),
        _sum(p_f, ca.vertcat(*(S.dot(pa) for S in node.S))),
    )


def carry(node: Node, Ap: Motion, c: Motion, modal: SX) -> tuple[Motion]:
    """Return the acceleration of a station."""
    return (node.X.motion_to_child(Ap) + c + node.joint_velocity(modal),)


def _bias_acceleration(node: Node, v: SX, w: SX, wp: SX | None) -> Motion:
    """Return the acceleration of a node at zero accelerations of its parent and its degrees of freedom."""
    c = velocity_product(node, v, w)
    return c if wp is None else c + node.X.acceleration_to_child(Motion.zero(), wp)


def _eliminate_node(
    node: Node,
    v: SX,
    tau: SX,
    w: SX,
    wp: SX | None,
    IA: ArticulatedInertia | None,
    pA: Force | None,
    *modal: Any,
) -> tuple:
    Ia, pa, *modes = (
        _rigid(node, w, IA, pA) if node.body is None else _flexible(node, node.body, w, IA, pA, *modal)
    )
    c = _bias_acceleration(node, v, w, wp)
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
    found = (ca.vertcat(SX(0, 1), *x) for x in (columns, d_inverse[::-1], u[::-1]))
    return (*found, c, *modes, Ia, pa)


def accelerate(
    node: Node,
    Ap: Motion,
    U: SX,
    d_inverse: SX,
    u: SX,
    c: Motion,
    modes: ModalElimination | EliminatedModes | None = None,
) -> tuple:
    """Return the node's acceleration and that of its degrees of freedom (third pass), and modal accelerations where there are any."""
    a = node.X.motion_to_child(Ap) + c
    rates = []
    for k, S in enumerate(node.S):
        rates.append(d_inverse[k] * (u[k] - Force.of(U[6 * k : 6 * k + 6]).dot(a)))
        a = a + S * rates[-1]
    own = ca.vertcat(SX(0, 1), *rates)
    return (a, own) if modes is None else (a, own, modes.under(a.column()))


def decouple(node: Node, v: SX, Vp: Motion | None, U: SX, d_inverse: SX) -> tuple[Motion, SX]:
    """Return the node's velocity and its diagonalized velocities: v + K' (velocity of what is in front of each degree of freedom)."""
    V = Motion.zero() if Vp is None else node.X.motion_to_child(Vp)
    out = []
    for k, S in enumerate(node.S):
        out.append(v[k] + d_inverse[k] * Force.of(U[6 * k : 6 * k + 6]).dot(V))
        V = V + S * v[k]
    return V, ca.vertcat(SX(0, 1), *out)


def factor_columns(node: Node, Xp: Transform | None, U: SX, d_inverse: SX) -> tuple[Transform, SX, SX]:
    """Return the node's pose, its directions S and gains K = U/d, all in ground axes about the ground origin."""
    own = node.X.merge() if isinstance(node.X, Product) else node.X
    X = own if Xp is None else Xp @ own
    S = [X.motion_to_parent(s).column() for s in node.S]
    K = [
        X.force_to_parent(Force.of(U[6 * k : 6 * k + 6]) * d_inverse[k]).column() for k in range(len(node.S))
    ]
    return X, ca.vertcat(SX(0, 1), *S), ca.vertcat(SX(0, 1), *K)


def modal_columns(node: Node, X: Transform, modes: EliminatedModes, M_ff: SX | None) -> tuple[SX, SX]:
    """Return the gains of a body's modes, in ground axes about the ground origin, one below the other, and D^-1.

    M_ff: what the stations left of the modal mass matrix.
    """
    assert node.body is not None
    D = Factorization(node.body.ff if M_ff is None else node.body.ff + M_ff)
    gains = [X.force_to_parent(Force.of(row.T)).column() for row in ca.vertsplit(modes.gain)]
    return ca.vertcat(*gains), D.inverse()


def station_columns(node: Node, Xp: Transform) -> tuple[Transform, SX]:
    """Return the pose of a station and its motions, in ground axes about the ground origin."""
    X = Xp @ (node.X.merge() if isinstance(node.X, Product) else node.X)
    return X, ca.horzcat(*(X.motion_to_parent(s).column() for s in node.S))
