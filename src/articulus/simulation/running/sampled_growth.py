"""Whether sampled components and the mechanism are stable together, from the linear model of a whole period."""

from __future__ import annotations

import math

import numpy as np

from articulus.errors import ArticulusError
from articulus.simulation.loop.functions import System, native
from articulus.simulation.loop.linear_model import linear_models, require_derivatives
from articulus.simulation.loop.outputs import Outputs
from articulus.simulation.running.tolerance import state_sizes

FASTER = 3.0
"""A growth that comes from sampling is at least so many times faster than any with all held values as they are [-]."""
LEAST_GROWTH = 1e3
"""Growth of a motion over a run from which it explains what went wrong [-]."""
LARGEST = 300
"""States beyond which the model of a period, a matrix exponential, takes too long for a message."""


def sampled_growth(
    system: System, c: np.ndarray, p: np.ndarray, t: float, h: float, duration: float
) -> str | None:
    """Return what a user should know about sampled components that make a loop unstable at a state; None where they do not.

    Parameters
    ----------
    c : array, (nc,)
        Continuous states; held values are what the components make of them.
    p : array
        Parameters.
    duration : float [s]
        How long the run goes on from there.
    """
    if not system.updates or len(c) > LARGEST:
        return None
    d = system.d0
    for update in system.updates:
        d = np.ravel(native(update.function)(c, d, p, np.zeros(system.nw), t, h))
    try:
        require_derivatives(system, None)
        signals = {name: s for name, s in Outputs(system, ("q", "v")).blank().items() if name in ("q", "v")}
        model = linear_models(system, h, signals, np.hstack([c, d])[None], p[None], t, ())[0]
    except ArticulusError:  # no derivatives: nothing can be said
        return None
    if not np.isfinite(model.A).all() or model.period is None:
        return None
    factor = float(np.abs(np.linalg.eigvals(model.A)).max(initial=0.0))
    rate = math.log(max(factor, 1.0)) / model.period
    held = np.linalg.eigvals(jacobian(system, c, d, p, t, h)).real.max(initial=0.0)
    if rate * duration < math.log(LEAST_GROWTH) or rate < FASTER * held:
        return None
    return (
        f"sampled components and mechanism are not stable together: linearized about the start, a period of {model.period:.3g} s "
        f"multiplies a motion by {factor:.3g}. Expected a shorter period, smaller gains, or a controller designed for that period, "
        "as by control.lqrd or for a plant from control.sample"
    )


def jacobian(system: System, c: np.ndarray, d: np.ndarray, p: np.ndarray, t: float, h: float) -> np.ndarray:
    """Return the derivatives of the rates of the continuous states at a state, by differences; zeros where they are not finite."""
    rate = native(system.rhs)
    step = 1e-6 * (state_sizes(system) + np.abs(c))
    ends = [rate(c + s * np.diag(step), d, p, np.zeros(system.nw), t, h) for s in (1, -1)]
    J: np.ndarray = ((ends[0] - ends[1]) / (2 * step[:, None])).T
    return J if np.isfinite(J).all() else np.zeros_like(J)
