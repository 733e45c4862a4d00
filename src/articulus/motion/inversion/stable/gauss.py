"""Gauss's method of three stages, of order six, for many intervals at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from articulus.errors import NumericalError

_S = np.sqrt(15.0)
C = np.array([0.5 - _S / 10, 0.5, 0.5 + _S / 10])
"""Places of the stages in an interval."""
B = np.array([5.0, 8.0, 5.0]) / 18
A = np.array(
    [
        [5 / 36, 2 / 9 - _S / 15, 5 / 36 - _S / 30],
        [5 / 36 + _S / 24, 2 / 9, 5 / 36 - _S / 24],
        [5 / 36 + _S / 30, 2 / 9 + _S / 15, 5 / 36],
    ]
)

SMALL = 1e-9
"""Change of the slopes times the length, relative, after which one more of a quadratic iteration is below round-off."""

ROUND_OFF = 1e-6
"""Change, relative, below which one that no longer falls is round-off of stiff rates."""

Rate = Callable[[np.ndarray, np.ndarray, np.ndarray | None], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""(t, eta, guess of x) -> rates (N, k), their derivatives by eta (N, k, k), states x (N, n)."""


class GaussStages(NamedTuple):
    """Equations of the stages linearized: changes of the slopes K are `free` + `by_start` times the change at the start."""

    residual: np.ndarray
    free: np.ndarray
    by_start: np.ndarray
    x: np.ndarray


def linearized(
    rate: Rate, t: np.ndarray, h: np.ndarray, start: np.ndarray, K: np.ndarray, x: np.ndarray | None
) -> GaussStages:
    """Return the equations K_j = p(t + c_j h, start + h sum a_jl K_l) about slopes K.

    Parameters
    ----------
    t, h : arrays, (N,) [s]
        Starts and lengths of the intervals.
    start : array, (N, k)
    K : array, (N, 3, k)
    x : array, (3 N, n), optional
        Estimate of the states at the stages.
    """
    N, _, k = K.shape
    times = (t[:, None] + C * h[:, None]).ravel()
    eta = start[:, None] + h[:, None, None] * np.einsum("jl,nlk->njk", A, K)
    p, J, x = rate(times, eta.reshape(3 * N, k), x)
    p, J = p.reshape(N, 3, k), J.reshape(N, 3, k, k)
    matrix = -h[:, None, None, None, None] * np.einsum("jl,njab->njalb", A, J)
    matrix = matrix.reshape(N, 3 * k, 3 * k) + np.eye(3 * k)
    residual = K - p
    right = np.concatenate([-residual.reshape(N, 3 * k, 1), J.reshape(N, 3 * k, k)], axis=2)
    solved = np.linalg.solve(matrix, right)
    return GaussStages(residual, solved[:, :, 0].reshape(N, 3, k), solved[:, :, 1:].reshape(N, 3, k, k), x)


def steps(
    rate: Rate, t: np.ndarray, h: np.ndarray, start: np.ndarray, K: np.ndarray, x: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return eta (N, k) at the ends of intervals and the slopes, from values at their starts and an estimate of the slopes."""
    last = np.inf
    for _ in range(12):
        found = linearized(rate, t, h, start, K, x)
        K, x = K + found.free, found.x
        change = np.abs(h[:, None, None] * found.free).max(initial=0.0)
        size = 1 + np.abs(start).max(initial=0.0)
        if change <= SMALL * size or 0.5 * last < change <= ROUND_OFF * size:
            break
        last = change
    else:
        raise NumericalError(f"stable_inversion: the stages of a step do not converge (change {change:.3g})")
    return start + h[:, None] * np.einsum("j,njk->nk", B, K), K


def slopes_at(K: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the quadratic through slopes K (N, 3, k) at places (N, 3) of the intervals, (N, 3, k)."""
    weights = [
        np.prod([(places - C[l]) / (C[j] - C[l]) for l in range(3) if l != j], axis=0) for j in range(3)
    ]
    return np.einsum("jns,njk->nsk", np.array(weights), K)
