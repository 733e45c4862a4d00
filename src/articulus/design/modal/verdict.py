"""What may be doubted about an identified model, and how much of the outputs it explains alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.signal import lfilter

from articulus.design.modal.samples import RecordSamples
from articulus.design.whiteness import RANDOM, whiteness
from articulus.errors import doubtful
from articulus.linear import LinearModel

GAP = 2.0
"""Ratio of neighboring singular values below which the order does not stand out."""
ROUNDING = 1e-7
"""Residuals over the signal that are rounding, of whatever color."""


def judge(
    who: str,
    s: RecordSamples,
    residuals: np.ndarray,
    values: np.ndarray,
    sizes: np.ndarray,
    order: int,
    reason: str,
    more: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return reasons to doubt, and warn of them."""
    doubts = [*more]
    doubts += [
        f"residuals of '{name}' are no white noise (probability {p:.1g}): {reason}; deviations are too small then"
        for name, p, spread, size in zip(
            s.outputs, whiteness(residuals), residuals.std(axis=0), s.y.std(axis=0)
        )
        if p < RANDOM and spread > ROUNDING * size
    ]
    if len(sizes) > order and sizes[order] > 0 and sizes[order - 1] < GAP * sizes[order]:
        doubts.append(
            f"order {order} does not stand out: singular values {order} and {order + 1} are {sizes[order - 1]:.3g} and {sizes[order]:.3g}"
        )
    fast = [v for v in values if abs(v) >= 1.0]
    if fast:
        doubts.append(f"{len(fast)} of the poles are not stable")
    real = [v for v in values if v.real < 0 and abs(v.imag) < 1e-9]
    if real:
        doubts.append(
            "a pole lies on the negative real axis: half the sampling rate, which no mode of a machine has"
        )
    for text in doubts:
        doubtful(f"{who}: {text}")
    return tuple(doubts)


def root_mean_squares(s: RecordSamples, residuals: np.ndarray) -> dict[str, float]:
    """Return the root-mean-square of the residuals of each output."""
    return dict(zip(s.outputs, (s.y_size * np.sqrt(np.mean(residuals**2, axis=0))).tolist()))


def explained(model: LinearModel, s: RecordSamples) -> dict[str, float]:
    """Return the part of each output's variance that the model explains from the inputs, its state at the start fitted; all in units of standard deviations."""
    left = unexplained(model, s)
    spread = np.maximum(np.sum((s.y - s.y.mean(axis=0)) ** 2, axis=0), 1e-300)
    return dict(zip(s.outputs, (1 - np.sum(left**2, axis=0) / spread).tolist()))


def unexplained(model: LinearModel, s: RecordSamples) -> np.ndarray:
    """Return the outputs less those of the sampled model with these inputs, its state at the start fitted, (samples, outputs)."""
    values, right = np.linalg.eig(model.A)
    b, c = np.linalg.solve(right, model.B.astype(complex)), model.C @ right
    driven = s.u @ model.D.T
    free = np.empty((len(s), len(values)), dtype=complex)
    start = np.zeros(len(s))
    start[0] = 1.0
    for k, value in enumerate(values):
        x = lfilter([0, 1], [1, -value], s.u @ b[k])
        driven = driven + (x[:, None] * c[:, k]).real
        free[:, k] = lfilter([1], [1, -value], start)
    left = s.y - driven
    rows = (c[:, None, :] * free).reshape(-1, len(values))  # outputs first
    both = np.hstack([rows.real, -rows.imag])
    x0 = np.linalg.lstsq(both, left.T.ravel(), rcond=1e-12)[0]
    return np.asarray(left - (both @ x0).reshape(s.y.shape[1], -1).T)
