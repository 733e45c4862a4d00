"""The regression of outputs on a horizon of past inputs and outputs, and how long the horizon has to be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from articulus.design.modal.samples import RecordSamples
from articulus.errors import InputError
from articulus.numerics.lyapunov import one_thread

LONGEST = 60
"""Horizon up to which one is searched."""
EXACT = 1e-9
"""Part of a signal that is not told by the ones before it, over itself, below which it is rounding."""
LOST = 20.0
"""Difference of the information criterion from which on a horizon is clearly worse."""
FEW = 8
"""Samples for each unknown of the longest horizon that is tried."""


@dataclass(frozen=True, eq=False)
class Past:
    """y_k = D u_k + constant + sum over i = 1..p of [U_i, Y_i] [u, y]_(k - i) + e_k: Markov parameters of a predictor.

    Parameters
    ----------
    horizon : int
        p.
    D : array, (ny, nu)
    markov : array, (p, ny, nu + ny)
    triangle : array, (columns, columns)
        R of the regressors Z = Q R, columns u_k, 1, then [u, y] of lags 1, 2, ...
    data : array, (samples - first, columns)
        Z.
    residuals : array, (samples - first, ny)
    noise : array, (ny, ny)
        Covariance of e.
    first : int
        Samples before those that are predicted: the longest horizon that was tried.
    better : int
        Horizon that is clearly better, or the longest one where longer ones may be; 0 if there is none.
    """

    horizon: int
    D: np.ndarray
    markov: np.ndarray
    triangle: np.ndarray
    data: np.ndarray
    residuals: np.ndarray
    noise: np.ndarray
    first: int
    better: int


def past(who: str, s: RecordSamples, order: int, horizon: int | None) -> Past:
    """Return the regression; without a horizon, the one of the least information criterion (Akaike 1974), but long enough for the order.

    Least squares of all shorter horizons are in the triangle of the longest one.
    """
    nu, ny = s.u.shape[1], s.y.shape[1]
    least = -(-order // ny)
    most = min(LONGEST, (len(s) // FEW - nu - 1) // (nu + ny))
    if most < least:
        raise InputError(
            f"{who}: found {len(s)} samples; expected at least {FEW * (nu + 1 + least * (nu + ny))} for order {order}"
        )
    if horizon is not None and not least <= horizon <= most:
        raise InputError(
            f"{who}: found horizon = {horizon}; expected {least} to {most} for order {order} and {len(s)} samples"
        )
    Z = _regressors(s, most)
    with one_thread():
        R = np.asarray(np.linalg.qr(np.hstack([Z, s.y[most:]]), mode="r"))
    full = Z.shape[1]
    told = np.abs(np.diag(R)[:full]) > EXACT * np.linalg.norm(Z, axis=0)
    longest = most if told.all() else (int(np.argmin(told)) - nu - 1) // (nu + ny)
    if longest < (horizon or least):
        raise InputError(
            f"{who}: inputs and outputs of the record '{s.name}' depend on each other exactly over {longest + 1} samples; expected inputs that excite (a broad "
            f"band), and an order of at most {longest * ny}"
        )
    lengths = np.arange(least, longest + 1)
    scores = np.array([_criterion(R, nu + 1 + int(n) * (nu + ny), full, len(Z)) for n in lengths])
    best = int(lengths[int(np.argmin(scores))])
    p = horizon or max(best, min(longest, 2 * least + 2))
    short = best if scores[p - least] - scores.min() > LOST else most if best == most else 0
    k = nu + 1 + p * (nu + ny)
    Z = Z[:, :k]
    theta = scipy.linalg.solve_triangular(R[:k, :k], R[:k, full:])
    residuals = s.y[most:] - Z @ theta
    markov = theta[nu + 1 :].reshape(p, nu + ny, ny).transpose(0, 2, 1)
    noise = residuals.T @ residuals / max(len(Z) - k, 1) + np.diag((EXACT * s.y.std(axis=0)) ** 2)
    return Past(p, theta[:nu].T.copy(), markov, R[:k, :k], Z, residuals, noise, most, short)


def _regressors(s: RecordSamples, p: int) -> np.ndarray:
    both = np.hstack([s.u, s.y])
    n = len(both)
    return np.hstack([s.u[p:], np.ones((n - p, 1)), *(both[p - i : n - i] for i in range(1, p + 1))])


def _criterion(R: np.ndarray, columns: int, k: int, rows: int) -> float:
    left = R[columns:, k:]
    least = np.diag((EXACT * np.linalg.norm(R[:, k:], axis=0)) ** 2)
    return rows * float(np.linalg.slogdet((left.T @ left + least) / rows)[1]) + 2 * columns * left.shape[1]
