"""Symmetric positive definite matrices as L D L' with their zeros kept."""

from __future__ import annotations

import copy

import casadi as ca
from casadi import SX

from articulus.spatial import reciprocal


class Factorization:
    """A = P' L D L' P, rows exchanged (approximate minimum degree) so that few zeros fill.

    No entry that is zero by structure is touched, and every pivot is divided by once: on chains of loops the number
    of operations grows with the number of loops.

    Parameters
    ----------
    A : SX, (n, n)
        Symmetric and positive definite; semidefinite with `dependent`.
    dependent : float [-]
        Part of its diagonal entry below which a pivot counts as zero: the row depends on earlier ones, its unknown is
        zero. Solutions of consistent equations stay solutions. 0: every pivot is taken as it is.
    """

    def __init__(self, A: SX, dependent: float = 0.0):
        A = ca.sparsify(A)
        self._order: list[int] = A.sparsity().unite(A.T.sparsity()).amd()
        self._below: dict[int, dict[int, SX]] = {}
        self._inverse: dict[int, SX] = {}
        entry = {(i, k): A[i, k] for i, k in zip(*A.sparsity().get_triplet())}
        # a zero by structure in one half may hide in the other
        entry = {(k, i): value for (i, k), value in entry.items()} | entry
        rank = {k: at for at, k in enumerate(self._order)}
        later: dict[int, set[int]] = {k: set() for k in self._order}
        for i, k in entry:
            if rank[i] > rank[k]:
                later[k].add(i)
        for k in self._order:
            self._inverse[k] = _inverse(entry.get((k, k), SX(0)), A[k, k], dependent)
            rows = sorted(later[k], key=rank.__getitem__)
            self._below[k] = {i: entry[i, k] * self._inverse[k] for i in rows}
            for at, j in enumerate(rows):
                for i in rows[at:]:
                    entry[i, j] = entry.get((i, j), SX(0)) - self._below[k][i] * entry[j, k]
                later[j].update(rows[at + 1 :])

    def entries(self) -> SX:
        """Return all numbers of the factors as a column."""
        below = [entry for k in self._order for entry in self._below[k].values()]
        return ca.vertcat(SX(0, 1), *(self._inverse[k] for k in self._order), *below)

    def with_entries(self, entries: SX) -> Factorization:
        """Return factors of the same structure with other numbers, in the order of `entries`."""
        out = copy.copy(self)
        numbers = iter(ca.vertsplit(entries) if entries.numel() else ())
        out._inverse = {k: next(numbers) for k in self._order}
        out._below = {k: {i: next(numbers) for i in self._below[k]} for k in self._order}
        return out

    def solve(self, b: SX) -> SX:
        """Return A^-1 b for one or several columns."""
        return self.backward(self.forward(b))

    def inverse(self) -> SX:
        """Return A^-1, of which only one half is computed."""
        rows = self.forward(SX.eye(len(self._order)))
        return ca.triu2symm(ca.triu(ca.mtimes(rows.T, self.divide_by_pivots(rows))))

    def forward(self, b: SX) -> SX:
        """Return L^-1 P b, in the rows' own order."""
        rows = ca.vertsplit(b)
        for k in self._order:
            for i, entry in self._below[k].items():
                rows[i] = rows[i] - entry * rows[k]
        return ca.sparsify(ca.vertcat(SX(0, b.shape[1]), *rows))

    def backward(self, y: SX) -> SX:
        """Return P' L'^-1 D^-1 y, so that `backward(forward(b))` is A^-1 b."""
        rows = ca.vertsplit(self.divide_by_pivots(y))
        for k in reversed(self._order):
            for i, entry in self._below[k].items():
                rows[k] = rows[k] - entry * rows[i]
        return ca.vertcat(SX(0, y.shape[1]), *rows)

    def divide_by_pivots(self, y: SX) -> SX:
        """Return D^-1 y."""
        return y * ca.repmat(
            ca.vertcat(SX(0, 1), *(self._inverse[k] for k in range(y.shape[0]))), 1, y.shape[1]
        )


def _inverse(pivot: SX, diagonal: SX, dependent: float) -> SX:
    """Return 1 / pivot, or 0 for a pivot that counts as zero; nothing is ever divided by zero then."""
    if not dependent:
        return reciprocal(pivot)
    good = pivot > dependent * diagonal
    return good * reciprocal(ca.if_else(good, pivot, 1.0))


def solve(A: SX, b: SX, dependent: float = 0.0) -> SX:
    """Return A^-1 b for a symmetric positive definite A; zeros stay zeros (fill-reducing L D L').

    Parameters
    ----------
    A, dependent
        As for `Factorization`.
    b : SX, (n, columns)
    """
    return Factorization(A, dependent).solve(b)
