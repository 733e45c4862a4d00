"""The linear model of a whole loop about a state of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from articulus.errors import InputError, UnsupportedOperation
from articulus.linear import LinearModel
from articulus.loop.derivatives import joint_freedoms, loop_derivatives
from articulus.loop.multirate import over_period, remembered
from articulus.loop.outputs import Outputs
from articulus.loop.steps import whole_steps
from articulus.results.signal import Signal, force_signal

if TYPE_CHECKING:
    from articulus.results.run import Run
    from articulus.running.specification import Setup

NO_OUTPUTS = ("q", "v", "energy", "constraint")
"""Signals that need no asking, and those without derivatives."""


@dataclass(frozen=True)
class Ports:
    """Names and units of what goes into the linear model of a run's loop and comes out of it."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]


def ports(run: Run) -> Ports:
    """Return inputs, small forces on the freedoms of joints, and outputs, entries of signals; nothing is derived for it.

    Raises
    ------
    UnsupportedOperation
        There is no linear model: the run is not known well enough, or has a Python controller.
    """
    setup = run.require_made("linear").setup
    _require_derivatives(setup)
    return _ports(setup, model_signals(run.signals), {"tau": 0})


def _require_derivatives(setup: Setup) -> None:
    """Refuse a loop that has no linear model."""
    if setup.outside is not None:
        raise UnsupportedOperation(
            f"linear: the Python controller '{setup.outside.name}' has no derivatives; expected a component or a "
            "casadi.Function"
        )
    form = setup.system.form
    if setup.system.closing is not None and form.own:
        raise UnsupportedOperation(
            f"linear: the form '{form.name}' has states of its own besides q and v; expected a run with another form of loops"
        )


def _ports(setup: Setup, signals: Mapping[str, Signal], inputs: Mapping[str, int]) -> Ports:
    into = [_entries(setup, name, size) for name, size in inputs.items()]
    return Ports(
        inputs=tuple(name for names, _ in into for name in names),
        outputs=tuple(name for s in signals.values() for name in s.columns),
        input_units=tuple(unit for _, units in into for unit in units),
        output_units=tuple(unit for s in signals.values() for unit in s.units),
    )


def _entries(setup: Setup, name: str, size: int) -> tuple[Sequence[str], Sequence[str]]:
    """Return names and units of the entries of an input."""
    if name == "tau":
        d = setup.mechanism.description
        forces, pushed = force_signal(d, np.zeros((0, d.nv))), joint_freedoms(d)
        return [forces.columns[k] for k in pushed], [forces.units[k] for k in pushed]
    if name == "w":
        return [f"w.{k}" for k in range(size)], ["-"] * size
    if name.startswith("p."):
        return [name], ["-"]
    signal = Outputs(setup.system, (name,)).blank()[name]
    return signal.columns, signal.units


def model_signals(signals: Mapping[str, Signal]) -> dict[str, Signal]:
    """Return the signals that a linear model has as outputs, q and v first."""
    return {"q": signals["q"], "v": signals["v"]} | {n: s for n, s in signals.items() if n not in NO_OUTPUTS}


def linear_loop(run: Run, at: float | None = None, index: int = 0) -> LinearModel:
    """Return the linear model of a run's loop about its state at a time; see `Run.linear`."""
    made, signals = run.require_made("linear"), model_signals(run.signals)
    _require_derivatives(made.setup)
    row = _row(run, at, index)
    return linear_model(made.setup, signals, made.samples[index, row], made.p[index], float(run.t[row]))


def linear_model(
    setup: Setup,
    signals: Mapping[str, Signal],
    x: np.ndarray,
    p: np.ndarray,
    t: float,
    inputs: tuple[str, ...] = ("tau",),
    opened: tuple[str, ...] = (),
) -> LinearModel:
    """Return the linear model about a state x = (c, d) with parameters p at time t [s]; outputs are entries of signals."""
    _require_derivatives(setup)
    system, step = setup.system, setup.settings.step
    names = tuple(name for name in signals if name not in ("q", "v"))
    derivatives = loop_derivatives(system, names, inputs, opened)
    found_ports = _ports(setup, signals, derivatives.sizes)
    found = derivatives.about(x, p, t, step)
    state, output, states, period = found.rate, found.outputs, found.states, None
    if found.updates:
        periods = [whole_steps(f"component '{u.name}', period", u.period, step) for u in system.updates]
        period = math.lcm(*periods) * step
        state, first = over_period(found.rate, found.updates, periods, step)
        output = output @ first
        n = len(states)
        known = np.isfinite(output).all(axis=1)
        kept = remembered(state[:n, :n], output[known, :n], len(found.rate))
        columns = [*kept, *range(n, len(first))]
        state, output, states = state[kept][:, columns], output[:, columns], tuple(states[k] for k in kept)
    n = len(states)
    parts = (state[:, :n], state[:, n:], output[:, :n], output[:, n:])
    return LinearModel(*parts, states, **vars(found_ports), t=t, period=period)


def _row(run: Run, at: float | None, index: int) -> int:
    """Return the last sample not after a time."""
    if not 0 <= index < (run.batch or 1):
        raise InputError(f"linear: found run {index}; expected 0 to {(run.batch or 1) - 1}")
    q = run.q if run.batch is None else run.q[index]
    good = np.flatnonzero(np.isfinite(q).all(axis=-1))
    wanted = run.t[-1] if at is None else at
    reached = good[run.t[good] <= wanted + 1e-9 * abs(wanted)]
    if not reached.size:
        raise InputError(
            f"linear: found no sample up to t = {wanted:g} s; expected one from {run.t[0]:g} s on"
        )
    return int(reached[-1])
