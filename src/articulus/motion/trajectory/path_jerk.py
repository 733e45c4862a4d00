"""The fastest run along a given path with limits of jerk, too; for one path at a time, by a program for ipopt.

The points of the grid are fixed on the path; unknowns are w = s' and z = s'' there, and duration and third derivative of s within every interval,
where it is constant: steps are exact, also from rest. Forces are a z + b w^2 + c + d w and jerks q' s''' + 3 q'' w z + q''' w^3 with numbers a, b, c, d,
q', q'', q''' at the points, so that any mechanism whose forces the motion determines takes the same program.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import DoubtfulResult, InputError, NumericalError
from articulus.motion.piecewise import Piecewise
from articulus.motion.trajectory.ipopt import solve
from articulus.motion.trajectory.path_limits import NONE, PathLimits
from articulus.motion.trajectory.path_motion import PathMotion
from articulus.motion.trajectory.program import FunctionBlock, NonlinearProgram

KEPT = 5e-5
"""Excess of a limit between the points, over the limit, from which on it is taken off there."""
ROUNDS = 8
"""Most repetitions for that."""
STRATEGIES = "monotone", "adaptive"
"""Of the solver's barrier; the second if the first fails."""
DOUBTFUL = 1e-3
"""Excess of a limit that is warned of."""
SLOWER = 0.5
"""Speed of the guess, over that of the fastest run without limits of jerk."""
SHORTEST = 1e-6
"""Least duration of an interval, over that of the guess."""


@dataclass(frozen=True, eq=False)
class JerkMotion(PathMotion):
    """A run along a path with a third derivative of s that is constant within the intervals.

    Parameters
    ----------
    jerk : array, (nv,)
        Limits of jerk [rad/s^3 or m/s^3].
    steps : array, (points - 1,) [s]
        Durations of the intervals.
    third : array, (points - 1,) [1/s^3]
        Third derivative of s.
    """

    jerk: np.ndarray = None  # type: ignore[assignment]
    steps: np.ndarray = None  # type: ignore[assignment]
    third: np.ndarray = None  # type: ignore[assignment]

    @cached_property
    def t(self) -> np.ndarray:
        """When each point is passed, (points,) [s]."""
        return np.concatenate([[0.0], np.cumsum(self.steps)])

    @cached_property
    def _course(self) -> Piecewise:
        h = self.steps
        powers = self.s[:-1], h * self.speed[:-1], h**2 * self.pull[:, 0] / 2, h**3 * self.third / 6
        return Piecewise(self.t, np.stack(powers, 1)[..., None])

    def _rates(self, between: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        now = self.steps[:, None] * (np.arange(between) / between)
        w, z, j = self.speed[:-1, None], self.pull[:, :1], self.third[:, None]
        s = self.s[:-1, None] + now * (w + now * (z / 2 + now * j / 6))
        rate, pull = w + now * (z + now * j / 2), z + now * j
        ends = self.s[-1], self.t[-1], self.speed[-1], self.pull[-1, 1]
        parts = s, self.t[:-1, None] + now, np.maximum(rate, 0.0), pull
        out = [np.append(x.ravel(), end) for x, end in zip(parts, ends)]
        return out[0], out[1], out[2], out[3]

    def jerks(self, between: int = 1) -> np.ndarray:
        """Return the jerks of the joints at the points, and at as many more between them as asked for, (times, nv)."""
        s, _, rate, pull = self._rates(between)
        _, first, second = self.limits.curve(s)
        curl = np.repeat(_third(self.limits, self.s), between, axis=0)
        third = np.repeat(self.third, between)
        curl, third = np.vstack([curl, curl[-1:]]), np.append(third, third[-1])
        return first * third[:, None] + 3 * second * (rate * pull)[:, None] + curl * rate[:, None] ** 3

    def overload(self, between: int = 8) -> float:
        """Return by how much the run exceeds one of its limits, over the limit, at the points and between them; negative if nowhere."""
        return max(super().overload(between), float((np.abs(self.jerks(between)) / self.jerk).max() - 1.0))


def _third(limits: PathLimits, s: np.ndarray) -> np.ndarray:
    """Return third derivatives of the curve within the intervals, (points - 1, nv): exact for cubic splines with knots at the points."""
    second = limits.curve(s)[2]
    return np.diff(second, axis=0) / np.diff(s)[:, None]


def with_jerk(limits: PathLimits, jerk: np.ndarray, fast: PathMotion, grid: int) -> JerkMotion:
    """Return the fastest run within limits of jerk, or one of the given duration with little jerk.

    Parameters
    ----------
    limits : PathLimits
        Limits of one path.
    jerk : array, (nv,)
    fast : PathMotion
        The fastest run without limits of jerk on this grid.
    grid : int
        Intervals.
    """
    if fast.speed.ndim > 1:
        raise InputError(
            "path_speed: found many paths given by a function; with limits of jerk expected one, or points"
        )
    work = _Program(limits, np.minimum(jerk, NONE), fast)
    kept = np.ones((len(fast.s), work.rows))
    x = work.guess(fast)
    for _ in range(ROUNDS):
        x = work.solve(kept, x)
        motion = work.motion(x, jerk, partial(_again, limits, jerk, fast.again))
        over = work.over(motion)
        if over.max() <= 1 + KEPT:
            break
        side = np.ones_like(kept)
        side[:-1] = over
        side[1:] = np.maximum(side[1:], over)
        kept = kept / (1.2 * np.maximum(side, 1.0) - 0.2)
    if (excess := motion.overload()) > DOUBTFUL:
        warnings.warn(
            f"path_speed: between the points of the grid a limit is exceeded by {100 * excess:.2g} %; expected less with more intervals than {grid}",
            DoubtfulResult,
            stacklevel=4,
        )
    return motion


def _again(limits: PathLimits, jerk: np.ndarray, again: Any, grid: int) -> JerkMotion:
    return with_jerk(limits, jerk, again(grid), grid)


class _Program:
    """Unknowns w, z at the points, durations and third derivatives of s of the intervals, in units of the duration of the guess."""

    def __init__(self, limits: PathLimits, jerk: np.ndarray, fast: PathMotion):
        self.limits, self.jerk, self.s = limits, jerk, fast.s
        self.h, self.count = np.diff(fast.s), len(fast.s) - 1
        self.time = fast.duration / SLOWER if limits.duration is None else limits.duration
        at = limits.curve(fast.s)
        found, _ = limits.coefficients(*at)
        a, b, c, *d = np.split(found[:, :-1], 4 if limits.damped else 3, axis=1)
        self.top, (_, first, second) = found[:, -1], at
        T, effort = self.time, np.minimum(limits.effort, NONE)
        parts = [x / effort * T**-k for x, k in ((a, 2), (b, 2), (c, 0), (d[0] if d else 0 * a, 1))]
        if limits.limits_acceleration:
            size = np.minimum(limits.acceleration, NONE)
            more = first / size / T**2, second / size / T**2, 0 * first, 0 * first
            parts = [np.hstack(pair) for pair in zip(parts, more)]
        self.forces = parts
        self.rows = parts[0].shape[1] + len(jerk) + 1
        third = _third(limits, fast.s)
        unit = jerk * T**3
        self.curls = np.hstack([x / unit for x in (first[:-1], second[:-1], first[1:], second[1:], third)])
        n = self.count
        self.w, self.z = np.arange(n + 1), n + 1 + np.arange(n + 1)
        self.tau, self.sigma = 2 * (n + 1) + np.arange(n), 2 * (n + 1) + n + np.arange(n)

    def guess(self, fast: PathMotion) -> np.ndarray:
        x = np.zeros(self.sigma[-1] + 1)
        slow = fast.duration / self.time
        x[self.w] = slow * fast.speed * self.time
        x[self.z[1:-1]] = slow**2 * fast.pull[1:, 0] * self.time**2
        x[self.tau] = np.diff(fast.t) / fast.duration
        self.scale = np.ones_like(x)
        self.scale[self.w] = x[self.w].max()
        self.scale[self.z] = np.abs(x[self.z]).max()
        self.scale[self.tau] = x[self.tau]
        most = np.min(1 / np.maximum(np.abs(self.curls[:, : len(self.jerk)]), 1e-12), axis=1)
        self.scale[self.sigma] = np.clip(np.abs(x[self.z]).max() / x[self.tau], 1.0, np.maximum(most, 1.0))
        return x

    def solve(self, kept: np.ndarray, start: np.ndarray) -> np.ndarray:
        blocks = [self._steps(), self._forces(kept), self._jerks(kept)]
        none = np.zeros((self.count, 0))
        d = SX.sym("d", 0)
        if self.limits.duration is None:
            s = SX.sym("s", 1)
            cost = FunctionBlock(
                "duration",
                ca.Function("f", [s, d], [s]),
                self.tau[:, None],
                none,
                np.zeros((self.count, 1)),
                np.zeros((self.count, 1)),
            )
        else:
            z = SX.sym("z", 2)
            index = np.stack([self.tau, self.sigma], 1)
            cost = FunctionBlock(
                "jerk",
                ca.Function("f", [z, d], [z[0] * z[1] ** 2 * 1e-4]),
                index,
                none,
                np.zeros((self.count, 1)),
                np.zeros((self.count, 1)),
            )
            all_of = SX.sym("t", self.count)
            one = np.ones((1, 1))
            blocks.append(
                FunctionBlock(
                    "duration",
                    ca.Function("sum", [all_of, d], [ca.sum1(all_of)]),
                    self.tau[None],
                    np.zeros((1, 0)),
                    one,
                    one,
                )
            )
        lower, upper = self._bounds(kept)
        program = NonlinearProgram((cost,), tuple(blocks), lower, upper, self.scale)
        for strategy in STRATEGIES:
            solution = solve(program, start, tolerance=1e-7, options={"ipopt.mu_strategy": strategy})
            if solution.converged:
                break
        if not solution.converged:
            raise NumericalError(
                f"path_speed: with limits of jerk the solver ended with {solution.status} after {solution.iterations} iterations; expected a solution. "
                "Look for a run at the speeds at the ends, another grid, or a longer duration"
            )
        return solution.x

    def _bounds(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = np.full(self.sigma[-1] + 1, -np.inf), np.full(self.sigma[-1] + 1, np.inf)
        lower[self.w], upper[self.w] = 0.0, np.sqrt(self.top) * kept[:, -1] * self.time
        lower[self.tau] = SHORTEST / self.count
        for side in (lower, upper):
            side[self.w[[0, -1]]] = np.array(self.limits.speeds) * self.time
            side[self.z[[0, -1]]] = 0.0
        return lower, upper

    def _steps(self) -> FunctionBlock:
        z, h = SX.sym("z", 6), SX.sym("h", 1)
        w0, z0, w1, z1, tau, sigma = ca.vertsplit(z)
        rows = ca.vertcat(
            tau * (w0 + tau * (z0 / 2 + tau * sigma / 6)) / h - 1,
            w0 + tau * (z0 + tau * sigma / 2) - w1,
            z0 + tau * sigma - z1,
        )
        index = np.stack([self.w[:-1], self.z[:-1], self.w[1:], self.z[1:], self.tau, self.sigma], 1)
        zero = np.zeros((self.count, 3))
        return FunctionBlock(
            "steps", ca.Function("steps", [z, h], [rows]), index, self.h[:, None], zero, zero
        )

    def _forces(self, kept: np.ndarray) -> FunctionBlock:
        m = self.forces[0].shape[1]
        z, d = SX.sym("z", 2), SX.sym("d", 4 * m)
        a, b, c, e = ca.vertsplit(d, m)
        rows = a * z[1] + b * z[0] ** 2 + c + e * z[0]
        size = kept[:, :m]
        return FunctionBlock(
            "forces",
            ca.Function("forces", [z, d], [rows]),
            np.stack([self.w, self.z], 1),
            np.hstack(self.forces),
            -size,
            size,
        )

    def _jerks(self, kept: np.ndarray) -> FunctionBlock:
        m = len(self.jerk)
        z, d = SX.sym("z", 5), SX.sym("d", 5 * m)
        w0, z0, w1, z1, sigma = ca.vertsplit(z)
        p, q, p1, q1, r = ca.vertsplit(d, m)
        rows = ca.vertcat(p * sigma + 3 * q * w0 * z0 + r * w0**3, p1 * sigma + 3 * q1 * w1 * z1 + r * w1**3)
        index = np.stack([self.w[:-1], self.z[:-1], self.w[1:], self.z[1:], self.sigma], 1)
        part = kept[:, -1 - m : -1]
        size = np.hstack([part[:-1], part[1:]])
        return FunctionBlock("jerks", ca.Function("jerks", [z, d], [rows]), index, self.curls, -size, size)

    def motion(self, x: np.ndarray, jerk: np.ndarray, again: Any) -> JerkMotion:
        T = self.time
        w, z = x[self.w] / T, x[self.z] / T**2
        pull = np.stack([z[:-1], z[1:]], 1)
        return JerkMotion(self.limits, self.s, w, pull, again, jerk, x[self.tau] * T, x[self.sigma] / T**3)

    def over(self, run: JerkMotion) -> np.ndarray:
        """Return the largest loads within the intervals, (intervals, rows)."""
        s, _, rate, pull = run._rates(4)
        loads = self.limits.loads(self.limits.curve(s), rate**2, pull)
        jerks = np.abs(run.jerks(4)) / self.jerk
        loads = np.hstack([loads[:, :-1], jerks, loads[:, -1:]])[:-1]
        return loads.reshape(self.count, 4, -1).max(axis=1)
