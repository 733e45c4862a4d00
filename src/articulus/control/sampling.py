"""From continuous to sampled models and back (`c2d`, `d2c` in MATLAB).

"hold": inputs hold for a period. "ramp": they are linear in between (first-order hold). Both are exact, from one matrix exponential, and
from one logarithm on the way back. "trapezoidal": s = a (z - 1)/(z + 1) with a = 2/T, or w / tan(w T / 2) so that the response at one
frequency w stays. "matched": poles and zeros by z = exp(s T), zeros at infinity but one at z = -1, and the gain at rest.

Source: Franklin, Powell & Workman 1998, chapter 6.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from articulus.control.plant import as_plant
from articulus.control.transfer import proper_fraction, realize
from articulus.errors import InputError, NumericalError
from articulus.linear import LinearModel

TO_ROUNDING = 1e-9
"""Part of a period below which a delay counts as a whole number of periods."""


METHODS = ("hold", "ramp", "trapezoidal", "matched")
MATLAB = {
    "zoh": "hold",
    "foh": "ramp",
    "tustin": "trapezoidal",
    "bilinear": "trapezoidal",
    "prewarp": "trapezoidal",
}


def sample(
    plant: Any, period: float, method: str = "hold", delay: float = 0.0, *, frequency: float | None = None
) -> LinearModel:
    """Return a continuous model at multiples of a period.

    Parameters
    ----------
    plant : see `as_plant`
    period : float [s]
    method : str
        "hold": inputs hold for a period, exact for a plant behind a digital controller. "ramp": inputs are linear between the instants,
        for measured or smooth ones. "trapezoidal": the bilinear transformation s = 2/T (z - 1)/(z + 1), for controllers. "matched":
        poles and zeros of one input and one output by z = exp(s T). Only "hold" takes a delay.
    delay : float [s]
        Delay of all inputs; any number of periods and parts of one, exactly: held values become states ("u.<name> - k").
    frequency : float [rad/s]
        At which the trapezoidal rule keeps the response (`prewarp`); at rest if not given.
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
    _require_method("sample", method, frequency, period)
    if method == "hold":
        return _hold_inputs(model, period, delay)
    if delay:
        raise InputError(f"sample: the method '{method}' takes no delay; expected method 'hold'")
    if method == "ramp":
        return _ramp(model, period)
    if method == "matched":
        return _match_poles_and_zeros(model, period)
    return _prewarp(trapezoidal, model, period, frequency)


def unsample(plant: Any, method: str = "hold", *, frequency: float | None = None) -> LinearModel:
    """Return the continuous model of a sampled one (`d2c` in MATLAB): `sample` of it by the same method is the one given.

    Parameters
    ----------
    plant : see `as_plant`
        Sampled. Of "hold" and "ramp" there is a real logarithm: no pole at zero (a delay) or on the negative real axis.
    method, frequency : see `sample`
    """
    model = as_plant(plant, "unsample")
    if model.period is None:
        raise InputError("unsample: found a continuous model; expected one with a period")
    _require_method("unsample", method, frequency, model.period)
    if method == "trapezoidal":
        return _prewarp(lambda held, _: continuous(held), model, model.period, frequency)
    if method == "matched":
        raise InputError("unsample: 'matched' is for one way only; expected 'hold', 'ramp' or 'trapezoidal'")
    return _from_held(model) if method == "hold" else _from_ramp(model)


def _require_method(who: str, method: str, frequency: float | None, period: float) -> None:
    if method not in METHODS:
        hint = f"; MATLAB's '{method}' is '{MATLAB[method]}' here" if method in MATLAB else ""
        raise InputError(f"{who}: found method '{method}'; expected {', '.join(map(repr, METHODS))}{hint}")
    if frequency is not None and (method != "trapezoidal" or not 0.0 < frequency * period < np.pi):
        raise InputError(
            f"{who}: found the frequency {frequency!r} rad/s with method '{method}'; expected one below {np.pi / period:g} rad/s, half of "
            "the sampling rate, with method 'trapezoidal'"
        )


def _prewarp(
    rule: Callable[[LinearModel, float], LinearModel],
    model: LinearModel,
    period: float,
    frequency: float | None,
) -> LinearModel:
    """Return the trapezoidal rule, either way, with another period that keeps the response at a frequency."""
    if frequency is None:
        return rule(model, period)
    other = 2.0 * np.tan(0.5 * frequency * period) / frequency
    given = model if model.period is None else dataclasses.replace(model, period=other)
    found = rule(given, other)
    return dataclasses.replace(found, period=float(period) if model.period is None else None)


def _ramps(A: np.ndarray, B: np.ndarray, T: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return exp(A T), and what inputs of unit height and of unit rise over a period add to the state."""
    n, m = B.shape
    big = np.zeros((n + 2 * m,) * 2)
    big[:n, :n], big[:n, n : n + m], big[n : n + m, n + m :] = A * T, B * T, np.eye(m)
    found = scipy.linalg.expm(big)[:n]
    return found[:, :n], found[:, n : n + m], found[:, n + m :]


def _ramp(model: LinearModel, period: float) -> LinearModel:
    """Return the model between inputs that are linear; its states are x less what the present input adds (Franklin 6.3.2)."""
    Phi, height, rise = _ramps(model.A, model.B, period)
    B = height - rise + Phi @ rise
    return dataclasses.replace(model, A=Phi, B=B, D=model.D + model.C @ rise, period=float(period))


def _match_poles_and_zeros(model: LinearModel, period: float) -> LinearModel:
    """Return poles and zeros mapped by exp(s T), with the gain at rest or, of a model without one, at a low frequency."""
    if model.D.shape != (1, 1):
        raise InputError(
            f"sample: 'matched' of {len(model.inputs)} inputs and {len(model.outputs)} outputs; expected one each: model.between(...)"
        )
    from articulus.control.analysis.zeros import tzero  # late: they rest on this module
    from articulus.control.reduction.minimal import minreal

    found = minreal(model)
    poles, zeros = np.linalg.eigvals(found.A), np.asarray(tzero(found).transmission)
    at_infinity = max(len(poles) - len(zeros) - 1, 0)
    zeros = np.append(np.exp(zeros * period), -np.ones(at_infinity))
    num, den = np.real(np.poly(zeros)), np.real(np.poly(np.exp(poles * period)))
    sizes = np.abs(np.concatenate([poles, np.asarray(tzero(found).transmission)]))
    slowest = sizes[sizes > 1e-9 * sizes.max(initial=0.0)].min(initial=1.0 / period)
    s = 0.0 if (sizes > 1e-9 * sizes.max(initial=0.0)).all() else 1e-3 * slowest
    z = np.exp(s * period)
    wanted = found.C @ np.linalg.solve(s * np.eye(len(poles)) - found.A, found.B) + found.D
    gain = float(wanted[0, 0]) * np.polyval(den, z) / np.polyval(num, z)
    A, B, C, D = realize([[proper_fraction(gain * num, den, "sample")]])
    states = tuple(f"m.{k}" for k in range(len(A)))
    return dataclasses.replace(model, A=A, B=B, C=C, D=D, states=states, period=float(period))


def _logarithm(M: np.ndarray, who: str) -> np.ndarray:
    """Return the real logarithm of a matrix."""
    values = np.linalg.eigvals(M)
    size = np.abs(values).max(initial=1.0)
    bad = values[(np.abs(values.imag) <= 1e-12 * size) & (values.real <= 1e-14 * size)]
    if len(bad):
        raise InputError(
            f"{who}: found a pole at z = {bad[0].real:.6g}; expected none at zero (a delay) or on the negative real axis, which no continuous "
            "model of this order has; the trapezoidal rule has no such bound"
        )
    found = np.asarray(scipy.linalg.logm(M))
    off = np.abs(scipy.linalg.expm(found) - M).max(initial=0.0)
    if not off <= 1e-8 * np.abs(M).max(initial=1.0):
        raise NumericalError(
            f"{who}: the logarithm of the transition is off by {off:.2g}; poles are too near to zero"
        )
    return found.real


def _from_held(model: LinearModel) -> LinearModel:
    n, m = model.B.shape
    both = np.block([[model.A, model.B], [np.zeros((m, n)), np.eye(m)]])
    found = _logarithm(both, "unsample") / model.period
    return dataclasses.replace(model, A=found[:n, :n], B=found[:n, n:], period=None)


def _from_ramp(model: LinearModel) -> LinearModel:
    assert model.period is not None
    A = _logarithm(model.A, "unsample") / model.period
    Phi, height, rise = _ramps(A, np.eye(len(A)), model.period)
    B = np.linalg.solve(height - rise + Phi @ rise, model.B)
    return dataclasses.replace(model, A=A, B=B, D=model.D - model.C @ rise @ B, period=None)


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


def _hold_inputs(model: LinearModel, period: float, delay: float) -> LinearModel:
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
