"""Matrices with an entry for every two degrees of freedom of which one carries the other, as products of their columns.

Entry (i, j), i in front of j, is the product of a column of i and one of j. A mode of a flexible body is in front of what is attached to a
station of the body, with the column that it has there. The tree is cut into paths, each path in halves:
the entries between two halves, or between a path and all that is in front of it, are one matrix product, a loop in native
code. Only short pieces of a path are written out, once for all pieces of one shape, so that code grows linearly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus.dynamics.tree import ROOT, Tree

PIECE = 16
"""Nodes of a path that are written out."""


@dataclass(frozen=True)
class Carrier:
    """What a node has to do with pairs: degrees of freedom in front of the nodes that it carries, and degrees of freedom behind those that carry it."""

    parent: int
    columns: list[int]
    """Of the degrees of freedom in front: places of its directions among those of all nodes."""
    front: list[int]
    behind: list[int]


def carriers(tree: Tree) -> list[Carrier]:
    """Return the nodes as carriers; the modes of a body are behind at its first station, or behind a leaf of their own."""
    first = np.cumsum([0, *map(len, tree.dofs)]).tolist()
    out, waiting = [], {i: list(modes) for i, modes in enumerate(tree.modes) if modes}
    for i, (p, v) in enumerate(zip(tree.parents, tree.dofs)):
        behind = waiting.pop(p, []) if tree.stations[i] else list(v)
        out.append(Carrier(p, list(range(first[i], first[i + 1])), list(v), behind))
    return out + [Carrier(i, [], [], modes) for i, modes in waiting.items()]


class Pairs:
    """Builds such matrices of a tree.

    Parameters
    ----------
    tree : Tree
    """

    def __init__(self, tree: Tree):
        self.tree = tree
        self._written: dict[tuple, ca.Function] = {}
        self._carriers = carriers(tree)
        self._blocks = list(blocks([carrier.parent for carrier in self._carriers]))

    def matrix(self, above: tuple[MX, MX], below: tuple[MX, MX], same: MX) -> MX:
        """Return the matrix, (nv, nv); zero between unrelated branches.

        Parameters
        ----------
        above : two matrices
            Columns a, (r, directions), and b, (r, nv), with entry (i, j) = a_i . b_j, degree of freedom i in front of j. There is a
            direction for each degree of freedom, and one for each mode at each station of its body.
        below : two matrices
            Columns c, (s, directions), and d, (s, nv), with entry (j, i) = d_j . c_i.
        same : (pairs,)
            Entries between degrees of freedom of one joint or modes of one body, in the order of `same_joint`.
        """
        nv = self.tree.description.nv
        entries = Entries(nv, nv)
        (a, b), (c, d) = above, below
        for inner, outer in self._blocks:
            at, i = self._together(inner, "columns"), self._together(inner, "front")
            j = self._together(outer, "behind")
            if inner is outer:
                self._put_piece(
                    entries, inner, [a[:, span(at)], b[:, span(j)], c[:, span(at)], d[:, span(j)]]
                )
            elif i and j:
                entries.put(i, j, ca.mtimes(a[:, span(at)].T, b[:, span(j)]))
                entries.put(j, i, ca.mtimes(d[:, span(j)].T, c[:, span(at)]))
        own = same_joint(self.tree)
        entries.scatter([i for i, _ in own], [j for _, j in own], same)
        return entries.matrix()

    def _together(self, nodes: list[int], what: str) -> list[int]:
        return [k for i in nodes for k in getattr(self._carriers[i], what)]

    def _put_piece(self, entries: Entries, path: list[int], columns: list[MX]) -> None:
        """Put the entries between the nodes of a short path."""
        held = [self._carriers[i] for i in path]
        sizes = tuple((len(x.front), len(x.behind)) for x in held)
        pairs = _pairs(sizes)
        if not pairs:
            return
        key = (sizes, columns[0].shape, columns[2].shape)
        if key not in self._written:
            self._written[key] = _piece(pairs, *columns)
        front, behind = self._together(path, "front"), self._together(path, "behind")
        i, j = [front[k] for k, _ in pairs], [behind[l] for _, l in pairs]
        entries.scatter(i + j, j + i, self._written[key](*columns))


def _pairs(sizes: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Return the pairs of degrees of freedom in front and degrees of freedom behind of later nodes, each by its place on a path."""
    front, behind = (np.repeat(np.arange(len(sizes)), [size[k] for size in sizes]) for k in range(2))
    return [(int(i), int(j)) for i, j in np.argwhere(front[:, None] < behind[None, :])]


def _piece(pairs: list[tuple[int, int]], *columns: MX) -> ca.Function:
    """Return the columns of a short path to the entries of its pairs, then to those with rows and columns exchanged."""
    a, b, c, d = symbols = [SX.sym("x", *x.shape) for x in columns]
    above = [ca.dot(a[:, i], b[:, j]) for i, j in pairs]
    below = [ca.dot(c[:, i], d[:, j]) for i, j in pairs]
    return ca.Function("piece", symbols, [ca.vertcat(*above, *below)])


class Entries:
    """A matrix put together from blocks of SX or MX; what is put later takes the place of what was there.

    Parameters
    ----------
    rows, columns : int
    """

    def __init__(self, rows: int, columns: int):
        self._place = np.full((rows, columns), -1)
        self._parts: list[Any] = []
        self._count = 0

    def put(self, rows: list[int], columns: list[int], block: Any, mirrored: bool = False) -> None:
        """Put a block at the given rows and columns, and its transpose at the `mirrored` place."""
        numbers = self._count + np.arange(block.numel()).reshape(block.shape, order="F")
        self._place[np.ix_(rows, columns)] = numbers
        if mirrored:
            self._place[np.ix_(columns, rows)] = numbers.T
        self._add(ca.vec(block))

    def scatter(self, rows: list[int], columns: list[int], entries: Any) -> None:
        """Put a column of entries at the given places."""
        self._place[rows, columns] = self._count + np.arange(entries.numel())
        self._add(entries)

    def _add(self, column: Any) -> None:
        self._parts.append(column)
        self._count += column.numel()

    def matrix(self) -> Any:
        """Return the matrix, zero where nothing was put."""
        self._place[self._place < 0] = self._count
        zero = (type(self._parts[0]) if self._parts else MX)(ca.DM([0.0]))
        entries = ca.vertcat(*self._parts, zero)
        return ca.reshape(entries[self._place.ravel(order="F").tolist()], *self._place.shape)


def same_joint(tree: Tree) -> list[tuple[int, int]]:
    """Return the pairs (row, column) of degrees of freedom that belong to one joint or are modes of one body."""
    nodes = zip(tree.dofs, tree.modes, tree.stations)
    own = [v for joint, modes, is_station in nodes if not is_station for v in (joint, modes)]
    return [(a, b) for v in own for b in v for a in v]


def blocks(parents: Sequence[int], piece: int = PIECE) -> Iterator[tuple[list[int], list[int]]]:
    """Yield lists of nodes of which all of the first carry all of the second; or twice the same path of up to `piece` nodes."""
    for path in _paths(parents):
        front, i = list[int](), parents[path[0]]
        while i != ROOT:
            front.append(i)
            i = parents[i]
        if front:
            yield front[::-1], path
        yield from _halves(path, piece)


def _halves(path: list[int], piece: int) -> Iterator[tuple[list[int], list[int]]]:
    if len(path) <= piece:
        yield path, path
        return
    middle = len(path) // 2
    yield path[:middle], path[middle:]
    yield from _halves(path[:middle], piece)
    yield from _halves(path[middle:], piece)


def _paths(parents: Sequence[int]) -> list[list[int]]:
    """Return the tree cut into paths, each continued by the child that carries most nodes."""
    size = [1] * len(parents)
    for i in reversed(range(len(parents))):
        if parents[i] != ROOT:
            size[parents[i]] += size[i]
    next_of: dict[int, int] = {}
    for i, p in enumerate(parents):
        if p != ROOT and (p not in next_of or size[i] > size[next_of[p]]):
            next_of[p] = i
    paths = []
    for i, p in enumerate(parents):
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
