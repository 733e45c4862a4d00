"""How far a motion exceeds its limits between the points of the mesh, and narrower bounds at the points with which it does not.

Bounds hold at the points. Between them states are the cubics with the states and rates of the points, everything else the polynomial through
the points of its interval, and both may swing out. Where they do, the bounds of the interval are drawn in by what is exceeded and the problem is
solved again; intervals whose motion still swings out are cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from articulus.motion.trajectory.collocation import Layout
from articulus.motion.trajectory.problem import Phase
from articulus.motion.trajectory.program import NonlinearProgram
from articulus.motion.trajectory.refine import between_points

if TYPE_CHECKING:
    from articulus.motion.trajectory.schemes.scheme import Scheme

PLACES = 16
"""Parts of an interval at whose ends limits are examined."""
LEAST = 0.2
"""Least part of a bound that is left."""


@dataclass(frozen=True)
class Overload:
    """What a motion takes of a limit at most.

    Parameters
    ----------
    entry : str
        What is limited, such as "u.elbow" (force), "v.elbow" (speed) or "q.elbow" (position).
    ratio : float
        Over the limit: |value - middle| over half of the range between two bounds, which is |value| over the limit of forces and speeds.
    t : float [s]
        When.
    phase : str
    """

    entry: str
    ratio: float
    t: float
    phase: str

    def __str__(self) -> str:
        return f"{self.entry} takes {self.ratio:.4g} of its limit at t = {self.t:.4g} s"


def limit_sizes(phase: Phase) -> np.ndarray:
    """Return what ratios are taken over, (n,): half of the range between bounds, of a single bound the size of the entry; zero without bounds."""
    low, high = np.isfinite(phase.lower), np.isfinite(phase.upper)
    size = np.where(low | high, phase.scale, 0.0)
    both = low & high
    size[both] = (phase.upper[both] - phase.lower[both]) / 2
    return size


def interval_loads(
    phase: Phase, layout: Layout, scheme: Scheme, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest ratios on all intervals, (intervals, n), and at which fraction of the interval; zero where nothing is limited."""
    size = limit_sizes(phase)
    limited = np.flatnonzero(size > 0)
    if len(scheme.points) > 1:
        at = scheme.limit_points(PLACES + 1)
        z = between_points(phase, layout, scheme, x, at, limited)
    else:  # steps with inputs that are held
        at, z = np.zeros(1), x[layout.z][layout.intervals][:, :, limited]
    over = np.maximum(z - phase.upper[limited], phase.lower[limited] - z) / size[limited]
    most = over.argmax(1)
    loads, where = np.zeros((len(z), phase.size)), np.zeros((len(z), phase.size))
    loads[:, limited] = 1 + np.take_along_axis(over, most[:, None], 1)[:, 0]
    where[:, limited] = at[most]
    return loads, where


def overloads(
    phase: Phase, layout: Layout, scheme: Scheme, x: np.ndarray, begin: float
) -> tuple[Overload, ...]:
    """Return what each limited entry of a phase that begins at a time [s] takes of its limit at most, the largest first."""
    loads, where = interval_loads(phase, layout, scheme, x)
    T, starts = float(x[layout.duration]), layout.fractions[layout.intervals[:, 0]]
    found = []
    for k in np.flatnonzero(limit_sizes(phase) > 0):
        i = int(loads[:, k].argmax())
        t = begin + T * float(starts[i] + layout.lengths[i] * where[i, k])
        found.append(Overload(phase.names[k], float(loads[i, k]), t, phase.name))
    return tuple(sorted(found, key=lambda each: -each.ratio))


def narrow_bounds(
    program: NonlinearProgram, phases: Sequence[Phase], layouts: Sequence[Layout], kept: Sequence[np.ndarray]
) -> NonlinearProgram:
    """Return a program with narrower bounds: on each interval the kept part of them, (intervals, n) for each phase; what is fixed stays."""
    lower, upper = program.lower.copy(), program.upper.copy()
    for phase, layout, part in zip(phases, layouts, kept):
        at_points = np.ones(layout.z.shape)
        for points in layout.intervals.T:
            np.minimum.at(at_points, points, part)
        less = (1 - np.maximum(at_points, LEAST)) * limit_sizes(phase)
        low, high = lower[layout.z], upper[layout.z]
        free = high - low > 2 * less
        lower[layout.z] = np.where(free, np.maximum(low, phase.lower + less), low)
        upper[layout.z] = np.where(free, np.minimum(high, phase.upper - less), high)
        loose = ~np.isfinite(low), ~np.isfinite(high)  # copies that follow from others stay free
        lower[layout.z[loose[0]]], upper[layout.z[loose[1]]] = -np.inf, np.inf
    return replace(program, lower=lower, upper=upper)
