"""The inverse of the mass matrix of long mechanisms and its triangular factors, as products over short pieces of the tree.

With z_j the force that a unit at freedom j leaves on the bodies in front of it, which every joint in between gives way to,

    z <- (I - K_i S_i') z                                   from the outer side of freedom i to the inner one
    M^-1(i, j) = (K_i' Upsilon_p (I - K_i S_i') - S_i'/D_i) z_j      i in front of j, p in front of i
    M^-1(i, i) = 1/D_i + K_i' Upsilon_p K_i
    M^-1(i, j) = z_i' Upsilon_c z_j                         on two branches, c the last that carries both
    Upsilon_i  = (I - K_i S_i')' Upsilon_p (I - K_i S_i') + S_i S_i'/D_i

    L(i, j) = S_i' K_j      L^-1(i, j) = -S_i' z_j          M = L D L', i in front of j

so that a piece of a few freedoms is a matrix (6, 6) that z passes, and its rows of M^-1 are one product with all z behind it.

Source: Rodriguez, Jain & Kreutz 1989, lemmas 3 and 4 with the Upsilon of appendix A. Cost: O(n^2), the number of entries.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import casadi as ca
from casadi import MX, SX

from articulus.dynamics.operators import next_inward
from articulus.dynamics.pairs import PIECE, Entries, span
from articulus.dynamics.tree import ROOT, Tree


@dataclass(frozen=True)
class _Behind:
    """Freedoms behind a joint and the force that each leaves there, (6, count)."""

    freedoms: list[int]
    z: MX


def inverse_mass_matrix(tree: Tree, S: MX, K: MX, D_inverse: MX) -> MX:
    """Return M^-1, (nv, nv), from its factors: S and K (6, nv) in ground axes, 1/D (nv,)."""
    inward = next_inward(tree)
    pieces = pieces_of(inward, PIECE)
    entries = Entries(tree.description.nv, tree.description.nv)
    upsilon = {ROOT: MX(ca.DM.zeros(36))}
    found = []
    for piece in pieces:
        factors = [S[:, span(piece)], K[:, span(piece)], D_inverse[span(piece)]]
        upsilon[piece[-1]], *rest = _passed(len(piece))(*factors, upsilon[inward[piece[0]]])
        found.append(rest)
    behind: dict[int, list[_Behind]] = {}
    for piece, (through, z, rows, own) in reversed(list(zip(pieces, found))):
        entries.put(piece, piece, own)
        branches = behind.pop(piece[-1], [])
        _between(entries, branches, ca.reshape(upsilon[piece[-1]], 6, 6))
        freedoms, columns = list(piece), [z]
        for branch in branches:
            entries.put(piece, branch.freedoms, ca.mtimes(rows.T, branch.z))
            entries.put(branch.freedoms, piece, ca.mtimes(branch.z.T, rows))
            freedoms += branch.freedoms
            columns.append(ca.mtimes(through, branch.z))
        behind.setdefault(inward[piece[0]], []).append(_Behind(freedoms, ca.horzcat(*columns)))
    return entries.matrix()


def lower_factors(tree: Tree, S: MX, K: MX) -> tuple[MX, MX]:
    """Return L and L^-1 of M = L D L', unit triangular in the order of the tree, (nv, nv) each."""
    inward, nv = next_inward(tree), tree.description.nv
    lower, inverse = Entries(nv, nv), Entries(nv, nv)
    behind: dict[int, list[_Behind]] = {}
    for piece in reversed(pieces_of(inward, PIECE)):
        directions = S[:, span(piece)]
        through, z, rows, own, own_inverse = _factored(len(piece))(directions, K[:, span(piece)])
        lower.put(piece, piece, own)
        inverse.put(piece, piece, own_inverse)
        freedoms, columns = list(piece), [z]
        for branch in behind.pop(piece[-1], []):
            lower.put(piece, branch.freedoms, ca.mtimes(directions.T, K[:, span(branch.freedoms)]))
            inverse.put(piece, branch.freedoms, ca.mtimes(rows.T, branch.z))
            freedoms += branch.freedoms
            columns.append(ca.mtimes(through, branch.z))
        behind.setdefault(inward[piece[0]], []).append(_Behind(freedoms, ca.horzcat(*columns)))
    return lower.matrix(), inverse.matrix()


@functools.cache
def _factored(count: int) -> ca.Function:
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


def _between(entries: Entries, branches: list[_Behind], upsilon: MX) -> None:
    """Put the entries between freedoms of different branches behind one joint."""
    for k, one in enumerate(branches):
        for other in branches[:k]:
            given = ca.mtimes(upsilon, other.z)
            entries.put(one.freedoms, other.freedoms, ca.mtimes(one.z.T, given))
            entries.put(other.freedoms, one.freedoms, ca.mtimes(given.T, one.z))


@functools.cache
def _passed(count: int) -> ca.Function:
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


def pieces_of(inward: dict[int, int], most: int) -> list[list[int]]:
    """Return freedoms (or nodes) in runs of at most so many without a branch, each behind the one before; runs in the order of the tree."""
    outer: dict[int, list[int]] = {}
    for k in sorted(inward):
        outer.setdefault(inward[k], []).append(k)
    pieces = []
    starts = list(reversed(outer.get(ROOT, [])))
    while starts:
        piece = [starts.pop()]
        while len(piece) < most and len(outer.get(piece[-1], [])) == 1:
            piece += outer[piece[-1]]
        pieces.append(piece)
        starts += reversed(outer.get(piece[-1], []))
    return pieces
