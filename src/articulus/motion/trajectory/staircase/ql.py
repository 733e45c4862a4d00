"""`StaircaseQL`: orthogonal factors of a staircase matrix, stage by stage, and their change when a row is exchanged (Psiaki 1989).

A staircase matrix has block rows [A_kk A_k,k+1]. From the last stage back, an orthogonal matrix Q_k compresses what stage k's unknowns
see of the rows of stage k - 1 and of what the stages after left over:

    Q_k [A_k-1,k-1  A_k-1,k; 0  D_kk] = [D_k-1,k-1  0; D_k,k-1  L_k],    D_NN = A_NN,    Q_0 D_00 = L_0

with L_k lower triangular. Solving takes one pass back and one forth. Exchanging one row for another changes D_k-1,k-1 by a matrix of
rank one, which ends as soon as nothing of it is left over for the stage before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtrs

from articulus.errors import InputError, NumericalError

NOTHING = 1e-15
"""Size of a change, over that of what it is added to, which counts as none."""
SINGULAR = 1e-13
"""Diagonal entry of a factor over the largest of its stage, at which the matrix counts as singular."""


class StaircaseQL:
    """Factors of a square staircase matrix.

    Parameters
    ----------
    own, after : sequences of array
        Blocks A_kk (rows, n_k) of every stage and A_k,k+1 (rows, n_k+1) of all but the last.
    """

    def __init__(self, own: Sequence[np.ndarray], after: Sequence[np.ndarray]):
        self.own, self.after = (
            [np.array(a, dtype=float) for a in own],
            [np.array(a, dtype=float) for a in after],
        )
        self.sizes = [a.shape[1] for a in self.own]
        rows = sum(len(a) for a in self.own)
        if rows != sum(self.sizes):
            raise InputError(
                f"StaircaseQL: found {rows} rows of {sum(self.sizes)} unknowns; expected as many"
            )
        self.factor()

    @property
    def last(self) -> int:
        """Number of the last stage."""
        return len(self.sizes) - 1

    def factor(self) -> None:
        """Compute all factors from the rows."""
        N = self.last
        self.Q: list[np.ndarray] = [np.zeros((0, 0))] * (N + 1)
        self.L: list[np.ndarray] = list(self.Q)
        self.back: list[np.ndarray] = list(self.Q)  # D_k,k-1
        self.D: list[np.ndarray] = [*self.Q[:-1], self.own[N]]
        self.count = [0, *(len(a) for a in self.after)]
        for k in range(N, -1, -1):
            before = self.after[k - 1] if k else np.zeros((0, self.sizes[k]))
            Q, L = _ql(np.vstack([before, self.D[k]]))
            self.Q[k], self.L[k] = Q, L
            self._check(k)
            left = Q[:, : len(before)] @ self.own[k - 1] if k else np.zeros((self.sizes[0], 0))
            cut = len(left) - self.sizes[k]
            self.back[k] = left[cut:]
            if k:
                self.D[k - 1] = left[:cut]

    def _check(self, k: int) -> None:
        diagonal = np.abs(np.diag(self.L[k]))
        if len(self.Q[k]) < self.sizes[k] or (diagonal <= SINGULAR * diagonal.max(initial=0.0)).any():
            raise NumericalError(
                f"StaircaseQL: the rows of stage {k} and after depend on each other: the matrix is singular"
            )

    def solve(self, right: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return x of A x = right; both by stages."""
        d, parts = right[-1], {}
        for k in range(self.last, -1, -1):
            both = self.Q[k] @ np.concatenate([right[k - 1] if k else np.zeros(0), d])
            cut = len(both) - self.sizes[k]
            d, parts[k] = both[:cut], both[cut:]
        return self.forth(0, parts)

    def unit(self, stage: int, row: int) -> dict[int, np.ndarray]:
        """Return A^-1 e for one row; stages that do not move are omitted."""
        e = np.zeros(len(self.own[stage]))
        e[row] = 1.0
        parts: dict[int, np.ndarray] = {}
        if stage == self.last:
            d, k = e, stage
        else:
            both = self.Q[stage + 1] @ np.concatenate([e, np.zeros(len(self.D[stage + 1]))])
            cut = len(both) - self.sizes[stage + 1]
            d, parts[stage + 1], k = both[:cut], both[cut:], stage
        while k >= 0 and np.abs(d).max(initial=0.0) > NOTHING:
            both = self.Q[k][:, self.count[k] :] @ d
            cut = len(both) - self.sizes[k]
            d, parts[k] = both[:cut], both[cut:]
            k -= 1
        moves = self.forth(min(parts), parts)
        return {k: x for k, x in enumerate(moves, min(parts)) if x.any()}

    def forth(self, first: int, parts: dict[int, np.ndarray]) -> list[np.ndarray]:
        """Return the solution from the first stage on, until nothing moves."""
        out: list[np.ndarray] = []
        most, final = 0.0, max(parts)
        for k in range(first, self.last + 1):
            g = parts.get(k, np.zeros(self.sizes[k]))
            if out:
                g = g - self.back[k] @ out[-1]
            x = _triangular(self.L[k], g)
            size = np.abs(x).max(initial=0.0)
            most = max(most, size)
            if k > final and size <= NOTHING * most:
                break
            out.append(x)
        return out

    def dual(self, cost: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
        """Return y of A' y = cost, by the stages of rows; stages of no cost and of no multipliers are omitted."""
        lam: dict[int, np.ndarray] = {}
        most, k = 0.0, max(cost)
        first = min(cost)
        ahead = np.zeros(0)
        while k >= 0:
            g = cost.get(k, np.zeros(self.sizes[k]))
            if len(ahead):
                g = g - self.back[k + 1].T @ ahead
            ahead = _triangular(self.L[k], g, transposed=True)
            size = np.abs(ahead).max(initial=0.0)
            most = max(most, size)
            if k < first and size <= NOTHING * most:
                break
            lam[k] = ahead
            k -= 1
        return self._scatter(lam)

    def _scatter(self, lam: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
        out: dict[int, np.ndarray] = {}
        first, final = min(lam), max(lam)
        beta, most = np.zeros(0), 0.0
        for k in range(first, self.last + 1):
            top = len(self.Q[k]) - self.sizes[k]
            head = beta if len(beta) == top else np.zeros(top)
            both = self.Q[k].T @ np.concatenate([head, lam.get(k, np.zeros(self.sizes[k]))])
            mine, beta = both[: self.count[k]], both[self.count[k] :]
            if k:
                out[k - 1] = mine
            most = max(most, np.abs(both).max(initial=0.0))
            if k >= final and np.abs(beta).max(initial=0.0) <= NOTHING * most:
                return out
        out[self.last] = beta
        return out

    def exchange(self, gone: tuple[int, int], stage: int, own: np.ndarray, after: np.ndarray | None) -> int:
        """Put a row into a stage and take another, (stage, row), out; return the number of stages whose factors changed.

        The new row is the last of its stage; the rows after the one that is taken out move up.
        """
        N = self.last
        left = _Left(own if stage == N else None, (gone[1], None) if gone[0] == N else None)
        self._replace_rows(gone, stage, own, after)
        k = min(max(stage, gone[0]) + 1, N)
        touched = 0
        while k >= 0:
            mine = (own, after) if stage == k - 1 else None
            left = self._pass(k, left, mine, gone[1] if gone[0] == k - 1 else None)
            touched, k = touched + 1, k - 1
            if left.nothing and k <= min(stage, gone[0]):
                break
        return touched

    def _replace_rows(
        self, gone: tuple[int, int], stage: int, own: np.ndarray, after: np.ndarray | None
    ) -> None:
        self.own[stage] = np.vstack([self.own[stage], own])
        self.own[gone[0]] = np.delete(self.own[gone[0]], gone[1], axis=0)
        if after is not None:
            self.after[stage] = np.vstack([self.after[stage], after])
        if gone[0] < self.last:
            self.after[gone[0]] = np.delete(self.after[gone[0]], gone[1], axis=0)
        self.D[self.last] = self.own[self.last]

    def _pass(self, k: int, left: _Left, mine: Any, gone: int | None) -> _Left:
        """Change the factors of stage k, and return what changes in D_k-1,k-1; `left` is what changed in D_kk.

        `mine` is a row that comes into stage k - 1, `gone` the number of one that leaves it.
        """
        if left.rank is not None:
            return self._rank_one(k, *left.rank)
        first, column = self.count[k], gone
        if left.drop is not None:
            row, mirror = left.drop
            if mirror is not None:  # D_kk was mirrored before it lost its last row
                part = self.Q[k][:, first:]
                part -= np.outer(2 * (part @ mirror), mirror)
            column = first + row
        if mine is not None:
            self._add(k, first, *mine)
            self.count[k] += 1
            column = None if column is None else column + (column >= first)
        if left.new is not None:
            self._add(k, len(self.Q[k]), np.zeros(self.sizes[k - 1] if k else 0), left.new)
        added = mine is not None or left.new is not None
        if column is None:
            return _Left(self.D[k - 1][-1]) if added else _Left()
        if gone is not None:
            self.count[k] -= 1
        return self._drop(k, column, added)

    def _add(self, k: int, column: int, before: np.ndarray, own: np.ndarray) -> None:
        """Add a row to what Q_k is applied to; D_k-1,k-1 gets a last row more."""
        m, n = len(self.Q[k]), self.sizes[k]
        P, R = _ql(np.vstack([own, self.L[k]]))
        mixed = P @ np.vstack([before, self.back[k]])
        self.L[k], self.back[k] = R, mixed[1:]
        if k:
            self.D[k - 1] = np.vstack([self.D[k - 1], mixed[:1]])
        wide = np.zeros((m + 1, m + 1))
        others = np.delete(np.arange(m + 1), column)
        top = m - n
        wide[:top, others] = self.Q[k][:top]
        wide[top, column] = 1.0
        wide[top + 1 :, others] = self.Q[k][top:]
        wide[top:] = P @ wide[top:]
        self.Q[k] = wide

    def _drop(self, k: int, column: int, added: bool) -> _Left:
        """Take a row out of what Q_k is applied to; return what changes in D_k-1,k-1."""
        Q, n = self.Q[k], self.sizes[k]
        top = len(Q) - n
        if not k or not top:
            raise NumericalError(
                f"StaircaseQL: stage {k} and those after have no row to spare; the matrix becomes singular"
            )
        w, size = _mirror(Q[:top, column])
        head = Q[:top]
        head -= np.outer(2 * w, w @ head)
        D = self.D[k - 1]
        turned = w @ D
        D = D - np.outer(2 * w, turned)
        v, _ = _mirror(np.concatenate([[size], Q[top:, column]]), last=False)
        lower = _reflect(v, Q[top - 1 :])[1:]
        left = _reflect(v, np.vstack([D[-1], self.back[k]]))[1:]
        P, self.L[k] = _ql(_reflect(v, np.vstack([np.zeros(n), self.L[k]]))[1:])
        self.back[k] = P @ left
        self.Q[k] = np.delete(np.vstack([Q[: top - 1], P @ lower]), column, axis=1)
        self.D[k - 1] = D[:-1]
        if added:
            return _Left(rank=(-2 * w[:-1], turned))
        return _Left(drop=(top - 1, w))

    def _rank_one(self, k: int, r: np.ndarray, s: np.ndarray) -> _Left:
        """Change the factors for D_kk + r s'; return what changes in D_k-1,k-1."""
        Q, n = self.Q[k], self.sizes[k]
        top = len(Q) - n
        image = Q[:, self.count[k] :] @ r
        size = float(np.linalg.norm(image[:top]))
        if not k or size <= NOTHING * np.linalg.norm(r):
            P, self.L[k] = _ql(self.L[k] + np.outer(image[top:], s))
            self.back[k], Q[top:] = P @ self.back[k], P @ Q[top:]
            return _Left()
        v = image[:top] / size
        P, self.L[k] = _ql(
            np.vstack([np.zeros(n), self.L[k]]) + np.outer(np.concatenate([[size], image[top:]]), s)
        )
        P[0] *= 1.0 if P[0, 0] >= 0 else -1.0  # no change at all is then the identity
        head, row = v @ Q[:top], v @ self.D[k - 1]
        rows, left = P @ np.vstack([head, Q[top:]]), P @ np.vstack([row, self.back[k]])
        Q[:top] += np.outer(v, rows[0] - head)
        Q[top:], self.back[k] = rows[1:], left[1:]
        change = left[0] - row
        if np.linalg.norm(change) <= NOTHING * np.linalg.norm(row):
            return _Left()
        self.D[k - 1] = self.D[k - 1] + np.outer(v, change)
        return _Left(rank=(v, change))


class _Left(NamedTuple):
    """What changes in D_kk: a new last row; or a row less, with the mirror that was applied before; or a term r s'."""

    new: np.ndarray | None = None
    drop: tuple[int, np.ndarray | None] | None = None
    rank: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def nothing(self) -> bool:
        return self.new is None and self.drop is None and self.rank is None


def _ql(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an orthogonal Q and the lower triangular L of Q M = [0; L]."""
    n = M.shape[1]
    Q, R = np.linalg.qr(M[::-1, ::-1], mode="complete")
    return Q.T[::-1, ::-1].copy(), R[:n][::-1, ::-1].copy()


def _mirror(x: np.ndarray, last: bool = True) -> tuple[np.ndarray, float]:
    """Return the unit normal w of a mirror 1 - 2 w w' that turns x into its last (first) entry alone, and that entry."""
    at = -1 if last else 0
    size = float(np.linalg.norm(x))
    value = -size if x[at] >= 0 else size
    w = x.copy()
    w[at] -= value
    length = np.linalg.norm(w)
    return (w / length, value) if length > 0 else (np.zeros_like(x), 0.0)


def _reflect(w: np.ndarray, M: np.ndarray) -> np.ndarray:
    return M - np.outer(2 * w, w @ M)


def _triangular(L: np.ndarray, b: np.ndarray, transposed: bool = False) -> np.ndarray:
    if not len(b):
        return b
    x, _ = dtrtrs(L.T, b, lower=0, trans=0 if transposed else 1)
    return x
