"""Derivatives of forward dynamics by recursion, without a product of two full matrices.

A small change of degree of freedom l turns all that is behind it; what the bodies there feel is a motion of the body in front of the joint,
Psidd_l and Psid_l of `inverse_derivatives`. The joints behind yield to it, and so do those in front to the force that comes
back through the joint. With the articulated inertia P and the articulated rate matrix B of what is behind a joint, all in ground
axes,

    g_l = P Psidd_l + B Psid_l            beta_i = B' S_i      b_i = beta_i/D_i
    P <- P - K_i D_i K_i'                 B <- B - K_i beta_i'                              through degree of freedom i, inward
    y_l = K_l nu_l - g_l - S_l x* F       nu_l = S_l . g_l

F is the force of all bodies behind the joint and y_l what the bodies in front feel; their compliance Upsilon (`inverse_matrix`) gives
the acceleration a_l = Upsilon y_l, the entry of the joint itself and the motion alpha_l that the bodies behind are given:

    d vdot_l/d q_l = -nu_l/D_l - K_l . a_l
    alpha_l        = a_l + S_l d vdot_l/d q_l + Psidd_l
    d vdot_k/d q_l = -K_k . alpha - b_k . Psid_l     alpha <- alpha + S_k d vdot_k/d q_l     outward, k behind l
    d vdot_i/d q_l = e_i . y                         y <- y - K_i (S_i . y)                  inward, i in front of l
    d vdot_i/d q_l = -z_i . Upsilon_c y              on two branches, c the last that carries both

with e_i and z_i the rows of M^-1 that `inverse_matrix` explains. The same holds for a change of rate, with Sdot_l + Psid_l and
S_l in place of Psidd_l and Psid_l and without S_l x* F.

Several degrees of freedom are a piece, whose entries are written out; what passes a piece is multiplied by a matrix (9, 6), so that the
entries between a piece and all that is behind it are products of thin matrices.

Source: the columns are those of Singh, Russell & Wensing 2022, the compliance that of Rodriguez, Jain & Kreutz 1989; solving
in the recursion is derived here. Cost: O(n^2), the number of entries; the recursions O(n).
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus.dynamics import forward
from articulus.dynamics.inverse_derivatives import RateMatrix, outward_pass
from articulus.dynamics.inverse_matrix import pieces_of
from articulus.dynamics.pair_matrices import Entries
from articulus.dynamics.recursion import Runner
from articulus.dynamics.tree import ROOT, Node, Tree
from articulus.spatial import ArticulatedInertia, Force, Motion, RigidInertia, Transform, skew

PIECE = 6
"""Nodes of a piece."""


@dataclass(frozen=True)
class ArticulatedRate:
    """What is left of 2B, (6, 3), of the bodies behind a joint that yield: it looks at the angular part alone."""

    matrix: SX

    @staticmethod
    def of(B: RateMatrix) -> ArticulatedRate:
        """Return that of a body alone."""
        return ArticulatedRate(ca.vertcat(B.E, -2 * skew(B.f)))

    def pack(self) -> SX:
        return ca.vec(self.matrix)

    @staticmethod
    def unpack(numbers: SX) -> ArticulatedRate:
        return ArticulatedRate(ca.reshape(numbers, 6, 3))

    def __add__(self, other: ArticulatedRate) -> ArticulatedRate:
        return ArticulatedRate(self.matrix + other.matrix)


def derivatives(run: Runner, v: Any, tau: Any, passive: tuple[Any, Any]) -> tuple[MX, MX, MX]:
    """Return d vdot/d q, d vdot/d v and M^-1, (nv, nv) each.

    Parameters
    ----------
    run : Runner
        Runs the passes over the tree.
    v : (nv,) [rad/s or m/s]
        Generalized velocities.
    tau : (nv,) [N m or N]
        Joint forces, friction and springs included.
    passive : two of (nv,)
        Derivatives of friction and spring forces by position and by rate; structural zeros where there are none.
    """
    tree = run.tree
    vdot, factors = forward.articulated_bodies(run, v, tau, None)
    X, V, moved, own = outward_pass(run, v, vdot)
    n = len(tree)
    slopes = [tuple(x[tree.span(i)] if x.nnz() else None for x in passive) for i in range(n)]
    behind: list[tuple] = [(None, None, None)] * n
    left: list[Any] = [None] * n
    for i in reversed(range(n)):
        p = tree.parents[i]
        inputs = (*factors[i][:2], X[i], *moved[i], *slopes[i], *own[i], *behind[i])
        if p == ROOT:
            left[i] = run(eliminate_node, i, *inputs)
        else:
            rates = (v[tree.span(i)], vdot[tree.span(i)])
            *left[i], P, B, F = run(eliminate_inward, i, *inputs, *rates, X[p], V[p], *behind[p])
            behind[p] = (P, B, F)
    upsilon: list[Any] = []
    pieces: list[list[MX]] = []
    for i, p in enumerate(tree.parents):
        (S, psid, psidd, rate), (K, nu, y, b) = moved[i], left[i]
        front = None if p == ROOT else upsilon[p]
        compliance, *rest = run(respond, i, front, S, K, factors[i][1], nu, y, psidd, rate)
        upsilon.append(compliance)
        pieces.append([S, psid, K, b, y, *rest])
    return _entries(tree, pieces, upsilon)


def eliminate_node(
    node: Node,
    U: SX,
    d_inverse: SX,
    X: Transform,
    S: SX,
    psid: SX,
    psidd: SX,
    rate: SX,
    by_position: SX | None,
    by_rate: SX | None,
    inertia: RigidInertia,
    B: RateMatrix,
    F: Force,
    P: ArticulatedInertia | None,
    B_behind: ArticulatedRate | None,
    F_behind: Force | None,
) -> tuple[SX, SX, SX, SX]:
    """Return K, nu, y and b of the degrees of freedom of a joint at the ground, from what is behind it."""
    moved = S, psid, psidd, rate, by_position, by_rate
    zero = Force.zero()
    return _given_way(node, U, d_inverse, X, *moved, inertia, B, F, P, B_behind, F_behind, zero, SX.zeros(3))[
        :4
    ]


def eliminate_inward(
    node: Node,
    U: SX,
    d_inverse: SX,
    X: Transform,
    S: SX,
    psid: SX,
    psidd: SX,
    rate: SX,
    by_position: SX | None,
    by_rate: SX | None,
    inertia: RigidInertia,
    B: RateMatrix,
    F: Force,
    P: ArticulatedInertia | None,
    B_behind: ArticulatedRate | None,
    F_behind: Force | None,
    v: SX,
    vdot: SX,
    Xp: Transform,
    Vp: Motion,
    P_parent: ArticulatedInertia | None,
    B_parent: ArticulatedRate | None,
    F_parent: Force | None,
) -> tuple:
    """Return the same of any other joint and, added to what is behind the parent, what remains."""
    moved = S, psid, psidd, rate, by_position, by_rate
    r = Xp.force_to_parent(node.rotor)
    turned = Vp.cross_force(r).n
    *found, P_left, B_left, F_left = _given_way(
        node, U, d_inverse, X, *moved, inertia, B, F, P, B_behind, F_behind, r, turned
    )
    for k in range(len(node.S)):
        B_left = B_left + ArticulatedRate(ca.vertcat(-skew(r.n * v[k]), SX.zeros(3, 3)))
        F_left = F_left + r * vdot[k] + Vp.cross_force(r * v[k])
    sums = zip((P_parent, B_parent, F_parent), (P_left, B_left, F_left))
    return (*found, *(more if before is None else before + more for before, more in sums))


def _given_way(
    node: Node,
    U: SX,
    d_inverse: SX,
    X: Transform,
    S: SX,
    psid: SX,
    psidd: SX,
    rate: SX,
    by_position: SX | None,
    by_rate: SX | None,
    inertia: RigidInertia,
    B: RateMatrix,
    F: Force,
    P: ArticulatedInertia | None,
    B_behind: ArticulatedRate | None,
    F_behind: Force | None,
    rotor: Force,
    rotor_rate: SX,
) -> tuple:
    nv = len(node.S)
    whole = inertia.as_articulated() if P is None else inertia.as_articulated() + P
    rates = ArticulatedRate.of(B) if B_behind is None else ArticulatedRate.of(B) + B_behind
    F = F if F_behind is None else F + F_behind
    directions = [Motion.unpack(x) for x in _columns(S, nv)]
    gains = [X.force_to_parent(Force.unpack(u) * d_inverse[k]) for k, u in enumerate(_columns(U, nv))]
    felt = [
        [(whole @ Motion.unpack(x)).column() + ca.mtimes(rates.matrix, w) for x, w in zip(change, turn)]
        for change, turn in (
            (_columns(psidd, nv), _columns(psid, nv)),
            (_columns(rate, nv), [s.w for s in directions]),
        )
    ]
    slopes = (by_position, by_rate)
    nu = [[SX(0)] * nv**2, [SX(0)] * nv**2]
    b: list = [None] * nv
    for k in reversed(range(nv)):
        s, gain = directions[k].column(), gains[k].column()
        for kind, columns in enumerate(felt):
            for l in range(nv):
                slope = slopes[kind]
                entry = ca.dot(s, columns[l]) - (0 if slope is None or k != l else slope[k])
                nu[kind][k + nv * l] = entry
                columns[l] = columns[l] - gain * entry
        beta = ca.mtimes(rates.matrix.T, s) + rotor_rate
        b[k] = beta * d_inverse[k]
        rates = ArticulatedRate(rates.matrix - ca.mtimes(gain, beta.T))
        scaled = X.force_to_parent(Force.unpack(_columns(U, nv)[k]))
        whole = whole.minus_dyad(scaled, gains[k])
    y = [-(felt[0][l] + directions[l].cross_force(F).column()) for l in range(nv)]
    y += [-(felt[1][l] + Force(rotor_rate, SX.zeros(3)).column()) for l in range(nv)]
    K = ca.vertcat(*(x.column() for x in gains))
    found = K, ca.vertcat(*nu[0], *nu[1]), ca.vertcat(*y), ca.vertcat(*b)
    return (*found, whole, rates, F)


def respond(
    node: Node,
    upsilon: SX | None,
    S: SX,
    K: SX,
    d_inverse: SX,
    nu: SX,
    y: SX,
    psidd: SX,
    rate: SX,
) -> tuple[SX, ...]:
    """Return Upsilon behind the joint, (21,), the rows e, alpha of all changes, the entries between own degrees of freedom of d vdot/d q and
    d vdot/d v, and the diagonal of M^-1.
    """
    nv = len(node.S)
    compliance = SX.zeros(6, 6) if upsilon is None else symmetric_of(upsilon)
    felt = [ca.mtimes(compliance, x) for x in _columns(y, 2 * nv)]
    rows, diagonal = [], []
    entries: list = [None] * (2 * nv * nv)
    for k, (s, gain) in enumerate(zip(_columns(S, nv), _columns(K, nv))):
        carried = ca.mtimes(compliance, gain)
        diagonal.append(d_inverse[k] + ca.dot(gain, carried))
        rows.append(s * diagonal[-1] - carried)
        compliance = compliance - ca.mtimes(carried, s.T) + ca.mtimes(s, rows[-1].T)
        for l in range(2 * nv):
            entry = -d_inverse[k] * nu[k + nv * l] - ca.dot(gain, felt[l])
            entries[k + nv * l] = entry
            felt[l] = felt[l] + s * entry
    given = [a + p for a, p in zip(felt, [*_columns(psidd, nv), *_columns(rate, nv)])]
    found = (ca.vertcat(*x) for x in (rows, given, entries, diagonal))
    return triangle_of(compliance), *found


def _columns(stacked: SX, count: int) -> list[SX]:
    """Return so many columns that are stacked."""
    rows = stacked.numel() // count
    return [stacked[rows * k : rows * (k + 1)] for k in range(count)]


_TRIANGLE = [(i, j) for j in range(6) for i in range(j + 1)]


def triangle_of(matrix: SX) -> SX:
    """Return the 21 numbers of a symmetric 6 x 6 matrix."""
    return ca.vertcat(*(matrix[i, j] for i, j in _TRIANGLE))


def symmetric_of(numbers: Any) -> Any:
    """Return the symmetric 6 x 6 matrix of 21 numbers."""
    places = [_TRIANGLE.index((min(i, j), max(i, j))) for j in range(6) for i in range(6)]
    return ca.reshape(numbers[places], 6, 6)


@dataclass(frozen=True)
class _Behind:
    """Degrees of freedom behind a piece: z with what multiplies rates below it, (9, count), and y by position and by rate, (6, count)."""

    dofs: list[int]
    z: MX
    y: list[MX]


def _entries(tree: Tree, nodes: list[list[MX]], upsilon: list[MX]) -> tuple[MX, MX, MX]:
    """Return the three matrices from what the passes found of every node."""
    nv = tree.description.nv
    by_change, inverse = [Entries(nv, nv) for _ in range(2)], Entries(nv, nv)
    behind: dict[int, list[_Behind]] = {}
    for piece in reversed(pieces_of(dict(enumerate(tree.parents)), PIECE)):
        dofs = [k for i in piece for k in tree.dofs[i]]
        written = _piece(tuple(len(tree.dofs[i]) for i in piece))
        through, z, *y, rows = (found := written(*(x for i in piece for x in nodes[i])))[:5]
        for entries, block in zip((*by_change, inverse), found[7:]):
            entries.put(dofs, dofs, block)
        branches = behind.pop(piece[-1], [])
        for branch in branches:
            force = branch.z[:6, :]
            inverse.put(dofs, branch.dofs, -ca.mtimes(rows.T, force))
            inverse.put(branch.dofs, dofs, -ca.mtimes(force.T, rows))
            for entries, column, given in zip(by_change, branch.y, found[5:7]):
                entries.put(dofs, branch.dofs, ca.mtimes(rows.T, column))
                entries.put(branch.dofs, dofs, -ca.mtimes(branch.z.T, given))
        if len(branches) > 1:
            _between(by_change, inverse, branches, symmetric_of(upsilon[piece[-1]]))
        passed = [_Behind(dofs, z, y), *(_inward(through, branch) for branch in branches)]
        behind.setdefault(tree.parents[piece[0]], []).append(_together(passed))
    by_q, by_v = (entries.matrix() for entries in by_change)
    return by_q, by_v, inverse.matrix()


def _inward(through: MX, branch: _Behind) -> _Behind:
    """Return what is left of forces at the inner side of a piece."""
    force, turn = through[:6, :], through[6:, :]
    z = branch.z[:6, :]
    passed = ca.vertcat(ca.mtimes(force, z), branch.z[6:, :] + ca.mtimes(turn, z))
    return _Behind(branch.dofs, passed, [ca.mtimes(force, y) for y in branch.y])


def _together(parts: list[_Behind]) -> _Behind:
    dofs = [k for part in parts for k in part.dofs]
    y = [ca.horzcat(*columns) for columns in zip(*(part.y for part in parts))]
    return _Behind(dofs, ca.horzcat(*(part.z for part in parts)), y)


def _between(by_change: list[Entries], inverse: Entries, branches: list[_Behind], upsilon: MX) -> None:
    """Put the entries between degrees of freedom of different branches behind one joint."""
    for one, other in itertools.combinations(branches, 2):
        z = one.z[:6, :]
        given = ca.mtimes(upsilon, z)
        inverse.put(other.dofs, one.dofs, ca.mtimes(other.z[:6, :].T, given))
        inverse.put(one.dofs, other.dofs, ca.mtimes(given.T, other.z[:6, :]))
        for entries, y, y_other in zip(by_change, one.y, other.y):
            entries.put(one.dofs, other.dofs, -ca.mtimes(given.T, y_other))
            entries.put(other.dofs, one.dofs, -ca.mtimes(other.z[:6, :].T, ca.mtimes(upsilon, y)))


@functools.cache
def _piece(sizes: tuple[int, ...]) -> ca.Function:
    """What the passes found of the nodes of a piece -> what goes through it and its own entries.

    Outputs: the matrix (9, 6) that z passes; z, and y by position and by rate, at the inner side; rows e, and the motions given by
    position and by rate with their turns, (9, count), at the outer side; entries of the three matrices.

    One vector after the other goes through the piece, so that it stays in registers.
    """
    nodes = [_PieceNode(nv) for nv in sizes]
    S, K, b, e = ([x for node in nodes for x in getattr(node, name)] for name in ("S", "K", "b", "rows"))
    count, last = len(S), np.repeat(np.cumsum(sizes), sizes).tolist()
    first = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes).tolist()
    gains = [ca.vertcat(k, turn) for k, turn in zip(K, b)]

    def inward(x: SX, start: int) -> SX:
        for i in reversed(range(start)):
            x = x - gains[i] * ca.dot(S[i], x[:6])
        return x

    through = [inward(unit, count) for unit in ca.horzsplit(ca.vertcat(SX.eye(6), SX(3, 6)))]
    z = [inward(gains[k], k) for k in range(count)]
    y: list[list[SX]] = [[], []]
    given: list[list[SX]] = [[], []]
    matrices = [ca.diagcat(*(node.entries[kind] for node in nodes)) for kind in range(2)]
    for kind, matrix in enumerate(matrices):
        for l, x in enumerate(x for node in nodes for x in node.y[kind]):
            for i in reversed(range(first[l])):
                matrix[i, l] = ca.dot(e[i], x)
                x = x - K[i] * ca.dot(S[i], x)
            y[kind].append(x)
        for l, (a, w) in enumerate(x for node in nodes for x in zip(node.given[kind], node.turns[kind])):
            for k in range(last[l], count):
                matrix[k, l] = -ca.dot(K[k], a) - ca.dot(b[k], w)
                a = a + S[k] * matrix[k, l]
            given[kind].append(ca.vertcat(a, w))
    inverse, rows = ca.diag(ca.vertcat(*(node.diagonal for node in nodes))), []
    for i, row in enumerate(e):
        for k in range(i + 1, count):
            inverse[i, k] = inverse[k, i] = -ca.dot(row, K[k])
            row = row + S[k] * inverse[i, k]
        rows.append(row)
    outputs = [ca.horzcat(*x) for x in (through, z, *y, rows, *given)] + [*matrices, inverse]
    return ca.Function("piece", [x for node in nodes for x in node.symbols], [ca.densify(x) for x in outputs])


class _PieceNode:
    """Symbols for what the passes found of a node, by degree of freedom; what there is by position and by rate in two lists."""

    def __init__(self, nv: int):
        lengths = [6 * nv, 3 * nv, 6 * nv, 3 * nv, 12 * nv, 6 * nv, 12 * nv, 2 * nv * nv, nv]
        self.symbols = [SX.sym("x", length) for length in lengths]
        S, psid, K, b, y, rows, given, entries, self.diagonal = self.symbols
        self.S, self.K, self.b, self.rows = (_columns(x, nv) for x in (S, K, b, rows))
        self.y, self.given = ([_columns(half, nv) for half in _columns(x, 2)] for x in (y, given))
        self.turns = [_columns(psid, nv), [s[:3] for s in self.S]]
        self.entries = [ca.reshape(half, nv, nv) for half in _columns(entries, 2)]
