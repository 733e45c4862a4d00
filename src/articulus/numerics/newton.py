"""Newton's method with a line search: steps are halved until the residual falls (Dennis & Schnabel 1983, section 6.3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

STEPS = 60
"""Newton steps after which a search gives up."""
HALVINGS = 12
"""How often a step that makes things worse is halved."""
SMALL_MOTION = 1e-9
"""Share of the largest singular value of the Jacobian below which a direction counts as closed for a step."""


def newton(
    x: np.ndarray,
    residual: Callable[[np.ndarray], np.ndarray],
    step: Callable[[np.ndarray, np.ndarray], np.ndarray],
    displace: Callable[[np.ndarray, np.ndarray], np.ndarray],
    tolerance: float,
    sizes: np.ndarray | float = 1.0,
) -> tuple[np.ndarray, tuple[float, ...]]:
    """Return where Newton steps lead, and the largest residual at the estimate and after each step.

    A step is halved until the residual falls. The search ends when no step makes it fall, or when a step below the tolerance gains
    little or nothing: what is left then is rounding. Whether it is small enough is for the caller to say.

    Parameters
    ----------
    x : array
        Estimate. Many problems at once are rows of it; they share the halvings and the end.
    residual : function of x
    step : function of x and its residual
        Newton's step, such as that of `least_step`.
    displace : function of x and a step
        x after the step; `numpy.add` where x is a vector.
    tolerance : float
        Tolerance of residuals over `sizes`.
    sizes : array or float
        What is a large residual of each row: residuals over them are compared with each other and with the tolerance.
    """
    r = residual(x)
    history = [float(np.abs(r).max(initial=0.0))]
    for _ in range(STEPS):
        if history[-1] == 0.0:
            break
        by, left = step(x, r), np.linalg.norm(r / sizes)
        near = np.abs(r / sizes).max() <= tolerance
        for halving in range(1 if near else HALVINGS):
            there = displace(x, by * 0.5**halving)
            off = residual(there)
            if np.linalg.norm(off / sizes) < left:  # not where it is no number
                break
        else:
            break
        rounded = near and np.linalg.norm(off / sizes) > 0.1 * left
        x, r = there, off
        history.append(float(np.abs(r).max(initial=0.0)))
        if rounded:
            break
    return x, tuple(history)


def least_step(
    A: np.ndarray,
    b: np.ndarray,
    moving: np.ndarray,
    rows: np.ndarray | None = None,
    columns: np.ndarray | None = None,
) -> np.ndarray:
    """Return the smallest x with A x = b (least squares) that leaves what is not moving at zero.

    `rows` and `columns` are the sizes in which b and x are measured: what has different units becomes comparable.
    """
    x = np.zeros(A.shape[1])
    if A.size and moving.any():
        rows = np.ones(len(A)) if rows is None else rows
        columns = np.ones(len(x)) if columns is None else columns
        plain = A[:, moving] * columns[moving] / rows[:, None]
        x[moving] = columns[moving] * np.linalg.lstsq(plain, b / rows, rcond=SMALL_MOTION)[0]
    return x
