"""Nonlinear least squares with exact derivatives within bounds: Gauss-Newton, damped where it has to be.

Levenberg-Marquardt on parameters in units of their sizes; a parameter at a bound that the step would leave stays there.
Source: Nocedal & Wright 2006, sections 10.3 and 16.7 (projected step).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError
from articulus.numerics.lyapunov import one_thread

SMALL = 1e-10
"""Decrease of the sum of squares, over itself, that is no longer one; and the step, over the size of the parameters."""
DAMPINGS = 12
"""Dampings that are tried in one iteration."""

Residuals = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From parameters to residuals (m,) and their derivatives (m, n)."""


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Solution of a least-squares problem.

    Parameters
    ----------
    x : array, (n,)
    residuals : array, (m,)
    jacobian : array, (m, n)
    iterations : int
    evaluations : int
    converged : bool
    at_bound : array of bool, (n,)
        Parameters that a bound holds.
    """

    x: np.ndarray
    residuals: np.ndarray
    jacobian: np.ndarray
    iterations: int
    evaluations: int
    converged: bool
    at_bound: np.ndarray


def least_squares(
    f: Residuals,
    x: np.ndarray,
    size: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    most: int = 50,
    close: float = 0.0,
) -> LeastSquares:
    """Return the parameters that make the sum of squares least near a start.

    Parameters
    ----------
    f : callable
    x : array, (n,)
        Start.
    size : array, (n,)
        Size of each parameter.
    lower, upper : array, (n,)
    most : int
        Iterations.
    close : float
        Steps of fewer standard deviations than this are not taken any more.
    """
    r, J = f(x)
    cost, damping, evaluations, converged, iterations = float(r @ r), 0.0, 1, False, 0
    while iterations < most:
        iterations += 1
        T = triangle(J * size, r)
        A, b = T[:, :-1], T[:, -1]
        g = A.T @ b
        at_bound = ((x <= lower) & (g > 0)) | ((x >= upper) & (g < 0))
        better = False
        for _ in range(DAMPINGS):
            step = np.zeros(len(x))
            free = ~at_bound
            if free.any():
                weight = np.sqrt(damping) * np.maximum(np.linalg.norm(A[:, free], axis=0), 1e-300)
                stacked = np.vstack([A[:, free], np.diag(weight)])
                step[free] = np.linalg.lstsq(
                    stacked, -np.concatenate([b, np.zeros(free.sum())]), rcond=1e-12
                )[0]
            tried = np.clip(x + size * step, lower, upper)
            moved = np.abs((tried - x) / size).max(initial=0.0)
            expected = cost - float(np.sum((A @ step + b) ** 2))
            if moved <= SMALL or expected * max(len(r) - len(x), 1) <= close**2 * cost:
                converged = True
                break
            try:
                rt, Jt = f(tried)
            except (ArithmeticError, InputError):  # the run fails, or no such machine exists
                rt, Jt = np.full_like(r, np.nan), J
            evaluations += 1
            trial = float(rt @ rt)
            if np.isfinite(trial) and trial <= cost:
                better = True
                break
            damping = max(10 * damping, 1e-4)
        if converged or not better:
            converged = converged or moved <= 1e-6
            break
        gained = cost - trial
        x, r, J, cost, damping = tried, rt, Jt, trial, damping / 10 if damping > 1e-8 else 0.0
        if gained <= SMALL * cost + 1e-300:
            converged = True
            break
    g = J.T @ r
    at_bound = ((x <= lower) & (g > 0)) | ((x >= upper) & (g < 0))
    return LeastSquares(x, r, J, iterations, evaluations, converged, at_bound)


def triangle(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a triangle with the same products of columns as [A, b], (n + 1, n + 1) or lower."""
    with one_thread():
        return np.asarray(np.linalg.qr(np.column_stack([A, b]), mode="r"))
