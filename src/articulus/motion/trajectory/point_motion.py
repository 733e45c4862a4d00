"""From one state to another within limits of speed, acceleration and jerk, all joints at the same time: the least time that is possible for all.

For a given duration there is a motion of every joint that ends as far ahead as possible, and one that ends as far behind. States between those two
are reached by mixing them: limits are convex, so that a mix keeps to them. Which durations are possible for a joint is found by `extreme_motion`; all joints
take the least one that is possible for all (Berscheid & Kroeger 2021, who build a motion of that duration by cases in place of the mix).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.motion.trajectory.extreme_motion import JERKS, possible_durations
from articulus.motion.trajectory.extreme_motion import parts as parts_of
from articulus.motion.trajectory.points import numbers


@dataclass(frozen=True, eq=False)
class PointMotion:
    """A motion from state to state.

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
    jerk : array, (..., n)
        Limits of jerk.
    """

    start: np.ndarray
    duration: Any
    least: np.ndarray
    parts: np.ndarray
    share: np.ndarray
    ends: np.ndarray
    jerk: np.ndarray

    def at(self, t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return positions, speeds, accelerations and jerks at times, (..., times, n) each; at rest of change before and after."""
        t = np.atleast_1d(np.asarray(t, dtype=float))
        clipped = np.clip(t, 0.0, np.asarray(self.duration)[..., None])  # (..., times)
        out: Any = 0.0
        for k, (sign, weight) in enumerate(((1.0, self.share), (-1.0, 1.0 - self.share))):
            out = out + weight[..., None] * self._one(clipped, k, sign)
        out[0] += self.start[..., None]
        return tuple(np.swapaxes(x, -1, -2) for x in out)

    def _one(self, t: np.ndarray, which: int, sign: float) -> np.ndarray:
        """Return way, speed, acceleration and jerk of one of the two motions, (4, ..., n, times)."""
        left = t[..., None, :] * np.ones_like(self.jerk)[..., None]
        x = np.zeros_like(left)
        v, a = (np.broadcast_to(self.ends[..., k, None], left.shape).copy() for k in range(2))
        now = np.zeros_like(left)
        for part, jerk in enumerate(JERKS):
            j = sign * jerk * self.jerk[..., None]
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
    least, T = scaled.together(possible_durations(scaled.way, scaled.ends, scaled.top))
    if duration is not None:
        T = np.full(q0.shape[:-1], float(duration))
        scaled.require_duration(T, least)
    ahead, behind, share, _ = parts_of()(T[..., None] / time, scaled.way, scaled.ends, scaled.top)
    parts = np.maximum(np.stack([ahead, behind], -2), 0.0) * time[..., None, None]
    total = float(T) if not T.shape else T
    return PointMotion(q0, total, least, parts, share, np.stack([v0, a0], -1), J)


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

    def together(self, durations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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

    def require_duration(self, T: np.ndarray, least: np.ndarray) -> None:
        *_, margin = parts_of()(T[..., None] / self.time, self.way, self.ends, self.top)
        if (margin < 0).any():
            at = tuple(int(k) for k in np.unravel_index(int(np.argmin(margin)), margin.shape))
            raise InputError(
                f"point_to_point: duration = {T.flat[0]:g} s is not possible for joint {at[-1]}, whose least is {least[at]:.6g} s; expected more time "
                "(with moving ends some times above the least are not possible either)"
            )
