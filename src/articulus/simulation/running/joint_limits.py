"""Limits of joints in runs: stops at them in one word, and how far a run went past those that have none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.model.mechanism.named import limit_arrays
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import JointStop
from articulus.simulation.loop.functions import System

DEPTH = 0.01
"""How far a joint may go beyond a limit, in parts of its range [-]: a stop is as stiff as this takes at full effort and at full speed, and a
run without stops is doubtful beyond it."""
PAST_LIMITS = "way past the limits of a joint over its range"
RATE = 50.0
"""Natural frequency of a stop where neither load nor speed of the joint is known [rad/s]."""


def joint_stops(mechanism: Mechanism) -> list[JointStop]:
    """Return a stop at the limits of every joint of one degree of freedom that has some.

    A joint that is pressed against its stop by its largest effort or by gravity, or meets it at its largest speed, continues by about a hundredth
    of its range; the stop is critically damped. Inertia and load are those at the middle of all ranges, so that this is a default and no
    property of a machine: give `JointStop` its own numbers where they matter.

    Returns
    -------
    list of JointStop
        Named "<joint>_joint_stop".
    """
    d, limits = mechanism.description, mechanism.limits
    limited = [
        c.name
        for c in d.independent
        if c.joint.nq == c.joint.nv == 1 and _limited_coordinates(mechanism, c.name)
    ]
    if not limited:
        return []
    inertia, load = _inertia(mechanism), _load(mechanism)
    stops = []
    for name in limited:
        q, v = d.q_slices[name].start, d.v_slices[name].start
        depth = DEPTH * _range(limits.lower[q], limits.upper[q])
        effort = max(limits.effort[v] if np.isfinite(limits.effort[v]) else 0.0, load[v])
        rate = limits.velocity[v] / depth if np.isfinite(limits.velocity[v]) else 0.0
        stiffness = max(effort / depth, inertia[v] * rate**2) or inertia[v] * RATE**2
        damping = 2.0 * float(np.sqrt(stiffness * inertia[v]))
        stops.append(
            JointStop(name, float(stiffness), damping, float(limits.lower[q]), float(limits.upper[q]))
        )
    return stops


def with_stops(mechanism: Mechanism, components: Sequence[Component]) -> tuple[Component, ...]:
    """Return components and a stop at the limits of each joint that has none among them."""
    stopped = {c.joint for c in components if isinstance(c, JointStop)}
    return (*components, *(stop for stop in joint_stops(mechanism) if stop.joint not in stopped))


class Excess(NamedTuple):
    """How far runs went past limits that nothing keeps: over the range of the joint [-], which joint, and when [s]; (rows,) each."""

    share: np.ndarray
    joint: list[str]
    time: np.ndarray

    def cause(self, row: int) -> str:
        """Return what a user should know about a run that went too far."""
        return (
            f"'{self.joint[row]}' left its limits at t = {self.time[row]:.4g} s, and nothing in the run keeps them: limits=True adds stops, "
            "`JointStop` and `Bounce` are stops of your own"
        )


def limit_excess(system: System, q: np.ndarray, t: np.ndarray) -> Excess:
    """Return how far positions (rows, n, nq) at times (n,) are beyond the limits of joints without a stop."""
    d = system.description
    limits, names = limit_arrays(d), d.coordinate_names()
    stopped = {c.joint for c in system.network.components if isinstance(c, JointStop)} | set(
        system.network.stops
    )
    rows = len(q)
    out = Excess(np.zeros(rows), [""] * rows, np.zeros(rows))
    for c in d.independent:
        at = d.q_slices[c.name]
        for k in range(at.start, at.stop):
            if c.name in stopped or (np.isinf(limits.lower[k]) and np.isinf(limits.upper[k])):
                continue
            beyond = np.fmax(q[..., k] - limits.upper[k], limits.lower[k] - q[..., k])
            beyond = np.where(np.isfinite(beyond), beyond, 0.0) / _range(limits.lower[k], limits.upper[k])
            worst = beyond.max(axis=1, initial=0.0)
            for row in np.flatnonzero(worst > out.share):
                first = int(np.argmax(beyond[row] > min(DEPTH, worst[row] / 2)))
                out.share[row], out.joint[row], out.time[row] = worst[row], names[k], t[first]
    return out


def _limited_coordinates(mechanism: Mechanism, joint: str) -> bool:
    at, limits = mechanism.q_slice(joint).start, mechanism.limits
    ends = np.isfinite([limits.lower[at], limits.upper[at]])
    return bool(ends.any() and limits.lower[at] < limits.upper[at])


def _range(lower: float, upper: float) -> float:
    """Return the length that an excess is measured by: the range, or the size of the only limit (1 where that is zero)."""
    if np.isfinite(lower) and np.isfinite(upper):
        return float(max(upper - lower, np.finfo(float).tiny))
    return float(abs(lower if np.isfinite(lower) else upper) or 1.0)


def _middle(mechanism: Mechanism) -> np.ndarray:
    lower, upper = mechanism.limits.lower, mechanism.limits.upper
    both = np.isfinite(lower) & np.isfinite(upper)
    return np.where(both, (np.where(both, lower, 0.0) + np.where(both, upper, 0.0)) / 2, mechanism.neutral)


def _inertia(mechanism: Mechanism) -> np.ndarray:
    """Return the inertia that each degree of freedom has while all others are free, (nv,) [kg m^2, kg]."""
    M = np.atleast_2d(mechanism.mass_matrix(_middle(mechanism)))
    return 1.0 / np.diag(np.linalg.inv(M))


def _load(mechanism: Mechanism) -> np.ndarray:
    """Return the largest force of gravity at the middle and at the ends of all ranges, (nv,) [N m, N]."""
    middle, lower, upper = _middle(mechanism), mechanism.limits.lower, mechanism.limits.upper
    places = [
        middle,
        np.where(np.isfinite(lower), lower, middle),
        np.where(np.isfinite(upper), upper, middle),
    ]
    return np.max([np.abs(mechanism.tree.gravity(q)) for q in places], axis=0)
