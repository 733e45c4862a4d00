"""`PathMotion`: a run along one or many given paths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.motion.motion import Motion, MotionState
from articulus.motion.piecewise import Piecewise
from articulus.motion.trajectory.path_curves import part_of

if TYPE_CHECKING:
    from articulus.motion.trajectory.path_limits import PathLimits

NODES = np.array([0.5 - np.sqrt(0.15), 0.5, 0.5 + np.sqrt(0.15)])
"""Points of Gauss's rule from 0 to 1."""
WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18


@dataclass(frozen=True, eq=False)
class PathMotion(Motion):
    """The motion along one path, or those along many.

    Parameters
    ----------
    limits : PathLimits
        What the run keeps to.
    s : array, (points,) or (..., points)
        Grid, from 0 to 1; of every path if their curves have knots.
    speed : array, (..., points) [1/s]
        Rate of s at the points.
    pull : array, (..., points - 1, 2) [1/s^2]
        Second derivative of s at the start and the end of every interval, linear in s between.
    again : callable
        Number of intervals -> the run on another grid.
    """

    limits: PathLimits
    s: np.ndarray
    speed: np.ndarray
    pull: np.ndarray
    again: Callable[[int], PathMotion] = field(repr=False)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that moves."""
        return self.limits.mechanism

    @cached_property
    def actuators(self) -> tuple[str, ...]:
        """Joints with motors."""
        m, motors = self.mechanism, set(self.limits.motors.tolist())
        return tuple(j for j in m.joint_names if motors & set(range(m.nv)[m.v_slice(j)]))

    def __getitem__(self, which: Any) -> PathMotion:
        """Return the motion along one of many paths."""
        if self.t.ndim == 1:
            raise InputError("PathMotion: found one path; expected many to choose from")
        limits = replace(self.limits, curve=part_of(self.limits.curve, which))
        s = self.s[which] if self.s.ndim > 1 else self.s
        return replace(
            self,
            limits=limits,
            s=s,
            speed=self.speed[which],
            pull=self.pull[which],
            again=lambda n: self.again(n)[which],
        )

    @cached_property
    def _course(self) -> Piecewise:
        """s over time."""
        if self.t.ndim > 1:
            raise InputError(f"at: found {self.t.shape[:-1]} motions; expected one, such as motion[0]")
        after = np.append(self.pull[:, 0], self.pull[-1, 1])
        before = np.append(self.pull[0, 0], self.pull[:, 1])
        return Piecewise.quintic(self.t, *(x[:, None] for x in (self.s, self.speed, after, before)))

    def at(self, t: Any) -> MotionState:
        """Return positions, velocities, accelerations and forces at times, (..., n) each; where one jumps that after the jump."""
        s, rate, pull = (self._course(t, k)[..., 0] for k in range(3))
        flat = np.clip(s.ravel(), 0.0, 1.0)
        q, first, second = (x.reshape(*s.shape, -1) for x in self.limits.curve(flat))
        v, vdot = first * rate[..., None], second * rate[..., None] ** 2 + first * pull[..., None]
        tau = np.zeros_like(v)
        tau[..., self.limits.motors] = self.limits.forces((q, first, second), rate**2, pull)
        return MotionState(q, v, vdot, tau)

    @cached_property
    def t(self) -> np.ndarray:
        """When each point is passed, (..., points) [s]."""
        steps = _time(self.speed, self.pull, np.diff(self.s), np.ones(1))[..., 0]
        return np.concatenate([np.zeros((*steps.shape[:-1], 1)), np.cumsum(steps, axis=-1)], axis=-1)

    @property
    def duration(self) -> Any:
        """How long it takes [s]; one number per path."""
        return float(self.t[-1]) if self.t.ndim == 1 else self.t[..., -1]

    @cached_property
    def gap(self) -> Any:
        """Distance of the duration from that with half the intervals, over the duration; one number per path.

        The distance from the least duration is a third of it where the grid resolves the path (second order), and at most as much. Zero if
        the duration was given.
        """
        if self.limits.duration is not None:
            return 0.0 * self.duration
        coarse = self.again(max((self.s.shape[-1] - 1) // 2, 2))
        return np.abs(coarse.duration / self.duration - 1.0)

    def along(self, between: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return times, positions, velocities and accelerations at the points, and at as many more between them as asked for."""
        s, t, rate, pull = self._rates(between)
        q, first, second = self.limits.curve(s)
        v = first * rate[..., None]
        return t, q, v, second * rate[..., None] ** 2 + first * pull[..., None]

    def _rates(self, between: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return s, times, rates of s and its second derivatives; at a point those of the interval after it."""
        part, h = np.arange(between) / between, np.diff(self.s)
        s = np.concatenate([_flat(self.s[..., :-1, None] + h[..., None] * part), self.s[..., -1:]], axis=-1)
        x = _flat(squared_rates(self.speed, self.pull, h, part))
        rate = np.sqrt(np.maximum(np.concatenate([x, self.speed[..., -1:] ** 2], axis=-1), 0.0))
        ahead, last = self.pull[..., 0], self.pull[..., 1]
        pull = _flat(ahead[..., None] + (last - ahead)[..., None] * part)
        pull = np.concatenate([pull, last[..., -1:]], axis=-1)
        now = _flat(self.t[..., :-1, None] + _time(self.speed, self.pull, h, part))
        return s, np.concatenate([now, self.t[..., -1:]], axis=-1), rate, pull

    @cached_property
    def motor_forces(self) -> np.ndarray:
        """Forces of the motors at the points, (..., points, motors), with the acceleration of the interval after each [N m or N]."""
        s, _, rate, pull = self._rates(1)
        return self.limits.forces(self.limits.curve(s), rate**2, pull)

    def overload(self, between: int = 8) -> float:
        """Return by how much the run exceeds one of its limits, over the limit, at the points and between them; negative if nowhere."""
        s, _, rate, pull = self._rates(between)
        return float(self.limits.loads(self.limits.curve(s), rate**2, pull).max() - 1.0)


def squared_rates(speed: np.ndarray, pull: np.ndarray, h: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Return squared rates of s within the intervals, at parts of them from 0 to 1, (..., intervals, parts)."""
    sigma = h[..., None] * part
    start, end = pull[..., 0], pull[..., 1]
    return speed[..., :-1, None] ** 2 + sigma * (2 * start[..., None] + (end - start)[..., None] * part)


def _time(speed: np.ndarray, pull: np.ndarray, h: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Return times from the start of each interval to parts of it, (..., intervals, parts).

    Integral of ds / sqrt(x) with sqrt of the linear part of x as the variable: exact for constant acceleration, also from rest.
    """
    x = squared_rates(speed, pull, h, part)
    from_here, to = speed[..., :-1, None], np.sqrt(np.maximum(x, 0.0))
    sigma = h[..., None] * part
    root = from_here[..., None] + (to - from_here)[..., None] * NODES
    linear, change = root**2, x - from_here**2
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(
            np.abs(change[..., None]) > 1e-9 * x[..., None],
            (linear - from_here[..., None] ** 2) / change[..., None],
            NODES,
        )
    bend = (pull[..., 1] - pull[..., 0]) / h
    bubble = bend[..., None, None] * (sigma**2)[..., None] * share * (1 - share)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (WEIGHTS * np.sqrt(linear / np.maximum(linear - bubble, 1e-6 * linear))).sum(axis=-1)
    return np.where(
        sigma > 0, 2 * sigma / np.maximum(from_here + to, 1e-300) * np.where(np.isnan(mean), 1.0, mean), 0.0
    )


def _flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(*x.shape[:-2], -1)
