"""A linear model that changes with time: between its operating points, and what its states become.

x' = A(t) x with A linear in t between two operating points: on a step h from A0 to A1 the transition is exp(Omega), to fourth order
Omega = h (A0 + A1) / 2 + h^2 (A1 A0 - A0 A1) / 12. Steps are halved, and extrapolated, until two results agree.

Source: Blanes, Casas, Oteo & Ros 2009.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.linear.model import LinearModel

if TYPE_CHECKING:
    from articulus.linear.models import LinearModels

AGREE = 1e-10
"""Difference of two successive transitions over an interval, over the largest entry [-]."""
HALVINGS = 12
SAME = 1e-9
"""Part of the whole time by which a time may lie outside [-]."""


def times_of(models: LinearModels) -> np.ndarray:
    """Return the times of models along a trajectory, (points,), rising; raise InputError for others."""
    t = np.asarray(models.t, dtype=float)
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0).all():
        found = (
            "one time" if t.size < 2 else f"an array {t.shape}" if t.ndim > 1 else "times that do not rise"
        )
        raise InputError(
            f"linear models: found {found}; expected models along a trajectory, at two rising times or more: run.linearize(at=run.t)"
        )
    return t


def interpolate_model(models: LinearModels, t: float) -> LinearModel:
    """Return the model at a time [s]; matrices are linear in time between two operating points."""
    times = times_of(models)
    arrays = {name: _between(times, getattr(models, name), np.array([float(t)]))[0] for name in "ABCD"}
    values = {f.name: getattr(models, f.name) for f in dataclasses.fields(LinearModel)}
    return LinearModel(**values | arrays | {"t": float(t)})


def transition(models: LinearModels, t0: float, t1: float) -> np.ndarray:
    """Return Phi(t1, t0), (nx, nx): x(t1) = Phi x(t0) without inputs."""
    times = times_of(models)
    if models.period is not None:
        return _sample(models, models.period, t0, t1)
    low, high = min(t0, t1), max(t0, t1)
    knots = np.concatenate([[low], times[(times > low) & (times < high)], [high]])
    knots = knots if t1 >= t0 else knots[::-1]
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):  # many small matrices: threads only wait for each other
        return functools.reduce(lambda whole, part: part @ whole, _parts(times, models.A, knots))


def _parts(times: np.ndarray, A: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return the transition over each interval between knots, (intervals, nx, nx)."""
    left = np.arange(len(knots) - 1)
    plain = _steps(times, A, knots, left, 1)
    found = plain.copy()
    for halving in range(1, HALVINGS + 1):
        finer = _steps(times, A, knots, left, 2**halving)
        better = finer + (finer - plain) / 15  # the error is of fourth order and even: sixth order is left
        off = np.abs(better - found[left]).max(axis=(1, 2), initial=0.0)
        off_by = off > AGREE * np.abs(better).max(axis=(1, 2), initial=0.0)
        found[left] = better
        left, plain = left[off_by], finer[off_by]
        if not left.size:
            return found
    raise NumericalError(
        f"linear models: the transition from t = {knots[left[0]]:g} s on did not converge in {HALVINGS} halvings of the step; expected "
        "operating points closer together"
    )


def _sample(models: LinearModels, period: float, t0: float, t1: float) -> np.ndarray:
    count = round((t1 - t0) / period)
    if count < 0 or abs(t1 - t0 - count * period) > 1e-6 * period:
        raise InputError(
            f"linear models: found a transition over {t1 - t0:g} s; expected a multiple of the period {period:g} s, not negative"
        )
    out = np.eye(models.A.shape[-1])
    for A in _between(times_of(models), models.A, t0 + period * np.arange(count)):
        out = A @ out
    return out


def _steps(times: np.ndarray, A: np.ndarray, knots: np.ndarray, chosen: np.ndarray, count: int) -> np.ndarray:
    """Return the transition over chosen intervals between knots, (chosen, nx, nx), from `count` steps each."""
    from scipy.linalg import expm  # late: its import would slow down every first run

    h = ((knots[chosen + 1] - knots[chosen]) / count)[:, None, None]
    out = np.tile(np.eye(A.shape[-1]), (len(chosen), 1, 1))
    last = _between(times, A, knots[chosen])
    for k in range(1, count + 1):
        first, last = last, _between(times, A, knots[chosen] + k * h.ravel())
        out = expm(0.5 * h * (first + last) + h**2 / 12 * (last @ first - first @ last)) @ out
    return out


def _between(times: np.ndarray, values: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return matrices (points, ...) at times t, linear between the operating points."""
    slack = SAME * (times[-1] - times[0])
    if t.size and not (times[0] - slack <= t.min() and t.max() <= times[-1] + slack):
        raise InputError(
            f"linear models: found the time {t.min() if t.min() < times[0] else t.max():g} s; expected one from {times[0]:g} to {times[-1]:g} s"
        )
    k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    part = ((t - times[k]) / (times[k + 1] - times[k]))[:, None, None]
    return values[k] * (1 - part) + values[k + 1] * part
