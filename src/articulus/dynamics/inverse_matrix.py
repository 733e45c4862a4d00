"""The inverse of the mass matrix of long mechanisms and its triangular factors, as products over short pieces of the tree.

With z_j the force that a unit at degree of freedom j leaves on the bodies in front of it, which every joint in between yields to,

    z <- (I - K_i S_i') z                                   from the outer side of degree of freedom i to the inner one
    M^-1(i, j) = (K_i' Upsilon_p (I - K_i S_i') - S_i'/D_i) z_j      i in front of j, p in front of i
    M^-1(i, i) = 1/D_i + K_i' Upsilon_p K_i
    M^-1(i, j) = z_i' Upsilon_c z_j                         on two branches, c the last that carries both
    Upsilon_i  = (I - K_i S_i')' Upsilon_p (I - K_i S_i') + S_i S_i'/D_i

    L(i, j) = S_i' K_j      L^-1(i, j) = -S_i' z_j          M = L D L', i in front of j

so that a piece of a few degrees of freedom is a matrix (6, 6) that z passes, and its rows of M^-1 are one product with all z behind it.

The modes of a flexible body do the same at each of its stations, with S the motions U that unit rates give the station; D is
their mass matrix and K their gains when all that is behind has given way. What is attached to the frame of the body has no U, and
what is attached to two stations s and t is coupled by the modes as well as by the frame:

    M^-1(i, j) = z_i' Upsilon z_j + (U_t' z_i)' D^-1 (U_s' z_j)      z at the stations in the products with U, else at the frame

Source: Rodriguez, Jain & Kreutz 1989, lemmas 3 and 4 with the Upsilon of appendix A; modes derived here. Cost: O(n^2), the number of entries.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import MX, SX

from articulus.dynamics.flexible.shortening import mirror_upper_half
from articulus.dynamics.forward import MassMatrixFactors
from articulus.dynamics.operators import next_inward
from articulus.dynamics.pair_matrices import PIECE, Entries, span
from articulus.dynamics.tree import ROOT, Tree


@dataclass(frozen=True)
class _Behind:
    """Degrees of freedom behind a joint and the force that each leaves there, (6, count)."""

    dofs: list[int]
    z: MX
    bent: MX | None = None
    """U' z of what has passed a station of a flexible body, (modes, count)."""


Place = int | tuple[str, int]
"""A degree of freedom of a joint; ("body", i) the frame of a flexible body and ("station", i) a station, by node."""


def inverse_mass_matrix(tree: Tree, f: MassMatrixFactors) -> MX:
    """Return M^-1, (nv, nv), from its factors."""
    inward = places(tree)
    pieces = pieces_of(inward, PIECE)
    entries = Entries(tree.description.nv, tree.description.nv)
    upsilon: dict[Place, MX] = {ROOT: MX(ca.DM.zeros(36))}
    found = []
    for piece in pieces:
        upsilon[piece[-1]], *rest = _giving_way(tree, f, piece, upsilon[inward[piece[0]]])
        found.append(rest)
    behind: dict[Place, list[_Behind]] = {}
    for piece, rest in reversed(list(zip(pieces, found))):
        branches, compliance = behind.pop(piece[-1], []), ca.reshape(upsilon[piece[-1]], 6, 6)
        match piece[0]:
            case ("station", int(i)):
                left = _passed_station(entries, list(tree.dofs[i]), f.motions[i], branches, compliance, rest)
            case ("body", int(i)):
                left = _passed_body(entries, list(tree.modes[i]), f.modal[i], branches, compliance, rest)
            case _:
                left = _passed_joints(entries, piece, branches, compliance, rest)
        behind.setdefault(inward[piece[0]], []).extend(left)
    return entries.matrix()


def _giving_way(tree: Tree, f: MassMatrixFactors, piece: list, front: MX) -> list[MX]:
    """Return Upsilon behind a piece, and what else its functions find."""
    match piece[0]:
        case ("body", int(i)):
            return [
                front,
                f.K[:, tree.modal(i)],
                *_frame(len(tree.modes[i]))(f.K[:, tree.modal(i)], f.modal[i], front),
            ]
        case ("station", int(i)):
            body = tree.parents[i]
            held = f.K[:, tree.modal(body)], f.modal[body], f.motions[i]
            return list(_station(len(tree.modes[body]))(*held, front))
    at = span(piece)
    return list(_joints(len(piece))(f.S[:, at], f.K[:, at], f.d_inverse[at], front))


def _passed_joints(
    entries: Entries, piece: list[int], branches: list[_Behind], upsilon: MX, found: list[MX]
) -> list[_Behind]:
    """Put the entries of some joints, and return the forces in front of them."""
    through, z, rows, own = found
    entries.put(piece, piece, own)
    _between(entries, branches, upsilon)
    for branch in branches:
        _put_rows(entries, piece, rows, branch)
    passed = (_Behind(branch.dofs, ca.mtimes(through, branch.z)) for branch in branches)
    return [_together([_Behind(piece, z), *passed])]


def _passed_station(
    entries: Entries, modes: list[int], motions: MX, branches: list[_Behind], upsilon: MX, found: list[MX]
) -> list[_Behind]:
    """Put the entries between the modes of a body and what is attached to one of its stations, and return the forces at its frame."""
    through, rows = found
    _between(entries, branches, upsilon)
    if not branches:
        return []
    whole = _together(branches)
    _put_rows(entries, modes, rows, whole)
    return [_Behind(whole.dofs, ca.mtimes(through, whole.z), ca.mtimes(motions.T, whole.z))]


def _passed_body(
    entries: Entries, modes: list[int], modal: MX, branches: list[_Behind], upsilon: MX, found: list[MX]
) -> list[_Behind]:
    """Put the entries of a body's modes, and return the forces at its frame."""
    z, rows, own = found
    entries.put(modes, modes, own)
    _between(entries, branches, upsilon, modal)
    for branch in branches:
        if branch.bent is None:
            _put_rows(entries, modes, rows, branch)
    return [_together([_Behind(modes, z), *branches])]


def _together(branches: list[_Behind]) -> _Behind:
    return _Behind([k for b in branches for k in b.dofs], ca.horzcat(*(b.z for b in branches)))


def _put_rows(entries: Entries, dofs: list[int], rows: MX, branch: _Behind) -> None:
    entries.put(dofs, branch.dofs, ca.mtimes(rows.T, branch.z))
    entries.put(branch.dofs, dofs, ca.mtimes(branch.z.T, rows))


def lower_factors(tree: Tree, S: MX, K: MX) -> tuple[MX, MX]:
    """Return L and L^-1 of M = L D L', unit triangular in the order of the tree, (nv, nv) each."""
    inward, nv = next_inward(tree), tree.description.nv
    lower, inverse = Entries(nv, nv), Entries(nv, nv)
    behind: dict[int, list[_Behind]] = {}
    for piece in reversed(pieces_of(inward, PIECE)):
        directions = S[:, span(piece)]
        through, z, rows, own, own_inverse = _factor_function(len(piece))(directions, K[:, span(piece)])
        lower.put(piece, piece, own)
        inverse.put(piece, piece, own_inverse)
        dofs, columns = list(piece), [z]
        for branch in behind.pop(piece[-1], []):
            lower.put(piece, branch.dofs, ca.mtimes(directions.T, K[:, span(branch.dofs)]))
            inverse.put(piece, branch.dofs, ca.mtimes(rows.T, branch.z))
            dofs += branch.dofs
            columns.append(ca.mtimes(through, branch.z))
        behind.setdefault(inward[piece[0]], []).append(_Behind(dofs, ca.horzcat(*columns)))
    return lower.matrix(), inverse.matrix()


@functools.cache
def _factor_function(count: int) -> ca.Function:
    """(S, K) -> the matrix that z passes, own z, rows of L^-1 for z behind, own entries of L and of L^-1."""
    S, K = SX.sym("S", 6, count), SX.sym("K", 6, count)
    through, z, rows = SX.eye(6), SX(6, 0), SX(0, 6)
    own, inverse = SX.eye(count), SX.eye(count)
    for i in range(count):
        s, k = S[:, i], K[:, i]
        own[:i, i] = ca.mtimes(S[:, :i].T, k)
        inverse[:i, i] = ca.mtimes(rows, k)
        z = ca.horzcat(z, ca.mtimes(through, k))
        rows = ca.vertcat(rows - ca.mtimes(ca.mtimes(rows, k), s.T), -s.T)
        through = through - ca.mtimes(ca.mtimes(through, k), s.T)
    return ca.Function("factored", [S, K], [ca.densify(x) for x in (through, z, rows.T, own, inverse)])


def _between(entries: Entries, branches: list[_Behind], upsilon: MX, modal: MX | None = None) -> None:
    """Put the entries between degrees of freedom of different branches behind one joint, or on one body with D^-1 of its modes."""
    for k, one in enumerate(branches):
        for other in branches[:k]:
            given = ca.mtimes(upsilon, other.z)
            block, mirrored_block = ca.mtimes(one.z.T, given), ca.mtimes(given.T, one.z)
            if modal is not None and one.bent is not None and other.bent is not None:
                given = ca.mtimes(modal, other.bent)
                block = block + ca.mtimes(one.bent.T, given)
                mirrored_block = mirrored_block + ca.mtimes(given.T, one.bent)
            entries.put(one.dofs, other.dofs, block)
            entries.put(other.dofs, one.dofs, mirrored_block)


@functools.cache
def _station(modes: int) -> ca.Function:
    """(K, D^-1, U, Upsilon at the frame) -> Upsilon at the station, the matrix that z passes, rows for z behind."""
    K, D_inverse, U = SX.sym("K", 6, modes), SX.sym("D_inverse", modes, modes), SX.sym("U", 6, modes)
    front = SX.sym("upsilon", 36)
    upsilon, through = ca.reshape(front, 6, 6), SX.eye(6) - ca.mtimes(K, U.T)
    half, bent = ca.mtimes(upsilon, through), ca.mtimes(D_inverse, U.T)
    behind = ca.mtimes(through.T, half) + ca.mtimes(U, bent)
    outputs = [ca.vec(mirror_upper_half(behind)), through, ca.mtimes(half.T, K) - bent.T]
    return ca.Function("station", [K, D_inverse, U, front], [ca.densify(x) for x in outputs])


@functools.cache
def _frame(modes: int) -> ca.Function:
    """(K, D^-1, Upsilon at the frame) -> rows for z at the frame, own entries."""
    K, D_inverse, front = SX.sym("K", 6, modes), SX.sym("D_inverse", modes, modes), SX.sym("upsilon", 36)
    rows = ca.mtimes(ca.reshape(front, 6, 6), K)
    outputs = [rows, mirror_upper_half(D_inverse + ca.mtimes(K.T, rows))]
    return ca.Function("frame", [K, D_inverse, front], [ca.densify(x) for x in outputs])


@functools.cache
def _joints(count: int) -> ca.Function:
    """(S, K, 1/D, Upsilon in front) -> Upsilon behind, the matrix that z passes, own z, rows for z behind, own entries."""
    S, K, D_inverse = SX.sym("S", 6, count), SX.sym("K", 6, count), SX.sym("D_inverse", count)
    front = SX.sym("upsilon", 36)
    upsilon, through = ca.reshape(front, 6, 6), SX.eye(6)
    rows = SX(0, 6)
    z = SX(6, 0)
    own = SX.zeros(count, count)
    for i in range(count):
        s, k = S[:, i], K[:, i]
        carried = ca.mtimes(upsilon, k)
        own[i, :i] = ca.mtimes(rows, k).T
        own[:i, i] = ca.mtimes(rows, k)
        own[i, i] = D_inverse[i] + ca.dot(k, carried)
        z = ca.horzcat(z, ca.mtimes(through, k))
        row = carried.T - s.T * (ca.dot(carried, k) + D_inverse[i])
        rows = ca.vertcat(rows - ca.mtimes(ca.mtimes(rows, k), s.T), row)
        through = through - ca.mtimes(ca.mtimes(through, k), s.T)
        half = upsilon - ca.mtimes(s, carried.T)
        upsilon = half - ca.mtimes(ca.mtimes(half, k), s.T) + ca.mtimes(s, s.T) * D_inverse[i]
    outputs = [ca.vec(upsilon), through, z, rows.T, own]
    return ca.Function("passed", [S, K, D_inverse, front], [ca.densify(x) for x in outputs])


def places(tree: Tree) -> dict[Place, Place]:
    """Return for each degree of freedom of a joint, flexible body and station the next of them towards the ground, ROOT for the innermost."""
    last: dict[int, Place] = {ROOT: ROOT}
    chain: dict[Place, Place] = {}
    for i, (p, v) in enumerate(zip(tree.parents, tree.dofs)):
        own: list[Place] = (
            [("station", i)] if tree.stations[i] else [*v, *([("body", i)] if tree.modes[i] else [])]
        )
        last[i] = last[p]
        for place in own:
            chain[place], last[i] = last[i], place
    return chain


def pieces_of(inward: dict[Any, Any], most: int) -> list[list]:
    """Return degrees of freedom (or nodes) in runs of at most so many without a branch, each behind the one before; runs in the order of the tree.

    Bodies and stations (see `places`) are by themselves.
    """
    outer: dict[Any, list] = {}
    for k, front in inward.items():
        outer.setdefault(front, []).append(k)
    pieces = []
    starts = list(reversed(outer.get(ROOT, [])))
    while starts:
        piece = [starts.pop()]
        while len(piece) < most and len(next_ones := outer.get(piece[-1], [])) == 1:
            if isinstance(piece[0], tuple) or isinstance(next_ones[0], tuple):
                break
            piece += next_ones
        pieces.append(piece)
        starts += reversed(outer.get(piece[-1], []))
    return pieces
