"""Linear and quadratic programs by an interior point method with predicted and corrected steps (Mehrotra 1992).

    minimize z' H z / 2 + c' z   with   E z = e,   lower <= G z <= upper

Every step needs the solution of linear equations with the matrix [[H + G' W G, E'], [E, 0]], W diagonal. Who knows the order of
unknowns in which that matrix is narrow gives the object that factors it (`NewtonEquations`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

MOST = 100
"""Most iterations."""
TOLERANCE, ENOUGH = 1e-13, 1e-7
"""Largest of the residuals and of the gap to the dual cost, over the sizes of their terms, at which the search ends; and with which the
best of all iterations counts as a solution."""
PATIENCE = 3
"""Iterations without a smaller residual, after which the search ends."""
ROUNDED = 10.0
"""Residual over what the length of the last step should have left of it, from which on it counts as rounding."""
REFINED = 4
"""Most solutions with the same factors, each for what the one before left."""
NEAR = 0.995
"""Part of the way to the boundary that a step goes."""


@dataclass(frozen=True, eq=False)
class QuadraticProgram:
    """The matrices of a linear (H = 0) or convex quadratic program; bounds may be infinite, those of a row differ.

    Parameters
    ----------
    H : sparse array, (n, n)
    c : array, (n,)
    E : sparse array, (m, n)
    e : array, (m,)
    G : sparse array, (k, n)
    lower, upper : arrays, (k,)
    """

    H: sp.csr_matrix
    c: np.ndarray
    E: sp.csr_matrix
    e: np.ndarray
    G: sp.csr_matrix
    lower: np.ndarray
    upper: np.ndarray


class NewtonEquations(Protocol):
    """What solves the equations of a Newton step."""

    def factor(self, weights: np.ndarray) -> None:
        """Factor [[H + G' diag(weights) G, E'], [E, 0]]; raise LinAlgError where it is singular."""

    def solve(self, top: np.ndarray, bottom: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Return both parts of the solution for these right-hand sides, by at most so many solutions with the factors."""


@dataclass(frozen=True, eq=False)
class QuadraticSolution:
    """The best iterate.

    Parameters
    ----------
    z : array, (n,)
    multipliers : array, (m,)
        Multipliers of the equations: H z + c + E' multipliers + G' pressures = 0.
    pressures : array, (k,)
        Pressures of the bounded rows: positive at the upper bound, negative at the lower.
    residual : float
        Largest residual, or gap to the dual cost, over the sizes of its terms.
    iterations : int
    """

    z: np.ndarray
    multipliers: np.ndarray
    pressures: np.ndarray
    residual: float
    iterations: int

    @property
    def ok(self) -> bool:
        """Whether it is a solution."""
        return self.residual < ENOUGH


@dataclass
class _Iterate:
    """Unknowns, multipliers of equations, distances from the bounds and their multipliers; C z + slack = limit."""

    program: QuadraticProgram
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
        p, z, y = self.program, self.z, self.y
        curved = p.H @ z
        self.dual = curved + p.c + p.E.T @ self.nu + self.CT @ y
        self.primal = p.E @ z - p.e
        self.gap = self.C @ z + self.slack - self.limit
        self.mean = _dot(self.slack, y) / max(len(y), 1)
        value = 1 + abs(_dot(p.c, z)) + abs(_dot(z, curved))
        parts = [
            np.abs(rest).max(initial=0.0) / (1 + np.abs(size).max(initial=0.0))
            for rest, size in ((self.dual, p.c), (self.primal, p.e), (self.gap, self.limit))
        ]
        self.loose = len(y) * self.mean / value
        return float(max(*parts, self.loose))

    def direction(
        self, equations: NewtonEquations, target: np.ndarray, most: int = REFINED
    ) -> tuple[np.ndarray, ...]:
        """Return the Newton step after which slack times multiplier is `target`, to first order."""
        pull = (target + self.y * self.gap) / self.slack - self.y
        dz, dnu = equations.solve(-self.dual - self.CT @ pull, -self.primal, most)
        ds = -self.gap - self.C @ dz
        return dz, dnu, ds, (target - self.y * ds) / self.slack - self.y

    def advance(self, equations: NewtonEquations, together: bool) -> None:
        """Take a step: predicted without, then corrected with a part of the mean complementarity that the prediction says."""
        _, _, ds, dy = self.direction(equations, np.zeros_like(self.y), most=1)
        ahead = _dot(self.slack + _far(self.slack, ds, 1.0) * ds, self.y + _far(self.y, dy, 1.0) * dy)
        part = (ahead / max(len(self.y), 1) / self.mean) ** 3 if self.mean > 0 else 0.0
        dz, dnu, ds, dy = self.direction(equations, part * self.mean - ds * dy)
        first, second = _far(self.slack, ds, NEAR), _far(self.y, dy, NEAR)
        self.left = 1 - min(first, second)
        if together:
            first = second = min(first, second)
        self.z, self.slack = self.z + first * dz, self.slack + first * ds
        self.nu, self.y = self.nu + second * dnu, self.y + second * dy


def solve_quadratic(program: QuadraticProgram, equations: NewtonEquations) -> QuadraticSolution:
    """Return the solution of a program; the best iterate, which is not `ok`, where none was found."""
    with np.errstate(all="ignore"):  # a program without a solution runs away; the best iterate is kept
        return _search(program, equations)


def _search(p: QuadraticProgram, equations: NewtonEquations) -> QuadraticSolution:
    m, n = p.E.shape
    low, high = np.flatnonzero(np.isfinite(p.lower)), np.flatnonzero(np.isfinite(p.upper))
    which, sign = np.concatenate([low, high]), np.repeat([-1.0, 1.0], [len(low), len(high)])
    limit = np.concatenate([-p.lower[low], p.upper[high]])
    C = (sp.diags(sign) @ p.G[which]).tocsr() if len(which) else sp.csr_matrix((0, n))
    curved = bool(np.any(p.H.data))
    price = max(1.0, np.abs(p.c).max(initial=0.0))
    at = _Iterate(
        p,
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
            equations.factor(np.bincount(which, at.y / at.slack, p.G.shape[0]).astype(float))
        except np.linalg.LinAlgError:
            break
        at.advance(equations, curved)
        done += 1
    z, nu, y = kept
    pressures = np.zeros(p.G.shape[0])
    np.add.at(pressures, which, sign * y)
    return QuadraticSolution(z, nu, pressures, best, done)


def _far(x: np.ndarray, dx: np.ndarray, part: float) -> float:
    """Return how far x can go along dx with x > 0, at most 1."""
    fall = -float((dx / x).min(initial=0.0))
    return 1.0 if fall <= part else part / fall


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """Return a . b without BLAS, which wakes threads for long arrays: where they share a core, waiting takes longer than all the rest."""
    return float((a * b).sum())
