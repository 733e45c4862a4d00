"""The linear model of a whole loop about a state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from articulus.errors import UnsupportedOperation
from articulus.linear import LinearModel, LinearModels, Ports
from articulus.loop.derivatives import joint_freedoms, loop_derivatives
from articulus.loop.functions import System
from articulus.loop.multirate import over_period, remembered
from articulus.loop.outputs import Outputs
from articulus.loop.python_controller import PythonController
from articulus.loop.steps import whole_steps
from articulus.results.signal import Signal, force_signal

NO_OUTPUTS = ("q", "v", "energy", "constraint")
"""Signals that need no asking, and those without derivatives."""


def require_derivatives(system: System, outside: PythonController | None) -> None:
    """Raise UnsupportedOperation for a loop that has no linear model."""
    if outside is not None:
        raise UnsupportedOperation(
            f"linear: the Python controller '{outside.name}' has no derivatives; expected a component or a casadi.Function"
        )
    if system.closing is not None and system.form.own:
        raise UnsupportedOperation(
            f"linear: the form '{system.form.name}' has states of its own besides q and v; expected a run with another form "
            "of loops"
        )


def ports(system: System, signals: Mapping[str, Signal], inputs: Mapping[str, int]) -> Ports:
    """Return names and units of inputs, given with their sizes, and of outputs, the entries of signals."""
    into = [_entries(system, name, size) for name, size in inputs.items()]
    return Ports(
        inputs=tuple(name for names, _ in into for name in names),
        outputs=tuple(name for s in signals.values() for name in s.columns),
        input_units=tuple(unit for _, units in into for unit in units),
        output_units=tuple(unit for s in signals.values() for unit in s.units),
    )


def _entries(system: System, name: str, size: int) -> tuple[Sequence[str], Sequence[str]]:
    """Return names and units of the entries of an input."""
    if name == "tau":
        d = system.description
        forces, pushed = force_signal(d, np.zeros((0, d.nv))), joint_freedoms(d)
        return [forces.columns[k] for k in pushed], [forces.units[k] for k in pushed]
    if name == "w":
        return [f"w.{k}" for k in range(size)], ["-"] * size
    if name.startswith("p."):
        return [name], ["-"]
    signal = Outputs(system, (name,)).blank()[name]
    return signal.columns, signal.units


def model_signals(signals: Mapping[str, Signal]) -> dict[str, Signal]:
    """Return the signals that a linear model has as outputs, q and v first."""
    return {"q": signals["q"], "v": signals["v"]} | {n: s for n, s in signals.items() if n not in NO_OUTPUTS}


def linear_model(
    system: System,
    step: float,
    signals: Mapping[str, Signal],
    x: np.ndarray,
    p: np.ndarray,
    t: float,
    inputs: tuple[str, ...] = ("tau",),
    opened: tuple[str, ...] = (),
) -> LinearModel:
    """Return the linear model about a state x = (c, d) with parameters p at time t [s]; outputs are entries of signals.

    Sampling periods are whole numbers of `step` [s].
    """
    return linear_models(system, step, signals, x[None], p[None], t, inputs, opened)[0]


def linear_models(
    system: System,
    step: float,
    signals: Mapping[str, Signal],
    x: np.ndarray,
    p: np.ndarray,
    t: float | np.ndarray,
    inputs: tuple[str, ...] = ("tau",),
    opened: tuple[str, ...] = (),
) -> LinearModels:
    """Return the linear models about states x (count, nc + nd) with parameters p (count, np) at times t, one or (count,), at least one.

    Raises
    ------
    InputError
        The coordinates that are free under the constraints at the first state are not free at another.
    """
    names = tuple(name for name in signals if name not in ("q", "v"))
    derivatives = loop_derivatives(system, names, inputs, opened)
    found_ports = ports(system, signals, derivatives.sizes)
    found = derivatives.about(x, p, np.broadcast_to(t, len(x)).astype(float), step)
    states, period = found[0].states, None
    state, output = (np.stack([getattr(each, name) for each in found]) for name in ("rate", "outputs"))
    if found[0].updates:
        from threadpoolctl import threadpool_limits  # late: its import would slow down every first run

        periods = [whole_steps(f"component '{u.name}', period", u.period, step) for u in system.updates]
        period = math.lcm(*periods) * step
        with threadpool_limits(1, user_api="blas"):  # many small matrices: threads only wait for each other
            over = [over_period(each.rate, each.updates, periods, step) for each in found]
        state, output = np.stack([a for a, _ in over]), output @ np.stack([first for _, first in over])
        n, nz = len(states), len(found[0].rate)
        finite = np.isfinite(output).all(axis=2)
        kept = sorted(
            {k for A, C, known in zip(state, output, finite) for k in remembered(A[:n, :n], C[known, :n], nz)}
        )
        columns = [*kept, *range(n, state.shape[2])]
        state, output, states = (
            state[:, kept][:, :, columns],
            output[..., columns],
            tuple(states[k] for k in kept),
        )
    n = len(states)
    parts = (state[..., :n], state[..., n:], output[..., :n], output[..., n:])
    return LinearModels(*parts, states, **vars(found_ports), t=t, period=period)
