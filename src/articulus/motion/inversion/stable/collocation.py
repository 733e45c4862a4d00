"""Bounded internal motion as a boundary value problem: collocation at Gauss points, Newton's method, mesh refined to an error.

The interval is the motion with padding on both sides. At its first end eta has no part in the stable subspace of the zero dynamics, so
that it comes out of the equilibrium along the unstable one; at its last end it has no part in the unstable subspace. The subspaces
are the tangents of the manifolds; over the padding the internal motion decays so far that they differ by less than the tolerance.

Slopes at the stages are eliminated interval by interval; what is left is a banded system in the values at the nodes. Its solution for the
differences between one step and two of half the length is the error of the whole, by which the mesh is refined.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from articulus.errors import NumericalError
from articulus.motion.inversion.stable.gauss import B, C, GaussStages, linearized, slopes_at, steps
from articulus.motion.inversion.stable.problem import BoundedProblem
from articulus.numerics.banded import BandedLU, band_storage

MOST_INTERVALS = 40_000
NEWTON = 40
"""Most Newton steps on one mesh."""


@dataclass(frozen=True, eq=False)
class Internal:
    """eta over time on a mesh.

    Parameters
    ----------
    t : array, (N + 1,) [s]
    eta : array, (N + 1, k)
    K : array, (N, 3, k)
        Slopes at the Gauss points of the intervals.
    error : float
        Estimate of the largest error of eta, over its largest distance from rest.
    iterations, meshes : int
        Newton steps in all (or sweeps), and how many meshes.
    """

    t: np.ndarray
    eta: np.ndarray
    K: np.ndarray
    error: float
    iterations: int
    meshes: int

    def __call__(self, problem: BoundedProblem, t: np.ndarray) -> np.ndarray:
        """Return eta (N, k) at any times of the interval, by steps from the nodes before them."""
        if not self.eta.shape[1]:
            return np.zeros((len(t), 0))
        i = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 2)
        h = t - self.t[i]
        share = h / (self.t[i + 1] - self.t[i])
        K = slopes_at(self.K[i], share[:, None] * C)
        return steps(problem.rate, self.t[i], h, self.eta[i], K)[0]


def collocation(problem: BoundedProblem, tolerance: float) -> Internal:
    """Return the bounded internal motion.

    Parameters
    ----------
    problem : BoundedProblem
    tolerance : float [-]
        Error of eta, over its largest distance from rest.
    """
    t = first_mesh(problem)
    eta = problem.first_eta(t)
    K = np.zeros((len(t) - 1, 3, eta.shape[1]))
    K[:] = (np.diff(eta, axis=0) / np.diff(t)[:, None])[:, None]
    total, meshes = 0, 0
    while True:
        eta, K, count = newton(problem, t, eta, K)
        total, meshes = total + count, meshes + 1
        defect, error = errors(problem, t, eta, K)
        size = np.abs(eta - eta[0]).max(initial=0.0) or 1.0
        worst = np.abs(error).max(initial=0.0) / size
        if worst <= tolerance:
            return Internal(t, eta, K, float(worst), total, meshes)
        t, eta, K = _refine(t, eta, K, defect, tolerance / worst)
        if len(t) > MOST_INTERVALS:
            raise NumericalError(
                f"stable_inversion: error {worst:.2g} of the internal motion with {len(t) - 1} intervals; expected {tolerance:g}: give a larger tolerance, or the "
                "wanted motion is not smooth between its start and end"
            )


def first_mesh(problem: BoundedProblem) -> np.ndarray:
    """Return times: even intervals in the motion, longer ones away from it in the padding."""
    w = problem.wanted
    marks = w.marks
    parts = [
        np.linspace(a, b, max(1, round(24 * (b - a) / (w.t_end - w.t0))) + 1)
        for a, b in itertools.pairwise(marks)
    ]
    grown = np.linspace(0.0, 1.0, 13) ** 1.5
    if problem.first < w.t0:
        parts.insert(0, (w.t0 - (w.t0 - problem.first) * grown)[::-1])
    if problem.last > w.t_end:
        parts.append(w.t_end + (problem.last - w.t_end) * grown)
    return np.concatenate([parts[0], *(part[1:] for part in parts[1:])])


def newton(
    problem: BoundedProblem, t: np.ndarray, eta: np.ndarray, K: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return eta and slopes that satisfy the collocation equations on a mesh, and the number of steps taken."""
    if not eta.shape[1]:
        return eta, K, 0
    h = np.diff(t)
    x, last, share = None, np.inf, 1.0
    for count in range(1, NEWTON + 1):
        stages = linearized(problem.rate, t[:-1], h, eta[:-1], K, x)
        d_eta, d_K = _correction(problem, h, eta, K, stages)
        size = np.abs(d_eta).max()
        if not np.isfinite(size):
            break
        share = 1.0 if size < 2 * last else 0.5 * share
        eta, K, x = eta + share * d_eta, K + share * d_K, stages.x
        if share == 1.0 and size <= 1e-12 * (1e-3 + np.abs(eta).max()):
            return eta, K, count
        if share < 1e-3:
            break
        last = size
    raise NumericalError(
        f"stable_inversion: Newton's method on the internal motion does not converge (last change {size:.3g}); the theorem promises a solution for small motions "
        "only: take a smaller or slower motion, and look whether the zeros change sign on the way"
    )


def _correction(
    problem: BoundedProblem, h: np.ndarray, eta: np.ndarray, K: np.ndarray, stages: GaussStages
) -> tuple[np.ndarray, np.ndarray]:
    """Return one Newton step of eta and of the slopes."""
    moved = eta[:-1] + h[:, None] * np.einsum("j,njk->nk", B, K + stages.free)
    first = -problem.before.stable @ (eta[0] - problem.before.eta)
    last = -problem.after.unstable @ (eta[-1] - problem.after.eta)
    d_eta = _between_ends(problem, h, stages, moved - eta[1:], first, last)
    return d_eta, stages.free + np.einsum("njkl,nl->njk", stages.by_start, d_eta[:-1])


def _between_ends(
    problem: BoundedProblem,
    h: np.ndarray,
    stages: GaussStages,
    right: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
) -> np.ndarray:
    """Solve d_{i+1} - through_i d_i = right_i with the conditions at both ends, (N + 1, k)."""
    N, k = right.shape
    through = np.eye(k) + h[:, None, None] * np.einsum("j,njkl->nkl", B, stages.by_start)
    s = len(first)
    lower, upper = s + k - 1, 2 * k - 1 - s  # diagonals of the rows: ends first and last, intervals between
    band = band_storage((N + 1) * k, lower, upper)
    diagonal = lower + upper
    row, column = np.indices((k, k))
    begin = k * np.arange(N)[:, None, None]
    band[diagonal + s + row - column, begin + column] = -through
    unit = k + np.arange(N * k)
    band[diagonal + s - k, unit] = 1.0
    for matrix, down, along in ((problem.before.stable, 0, 0), (problem.after.unstable, s + N * k, N * k)):
        i, j = np.indices(matrix.shape)
        band[diagonal + down + i - along - j, along + j] = matrix
    found = BandedLU(band, lower, upper).solve(np.concatenate([first, right.ravel(), last]))
    return found.reshape(N + 1, k)


def errors(
    problem: BoundedProblem, t: np.ndarray, eta: np.ndarray, K: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences of one step and two half ones, (N,) largest of each interval, and the errors of eta (N + 1, k)."""
    if not eta.shape[1]:
        return np.zeros(len(t) - 1), np.zeros_like(eta)
    h = np.diff(t)
    places = np.broadcast_to(C / 2, (len(h), 3))
    middle, _ = steps(problem.rate, t[:-1], h / 2, eta[:-1], slopes_at(K, places))
    twice, _ = steps(problem.rate, t[:-1] + h / 2, h / 2, middle, slopes_at(K, places + 0.5))
    defect = twice - eta[1:]
    stages = linearized(problem.rate, t[:-1], h, eta[:-1], K, None)
    zero = np.zeros(len(problem.before.stable)), np.zeros(len(problem.after.unstable))
    return np.abs(defect).max(1), _between_ends(problem, h, stages, defect, *zero)


def _refine(
    t: np.ndarray, eta: np.ndarray, K: np.ndarray, defect: np.ndarray, ratio: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Divide intervals so that none has a difference of more than a share of the largest one; values from the slopes."""
    goal = 0.2 * ratio * defect.max()
    pieces = np.clip(np.ceil((defect / goal) ** (1 / 7)), 1, 6).astype(int)
    h = np.diff(t)
    new_t, new_eta, new_K = [], [], []
    for count in np.unique(pieces):
        i = np.flatnonzero(pieces == count)
        for piece in range(count):
            begin = piece / count
            places = np.broadcast_to(begin + C / count, (len(i), 3))
            new_t.append(t[i] + begin * h[i])
            weights = slopes_at(K[i], np.broadcast_to(begin * C, (len(i), 3)))
            new_eta.append(eta[i] + begin * h[i, None] * np.einsum("j,njk->nk", B, weights))
            new_K.append(slopes_at(K[i], places))
    order = np.argsort(np.concatenate(new_t), kind="stable")
    return (
        np.append(np.concatenate(new_t)[order], t[-1]),
        np.concatenate([np.concatenate(new_eta)[order], eta[-1:]]),
        np.concatenate(new_K)[order],
    )
