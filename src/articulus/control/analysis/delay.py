"""Delays, exact in frequency responses; as states of sampled models; by Pade approximants only where asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import Any

import numpy as np

from articulus.control.connect import series, side_by_side
from articulus.control.plant import as_plant, of_matrices, places
from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.linear.response import Transfer

Delays = float | Mapping[str, float] | Sequence[float]
"""Of all signals, of some by name, or of each [s]."""


@dataclass(frozen=True, eq=False)
class DelayedModel:
    """Continuous models one after another, each behind delays of its inputs: H_k exp(-s T_k) ... H_1 exp(-s T_1).

    Made by `with_delays`; `open_loop` and `margins` take it. Its frequency response is exact.

    Parameters
    ----------
    parts : tuple of (array (m,) [s], LinearModel)
        Delays of the inputs and the model behind them, in the order in which signals pass.
    """

    parts: tuple[tuple[np.ndarray, LinearModel], ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return self.parts[0][1].inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return self.parts[-1][1].outputs

    @property
    def period(self) -> None:
        """None: the model is continuous."""
        return None

    @property
    def longest(self) -> float:
        """Longest delay from an input to an output [s]."""
        return float(sum(delays.max(initial=0.0) for delays, _ in self.parts))

    @property
    def without_delay(self) -> LinearModel:
        """The same without its delays."""
        model = self.parts[0][1]
        for _, part in self.parts[1:]:
            model = series(model, part)
        return model

    def at(self, s: Any) -> np.ndarray:
        """Return the transfer function at complex s, (n, ny, nu); infinite at a pole."""
        s = np.atleast_1d(np.asarray(s, dtype=complex))
        total = np.broadcast_to(np.eye(len(self.inputs)), (len(s),) + (len(self.inputs),) * 2)
        with np.errstate(invalid="ignore"):
            for (delays, _), part in zip(self.parts, self._transfers):
                total = part(s) * np.exp(-s[:, None, None] * delays) @ total
        total[~np.isfinite(total).all(axis=(1, 2))] = np.inf
        return total

    @cached_property
    def _transfers(self) -> tuple[Transfer, ...]:
        return tuple(Transfer(model.A, model.B, model.C, model.D) for _, model in self.parts)

    def response(self, omega: Any) -> np.ndarray:
        """Return the frequency response at omega [rad/s], (n, ny, nu); exact."""
        return self.at(1j * np.atleast_1d(np.asarray(omega, dtype=float)))

    def pade(self, order: int) -> LinearModel:
        """Return it with every delay as a Pade approximant of an order; good up to about `order` / delay [rad/s]."""
        model: LinearModel | None = None
        for delays, part in self.parts:
            lag = side_by_side(*(_pade(T, order, name) for T, name in zip(delays, part.inputs)))
            here = series(lag, part)
            model = here if model is None else series(model, here)
        assert model is not None
        return model


def with_delays(plant: Any, inputs: Delays = 0.0, outputs: Delays = 0.0) -> DelayedModel | LinearModel:
    """Return a plant with delays of inputs and outputs (`InputDelay`, `OutputDelay` in MATLAB).

    Parameters
    ----------
    plant : see `as_plant`
        Of a sampled plant, delays are whole numbers of periods, become states, and the result is a `LinearModel`; for other
        delays sample the continuous plant by `sample(plant, period, delay=...)`.
    inputs, outputs : float, dict of name to float, or sequence [s]
        Of all, of some by name (also the beginning of a name), or of each.
    """
    model = as_plant(plant, "delayed")
    before, after = _each(inputs, model.inputs, "input"), _each(outputs, model.outputs, "output")
    if model.period is not None:
        return _append_delay_states(model, before, after, model.period)
    parts = [(before, model)]
    if after.any():
        parts.append((after, _through(model)))
    return DelayedModel(tuple(parts))


def _through(model: LinearModel) -> LinearModel:
    n = len(model.outputs)
    unit = of_matrices(np.zeros((0, 0)), np.zeros((0, n)), np.zeros((n, 0)), np.eye(n))
    return dataclasses.replace(
        unit,
        inputs=model.outputs,
        outputs=model.outputs,
        input_units=model.output_units,
        output_units=model.output_units,
    )


def _each(delays: Delays, names: tuple[str, ...], kind: str) -> np.ndarray:
    found = np.zeros(len(names))
    if isinstance(delays, Mapping):
        for name, value in delays.items():
            found[places(names, name, kind, "delayed")] = value
    else:
        given = np.asarray(delays, dtype=float)
        if given.ndim > 1 or (given.ndim == 1 and len(given) != len(names)):
            raise InputError(f"delayed: found {given.shape} delays of {kind}s; expected one or {len(names)}")
        found += given
    if not (np.isfinite(found).all() and (found >= 0).all()):
        raise InputError(f"delayed: found delays {found} s of {kind}s; expected finite ones, not negative")
    return found


def _append_delay_states(
    model: LinearModel, before: np.ndarray, after: np.ndarray, period: float
) -> LinearModel:
    """Return a sampled model with delays of whole periods as states."""
    steps = [np.round(x / period).astype(int) for x in (before, after)]
    for x, k in zip((before, after), steps):
        if np.abs(x / period - k).max(initial=0.0) > 1e-9:
            raise InputError(
                f"delayed: found delays {x} s of a plant with the period {period:g} s; expected whole periods; sample the "
                "continuous plant by sample(plant, period, delay=...)"
            )
    lines = [_chain(k, period, name) for k, name in zip(steps[0], model.inputs)]
    ends = [_chain(k, period, name) for k, name in zip(steps[1], model.outputs)]
    found = series(series(side_by_side(*lines), model), side_by_side(*ends))
    return dataclasses.replace(model, A=found.A, B=found.B, C=found.C, D=found.D, states=found.states)


def _chain(steps: int, period: float, name: str) -> LinearModel:
    A, B, C = np.eye(steps, k=-1), np.eye(steps, 1), np.eye(steps)[-1:] if steps else np.zeros((1, 0))
    states = [f"{name} - {k + 1}" for k in range(steps)]
    return of_matrices(
        A.reshape(steps, steps), B, C, [[0.0 if steps else 1.0]], period, states=states, inputs=[name]
    )


def _pade(delay: float, order: int, name: str) -> LinearModel:
    """Return the diagonal Pade approximant of exp(-s delay), an all-pass."""
    if order < 1:
        raise InputError(f"pade: found order {order}; expected at least 1")
    if delay == 0.0:
        return of_matrices(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[1.0]], inputs=[name])
    n = order
    c = np.array(
        [
            factorial(2 * n - k) * factorial(n) / (factorial(2 * n) * factorial(k) * factorial(n - k))
            for k in range(n + 1)
        ]
    )
    # in s delay, highest power first, the first coefficient one; then s is scaled
    bottom = c[::-1] / c[-1]
    top = bottom * (-1.0) ** np.arange(n, -1, -1)
    A = np.vstack([-bottom[1:], np.eye(n)[:-1]]) / delay
    B = np.eye(n, 1) / delay
    C = (top - top[0] * bottom)[None, 1:]
    return of_matrices(A, B, C, [[top[0]]], states=[f"{name} lag {k}" for k in range(n)], inputs=[name])
