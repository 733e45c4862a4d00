"""The linear model of a whole loop about a state of a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from articulus.errors import InputError, UnsupportedOperation
from articulus.simulate.loop_derivatives import loop_derivatives
from articulus.simulate.loop_model import LoopModel
from articulus.simulate.multirate import over_period, remembered
from articulus.simulate.signal import force_signal
from articulus.simulate.steps import whole_steps

if TYPE_CHECKING:
    from articulus.simulate.run import Run

NO_OUTPUTS = ("q", "v", "energy", "constraint")
"""Signals that need no asking, and those without derivatives."""


def linear_loop(run: Run, at: float | None = None, index: int = 0) -> LoopModel:
    """Return the linear model of a run's loop about its state at a time; see `Run.linear`.

    Inputs are small forces on the freedoms of the joints; outputs are the entries of all signals of the run but energies
    and residuals.
    """
    made = run.require_made("linear")
    setup, system = made.setup, made.setup.system
    if setup.outside is not None:
        raise UnsupportedOperation(
            f"linear: the Python controller '{setup.outside.name}' has no derivatives; expected a component or a "
            "casadi.Function"
        )
    row = _row(run, at, index)
    t, names = float(run.t[row]), tuple(name for name in run.signals if name not in NO_OUTPUTS)
    derivatives = loop_derivatives(system, names)
    found = derivatives.about(made.samples[index, row], made.p[index], t, setup.step)
    forces = force_signal(system.description, np.zeros((0, system.description.nv)))
    signals = [run.signals[name] for name in ("q", "v", *names)]
    nz, nx, period, states = len(found.rate), len(found.states), None, found.states
    state, output = found.rate, found.outputs
    if found.updates:
        periods = [whole_steps(f"component '{u.name}', period", u.period, setup.step) for u in system.updates]
        period = math.lcm(*periods) * setup.step
        state, first = over_period(found.rate, found.updates, periods, setup.step)
        output = output @ first
        kept = remembered(state[:nx, :nx], output[:, :nx], nz)
        state, output = (
            state[kept][:, [*kept, *range(nx, state.shape[1])]],
            output[:, [*kept, *range(nx, output.shape[1])]],
        )
        states, nx = tuple(states[k] for k in kept), len(kept)
    return LoopModel(
        state[:, :nx],
        state[:, nx:],
        output[:, :nx],
        output[:, nx:],
        states,
        inputs=tuple(forces.columns[k] for k in derivatives.pushed),
        outputs=tuple(name for s in signals for name in s.columns),
        input_units=tuple(forces.units[k] for k in derivatives.pushed),
        output_units=tuple(unit for s in signals for unit in s.units),
        t=t,
        period=period,
    )


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
