"""Staircase programs by the interior point method of `numerics` with banded equations: time grows with the number of stages.

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
from articulus.numerics.interior_point import QuadraticProgram, solve_quadratic

STEADY = 1e-10
"""Added to the diagonal of unknowns, taken from that of multipliers, over the sizes of the numbers: rows that depend on each other are borne."""
EXACT = 1e-13
"""Next correction over the whole, foretold by the last two, with which the solutions for what is left end."""


@dataclass(frozen=True, eq=False)
class _Flat(QuadraticProgram):
    """All stages in one program."""

    steps: int
    row_of: np.ndarray
    equal: np.ndarray
    order: np.ndarray


def solve_interior(stages: tuple[Stage, ...]) -> StageSolution:
    """Return the solution of a linear or quadratic program; "not converged" if none was found."""
    flat = _flatten(stages)
    found = solve_quadratic(flat, _System(flat))
    at = starts(stages)
    pressures = np.zeros(len(flat.equal))
    pressures[flat.equal] = found.multipliers[flat.steps :]
    pressures[flat.row_of] = found.pressures
    sizes = np.cumsum([len(s.rows) for s in stages])[:-1]
    count = np.cumsum([len(s.step) for s in stages[:-1]])[:-1]
    return StageSolution(
        stages,
        tuple(found.z[a:b] for a, b in pairwise(at)),
        "solved" if found.ok else "not converged",
        tuple(np.split(found.multipliers[: flat.steps], count)),
        tuple(np.split(pressures[: sum(len(s.rows) for s in stages)], sizes)),
        found.iterations,
        found.residual,
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
