"""Staircase programs by an interior point method (Mehrotra 1992) whose equations are banded: time grows with the number of stages.

Unknowns and multipliers are put in the order z_0, multipliers of its equations, multipliers of its step, z_1, ...; neighbours touch only
neighbours, so the matrix of every Newton step has a band of the width of one stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dgbtrf, dgbtrs

from articulus.trajectory.staircase.stages import Stage, StageSolution, row_matrix, starts, step_matrix

MOST = 100
"""Most iterations."""
TOLERANCE, ENOUGH = 1e-13, 1e-7
"""Largest of the residuals and of the gap to the dual cost, over the sizes of their terms, at which the search ends; and with which the
best of all iterations counts as a solution."""
PATIENCE = 3
"""Iterations without a smaller residual, after which the search ends."""
STEADY = 1e-10
"""Added to the diagonal of unknowns, taken from that of multipliers, over the sizes of the numbers: rows that depend on each other are borne."""
REFINED, EXACT = 4, 1e-13
"""Most solutions with the same factors, each for what the one before left; and the last one over the whole with which they end."""
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
    H = sp.block_diag([np.zeros((s.size, s.size)) if s.H is None else s.H for s in stages], format="csr")
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


class _Band:
    """Factors of [[K, E'], [E, 0]] in the order of the stages."""

    def __init__(self, flat: _Flat):
        n, m = flat.E.shape[1], flat.E.shape[0]
        self.n, self.E, self.ET, self.order = n, flat.E, flat.E.T.tocsr(), flat.order
        place = np.empty(n + m, dtype=int)
        place[flat.order] = np.arange(n + m)
        lower = (abs(flat.H) + abs(flat.G.T) @ abs(flat.G) + sp.identity(n)).tocoo()
        E = flat.E.tocoo()
        rows = np.concatenate([place[lower.row], place[n + E.row], place[E.col]])
        columns = np.concatenate([place[lower.col], place[E.col], place[n + E.row]])
        self.width = int(np.abs(rows - columns).max(initial=0))
        self.place, self.shift = place, np.repeat([STEADY, -STEADY], [n, m])
        self.band = np.empty((3 * self.width + 1, n + m), order="F")
        """Written anew by every factorization: fresh memory would cost as much as the factors."""

    def factor(self, K: sp.spmatrix) -> None:
        """Factor with the block K of the unknowns."""
        K, E, n, w = K.tocoo(), self.E.tocoo(), self.n, self.width
        self.K, band = K.tocsr(), self.band
        band[:] = 0.0
        for i, j, values in (
            (self.place[K.row], self.place[K.col], K.data),
            (self.place[n + E.row], self.place[E.col], E.data),
            (self.place[E.col], self.place[n + E.row], E.data),
        ):
            band[2 * w + i - j, j] = values
        band[2 * w, self.place] += self.shift
        self.factors, self.pivots, info = dgbtrf(band, w, w, overwrite_ab=True)
        if info:
            raise np.linalg.LinAlgError(f"banded matrix: zero pivot {info}")

    def solve(self, top: np.ndarray, bottom: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the matrix maps to these right-hand sides; refined, since the factors have a shifted diagonal."""
        n, goal = self.n, np.concatenate([top, bottom])
        x, rest = np.zeros_like(goal), goal
        for _ in range(REFINED):
            step, _ = dgbtrs(self.factors, self.width, self.width, rest[self.order], self.pivots)
            x += step[self.place]
            if not np.abs(step).max(initial=0.0) > EXACT * np.abs(x).max(initial=0.0):
                break
            rest = goal - np.concatenate([self.K @ x[:n] + self.ET @ x[n:], self.E @ x[:n]])
        return x[:n], x[n:]


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

    def look(self) -> float:
        """Compute all residuals; return the largest of them and of the gap to the dual cost, over the sizes of their terms."""
        flat, z, y = self.flat, self.z, self.y
        curved = flat.H @ z
        self.dual = curved + flat.c + flat.E.T @ self.nu + self.CT @ y
        self.primal = flat.E @ z - flat.e
        self.gap = self.C @ z + self.slack - self.limit
        self.mean = float(self.slack @ y) / max(len(y), 1)
        value = 1 + abs(float(flat.c @ z)) + abs(float(z @ curved))
        parts = [
            np.abs(rest).max(initial=0.0) / (1 + np.abs(size).max(initial=0.0))
            for rest, size in ((self.dual, flat.c), (self.primal, flat.e), (self.gap, self.limit))
        ]
        return float(max(*parts, len(y) * self.mean / value))

    def direction(self, band: _Band, target: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the Newton step after which slack times multiplier is `target`, to first order."""
        pull = (target + self.y * self.gap) / self.slack - self.y
        dz, dnu = band.solve(-self.dual - self.CT @ pull, -self.primal)
        ds = -self.gap - self.C @ dz
        return dz, dnu, ds, (target - self.y * ds) / self.slack - self.y

    def advance(self, band: _Band, together: bool) -> None:
        """Take a step: predicted without, then corrected with a part of the mean complementarity that the prediction says."""
        _, _, ds, dy = self.direction(band, np.zeros_like(self.y))
        ahead = float((self.slack + _far(self.slack, ds, 1.0) * ds) @ (self.y + _far(self.y, dy, 1.0) * dy))
        part = (ahead / max(len(self.y), 1) / self.mean) ** 3 if self.mean > 0 else 0.0
        dz, dnu, ds, dy = self.direction(band, part * self.mean - ds * dy)
        first, second = _far(self.slack, ds, NEAR), _far(self.y, dy, NEAR)
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
    band, curved = _Band(flat), bool(np.any(flat.H.data))
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
    best, kept, since, done = np.inf, (at.z, at.nu, at.y), 0, 0
    while done < MOST:
        rest = at.look()
        since += 1
        if rest < best:
            best, kept, since = rest, (at.z, at.nu, at.y), 0
        if rest < TOLERANCE or (since > PATIENCE and best < ENOUGH) or not np.isfinite(rest):
            break
        try:
            band.factor(flat.H + at.CT @ sp.diags(at.y / at.slack) @ C)
        except np.linalg.LinAlgError:
            break
        at.advance(band, curved)
        done += 1
    z, nu, y = kept
    both = np.zeros(flat.G.shape[0])
    np.add.at(both, which, sign * y)
    return z, nu, both, best, done


def _far(x: np.ndarray, dx: np.ndarray, part: float) -> float:
    """Return how far x can go along dx with x > 0, at most 1."""
    down = dx < 0
    return min(1.0, part * float((-x[down] / dx[down]).min(initial=np.inf)))
