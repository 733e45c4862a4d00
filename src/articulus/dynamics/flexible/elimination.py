"""Derivatives of forward dynamics of mechanisms with flexible bodies by elimination of one body after the other.

The degrees of freedom of a joint and the modes of the body behind it are a group. Between groups of which one carries the other, the mass
matrix and the derivatives of inverse dynamics are products of columns (`inverse_derivatives`): with U, Psidd and Psid those of a
group at the place where another hangs, the frame of the body or a station, and R, Rd and Y row, rate row and force of the other,

    M(front, behind) = U' R     dq(front, behind) = U' Y     dq(behind, front) = R' Psidd + Rd' Psid

so that what is behind a place can be eliminated by a matrix L, (6, 6), and a matrix H, (6, 3), alone, sums over all that hangs there.
Inward, with the blocks M, dq of the group itself and sums over its places

    D = M - sum U' L U       R <- R - sum L U       Rd <- Rd - sum H' U        K = R D^-1       b = Rd D^-1
    dq <- dq - sum U' G      y = Y - sum G - K dq   G = L Psidd + H Psid
    L <- sum L + K R'        H <- sum H + K Rd'

Outward, with the compliance Upsilon of what is in front of a group, and T = 1 - K U' through which forces pass from a place to the front:

    alpha = -Upsilon y       d vdot/d q = -D^-1 dq - K' alpha              M^-1 = D^-1 + K' Upsilon K
    E = D^-1 U' - K' Upsilon T       Upsilon <- T' Upsilon T + U D^-1 U'   alpha <- alpha + U d vdot/d q + Psidd

gives the blocks of all groups w that are behind a place, whose K, b and y have passed the groups in between:

    d vdot/d q(front, w) = -E y      M^-1(front, w) = -E K      d vdot/d q(w, front) = -K' alpha - b' Psid

The same holds for a change of rates, with Sdot + Psid and the angular part of U in place of Psidd and Psid. Between groups on two
places s and t of one body, M^-1 = K' Upsilon_st K and d vdot/d q = K' Upsilon_st y with Upsilon_st = T_s' Upsilon T_t + U_s D^-1 U_t'.

Derived here; without modes it is `forward_derivatives`. Cost: O(n^2), the number of entries.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.flexible.shortening import mirror_upper_half
from articulus.dynamics.inverse_derivatives import PairColumns, felt_turns
from articulus.dynamics.loops.factor import Factorization
from articulus.dynamics.pair_matrices import Entries
from articulus.dynamics.tree import ROOT, Tree


@dataclass
class _Behind:
    """Degrees of freedom behind a place: K with b below it, (9, count), and y by position and by rate, (6, count)."""

    dofs: list[int]
    gains: Any
    y: list[Any]


@dataclass
class _Group:
    """Degrees of freedom of a node, and what is found of them."""

    dofs: list[int]
    front: int
    """Node on which the group hangs."""
    places: dict[int, list[Any]] = field(default_factory=dict)
    """Nodes on which others hang, with U, Psidd, Psid, and the same two for a change of rates, there."""
    bent: dict[int, Any] = field(default_factory=dict)
    """D^-1 U' at these places."""
    found: list[Any] = field(default_factory=list)
    """D^-1, K, b and, for position and rate, D^-1 times the own block and y."""


def derivatives(tree: Tree, c: PairColumns, passive: tuple[Any, Any]) -> tuple[Any, Any, Any]:
    """Return d vdot/d q, d vdot/d v and M^-1, (nv, nv) each.

    Parameters
    ----------
    tree : Tree
        For masses and forces.
    c : Columns
        Of inverse dynamics at the accelerations vdot, on SX or MX symbols.
    passive : two of (nv,)
        Derivatives of friction and spring forces by position and by rate.
    """
    groups, own = _groups(tree, c), _own_blocks(tree, c)
    behind: dict[int, list[Any]] = {}
    for i, group in reversed(groups.items()):
        at = group.dofs
        blocks = [x - ca.diag(slope[at]) for x, slope in zip(own[i], passive)]
        columns = [c.row[:, at], c.row_rate[:, at], c.by_q[:, at], c.by_v[:, at]]
        held = [x for j, place in group.places.items() for x in (*place, *behind[j])]
        found = _given_way(len(at), len(group.places))(own[i][2], *blocks, *columns, *held)
        *group.found, L, H = found[:9]
        group.bent = dict(zip(group.places, found[9:]))
        before = behind.get(group.front)
        behind[group.front] = [L, H] if before is None else [before[0] + L, before[1] + H]
    return _outward(tree, groups)


def _groups(tree: Tree, c: PairColumns) -> dict[int, _Group]:
    """Return the nodes that are no stations as groups, with the columns of each at the places where others hang."""
    first = np.cumsum([0, *map(len, tree.dofs)]).tolist()
    columns = [c.S, c.psidd, c.psid, c.rate, felt_turns(tree, c.S[:3, :])]
    groups: dict[int, _Group] = {}
    for i, front in enumerate(tree.parents):
        if tree.stations[i]:
            continue
        groups[i] = _Group([*tree.dofs[i], *tree.modes[i]], front)
        if front == ROOT:
            continue
        body, at = front, []
        if tree.stations[front]:
            body, at = tree.parents[front], list(range(first[front], first[front + 1]))
        at = [*range(first[body], first[body + 1]), *at]
        missing = len(groups[body].dofs) - len(at)  # modes do not move the frame
        groups[body].places[front] = [
            ca.horzcat(x[:, at], type(x)(ca.DM.zeros(x.shape[0], missing))) for x in columns
        ]
    return groups


def _own_blocks(tree: Tree, c: PairColumns) -> dict[int, list[Any]]:
    """Return the blocks of each group of d tau/d q, d tau/d v and M."""
    first = np.cumsum([0, *map(len, tree.dofs)]).tolist()
    blocks: dict[int, list[Any]] = {}
    start = 0
    for i, (joint, modes) in enumerate(zip(tree.dofs, tree.modes)):
        if tree.stations[i]:
            continue
        corners = []
        for n in (len(joint), len(modes)):
            stop = start + n**2
            corners.append([ca.reshape(c.same[kind, start:stop], n, n) for kind in range(3)])
            start = stop
        m, at = list(modes), slice(first[i], first[i + 1])
        S, row, turn = c.S[:, at], c.row[:, m], c.row_rate[:, m]
        across = [ca.mtimes(S.T, x[:, m]) for x in (c.by_q, c.by_v, c.row)]
        down = [
            ca.mtimes(row.T, c.psidd[:, at]) + ca.mtimes(turn.T, c.psid[:, at]),
            ca.mtimes(row.T, c.rate[:, at]) + ca.mtimes(turn.T, S[:3, :]),
            across[2].T,
        ]
        parts = zip(*corners, across, down)
        blocks[i] = [ca.vertcat(ca.horzcat(a, b), ca.horzcat(d, e)) for a, e, b, d in parts]
    return blocks


def _outward(tree: Tree, groups: dict[int, _Group]) -> tuple[Any, Any, Any]:
    """Return the three matrices from what the groups have left."""
    nv = tree.description.nv
    by_change, inverse = [Entries(nv, nv) for _ in range(2)], Entries(nv, nv)
    upsilon: dict[int, Any] = {ROOT: ca.DM.zeros(6, 6)}
    passed: dict[int, list[Any]] = {}
    for group in groups.values():
        n, front = len(group.dofs), upsilon[group.front]
        *blocks, alpha_q, alpha_v = _response_function(n)(front, *group.found)
        for entries, block in zip((*by_change, inverse), blocks):
            entries.put(group.dofs, group.dofs, block)
        changes = [alpha_q, alpha_v, *blocks[:2]]
        for j, place in group.places.items():
            upsilon[j], *passed[j] = _propagation_function(n)(
                front, *group.found[1:3], group.bent[j], *changes, *place
            )
    behind: dict[int, list[_Behind]] = {}
    for group in reversed(groups.values()):
        _, K, b, _, _, *y = group.found
        left = [_Behind(group.dofs, ca.vertcat(K, b), y)]
        for j in group.places:
            through, E, *factors = passed[j]
            for branch in behind[j]:
                z = branch.gains[:6, :]
                inverse.put(group.dofs, branch.dofs, -ca.mtimes(E, z), mirrored=True)
                for entries, y, alpha in zip(by_change, branch.y, factors):
                    entries.put(group.dofs, branch.dofs, -ca.mtimes(E, y))
                    entries.put(branch.dofs, group.dofs, -ca.mtimes(branch.gains.T, alpha))
                left.append(_inward(through, branch))
            for one, other in itertools.combinations(behind[j], 2):
                _between(by_change, inverse, one, other, upsilon[j])
        for s, t in itertools.combinations(group.places, 2):
            T_s, T_t = (passed[j][0][:6, :] for j in (s, t))
            front = ca.mtimes(ca.mtimes(T_s.T, upsilon[group.front]), T_t)
            common = front + ca.mtimes(group.places[s][0], group.bent[t])
            for one, other in itertools.product(behind[s], behind[t]):
                _between(by_change, inverse, one, other, common)
        behind.setdefault(group.front, []).append(_together(left))
    by_q, by_v = (entries.matrix() for entries in by_change)
    return by_q, by_v, inverse.matrix()


def _inward(through: Any, branch: _Behind) -> _Behind:
    """Return what is left of a branch in front of the body on which it hangs."""
    force, gains = through[:6, :], ca.mtimes(through, branch.gains[:6, :])
    turns = branch.gains[6:, :] + gains[6:, :]
    return _Behind(branch.dofs, ca.vertcat(gains[:6, :], turns), [ca.mtimes(force, y) for y in branch.y])


def _together(parts: list[_Behind]) -> _Behind:
    dofs = [k for part in parts for k in part.dofs]
    y = [ca.horzcat(*columns) for columns in zip(*(part.y for part in parts))]
    return _Behind(dofs, ca.horzcat(*(part.gains for part in parts)), y)


def _between(by_change: list[Entries], inverse: Entries, one: _Behind, other: _Behind, upsilon: Any) -> None:
    """Put the entries between two branches on one body."""
    given, back = (ca.mtimes(x, branch.gains[:6, :]) for x, branch in ((upsilon.T, one), (upsilon, other)))
    inverse.put(one.dofs, other.dofs, ca.mtimes(given.T, other.gains[:6, :]), mirrored=True)
    for entries, y_one, y_other in zip(by_change, one.y, other.y):
        entries.put(one.dofs, other.dofs, ca.mtimes(given.T, y_other))
        entries.put(other.dofs, one.dofs, ca.mtimes(back.T, y_one))


@functools.cache
def _given_way(n: int, places: int) -> ca.Function:
    """(M, dq, dv, R, Rd, Y of q and v; of each place U, Psidd, Psid, the same two of rates, L and H) -> (D^-1, K, b, D^-1 dq, D^-1 dv, y
    of q and v, L, H; of each place D^-1 U').

    Everything is solved with the factors of D: products with its inverse would be less exact where a body has fast and slow modes.
    """
    M, R, Rd = SX.sym("M", n, n), SX.sym("R", 6, n), SX.sym("Rd", 3, n)
    own, Y = [SX.sym("own", n, n) for _ in range(2)], [SX.sym("Y", 6, n) for _ in range(2)]
    symbols = [M, *own, R, Rd, *Y]
    L_left, H_left = SX(6, 6), SX(6, 3)
    motions = []
    for _ in range(places):
        U, psidd, psid, rate, turn = (SX.sym("x", rows, n) for rows in (6, 6, 3, 6, 3))
        L, H = SX.sym("L", 6, 6), SX.sym("H", 6, 3)
        symbols += [U, psidd, psid, rate, turn, L, H]
        LU = ca.mtimes(L, U)
        M, R, Rd = M - ca.mtimes(U.T, LU), R - LU, Rd - ca.mtimes(H.T, U)
        given = [ca.mtimes(L, x) + ca.mtimes(H, w) for x, w in ((psidd, psid), (rate, turn))]
        own = [x - ca.mtimes(U.T, G) for x, G in zip(own, given)]
        Y = [x - G for x, G in zip(Y, given)]
        L_left, H_left = L_left + L, H_left + H
        motions.append(U)
    D = Factorization(mirror_upper_half(M))
    K, b = D.solve(R.T).T, D.solve(Rd.T).T
    y = [x - ca.mtimes(K, block) for x, block in zip(Y, own)]
    L_left, H_left = mirror_upper_half(L_left + ca.mtimes(K, R.T)), H_left + ca.mtimes(K, Rd.T)
    solved, bent = [ca.mtimes(D.inverse(), x) for x in own], [D.solve(U.T) for U in motions]
    return _function("given_way", symbols, [D.inverse(), K, b, *solved, *y, L_left, H_left, *bent])


@functools.cache
def _response_function(n: int) -> ca.Function:
    """(Upsilon, D^-1, K, b, D^-1 dq, D^-1 dv, y of q and v) -> (d vdot/d q, d vdot/d v, M^-1, alpha of q and v) of the group itself."""
    upsilon, D_inverse, K, b = (SX.sym("x", *shape) for shape in ((6, 6), (n, n), (6, n), (3, n)))
    solved, y = [SX.sym("solved", n, n) for _ in range(2)], [SX.sym("y", 6, n) for _ in range(2)]
    alpha = [-ca.mtimes(upsilon, x) for x in y]
    blocks = [-x - ca.mtimes(K.T, a) for x, a in zip(solved, alpha)]
    inverse = mirror_upper_half(D_inverse + ca.mtimes(K.T, ca.mtimes(upsilon, K)))
    return _function("answered", [upsilon, D_inverse, K, b, *solved, *y], [*blocks, inverse, *alpha])


@functools.cache
def _propagation_function(n: int) -> ca.Function:
    """(Upsilon, K, b, D^-1 U', alpha and own block of q and v, U, Psidd, Psid, the same two of rates) -> (Upsilon behind the place, T with -b U'
    below it, E, alpha with Psid below it of q and v)."""
    upsilon, K, b, bent = (SX.sym("x", *shape) for shape in ((6, 6), (6, n), (3, n), (n, 6)))
    alpha, own = [SX.sym("alpha", 6, n) for _ in range(2)], [SX.sym("own", n, n) for _ in range(2)]
    U, psidd, psid, rate, turn = place = [SX.sym("x", rows, n) for rows in (6, 6, 3, 6, 3)]
    T = SX.eye(6) - ca.mtimes(K, U.T)
    half = ca.mtimes(upsilon, T)
    behind = mirror_upper_half(ca.mtimes(T.T, half) + ca.mtimes(U, bent))
    moved = zip(alpha, own, (psidd, rate), (psid, turn))
    given = [ca.vertcat(a + ca.mtimes(U, block) + x, w) for a, block, x, w in moved]
    through = ca.vertcat(T, -ca.mtimes(b, U.T))
    outputs = [behind, through, bent - ca.mtimes(K.T, half), *given]
    return _function("passed", [upsilon, K, b, bent, *alpha, *own, *place], outputs)


def _function(name: str, symbols: list[SX], outputs: list[SX]) -> ca.Function:
    return ca.Function(name, symbols, [ca.densify(x) for x in outputs])
