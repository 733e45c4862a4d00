"""Staircase programs by an interior point method (Mehrotra 1992) whose equations are banded: time grows with the number of stages.

Unknowns and multipliers are put in the order multipliers of the equations of stage 0, z_0, multipliers of its step, those of stage 1, ...;
neighbors touch only neighbors, so the matrix of every Newton step has a band of the width of one stage. The places of its entries in the
band are found once; an iteration fills them, factors, and solves once for the prediction and as a rule twice for the correction.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from articulus.motion.trajectory.staircase.stages import (
    Stage,
    StageSolution,
    block_diagonal,
    row_matrix,
    runs,
    starts,
    step_matrix,
)
from articulus.numerics.banded import BandedLU

MOST = 100
"""Most iterations."""
TOLERANCE, ENOUGH = 1e-13, 1e-7
"""Largest of the residuals and of the gap to the dual cost, over the sizes of their terms, at which the search ends; and with which the
best of all iterations counts as a solution."""
PATIENCE = 3
"""Iterations without a smaller residual, after which the search ends."""
ROUNDED = 10.0
"""Residual over what the length of the last step should have left of it, from which on it counts as rounding."""
STEADY = 1e-10
"""Added to the diagonal of unknowns, taken from that of multipliers, over the sizes of the numbers: rows that depend on each other are borne."""
REFINED, EXACT = 4, 1e-13
"""Most solutions with the same factors, each for what the one before left; and the next one over the whole, foretold by the last two,
with which they end."""
NEAR = 0.995
"""Part of the way to the boundary that a step goes."""


@dataclass(frozen=True, eq=False)
class _Flat:
    """All stages in one program: H, c, equations E z = e, and G z between bounds."""

    H: sp.csr_matrix
    c: np.ndarray
    E: sp.csr_matrix
    e: np.ndarray
    G: sp.csr_matrix
    lower: np.ndarray
    upper: np.ndarray
    steps: int
    row_of: np.ndarray
    equal: np.ndarray
    order: np.ndarray


def solve_interior(stages: tuple[Stage, ...]) -> StageSolution:
    """Return the solution of a linear or quadratic program; "not converged" if none was found."""
    flat = _flatten(stages)
    with np.errstate(all="ignore"):  # a program without a solution runs away; the best iterate is kept
        z, nu, y, residual, iterations = _search(flat)
    at = starts(stages)
    pressures = np.zeros(len(flat.equal))
    pressures[flat.equal] = nu[flat.steps :]
    pressures[flat.row_of] = y
    sizes = np.cumsum([len(s.rows) for s in stages])[:-1]
    count = np.cumsum([len(s.step) for s in stages[:-1]])[:-1]
    return StageSolution(
        stages,
        tuple(z[a:b] for a, b in pairwise(at)),
        "solved" if residual < ENOUGH else "not converged",
        tuple(np.split(nu[: flat.steps], count)),
        tuple(np.split(pressures[: sum(len(s.rows) for s in stages)], sizes)),
        iterations,
        residual,
    )


def _flatten(stages: tuple[Stage, ...]) -> _Flat:
    n = int(starts(stages)[-1])
    every = sp.vstack([row_matrix(stages), sp.identity(n, format="csr")], format="csr")
    lower, upper = (
        np.concatenate([*(getattr(s, row) for s in stages), *(getattr(s, own) for s in stages)])
        for row, own in (("lower", "low"), ("upper", "high"))
    )
    equal = lower == upper
    bounded = np.flatnonzero(~equal & (np.isfinite(lower) | np.isfinite(upper)))
    S = step_matrix(stages)
    shift = np.concatenate([s.shift for s in stages[:-1]])
    H = block_diagonal([np.zeros((s.size, s.size)) if s.H is None else s.H for s in stages])
    # stage of each unknown, equation and step, to sort them
    stage = np.repeat(np.arange(len(stages)), [s.size for s in stages])
    of_rows = np.concatenate([np.repeat(np.arange(len(stages)), [len(s.rows) for s in stages]), stage])[equal]
    of_steps = np.repeat(np.arange(len(stages) - 1), [len(s.step) for s in stages[:-1]])
    keys = np.concatenate(
        [3 * stage + 1, 3 * of_steps + 2, 3 * of_rows]
    )  # equations first: steps stay near the unknowns
    return _Flat(
        H,
        np.concatenate([s.c for s in stages]),
        sp.vstack([S, every[equal]], format="csr"),
        np.concatenate([-shift, lower[equal]]),
        every[bounded],
        lower[bounded],
        upper[bounded],
        len(shift),
        bounded,
        equal,
        np.argsort(keys, kind="stable"),
    )


class _System:
    """The matrix [[K, E'], [E, 0]] of a Newton step in the order of the stages, with K = H + G' diag(weights) G; and the factors of its band."""

    def __init__(self, flat: _Flat):
        n, m = flat.E.shape[1], flat.E.shape[0]
        self.n, self.order = n, flat.order
        self.place = np.empty(n + m, dtype=int)
        self.place[flat.order] = np.arange(n + m)
        H, E, G = flat.H.tocoo(), flat.E.tocoo(), flat.G
        # two entries of a row of G, in all pairs, give terms of K
        row = np.repeat(np.arange(G.shape[0]), np.diff(G.indptr))
        lengths = np.diff(G.indptr)[row]
        one, other = np.repeat(np.arange(G.nnz), lengths), runs(G.indptr[:-1][row], lengths)
        i, j = (
            self.place[np.concatenate(parts)]
            for parts in (
                (G.indices[one], H.row, n + E.row, E.col),
                (G.indices[other], H.col, E.col, n + E.row),
            )
        )
        self.width = w = int(np.abs(i - j).max(initial=0))
        self.band = np.empty((3 * w + 1, n + m), order="F")
        """Written anew by every factorization: fresh memory would cost as much as the factors."""
        self.memory = self.band.ravel(order="K")
        # entries of the matrix are numbered by their place in the band
        at = (3 * w + 1) * j + 2 * w + i - j
        taken = np.zeros(self.memory.size, dtype=bool)
        taken[at] = True
        self.entries = np.flatnonzero(taken)
        number = np.cumsum(taken, dtype=np.int32)[at] - 1
        pairs, size = len(one), len(self.entries)
        self.fixed = np.bincount(number[pairs:], np.concatenate([H.data, E.data, E.data]), size)
        self.terms = sp.csr_matrix(
            (G.data[one] * G.data[other], (number[:pairs], row[one])), shape=(size, G.shape[0])
        )
        column, below = np.divmod(self.entries, 3 * w + 1)
        ends = np.searchsorted(column, np.arange(n + m + 1))
        self.matrix = sp.csr_matrix(
            (self.fixed, column + below - 2 * w, ends), shape=(n + m, n + m)
        )  # symmetric
        self.shift = np.repeat([STEADY, -STEADY], [n, m])[flat.order]

    def factor(self, weights: np.ndarray) -> None:
        """Factor with the weights of the rows of G."""
        w = self.width
        self.matrix.data = self.fixed + self.terms @ weights
        self.band[w:] = 0.0
        self.memory[self.entries] = self.matrix.data
        self.band[2 * w] += self.shift
        self.factors = BandedLU(self.band, w, w)

    def solve(self, top: np.ndarray, bottom: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what the matrix maps to these right-hand sides; refined, since the factors have a shifted diagonal."""
        goal = np.concatenate([top, bottom])[self.order]
        x = self.factors.solve(goal)
        last = np.abs(x).max(initial=0.0)
        for _ in range(most - 1):
            step = self.factors.solve(goal - self.matrix @ x)
            x += step
            before, last = last, np.abs(step).max(initial=0.0)
            if not EXACT * before * np.abs(x).max(initial=0.0) < last**2 < before**2 / 4:
                break
        x = x[self.place]
        return x[: self.n], x[self.n :]


@dataclass
class _Iterate:
    """Unknowns, multipliers of equations, distances from the bounds and their multipliers; C z + slack = limit."""

    flat: _Flat
    C: sp.csr_matrix
    CT: sp.csr_matrix
    limit: np.ndarray
    z: np.ndarray
    nu: np.ndarray
    slack: np.ndarray
    y: np.ndarray
    left: float = 1.0
    """Part of the residuals of equations that the last step left, but for rounding."""

    def look(self) -> float:
        """Compute all residuals; return the largest of them and of the gap to the dual cost, over the sizes of their terms."""
        flat, z, y = self.flat, self.z, self.y
        curved = flat.H @ z
        self.dual = curved + flat.c + flat.E.T @ self.nu + self.CT @ y
        self.primal = flat.E @ z - flat.e
        self.gap = self.C @ z + self.slack - self.limit
        self.mean = _dot(self.slack, y) / max(len(y), 1)
        value = 1 + abs(_dot(flat.c, z)) + abs(_dot(z, curved))
        parts = [
            np.abs(rest).max(initial=0.0) / (1 + np.abs(size).max(initial=0.0))
            for rest, size in ((self.dual, flat.c), (self.primal, flat.e), (self.gap, self.limit))
        ]
        self.loose = len(y) * self.mean / value
        return float(max(*parts, self.loose))

    def direction(self, system: _System, target: np.ndarray, most: int = REFINED) -> tuple[np.ndarray, ...]:
        """Return the Newton step after which slack times multiplier is `target`, to first order."""
        pull = (target + self.y * self.gap) / self.slack - self.y
        dz, dnu = system.solve(-self.dual - self.CT @ pull, -self.primal, most)
        ds = -self.gap - self.C @ dz
        return dz, dnu, ds, (target - self.y * ds) / self.slack - self.y

    def advance(self, system: _System, together: bool) -> None:
        """Take a step: predicted without, then corrected with a part of the mean complementarity that the prediction says."""
        _, _, ds, dy = self.direction(system, np.zeros_like(self.y), most=1)
        ahead = _dot(self.slack + _far(self.slack, ds, 1.0) * ds, self.y + _far(self.y, dy, 1.0) * dy)
        part = (ahead / max(len(self.y), 1) / self.mean) ** 3 if self.mean > 0 else 0.0
        dz, dnu, ds, dy = self.direction(system, part * self.mean - ds * dy)
        first, second = _far(self.slack, ds, NEAR), _far(self.y, dy, NEAR)
        self.left = 1 - min(first, second)
        if together:
            first = second = min(first, second)
        self.z, self.slack = self.z + first * dz, self.slack + first * ds
        self.nu, self.y = self.nu + second * dnu, self.y + second * dy


def _search(flat: _Flat) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, int]:
    """Return unknowns, multipliers of equations, of bounded rows, the largest residual and the number of iterations."""
    m, n = flat.E.shape
    low, high = np.flatnonzero(np.isfinite(flat.lower)), np.flatnonzero(np.isfinite(flat.upper))
    which, sign = np.concatenate([low, high]), np.repeat([-1.0, 1.0], [len(low), len(high)])
    limit = np.concatenate([-flat.lower[low], flat.upper[high]])
    C = (sp.diags(sign) @ flat.G[which]).tocsr() if len(which) else sp.csr_matrix((0, n))
    system, curved = _System(flat), bool(np.any(flat.H.data))
    price = max(1.0, np.abs(flat.c).max(initial=0.0))
    at = _Iterate(
        flat,
        C,
        C.T.tocsr(),
        limit,
        np.zeros(n),
        np.zeros(m),
        np.maximum(np.abs(limit), 1.0),
        np.full(len(limit), price),
    )
    best, kept, since, done, before = np.inf, (at.z, at.nu, at.y), 0, 0, np.inf
    while done < MOST:
        rest = at.look()
        since += 1
        if rest < best:
            best, kept, since = rest, (at.z, at.nu, at.y), 0
        rounded = at.loose < TOLERANCE and rest > ROUNDED * at.left * before
        if rest < TOLERANCE or ((rounded or since > PATIENCE) and best < ENOUGH) or not np.isfinite(rest):
            break
        before = rest
        try:
            system.factor(np.bincount(which, at.y / at.slack, flat.G.shape[0]))
        except np.linalg.LinAlgError:
            break
        at.advance(system, curved)
        done += 1
    z, nu, y = kept
    both = np.zeros(flat.G.shape[0])
    np.add.at(both, which, sign * y)
    return z, nu, both, best, done


def _far(x: np.ndarray, dx: np.ndarray, part: float) -> float:
    """Return how far x can go along dx with x > 0, at most 1."""
    fall = -float((dx / x).min(initial=0.0))
    return 1.0 if fall <= part else part / fall


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """Return a . b without BLAS, which wakes threads for long arrays: where they share a core, waiting takes longer than all the rest."""
    return float((a * b).sum())
