"""From one state to another within limits of speed, acceleration and jerk, all joints at the same time: the least time, in closed form per duration.

In units in which the limits of acceleration and jerk are 1, a motion of given duration T that ends as far ahead as possible has the jerks
+1, 0, -1, 0, -1, 0, +1 (speeding up to a_1, slowing down with a_2): T and the change of speed determine a_1 and a_2 by quadratic equations,
in five cases of which limits are met. Mirrored, it ends as far behind as possible. States between those two are reached by mixing them: limits are
convex, so that a mix keeps to them. A duration is possible if the goal lies between; the least one is looked for from below,
or found by `extreme_motion` where there are no accelerations at the ends. All joints then take
the least duration that is possible for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError
from articulus.kernel import NEVER
from articulus.motion.motion import Motion, MotionState
from articulus.motion.trajectory.extreme_motion import JERKS, mix, possible_durations
from articulus.motion.trajectory.extreme_motion import parts as parts_of
from articulus.motion.trajectory.points import numbers, require_joints

PARTS = 7
"""Parts with constant jerk of an extreme motion."""
SAMPLES = 400
"""Durations at which a possible one is looked for."""
FIRST = 1e-5
"""Least of them, over the largest."""
CLOSER = 2
"""Times that one is looked for between neighbors of the best impossible ones."""
HALVINGS = 70
"""Steps to the least duration."""
ROUNDING = 1e-11
"""Share of the least duration that is added, so that it is possible for certain."""


@cache
def _margin() -> kernel.Kernel:
    def build() -> ca.Function:
        T, way, V, ends = SX.sym("T"), SX.sym("way"), SX.sym("V"), SX.sym("ends", 4)
        return ca.Function("margin", [T, way, ends, V], [mix(T, way, ca.vertsplit(ends), V)[3]])

    return kernel.cached("point to point margin 6", build, finite=False, ranks=lambda: ((0, 0, 1, 0), (0,)))


@cache
def _halving() -> Any:
    def build() -> Sequence[ca.Function]:
        x, p, w, k = SX.sym("x", 2), SX.sym("p", 6), SX.sym("w", 0), SX.sym("k")
        middle = (x[0] + x[1]) / 2
        possible = mix(middle, p[0], ca.vertsplit(p[1:5]), p[5])[3] >= 0
        onward = ca.vertcat(ca.if_else(possible, x[0], middle), ca.if_else(possible, middle, x[1]))
        return [ca.Function("halve", [x, p, w, k], [onward], ["x", "p", "w", "k"], ["x_next"])]

    return kernel.recurrence("point to point halving 6", build, 1)


@dataclass(frozen=True, eq=False)
class PointMotion(Motion):
    """A motion from state to state, or many.

    Parameters
    ----------
    start : array, (..., n)
        Positions at the start.
    duration : array, (...) [s]
    least : array, (..., n) [s]
        Least duration of every joint alone.
    parts : array, (..., n, 2, 7) [s]
        Durations of the parts with constant jerk, of the two motions that are mixed.
    share : array, (..., n)
        Share of the first.
    ends : array, (..., n, 2)
        Speeds and accelerations at the start.
    jerk_limit : array, (..., n)
    mechanism : Mechanism or None
        That moves.
    """

    start: np.ndarray
    duration: Any
    least: np.ndarray
    parts: np.ndarray
    share: np.ndarray
    ends: np.ndarray
    jerk_limit: np.ndarray
    mechanism: Mechanism | None = None

    @cached_property
    def t(self) -> np.ndarray:
        """Times at which the jerk of some joint jumps, (times,) [s]; of many motions (..., times), with some of them repeated."""
        ends = np.cumsum(self.parts, axis=-1).reshape(*self.parts.shape[:-3], -1)
        total = np.asarray(self.duration)[..., None]
        times = np.sort(np.concatenate([0 * total, np.minimum(ends, total), total], axis=-1), axis=-1)
        return np.unique(times) if times.ndim == 1 else times

    def __getitem__(self, which: Any) -> PointMotion:
        """Return one of many motions."""
        rest = {
            name: getattr(self, name)[which]
            for name in ("start", "least", "parts", "share", "ends", "jerk_limit")
        }
        T = np.asarray(self.duration)[which]
        return replace(self, duration=T if T.ndim else float(T), **rest)

    def at(self, t: Any) -> MotionState:
        """Return positions, velocities, accelerations and forces at times, (..., times, n) each, of one time (..., n)."""
        q, v, vdot, _ = self._rates(t)
        m = self.mechanism
        return MotionState(q, v, vdot, None if m is None else m.inverse_dynamics(q, v, vdot))

    def jerk(self, t: Any) -> np.ndarray:
        """Return jerks at times, (..., times, n)."""
        return self._rates(t)[3]

    def _rates(self, t: Any) -> list[np.ndarray]:
        """Return positions and their first three derivatives."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        clipped = np.clip(times, 0.0, np.asarray(self.duration)[..., None])  # (..., times)
        out: Any = 0.0
        for k, (sign, weight) in enumerate(((1.0, self.share), (-1.0, 1.0 - self.share))):
            out = out + weight[..., None] * self._one(clipped, k, sign)
        out[0] += self.start[..., None]
        return [np.swapaxes(x, -1, -2) if np.ndim(t) else x[..., 0] for x in out]

    def _one(self, t: np.ndarray, which: int, sign: float) -> np.ndarray:
        """Return way, speed, acceleration and jerk of one of the two motions, (4, ..., n, times)."""
        left = t[..., None, :] * np.ones_like(self.jerk_limit)[..., None]
        x = np.zeros_like(left)
        v, a = (np.broadcast_to(self.ends[..., k, None], left.shape).copy() for k in range(2))
        now = np.zeros_like(left)
        for part in range(PARTS):
            j = sign * JERKS[part] * self.jerk_limit[..., None]
            whole = self.parts[..., which, part, None]
            step = np.minimum(left, whole)
            inside = left > 0
            now = np.where(inside, j, now)
            x = x + step * (v + step * (a / 2 + step * j / 6))
            v, a = v + step * (a + step * j / 2), a + step * j
            left = left - step
        x = x + left * v  # rounding
        return np.stack([x, v, a, now])


def point_to_point(
    start: Any,
    end: Any,
    *,
    velocity: Any,
    acceleration: Any,
    jerk: Any,
    start_velocity: Any = 0.0,
    end_velocity: Any = 0.0,
    start_acceleration: Any = 0.0,
    end_acceleration: Any = 0.0,
    duration: float | None = None,
    mechanism: Mechanism | None = None,
) -> PointMotion:
    """Return the fastest motion from one state to another with limits of speed, acceleration and jerk; all joints arrive together.

    Parameters
    ----------
    start, end : array, (..., n)
        Positions; leading axes are many motions.
    velocity, acceleration, jerk : number or array, (n,)
        Limits.
    start_velocity, end_velocity, start_acceleration, end_acceleration : number or array, (..., n)
        The rest of the states at the ends.
    duration : float [s]
        Time to take, in place of the least.
    mechanism : Mechanism
        Whose joints move, if the motion is to be run, tracked or saved with its forces; every joint has a motor. Limits of forces are not looked at.

    Raises
    ------
    InputError
        A state at an end breaks a limit, or cannot be left or reached without breaking one; a given duration is not possible.
    """
    names = (
        "start",
        "end",
        "start_velocity",
        "end_velocity",
        "start_acceleration",
        "end_acceleration",
        "velocity",
        "acceleration",
        "jerk",
    )
    values = (
        start,
        end,
        start_velocity,
        end_velocity,
        start_acceleration,
        end_acceleration,
        velocity,
        acceleration,
        jerk,
    )
    arrays = [numbers(x, f"point_to_point: {name}") for name, x in zip(names, values)]
    if duration is not None and not (np.ndim(duration) == 0 and np.isfinite(duration)):
        raise InputError(
            f"point_to_point: duration = {duration!r}; expected one number of seconds for all motions"
        )
    for name, array in zip(names, arrays):
        if not np.isfinite(array).all() or (name in names[-3:] and not (array > 0).all()):
            raise InputError(
                f"point_to_point: {name} = {array}; expected finite numbers{', above zero' if name in names[-3:] else ''}"
            )
    try:
        q0, q1, v0, v1, a0, a1, V, A, J = (np.atleast_1d(x) for x in np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(f"{n} {x.shape}" for n, x in zip(names, arrays))
        raise InputError(
            f"point_to_point: found shapes {shapes}; expected shapes that fit together"
        ) from None
    if not q0.shape[-1]:
        raise InputError("point_to_point: found positions of no joints; expected at least one")
    time = A / J
    scaled = _Scaled(
        (q1 - q0) / (A * time**2),
        np.stack([v0 / (A * time), a0 / A, v1 / (A * time), a1 / A], -1),
        V / (A * time),
        time,
    )
    scaled.require_possible()
    if scaled.ends[..., 1::2].any():
        least = scaled.first(np.zeros(q0.shape)) * time
        T = scaled.together(least) if duration is None else np.empty(0)
    else:
        least, T = scaled.together_of(possible_durations(scaled.way, scaled.ends, scaled.top))
    if duration is not None:
        T = np.full(q0.shape[:-1], float(duration))
        scaled.require_duration(T, least)
    ahead, behind, share, _ = scaled.parts(T[..., None] / time)
    parts = np.maximum(np.stack([ahead, behind], -2), 0.0) * time[..., None, None]
    total = float(T) if not T.shape else T
    return PointMotion(
        q0, total, least, parts, share, np.stack([v0, a0], -1), J, require_joints(mechanism, q0.shape[-1])
    )


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Ways, states at the ends and limits of speed in units in which limits of acceleration and jerk are 1, and those units of time."""

    way: np.ndarray
    ends: np.ndarray
    top: np.ndarray
    time: np.ndarray

    def require_possible(self) -> None:
        v0, a0, v1, a1 = np.moveaxis(self.ends, -1, 0)
        # speeds that follow when the acceleration is taken back at once, or came before
        after, before = v0 + np.sign(a0) * a0**2 / 2, v1 - np.sign(a1) * a1**2 / 2
        for what, size, limit in (
            ("acceleration at the start", np.abs(a0), 1.0),
            ("acceleration at the end", np.abs(a1), 1.0),
            ("speed at the start", np.abs(v0), self.top),
            ("speed at the end", np.abs(v1), self.top),
            ("speed that follows from the acceleration at the start", np.abs(after), self.top),
            ("speed that comes before the acceleration at the end", np.abs(before), self.top),
        ):
            share = size / limit
            if (share > 1 + 1e-9).any():
                at = tuple(int(k) for k in np.unravel_index(int(np.argmax(share)), share.shape))
                raise InputError(
                    f"point_to_point: the {what} is {share[at]:.4g} of its limit (joint {at[-1]}{f' of motion {at[:-1]}' if at[:-1] else ''}); "
                    "expected states within the limits that can be left and reached within them"
                )

    @cached_property
    def longest(self) -> np.ndarray:
        """Durations that are possible for certain: to rest, from rest to rest, and from rest."""
        v0, a0, v1, a1 = np.abs(np.moveaxis(self.ends, -1, 0))
        times = [2 * a + v + a**2 / 2 + 2 * np.sqrt(v + a**2) for v, a in ((v0, a0), (v1, a1))]
        way = np.abs(self.way) + times[0] * (v0 + a0**2) + times[1] * (v1 + a1**2)
        speed = np.minimum(self.top, np.sqrt(way) + way ** (1 / 3))
        return (
            1.01 * (times[0] + times[1] + way / np.maximum(speed, 1e-300) + 2 * speed + 4 * np.sqrt(speed))
            + 1e-12
        )

    def margin(self, T: np.ndarray) -> np.ndarray:
        """Return numbers below zero where durations (..., n, k) are impossible."""
        return _margin()(T, self.way[..., None], self.ends[..., None, :], self.top[..., None])

    def parts(self, T: np.ndarray) -> tuple[np.ndarray, ...]:
        return parts_of()(T, self.way, self.ends, self.top)

    def first(self, low: np.ndarray) -> np.ndarray:
        """Return the least possible durations from given ones on, (..., n)."""
        if not self.ends.any():  # from rest to rest every duration from the least on is possible
            high = low + self.longest
            return self._halved(low, high)
        grid = np.concatenate([[0.0], np.geomspace(FIRST, 1.0, SAMPLES)])
        T = low[..., None] + self.longest[..., None] * grid
        margin = self.margin(T)
        for _ in range(CLOSER):
            T, margin = self._closer(T, margin)
        possible = margin >= 0
        if not possible.any(axis=-1).all():
            raise NumericalError(
                "point_to_point: no duration was found to be possible; expected finite limits of similar sizes"
            )
        k = np.argmax(possible, axis=-1)[..., None]
        high = np.take_along_axis(T, k, -1)[..., 0]
        below = np.take_along_axis(T, np.maximum(k - 1, 0), -1)[..., 0]
        return self._halved(below, high)

    def _closer(self, T: np.ndarray, margin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return durations with more of them about the best impossible one before the first possible one."""
        seen = np.cumsum(margin >= 0, axis=-1) > 0
        peak = np.zeros(margin.shape, dtype=bool)
        peak[..., 1:-1] = (
            (margin[..., 1:-1] >= margin[..., :-2])
            & (margin[..., 1:-1] > margin[..., 2:])
            & (margin[..., 1:-1] > -1e29)
        )
        score = np.where(peak & ~seen, margin / (1 + np.abs(self.way[..., None])), -np.inf)
        k = np.clip(np.argmax(score, axis=-1), 1, T.shape[-1] - 2)[..., None]
        low, high = (np.take_along_axis(T, k + d, -1) for d in (-1, 1))
        new = low + (high - low) * np.linspace(0, 1, 66)[1:-1]
        T = np.concatenate([T, new], axis=-1)
        margin = np.concatenate([margin, self.margin(new)], axis=-1)
        order = np.argsort(T, axis=-1)
        return np.take_along_axis(T, order, -1), np.take_along_axis(margin, order, -1)

    def _halved(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        rows = low.size
        state = np.stack([low.ravel(), high.ravel()], 1)
        p = np.concatenate(
            [self.way.reshape(rows, 1), self.ends.reshape(rows, 4), self.top.reshape(rows, 1)], axis=1
        )
        log = np.empty((rows, HALVINGS, 1))
        _halving().on(state, p, np.zeros((HALVINGS, 0)), np.full(rows, NEVER), log)(0, HALVINGS)
        return state[:, 1].reshape(low.shape)

    def together_of(self, durations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least duration [s] of every joint, (..., n), and that which is possible for all, (...); of those that `possible_durations` gives."""
        least, first, last = durations * self.time
        least = np.where((first < least) & (least < last), last, least)
        T = least.max(axis=-1)
        for _ in range(least.shape[-1]):
            blocked = (first < T[..., None]) & (T[..., None] < last)
            if not blocked.any():
                break
            T = np.maximum(T, np.where(blocked, last, 0.0).max(axis=-1))
        return least, T

    def together(self, least: np.ndarray) -> np.ndarray:
        """Return the least duration [s] that is possible for all joints, (...)."""
        T = least.max(axis=-1) * (1 + ROUNDING)
        for _ in range(4 * least.shape[-1]):
            scaled = T[..., None] / self.time
            blocked = self.margin(scaled[..., None])[..., 0] < 0
            if not blocked.any():
                return T
            later = self.first(scaled) * self.time
            T = np.maximum(T, np.where(blocked, later, 0.0).max(axis=-1) * (1 + ROUNDING))
        raise NumericalError(
            "point_to_point: no common duration was found; expected one after the last of the joints'"
        )

    def require_duration(self, T: np.ndarray, least: np.ndarray) -> None:
        margin = self.margin((T[..., None] / self.time)[..., None])[..., 0]
        if (margin < 0).any():
            at = tuple(int(k) for k in np.unravel_index(int(np.argmin(margin)), margin.shape))
            raise InputError(
                f"point_to_point: duration = {T.flat[0]:g} s is not possible for joint {at[-1]}, whose least is {least[at]:.6g} s; expected more time "
                "(with moving ends some times above the least are not possible either)"
            )
