"""From continuous to sampled models (`c2d` in MATLAB): held inputs, exactly, or the trapezoidal rule."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.linalg

from articulus.control.plant import as_plant
from articulus.errors import InputError
from articulus.linear import LinearModel

TO_ROUNDING = 1e-9
"""Part of a period below which a delay counts as a whole number of periods."""


def sample(plant: Any, period: float, method: str = "hold", delay: float = 0.0) -> LinearModel:
    """Return a continuous model at multiples of a period.

    Parameters
    ----------
    plant : see `as_plant`
    period : float [s]
    method : str
        "hold": inputs hold for a period, exact for a plant behind a digital controller. "trapezoidal": the bilinear
        transformation s = 2/T (z - 1)/(z + 1), for controllers; a delay is refused.
    delay : float [s]
        Of all inputs; any number of periods and parts of one, exactly: held values become states ("u.<name> - k").
    """
    model = as_plant(plant, "sample")
    if model.period is not None:
        raise InputError(
            f"sample: found a model with the period {model.period:g} s; expected a continuous one"
        )
    if not 0.0 < period < np.inf or not 0.0 <= delay < np.inf:
        raise InputError(
            f"sample: found period {period:g} s, delay {delay:g} s; expected period > 0, delay >= 0"
        )
    if method == "hold":
        return _held(model, period, delay)
    if method != "trapezoidal":
        raise InputError(f"sample: found method '{method}'; expected 'hold' or 'trapezoidal'")
    if delay:
        raise InputError("sample: the trapezoidal rule takes no delay; expected method 'hold'")
    return trapezoidal(model, period)


def trapezoidal(model: LinearModel, period: float) -> LinearModel:
    """Return the sampled model by s = 2/T (z - 1)/(z + 1); states are scaled so that gramians and norms stay."""
    n = len(model.A)
    half = 0.5 * period
    left = np.eye(n) - half * model.A
    if n and 1.0 / np.linalg.cond(left) < 1e-14:
        raise InputError(f"sample: a pole at 2/T = {2 / period:g} rad/s; expected another period")
    solved = np.linalg.solve(left, np.hstack([np.eye(n) + half * model.A, model.B]))
    through = np.linalg.solve(left.T, model.C.T).T
    return dataclasses.replace(
        model,
        A=solved[:, :n],
        B=np.sqrt(period) * solved[:, n:],
        C=np.sqrt(period) * through,
        D=model.D + half * model.C @ solved[:, n:],
        period=float(period),
    )


def continuous(model: LinearModel) -> LinearModel:
    """Return the continuous model whose trapezoidal rule a sampled one is: z = (1 + s T/2)/(1 - s T/2)."""
    if model.period is None:
        return model
    n, T = len(model.A), model.period
    left = np.eye(n) + model.A
    if n and 1.0 / np.linalg.cond(left) < 1e-14:
        raise InputError("bilinear transformation: a pole at z = -1; expected none")
    solved = np.linalg.solve(left, np.hstack([model.A - np.eye(n), model.B]))
    through = np.linalg.solve(left.T, model.C.T).T
    return dataclasses.replace(
        model,
        A=2.0 / T * solved[:, :n],
        B=2.0 / np.sqrt(T) * solved[:, n:],
        C=2.0 / np.sqrt(T) * through,
        D=model.D - model.C @ solved[:, n:],
        period=None,
    )


def _held(model: LinearModel, period: float, delay: float) -> LinearModel:
    """Return the model between held inputs; u(t - delay) consists of at most two held values in a period."""
    whole = int(np.floor(delay / period + TO_ROUNDING))
    late = max(delay - whole * period, 0.0)
    late = 0.0 if late < TO_ROUNDING * period else late
    first, second = _transition(model, late), _transition(model, period - late)
    Phi = second[0] @ first[0]
    older, newer = (
        second[0] @ first[1],
        second[1],
    )  # effect of the value held until `late`, and of that after it
    n, m = len(Phi), len(model.inputs)
    steps = whole + (late > 0.0)
    if not steps:
        return dataclasses.replace(model, A=Phi, B=newer, period=float(period))
    # states: x, u one instant ago, ..., u `steps` instants ago
    A, B = np.zeros((n + steps * m,) * 2), np.zeros((n + steps * m, m))
    C = np.hstack([model.C, np.zeros((len(model.C), steps * m))])
    A[:n, :n] = Phi
    A[n + m :, n : n + (steps - 1) * m] = np.eye((steps - 1) * m)
    B[n : n + m] = np.eye(m)
    last = slice(n + (steps - 1) * m, n + steps * m)
    A[:n, last] = older if late else newer
    if late and steps > 1:
        A[:n, n + (steps - 2) * m : n + (steps - 1) * m] = newer
    elif late:
        B[:n] = newer
    C[:, last] = model.D
    states = model.states + tuple(f"{u} - {k + 1}" for k in range(steps) for u in model.inputs)
    return dataclasses.replace(
        model, A=A, B=B, C=C, D=np.zeros_like(model.D), states=states, period=float(period)
    )


def _transition(model: LinearModel, span: float) -> tuple[np.ndarray, np.ndarray]:
    """Return exp(A t) and its integral times B."""
    n, m = len(model.A), model.B.shape[1]
    both = scipy.linalg.expm(span * np.block([[model.A, model.B], [np.zeros((m, n + m))]]))
    return both[:n, :n], both[:n, n:]
