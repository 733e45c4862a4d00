"""Matrices with an entry for every two freedoms of which one carries the other, as products of their columns.

Entry (i, j), i in front of j, is the product of a column of i and one of j. The tree is cut into paths, each path in halves:
the entries between two halves, or between a path and all that is in front of it, are one matrix product, a loop in native
code. Only short pieces of a path are written out, once for all pieces of one shape, so that code grows linearly.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus.dynamics.tree import ROOT, Tree

PIECE = 16
"""Nodes of a path that are written out."""


class Pairs:
    """Builds such matrices of a tree.

    Parameters
    ----------
    tree : Tree
    """

    def __init__(self, tree: Tree):
        self.tree = tree
        self._written: dict[tuple, ca.Function] = {}
        self._blocks = list(blocks(tree))

    def matrix(self, above: tuple[MX, MX], below: tuple[MX, MX], same: MX) -> MX:
        """Return the matrix, (nv, nv); zero between unrelated branches.

        Parameters
        ----------
        above : two matrices (r, nv)
            Columns a, b with entry (i, j) = a_i . b_j, freedom i in front of j.
        below : two matrices (s, nv)
            Columns c, d with entry (j, i) = d_j . c_i.
        same : (pairs,)
            Entries between freedoms of one joint, in the order of `same_joint`.
        """
        nv = self.tree.description.nv
        entries = Entries(nv, nv)
        (a, b), (c, d) = above, below
        for inner, outer in self._blocks:
            i, j = self._freedoms(inner), self._freedoms(outer)
            if inner is outer:
                self._put_piece(entries, inner, [x[:, span(i)] for x in (a, b, c, d)])
            else:
                entries.put(i, j, ca.mtimes(a[:, span(i)].T, b[:, span(j)]))
                entries.put(j, i, ca.mtimes(d[:, span(j)].T, c[:, span(i)]))
        for k, (row, column) in enumerate(same_joint(self.tree)):
            entries.put([row], [column], same[k])
        return entries.matrix()

    def _freedoms(self, nodes: list[int]) -> list[int]:
        return [k for i in nodes for k in self.tree.freedoms[i]]

    def _put_piece(self, entries: Entries, path: list[int], columns: list[MX]) -> None:
        """Put the entries between the nodes of a short path."""
        sizes = tuple(len(self.tree.freedoms[i]) for i in path)
        key = (sizes, columns[0].shape, columns[2].shape)
        if key not in self._written:
            self._written[key] = _piece(sizes, *columns)
        entries.put(self._freedoms(path), self._freedoms(path), self._written[key](*columns))


def _piece(sizes: tuple[int, ...], *columns: MX) -> ca.Function:
    """Return the columns of a short path to its entries; those between freedoms of one node are zero."""
    a, b, c, d = symbols = [SX.sym("x", *x.shape) for x in columns]
    node = np.repeat(np.arange(len(sizes)), sizes)
    out = SX.zeros(len(node), len(node))
    for i, j in zip(*np.nonzero(node[:, None] < node[None, :])):
        out[int(i), int(j)] = ca.dot(a[:, int(i)], b[:, int(j)])
        out[int(j), int(i)] = ca.dot(c[:, int(i)], d[:, int(j)])
    return ca.Function("piece", symbols, [out])


class Entries:
    """A matrix put together from blocks; what is put later takes the place of what was there.

    Parameters
    ----------
    rows, columns : int
    """

    def __init__(self, rows: int, columns: int):
        self._place = np.full((rows, columns), -1)
        self._parts: list[MX] = []
        self._count = 0

    def put(self, rows: list[int], columns: list[int], block: MX) -> None:
        """Put a block at the given rows and columns."""
        numbers = self._count + np.arange(block.numel()).reshape(block.shape, order="F")
        self._place[np.ix_(rows, columns)] = numbers
        self._parts.append(ca.vec(block))
        self._count += block.numel()

    def matrix(self) -> MX:
        """Return the matrix, zero where nothing was put."""
        self._place[self._place < 0] = self._count
        entries = ca.vertcat(*self._parts, MX(ca.DM([0.0])))
        return ca.reshape(entries[self._place.ravel(order="F").tolist()], *self._place.shape)


def same_joint(tree: Tree) -> list[tuple[int, int]]:
    """Return the pairs (row, column) of freedoms that belong to one joint or are modes of one body."""
    nodes = zip(tree.freedoms, tree.modes, tree.stations)
    own = [v for joint, modes, is_station in nodes if not is_station for v in (joint, modes)]
    return [(a, b) for v in own for b in v for a in v]


def blocks(tree: Tree, piece: int = PIECE) -> Iterator[tuple[list[int], list[int]]]:
    """Yield lists of nodes of which all of the first carry all of the second; or twice the same path of up to `piece` nodes."""
    for path in _paths(tree):
        front = tree.path(tree.parents[path[0]])[::-1]
        if front:
            yield front, path
        yield from _halves(path, piece)


def _halves(path: list[int], piece: int) -> Iterator[tuple[list[int], list[int]]]:
    if len(path) <= piece:
        yield path, path
        return
    middle = len(path) // 2
    yield path[:middle], path[middle:]
    yield from _halves(path[:middle], piece)
    yield from _halves(path[middle:], piece)


def _paths(tree: Tree) -> list[list[int]]:
    """Return the tree cut into paths, each continued by the child that carries most nodes."""
    size = [1] * len(tree)
    for i in reversed(range(len(tree))):
        if tree.parents[i] != ROOT:
            size[tree.parents[i]] += size[i]
    next_of: dict[int, int] = {}
    for i, p in enumerate(tree.parents):
        if p != ROOT and (p not in next_of or size[i] > size[next_of[p]]):
            next_of[p] = i
    paths = []
    for i, p in enumerate(tree.parents):
        if p == ROOT or next_of[p] != i:
            path = [i]
            while path[-1] in next_of:
                path.append(next_of[path[-1]])
            paths.append(path)
    return paths


def span(numbers: list[int]) -> slice | list[int]:
    """Return the numbers as a slice where they follow each other."""
    run = numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True
    return slice(numbers[0], numbers[-1] + 1) if numbers and run else numbers
