"""The fastest motion through points without stopping, within limits of speed, acceleration and jerk; also the fastest cubic spline.

Jerks are constant within intervals of free length, which all joints share, so that positions are cubic and a step is exact. Between two points there are
a few intervals; with one (and two next to the ends) the motion is the cubic spline through the points, and the lengths alone are
left to choose (Lin, Chang & Luh 1983). The program is solved by ipopt from the motion that stops at every point. Accelerations are linear within an
interval and speeds are within the hull of v, v + h a / 2 and v at its end: limits of those hold everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError
from articulus.motion.motion import Motion, MotionState
from articulus.motion.piecewise import Piecewise
from articulus.motion.trajectory.ipopt import solve
from articulus.motion.trajectory.point_motion import point_to_point
from articulus.motion.trajectory.points import numbers, require_joints
from articulus.motion.trajectory.program import FunctionBlock, NonlinearProgram

SHORTEST = 1e-3
"""Least length of an interval, over the mean of the guess."""


@dataclass(frozen=True, eq=False)
class WaypointMotion(Motion):
    """A motion through points with jerks that are constant within intervals.

    Parameters
    ----------
    t : array, (k,) [s]
        Ends of the intervals.
    q, v, vdot : array, (k, n)
        Positions, speeds and accelerations there.
    jerks : array, (k - 1, n)
    visits : array of int
        Which of the times the points are passed at.
    limits : array, (3, n)
        Limits of speed, acceleration and jerk.
    mechanism : Mechanism or None
        That moves.
    """

    t: np.ndarray = field()
    q: np.ndarray = field()
    v: np.ndarray = field()
    vdot: np.ndarray = field()
    jerks: np.ndarray = field()
    visits: np.ndarray = field()
    limits: np.ndarray = field()
    mechanism: Mechanism | None = None

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.t[-1])

    @cached_property
    def _cubics(self) -> Piecewise:
        h = np.diff(self.t)[:, None]
        powers = self.q[:-1], h * self.v[:-1], h**2 * self.vdot[:-1] / 2, h**3 * self.jerks / 6
        return Piecewise(self.t, np.stack(powers, 1))

    def at(self, t: Any) -> MotionState:
        """Return positions, velocities, accelerations and forces at times, (..., n) each."""
        (q, v, vdot), m = (self._cubics(t, k) for k in range(3)), self.mechanism
        return MotionState(q, v, vdot, None if m is None else m.inverse_dynamics(q, v, vdot))

    def jerk(self, t: Any) -> np.ndarray:
        """Return jerks at times, (..., n)."""
        return self._cubics(t, 3)

    def overload(self) -> float:
        """Return by how much a limit is exceeded anywhere, over the limit; negative if nowhere."""
        h = np.diff(self.t)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            when = np.clip(
                np.nan_to_num(-self.vdot[:-1] / self.jerks, posinf=0, neginf=0), 0, h
            )  # the speed is largest there
        top = self.v[:-1] + when * (self.vdot[:-1] + when * self.jerks / 2)
        rows = np.concatenate([self.v, top]), self.vdot, self.jerks
        return max(float((np.abs(x) / limit).max()) for x, limit in zip(rows, self.limits)) - 1.0


def waypoints(
    points: Any,
    *,
    velocity_limit: Any,
    acceleration_limit: Any,
    jerk_limit: Any,
    intervals: int = 8,
    v0: Any = 0.0,
    goal_velocity: Any = 0.0,
    mechanism: Mechanism | None = None,
) -> WaypointMotion:
    """Return the fastest motion through points, with accelerations of zero at both ends.

    Parameters
    ----------
    points : array, (k, n)
        Positions to pass, two or more.
    velocity_limit, acceleration_limit, jerk_limit : number or array, (n,)
        Limits. Units do not matter.
    intervals : int
        Intervals with constant jerk between two points; with 1 the motion is the fastest cubic spline through the points, which has one knot more next to
        each end.
    v0, goal_velocity : number or array, (n,)
        Speeds at the ends.
    mechanism : Mechanism
        Whose joints move, if the motion is to be run, tracked or saved with its forces; every joint has a motor. Limits of forces are ignored.

    Raises
    ------
    InputError
        Points or limits that are no such numbers, equal points in a row.
    NumericalError
        The solver did not converge.
    """
    where = numbers(points, "waypoints: points")
    if where.ndim != 2 or len(where) < 2 or not where.size or not np.isfinite(where).all():
        raise InputError(
            f"waypoints: found points of shape {where.shape}; expected (k, n) with k of 2 or more, finite"
        )
    if not np.abs(np.diff(where, axis=0)).max(axis=1).all():
        raise InputError("waypoints: found two equal points in a row; expected different ones")
    if not isinstance(intervals, int | np.integer) or intervals < 1:
        raise InputError(f"waypoints: intervals = {intervals!r}; expected a whole number of 1 or more")
    n = where.shape[1]
    given = {
        "velocity_limit": velocity_limit,
        "acceleration_limit": acceleration_limit,
        "jerk_limit": jerk_limit,
    }
    limits = np.array([_per_joint(x, n, name) for name, x in given.items()])
    for name, limit in zip(given, limits):
        if not (limit > 0).all():
            raise InputError(f"waypoints: {name} = {limit.tolist()}; expected numbers above zero")
    given = {"v0": v0, "goal_velocity": goal_velocity}
    ends = np.array([_per_joint(x, n, name) for name, x in given.items()])
    if (np.abs(ends) > limits[0]).any():
        raise InputError(
            f"waypoints: speeds at the ends {ends.tolist()} exceed the limits {limits[0].tolist()}"
        )
    guess = point_to_point(
        where[:-1], where[1:], velocity_limit=limits[0], acceleration_limit=limits[1], jerk_limit=limits[2]
    )
    counts = np.full(len(where) - 1, intervals)
    if intervals == 1:
        counts[0] += 1
        counts[-1] += 1
    found = _Search(where, limits, ends, guess, counts).solve()
    return replace(found, mechanism=require_joints(mechanism, n))


def _per_joint(given: Any, n: int, name: str) -> np.ndarray:
    """Return one finite number for each of n joints."""
    found = numbers(given, f"waypoints: {name}")
    if found.shape not in ((), (1,), (n,)) or not np.isfinite(found).all():
        raise InputError(f"waypoints: {name} = {given!r}; expected a finite number, or one per joint, {n}")
    return np.broadcast_to(found, n)


class _Search:
    """The program: unknowns are q, v, a at all nodes, jerks and lengths of the intervals, in units of the limits of speed and of a time."""

    def __init__(
        self, points: np.ndarray, limits: np.ndarray, ends: np.ndarray, guess: Any, counts: np.ndarray
    ):
        self.points, self.limits, self.ends, self.guess, self.counts = points, limits, ends, guess, counts
        self.n, self.count = points.shape[1], int(counts.sum())
        self.visits = np.concatenate([[0], np.cumsum(counts)])
        self.time = float(np.mean(guess.duration))
        self.unit = limits[0] * self.time
        nodes = 3 * self.n * (self.count + 1)
        self.node = np.arange(nodes).reshape(self.count + 1, 3, self.n)
        self.jerk = nodes + np.arange(self.count * self.n).reshape(self.count, self.n)
        self.step = nodes + self.count * self.n + np.arange(self.count)

    def solve(self) -> WaypointMotion:
        program, start = self._program(), self._start()
        found = solve(program, start, tolerance=1e-9, iterations=2000)
        if not found.converged:
            raise NumericalError(
                f"waypoints: the solver ended with {found.status} after {found.iterations} iterations; expected a solution. More intervals, or limits "
                "of more similar sizes, may help"
            )
        return self._motion(found.x)

    def _program(self) -> NonlinearProgram:
        z, d = SX.sym("z", 8), SX.sym("d", 0)
        q, v, a, q1, v1, a1, j, h = ca.vertsplit(z)
        rows = ca.vertcat(
            q + h * (v + h * (a / 2 + h * j / 6)) - q1,
            v + h * (a + h * j / 2) - v1,
            a + h * j - a1,
            v + h * a / 2,
        )
        index = np.concatenate(
            [
                self.node[:-1],
                self.node[1:],
                self.jerk[:, None],
                np.repeat(self.step[:, None, None], self.n, 2),
            ],
            axis=1,
        )
        index = index.transpose(0, 2, 1).reshape(-1, 8)
        upper = np.tile([0.0, 0.0, 0.0, 1.0], (len(index), 1))
        steps = FunctionBlock(
            "steps", ca.Function("step", [z, d], [rows]), index, np.zeros((len(index), 0)), -upper, upper
        )
        s = SX.sym("s", 1)
        cost = FunctionBlock(
            "duration",
            ca.Function("length", [s, d], [s]),
            self.step[:, None],
            np.zeros((self.count, 0)),
            np.zeros((self.count, 1)),
            np.zeros((self.count, 1)),
        )
        return NonlinearProgram((cost,), (steps,), *self._bounds())

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        size = self.step[-1] + 1
        lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
        scaled = self.limits[1:] * self.time ** np.array([[1], [2]]) / self.limits[0]
        for places, value in ((self.node[:, 1], 1.0), (self.node[:, 2], scaled[0]), (self.jerk, scaled[1])):
            lower[places], upper[places] = -value, value
        for side in (lower, upper):
            side[self.node[self.visits, 0]] = (self.points - self.points[0]) / self.unit
            side[self.node[[0, -1], 1]] = self.ends / self.limits[0]
            side[self.node[[0, -1], 2]] = 0.0
        lower[self.step] = SHORTEST * float(np.sum(self.guess.duration)) / (self.time * self.count)
        return lower, upper

    def _start(self) -> np.ndarray:
        """Return the motion that stops at every point, in unknowns."""
        x = np.zeros(self.step[-1] + 1)
        for k, count in enumerate(self.counts):
            T = float(self.guess.duration[k])
            q, v, a, _ = self.guess[k].at(np.linspace(0, T, count + 1))
            part = slice(self.visits[k], self.visits[k + 1] + 1)
            x[self.node[part, 0]] = (q - self.points[0]) / self.unit
            x[self.node[part, 1]], x[self.node[part, 2]] = v / self.limits[0], a * self.time / self.limits[0]
            inner = slice(self.visits[k], self.visits[k + 1])
            x[self.step[inner]] = T / (count * self.time)
            x[self.jerk[inner]] = np.diff(x[self.node[part, 2]], axis=0) / x[self.step[inner]][:, None]
        return x

    def _motion(self, x: np.ndarray) -> WaypointMotion:
        q, v, a = np.moveaxis(x[self.node], 1, 0)
        speed = self.limits[0]
        return WaypointMotion(
            self.time * np.concatenate([[0.0], np.cumsum(x[self.step])]),
            self.points[0] + q * self.unit,
            v * speed,
            a * speed / self.time,
            x[self.jerk] * speed / self.time**2,
            self.visits,
            self.limits,
        )
