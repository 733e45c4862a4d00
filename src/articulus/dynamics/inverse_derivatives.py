"""Exact derivatives of the dynamics by recursion, not by differentiating the recursions.

A small change of degree of freedom j turns everything behind it by S_j. Seen from the turned bodies only the velocity and the
acceleration that come from in front of the joint have changed, by

    Psid_j  = V_p x S_j                      Psidd_j = A_p x S_j + V_p x Psid_j        (p: parent of j)

so that a body's force changes by I Psidd_j + 2B Psid_j with 2B = (V x*) I - I (V x) + (. x* I V). Sums
over the bodies behind a joint give every entry. The same holds for a change of rate, with Sdot_j + Psid_j and S_j
in place of Psidd_j and Psid_j. A rotor r on the parent adds r qd to its momentum, r to the row vector of its joint
and V_p x* r to what multiplies rates.

A modal coordinate k of a flexible body moves every station of the body by U_k, as a joint would; but the directions U change with
the deformation, and Psid and Psidd have the derivatives of U e and of its rate beside the products above. Rows and forces
of k are those of its stations and of the body itself, whose own derivatives (`flexible.slopes`, `Station.motion_slopes`)
are those of expressions of one body alone. At the "ruthless" level nothing moves with a modal coordinate.

Source: Singh, Russell & Wensing 2022 (ground-frame algorithm), rederived here for joints with several degrees of freedom and
with rotors. The derivative by a quaternion is with respect to a small rotation in the child's axes. Cost: O(n d).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.flexible.body import ElasticBody
from articulus.dynamics.flexible.slopes import slopes
from articulus.dynamics.inverse import base_acceleration
from articulus.dynamics.pair_matrices import same_joint
from articulus.dynamics.recursion import Runner
from articulus.dynamics.tree import ROOT, Node, Tree
from articulus.spatial import Force, Motion, Product, RigidInertia, Transform, cross, skew


@dataclass(frozen=True)
class RateMatrix:
    """The 6 x 6 matrix 2B = [[E, 0], [-2 f~, 0]] of a body or of several: it looks at the angular part alone.

    That the other blocks vanish, and E = 2 (w~ (J - tr(J)/2) - h~ v~), follows from Jacobi's identity and from
    J w~ + w~ J = tr(J) w~ - (J w)~ for symmetric J.
    """

    E: SX
    f: SX
    """Linear momentum."""

    @staticmethod
    def of(inertia: RigidInertia, V: Motion) -> RateMatrix:
        """Return 2B of a body with velocity V."""
        moment = inertia.J - 0.5 * ca.trace(inertia.J) * SX.eye(3)
        E = 2 * (ca.mtimes(skew(V.w), moment) - ca.mtimes(skew(inertia.h), skew(V.v)))
        return RateMatrix(E, (inertia @ V).f)

    def pack(self) -> SX:
        return ca.vertcat(ca.vec(self.E), self.f)

    @staticmethod
    def unpack(twelve: SX) -> RateMatrix:
        return RateMatrix(ca.reshape(twelve[:9], 3, 3), twelve[9:])

    def __add__(self, other: RateMatrix) -> RateMatrix:
        return RateMatrix(self.E + other.E, self.f + other.f)

    def __matmul__(self, m: Motion) -> Force:
        return Force(ca.mtimes(self.E, m.w), 2 * cross(m.w, self.f))

    def row(self, m: Motion) -> SX:
        """Return the 3-vector whose product with the angular part of x is m' 2B x."""
        return ca.mtimes(self.E.T, m.w) + 2 * cross(self.f, m.v)


@dataclass(frozen=True)
class PairColumns:
    """What the pairs of degrees of freedom are made of, in ground axes about the ground origin.

    The first four have one column for each direction of a node, those of stations included, in the order of the nodes; the
    others one per degree of freedom. Without flexible bodies that is the same.
    """

    S: Any
    psid: Any
    """Angular part of Psid, (3, nv)."""
    psidd: Any
    rate: Any
    """Sdot + Psid."""
    by_q: Any
    """Force behind the joint per change of its position, and of its rate."""
    by_v: Any
    row: Any
    """What a row of the derivatives multiplies Psidd (or rate) with, and the angular part of Psid (or S) with."""
    row_rate: Any
    same: Any
    """Entries between degrees of freedom of one joint or body: (3, pairs) for d tau/d q, d tau/d v and M, pairs as in `same_joint`."""

    def matrices(self) -> list:
        return [
            self.S,
            self.psid,
            self.psidd,
            self.rate,
            self.by_q,
            self.by_v,
            self.row,
            self.row_rate,
            self.same,
        ]


def columns(run: Runner, v: Any, vdot: Any) -> PairColumns:
    """Return the columns of the derivatives of inverse dynamics at (q, v, vdot). Cost: O(n)."""
    tree, n = run.tree, len(run.tree)
    felt = tree.felt(v)
    X, V, moved, rest = outward_pass(run, v, vdot)
    sums, own = [x[:3] for x in rest], [x[3:] for x in rest]
    columns_of_nodes: list = [None] * n
    for i in reversed(range(n)):
        p = tree.parents[i]
        if tree.stations[i]:
            *carried, inertia, B, F = run(gather_station, i, *moved[i], *sums[i], X[i], *sums[p])
            own[p] = [x + y for x, y in zip(own[p], carried)]
            sums[p] = [inertia, B, F]
        elif p == ROOT:
            columns_of_nodes[i] = run(gather, i, *moved[i], *sums[i])
        else:
            rates = (felt[tree.span(i)], vdot[tree.span(i)])
            *columns_of_nodes[i], inertia, B, F = run(
                gather_inward, i, *moved[i], *sums[i], *rates, X[p], V[p], *sums[p]
            )
            sums[p] = [inertia, B, F]
    by_direction = [_stack([x[k] for x in moved], rows) for k, rows in enumerate((6, 3, 6, 6))]
    dofs = [x for i in range(n) if not tree.stations[i] for x in (columns_of_nodes[i], own[i]) if x]
    rest = [_stack([x[k] for x in dofs], rows) for k, rows in enumerate((6, 6, 6, 3, 3))]
    return PairColumns(*by_direction, *rest)


def outward_pass(run: Runner, v: Any, vdot: Any) -> tuple[list, list, list, list]:
    """Return of every node its pose, its velocity, S with Psid, Psidd and rate, and inertia, 2B and force (and more, of modes)."""
    tree, ground, felt = run.tree, run.value(base_acceleration(run.tree)), run.tree.felt(v)
    X: list = []
    V: list = []
    A: list = []
    moved: list = []
    bodies: list = []
    for i, p in enumerate(tree.parents):
        front = (None, None, ground) if p == ROOT else (X[p], V[p], A[p])
        modal = (felt[tree.modal(i)], vdot[tree.modal(i)]) if tree.modes[i] else ()
        function = outward_station if tree.stations[i] else outward
        pose, velocity, acceleration, *rest = run(
            function, i, felt[tree.span(i)], vdot[tree.span(i)], *front, *modal
        )
        X.append(pose)
        V.append(velocity)
        A.append(acceleration)
        moved.append(rest[:4])
        bodies.append(rest[4:])
    return X, V, moved, bodies


def _stack(columns: list, rows: int) -> Any:
    total = ca.vertcat(*columns) if columns else SX(0, 1)
    return ca.reshape(total, rows, total.numel() // rows)


def outward(
    node: Node, v: SX, vdot: SX, Xp: Transform | None, Vp: Motion | None, Ap: Motion, *modal: SX
) -> tuple:
    """Return pose, velocity, acceleration, the directions and their rates, inertia, 2B and force of a node's body.

    For a flexible body, with the rates and accelerations of its modes in `modal`, also their columns; see `_gather_columns`.
    """
    own = node.X.merge() if isinstance(node.X, Product) else node.X
    X = own if Xp is None else Xp @ own
    Vp = Vp or Motion.zero()
    S = [X.motion_to_parent(s) for s in node.S]
    VJ = AJ = Motion.zero()
    for k, s in enumerate(S):
        VJ, AJ = VJ + s * v[k], AJ + s * vdot[k]
    V = Vp + VJ
    A = Ap + AJ + V.cross(VJ)
    psid = [Vp.cross(s) for s in S]
    psidd = [Ap.cross(s) + Vp.cross(d) for s, d in zip(S, psid)]
    rate = [d + V.cross(s) for s, d in zip(S, psid)]
    turned = ca.vertcat(SX(0, 1), *(d.w for d in psid))
    moved = _pack_motions(S), turned, _pack_motions(psidd), _pack_motions(rate)
    if node.body is None:
        return X, V, A, *moved, *_forces(node, X, V, A)
    return X, V, A, *moved, *_flexible_forces(node, node.body, X, V, A, *modal)


def _forces(node: Node, X: Transform, V: Motion, A: Motion) -> tuple[RigidInertia, RateMatrix, Force]:
    """Return inertia, 2B and force of a rigid body."""
    inertia = X.inertia_to_parent(node.inertia)
    return inertia, RateMatrix.of(inertia, V), inertia @ A + V.cross_force(inertia @ V)


def _flexible_forces(
    node: Node, body: ElasticBody, X: Transform, V: Motion, A: Motion, rate: SX, acceleration: SX
) -> tuple:
    """Return the same of a flexible body, and the columns of its modes without what is on its stations.

    Deformation adds momentum rf e and growth dI/dt of the inertia to 2B: [[dJ/dt - n~, 0], [-2 f~, 0]], since the linear
    momentum f is the rate of the first moment.
    """
    own, n = X.motion_to_child(V), rate.numel()
    seen = X.motion_to_child(A)
    seen = Motion(seen.w, seen.v + cross(own.w, own.v))  # the origin at rest
    inertia = X.inertia_to_parent(node.inertia)
    P = X.force_to_parent(Force.of(body.momentum(Motion.zero(), rate)))
    growth = X.inertia_to_parent(body.growth(rate))
    B = RateMatrix.of(inertia, V) + RateMatrix(growth.J - skew(P.n), P.f)
    found = slopes(body, own.w, rate, seen, acceleration)

    def columns(local: SX) -> SX:
        return ca.vertcat(*(X.force_to_parent(Force.of(x)).column() for x in ca.horzsplit(local)))

    rf = [body.rf[3:, k] for k in range(n)]
    turning = (ca.mtimes(X.R, found.f_turn[k, :].T + 2 * cross(own.v, rf[k])) for k in range(n))
    blocks = (found.f_eta, found.f_rate, body.ff)
    same = [block[l, k] for k in range(n) for l in range(n) for block in blocks]
    modal = columns(found.F_eta), columns(found.F_rate), columns(body.rf)
    return inertia, B, X.force_to_parent(Force.of(found.F)), *modal, ca.vertcat(*turning), ca.vertcat(*same)


def outward_station(
    node: Node, v: SX, vdot: SX, Xp: Transform, Vp: Motion, Ap: Motion
) -> tuple[Transform, Motion, Motion, SX, SX, SX, SX, RigidInertia, RateMatrix, Force]:
    """Return what `outward` does of a station of a flexible body; v and vdot are modal."""
    assert node.station is not None
    X = Xp @ (node.X.merge() if isinstance(node.X, Product) else node.X)
    bend = node.joint_velocity(v)
    bending = node.joint_velocity(vdot) + node.station.turned_rate(v)
    carried = X.motion_to_parent(bend)
    V, A = Vp + carried, Ap + Vp.cross(carried) + X.motion_to_parent(bending)
    S = [X.motion_to_parent(s) for s in node.S]
    if node.station.stiff:
        none = SX.zeros(len(S))
        moved = ca.repmat(none, 3), ca.repmat(none, 6), ca.repmat(none, 6)
        return X, V, A, _pack_motions(S), *moved, *_forces(node, X, V, A)
    slopes = node.station.motion_slopes(v, vdot)
    psid, psidd, rate = [], [], []
    for s, local, *changes in zip(S, node.S, *map(ca.horzsplit, slopes)):
        by_q, bending_by_q, bending_by_v = map(Motion.of, changes)
        d, across = X.motion_to_parent(by_q), Vp.cross(s)
        psid.append(across + d)
        psidd.append(
            Ap.cross(s) + Vp.cross(psid[-1] + d) + X.motion_to_parent(bend.cross(by_q) + bending_by_q)
        )
        rate.append(across * 2 + X.motion_to_parent(bend.cross(local) + bending_by_v))
    turned = ca.vertcat(*(d.w for d in psid))
    return (
        X,
        V,
        A,
        _pack_motions(S),
        turned,
        _pack_motions(psidd),
        _pack_motions(rate),
        *_forces(node, X, V, A),
    )


def _pack_motions(motions: list[Motion]) -> SX:
    return ca.vertcat(SX(0, 1), *(m.column() for m in motions))


def gather(
    node: Node, S: SX, psid: SX, psidd: SX, rate: SX, inertia: RigidInertia, B: RateMatrix, F: Force
) -> tuple[SX, SX, SX, SX, SX]:
    """Return the columns that a joint at the ground adds (its bodies' sums are complete)."""
    return _gather_columns(node, S, psid, psidd, rate, inertia, B, F, Force.zero(), SX.zeros(3))


def gather_inward(
    node: Node,
    S: SX,
    psid: SX,
    psidd: SX,
    rate: SX,
    inertia: RigidInertia,
    B: RateMatrix,
    F: Force,
    v: SX,
    vdot: SX,
    Xp: Transform,
    Vp: Motion,
    inertia_parent: RigidInertia,
    B_parent: RateMatrix,
    F_parent: Force,
) -> tuple[SX, SX, SX, SX, SX, RigidInertia, RateMatrix, Force]:
    """Return the columns that a joint adds, and the parent's sums with what lies behind it."""
    r = Xp.force_to_parent(node.rotor)
    for k in range(len(node.S)):
        B_parent = RateMatrix(B_parent.E - skew(r.n * v[k]), B_parent.f)
        F_parent = F_parent + r * vdot[k] + Vp.cross_force(r * v[k])
    found = _gather_columns(node, S, psid, psidd, rate, inertia, B, F, r, Vp.cross_force(r).n)
    return (*found, inertia_parent + inertia, B_parent + B, F_parent + F)


def gather_station(
    node: Node,
    S: SX,
    psid: SX,
    psidd: SX,
    rate: SX,
    inertia: RigidInertia,
    B: RateMatrix,
    F: Force,
    X: Transform,
    inertia_parent: RigidInertia,
    B_parent: RateMatrix,
    F_parent: Force,
) -> tuple[SX, SX, SX, SX, SX, RigidInertia, RateMatrix, Force]:
    """Return the columns that a station adds to those of the modes, and the sums of its body with what it carries."""
    assert node.station is not None
    found = _gather_columns(node, S, psid, psidd, rate, inertia, B, F, Force.zero(), SX.zeros(3))
    by_q, by_v, row, row_rate, same = found
    sums = inertia_parent + inertia, B_parent + B, F_parent + F
    if node.station.stiff:  # nothing moves, only inertia counts
        by_q, by_v = SX.zeros(by_q.shape), SX.zeros(by_v.shape)
        same = same * ca.repmat(ca.DM([0.0, 0.0, 1.0]), len(node.S) ** 2, 1)
        return by_q, by_v, row, row_rate, same, *sums
    slope = node.station.force_slope(X.force_to_child(F))
    more = ca.horzcat(ca.vec(ca.densify(slope)), SX(slope.numel(), 2)).T
    return by_q, by_v, row, row_rate, same + ca.vec(ca.densify(more)), *sums


def _gather_columns(
    node: Node,
    S: SX,
    psid: SX,
    psidd: SX,
    rate: SX,
    inertia: RigidInertia,
    B: RateMatrix,
    F: Force,
    rotor: Force,
    rotor_rate: SX,
) -> tuple[SX, SX, SX, SX, SX]:
    nv = len(node.S)
    directions = [Motion.unpack(S[6 * k : 6 * k + 6]) for k in range(nv)]
    by_q, by_v, rows, row_rates, same = [], [], [], [], []
    spin = Force(rotor_rate, SX.zeros(3))
    for k, s in enumerate(directions):
        d = Motion(psid[3 * k : 3 * k + 3], SX.zeros(3))
        q = inertia @ Motion.unpack(psidd[6 * k : 6 * k + 6]) + B @ d
        r = inertia @ Motion.unpack(rate[6 * k : 6 * k + 6]) + B @ s
        momentum = inertia @ s
        for l, t in enumerate(directions):
            armature = node.armature[k] if k == l else 0
            same += [t.dot(q), t.dot(r), t.dot(momentum) + armature]
        by_q.append((q + s.cross_force(F)).column())
        by_v.append((r + spin).column())
        rows.append((momentum + rotor).column())
        row_rates.append(B.row(s) + rotor_rate)
    return tuple(ca.vertcat(SX(0, 1), *x) for x in (by_q, by_v, rows, row_rates, same))  # type: ignore[return-value]


def felt_turns(tree: Tree, turns: Any) -> Any:
    """Return angular parts of directions, (3, directions), without those of modes that make no inertia forces."""
    if not tree.unfelt:
        return turns
    kept = [float(k not in tree.unfelt) for v in tree.dofs for k in v]
    return turns * ca.repmat(ca.DM(kept).T, 3, 1)


def pairs(tree: Tree, c: PairColumns) -> tuple[SX, SX, SX]:
    """Return d tau/d q, d tau/d v and M from the columns, each (nv, nv); zero between unrelated branches."""
    nv = tree.description.nv
    dq, dv, M = SX.zeros(nv, nv), SX.zeros(nv, nv), SX.zeros(nv, nv)
    for (a, b), entry in zip(same_joint(tree), ca.horzsplit(c.same)):
        dq[a, b], dv[a, b], M[a, b] = entry[0], entry[1], entry[2]
    first = np.cumsum([0, *map(len, tree.dofs)]).tolist()
    for i, parent in enumerate(tree.parents):
        if tree.stations[i]:
            continue
        for dofs, front in ((tree.dofs[i], parent), (tree.modes[i], i)):
            for k, j in itertools.product(dofs, tree.path(front)):
                for l, at in zip(tree.dofs[j], itertools.count(first[j])):
                    dq[l, k] = ca.dot(c.S[:, at], c.by_q[:, k])
                    dv[l, k] = ca.dot(c.S[:, at], c.by_v[:, k])
                    M[l, k] = M[k, l] = ca.dot(c.S[:, at], c.row[:, k])
                    if l in tree.unfelt:
                        continue
                    dq[k, l] = ca.dot(c.psidd[:, at], c.row[:, k]) + ca.dot(c.psid[:, at], c.row_rate[:, k])
                    dv[k, l] = ca.dot(c.rate[:, at], c.row[:, k]) + ca.dot(c.S[:3, at], c.row_rate[:, k])
    return dq, dv, M
