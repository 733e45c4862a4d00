"""Energy and momentum forms of the regression: joint forces summed over windows of time, without accelerations."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.integrate import cumulative_simpson

from articulus.design.regression import Regression

FORMS = ("force", "momentum", "energy")
Form = Literal["force", "momentum", "energy"]
WINDOW = 20
"""Samples of a window if none is given."""
STEP = 1e-3
"""Displacement of the differences of fourth order along the motion, over that of the mechanism's scale: truncation and rounding are 1e-12."""


def integral_rows(
    regression: Regression,
    form: Form,
    t: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    window: int,
) -> np.ndarray:
    """Return rows [W, b] of windows that follow each other, W phi = b, (windows, nv or 1, n + 1).

    With tau = H(q) vdot + h(q, v), p = H v and Hdot the rate of H along the motion:

        momentum:  [p] + sum (h - Hdot v) dt = sum tau dt              (a row for each joint)
        energy:    [v'p / 2] + sum v'(h - Hdot v / 2) dt = sum v'tau dt   (one row)

    [.] is the difference between the ends of a window; everything on the left is linear in phi. Windows with a missing force have NaN.
    Sums are by Simpson's rule.

    Source: Gautier & Khalil 1988 (energy), Slotine & Li 1991, section 9.3 (momentum, filtered forces).
    """
    both = _columns(regression, q, v, np.zeros_like(v))  # h
    p = _momentum(regression, q, v)
    rate = _rate_of_momentum(regression, q, v)
    if form == "momentum":
        ends, inside, right = p, both - rate, tau[..., None]
    else:
        power = np.einsum("ti,tij->tj", v, both - 0.5 * rate)[:, None]
        ends, inside, right = 0.5 * np.einsum("ti,tij->tj", v, p)[:, None], power, np.sum(v * tau, 1)[:, None, None]  # fmt: skip
    whole = np.concatenate([inside, np.nan_to_num(right)], axis=-1)
    sums = cumulative_simpson(whole, x=t, axis=0, initial=0.0)
    first = np.arange(0, len(t) - 1, window)
    last = np.minimum(first + window, len(t) - 1)
    left = ends[last] - ends[first] + (sums[last] - sums[first])[..., :-1]
    b = (sums[last] - sums[first])[..., -1] - left[..., -1]
    missing = np.isnan(right[..., 0]).any(axis=1)
    lost = np.array([missing[i : j + 1].any() for i, j in zip(first, last)])
    rows = np.concatenate([left[..., :-1], b[..., None]], axis=-1)
    rows[lost] = np.nan
    return rows


def _columns(regression: Regression, q: np.ndarray, v: np.ndarray, vdot: np.ndarray) -> np.ndarray:
    """Return [Y, known]: the forces that are known have a column of their own."""
    known = regression.known(q, v, vdot)
    return np.concatenate([regression.matrix(q, v, vdot), known[..., None]], axis=-1)


def _momentum(regression: Regression, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the columns of p = H v."""
    still = np.zeros_like(v)
    return _columns(regression, q, still, v) - _columns(regression, q, still, still)


def _rate_of_momentum(regression: Regression, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the columns of Hdot v: differences of p along the motion at constant v, of fourth order."""
    scales = regression.mechanism.description.scales()
    rate = np.max(np.abs(v) / scales.displacement, initial=0.0)
    if rate == 0:
        return np.zeros((*v.shape, len(regression.names) + 1))
    h = STEP / rate
    at = [_momentum(regression, regression.mechanism.integrate_position(q, k * h * v), v) for k in (-2, -1, 1, 2)]  # fmt: skip
    return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)
