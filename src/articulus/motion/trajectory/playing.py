"""Where the planned inputs alone lead, by an adaptive integrator and not on the mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import solve_ivp

from articulus.motion.trajectory.collocation import Layout
from articulus.motion.trajectory.problem import Phase
from articulus.motion.trajectory.refine import determined_places, residual_and_slope, state_sizes

if TYPE_CHECKING:
    from articulus.motion.trajectory.schemes.scheme import Scheme

TOLERANCE = 1e-4
"""Of the integrator, over the sizes of the states; it is implicit, so that it steps over fast vibrations that are small."""
LEAST = 1e-2
"""Least extent of a motion, over the size of the state, that a miss is compared with."""
MOST = 250
"""Rates per interval of the mesh, on average, after which states change too fast for the mesh."""


@dataclass(frozen=True)
class Miss:
    """The state that ends farthest from the plan, over the extent of its motion.

    Parameters
    ----------
    name : str
        Name of the state.
    amount : float
        By how much it is off, in its own unit; infinite if it cannot be followed.
    part : float
        The same over the extent of its motion.
    """

    name: str
    amount: float
    part: float

    def __str__(self) -> str:
        if not np.isfinite(self.part):
            return "states change too fast to be followed"
        return f"{self.name} ends {self.amount:.2g} off the plan, {self.part:.2g} of the extent of its motion"


class _TooFast(Exception):
    """More rates were asked for than a mesh that resolves the motion needs."""


def end_miss(phase: Phase, layout: Layout, scheme: Scheme, x: np.ndarray, looked_at: Sequence[int]) -> Miss:
    """Return which of some states misses the planned end of a phase most, when its inputs are played from the planned start.

    Inputs are the polynomials through the points of the intervals, as the scheme has them.
    """
    z = x[layout.z]
    places, states, solved = list(phase.inputs), phase.states, determined_places(phase)
    rates = [phase.rates[int(k)] for k in states]
    starts, _, inputs = scheme.replay(layout, z[:, places], float(x[layout.duration]))
    begin = np.append(starts, float(x[layout.duration]))
    equations, now, asked = residual_and_slope(phase), z[0].copy(), 0

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        nonlocal asked
        asked += 1
        if asked > MOST * len(inputs) or not np.isfinite(y).all():
            raise _TooFast
        i = int(np.clip(np.searchsorted(begin, t, side="right") - 1, 0, len(inputs) - 1))
        s = (t - begin[i]) / (begin[i + 1] - begin[i])
        now[states], now[places] = y, s ** np.arange(inputs.shape[1]) @ inputs[i]
        residual, slope = equations(now)
        now[solved] -= np.linalg.solve(slope, residual)
        return now[rates]

    size = state_sizes(phase, z)
    try:
        found = solve_ivp(
            rate, begin[[0, -1]], z[0, states], method="Radau", rtol=TOLERANCE, atol=TOLERANCE * size
        )
    except _TooFast:
        found = None
    if found is None or not found.success:
        return Miss(phase.names[states[0]], np.inf, np.inf)
    off = np.abs(found.y[:, -1] - z[-1, states])
    part = off / np.maximum(np.ptp(z[:, states], axis=0), LEAST * phase.scale[states])
    worst = int(np.argmax(np.where(np.isin(states, looked_at), part, 0.0)))
    return Miss(phase.names[states[worst]], float(off[worst]), float(part[worst]))
