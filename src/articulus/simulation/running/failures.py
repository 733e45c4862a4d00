"""Why a run could not go on, from its last good state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from articulus.simulation.loop.functions import System, native
from articulus.simulation.results.status import Cause, Failure
from articulus.simulation.running.sampled_growth import jacobian, sampled_growth

if TYPE_CHECKING:
    from articulus.simulation.running.runner import Runner

DIVERGED = 1e6
"""Growth of a state element, against its size at the start, that counts as divergence."""


def diagnose(runner: Runner, row: int) -> Failure:
    """Return the failure of one run, with the likely cause."""
    system, engine = runner.engine.system, runner.engine
    x = runner.x[row].copy()
    k = int(runner.failed[row])
    t = runner.t0 + k * runner.h
    c, d = x[: system.nc], x[system.nc : system.nc + system.nd]
    code, reason = engine.cause(row) or _from_state(runner, row, t, c, d)
    return Failure(row, t, code, reason, c[system.places["q"]], c[system.places["v"]], x)


def indefinite(runner: Runner, row: int, sample: int, state: np.ndarray) -> Failure:
    """Return the failure of a run whose mass matrix is not positive definite at a sample, with its state (logged,)."""
    places, t = runner.engine.system.places, float(runner.times[sample])
    reason = (
        "the mass matrix is not positive definite. Likely a joint turns a flexible body about an axis without inertia (give "
        "`rotary_inertia`), or its numbers belong to no distribution of mass (a moment of inertia larger than the sum of the "
        "other two)"
    )
    x = np.zeros_like(runner.x[row])
    x[: state.size] = state
    return Failure(row, t, Cause.SINGULAR, reason, state[places["q"]], state[places["v"]], x)


def _from_state(runner: Runner, row: int, t: float, c: np.ndarray, d: np.ndarray) -> tuple[Cause, str]:
    system = runner.engine.system
    p = runner.p[row]
    rate = native(system.rhs)
    w = np.zeros(system.nw)
    slope = np.ravel(rate(c, d, p, w, t, runner.h))
    names = [f"{name}[{i}]" for name, at in system.places.items() for i in range(at.stop - at.start)]
    start = runner.c0[row]
    for name, at in system.held_places.items():
        if not np.isfinite(d[at]).all():
            source = "the Python controller" if name == "outside" else f"the sampled component's {name}"
            return Cause.COMPONENT, f"{source} gave {d[at]}; expected finite numbers"
    if not np.isfinite(slope).all():
        bad = names[int(np.flatnonzero(~np.isfinite(slope))[0])]
        if system.description.constraints:
            return Cause.SINGULAR, (
                f"the rate of {bad} is not finite. A singular position of the loops, or a division by zero in a component"
            )
        return Cause.NOT_FINITE, (
            f"the rate of {bad} is not finite. A division by zero or a root of a negative number in a component is likely"
        )
    growth = np.abs(c) / (1 + np.abs(start))
    rate_at_start = fastest(system, start, system.d0, p, runner.t0, runner.h)
    if growth.max() > DIVERGED or rate_at_start * runner.h > 2:
        worst = names[int(growth.argmax())]
        grew = f"{worst} grew to {np.abs(c)[growth.argmax()]:.3g}"
        sampled = sampled_growth(system, start, p, runner.t0, runner.h, t - runner.t0)
        if sampled is not None:
            return Cause.DIVERGED, f"{grew}: {sampled}"
        return Cause.DIVERGED, (
            f"{grew}. The fastest motion at the start has a time constant of "
            f"{1 / rate_at_start if rate_at_start else float('inf'):.3g} s, the step is {runner.h:.3g} s: a smaller step or an "
            "implicit method (rosenbrock, cvodes) is likely to help; so is a stable controller"
        )
    return (
        Cause.NOT_FINITE,
        "the next step is not finite although the last state is; a smaller step may tell more",
    )


def fastest(system: System, c: np.ndarray, d: np.ndarray, p: np.ndarray, t: float, h: float) -> float:
    """Return the largest size of an eigenvalue of the equations at a state [1/s], by differences."""
    return float(np.abs(np.linalg.eigvals(jacobian(system, c, d, p, t, h))).max(initial=0.0))
