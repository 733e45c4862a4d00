"""From one state to another within limits of speed, acceleration and jerk, all joints at the same time: the least time, in closed form per duration.

In units in which the limits of acceleration and jerk are 1, a motion of given duration T that ends as far ahead as possible has the jerks
+1, 0, -1, 0, -1, 0, +1 (speeding up to a_1, slowing down with a_2): T and the change of speed determine a_1 and a_2 by quadratic equations,
in five cases of which limits are met. Mirrored, it ends as far behind as possible. States between those two are reached by mixing them: limits are
convex, so that a mix keeps to them. A duration is possible if the goal lies between; where possible ones begin, polynomials say (`durations`), or, more
quickly without accelerations at the ends, Newton steps on convex functions (`extreme_motion`). All joints then take the least duration that is possible for
all.
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
from articulus.motion.motion import Motion, MotionState
from articulus.motion.trajectory.durations import NONE, beginnings
from articulus.motion.trajectory.extreme_motion import JERKS, possible_durations
from articulus.motion.trajectory.extreme_motion import parts as parts_of
from articulus.motion.trajectory.points import numbers, require_joints

PARTS = 7
"""Parts with constant jerk of an extreme motion."""
SHARES = (
    "acceleration at the start",
    "acceleration at the end",
    "speed at the start",
    "speed at the end",
    "speed that follows from the acceleration at the start",
    "speed that comes before the acceleration at the end",
)
"""What is compared with limits at the ends."""
STATES = "start", "end", "start_velocity", "end_velocity", "start_acceleration", "end_acceleration"
LIMITS = "velocity_limit", "acceleration_limit", "jerk_limit"


@cache
def _shares() -> kernel.Kernel:
    """Return native code: ends and V to what the states at the ends take of the limits, (6,), in the order of `SHARES`."""

    def build() -> ca.Function:
        ends, V = SX.sym("ends", 4), SX.sym("V")
        v0, a0, v1, a1 = ca.vertsplit(ends)
        # speeds that follow when the acceleration is taken back at once, or came before
        after, before = v0 + a0 * ca.fabs(a0) / 2, v1 - a1 * ca.fabs(a1) / 2
        speeds = ca.vertcat(v0, v1, after, before) / V
        return ca.Function("shares", [ends, V], [ca.fabs(ca.vertcat(a0, a1, speeds))])

    return kernel.cached("point to point shares 1", build, finite=False, ranks=lambda: ((1, 0), (1,)))


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
    velocity_limit: Any,
    acceleration_limit: Any,
    jerk_limit: Any,
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
    velocity_limit, acceleration_limit, jerk_limit : number or array, (n,)
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
    given = (
        start,
        end,
        start_velocity,
        end_velocity,
        start_acceleration,
        end_acceleration,
        velocity_limit,
        acceleration_limit,
        jerk_limit,
    )
    if duration is not None and not (np.ndim(duration) == 0 and np.isfinite(duration)):
        raise InputError(
            f"point_to_point: duration = {duration!r}; expected one number of seconds for all motions"
        )
    q0, q1, v0, v1, a0, a1, V, A, J = _numbers(given)
    time = A / J
    speed = A * time
    scaled = _Scaled(
        (q1 - q0) / (speed * time), np.stack([v0 / speed, a0 / A, v1 / speed, a1 / A], -1), V / speed, time
    )
    scaled.require_possible()
    if scaled.ends[..., 1::2].any():
        least, T = scaled.together(beginnings()(scaled.way, scaled.ends, scaled.top) * time[..., None])
    else:
        least, T = scaled.together_of(possible_durations(scaled.way, scaled.ends, scaled.top))
    if duration is not None:
        T = np.full(q0.shape[:-1], float(duration))
    ahead, behind, share, margin = scaled.parts(T[..., None] / time)
    if duration is not None:
        _require_duration(T, least, margin)
    parts = np.maximum(np.stack([ahead, behind], -2), 0.0) * time[..., None, None]
    total = float(T) if not T.shape else T
    return PointMotion(
        q0, total, least, parts, share, np.stack([v0, a0], -1), J, require_joints(mechanism, q0.shape[-1])
    )


def _numbers(given: Sequence[Any]) -> np.ndarray:
    """Return states and limits of all joints of all motions, (9, ..., n)."""
    names = (*STATES, *LIMITS)
    arrays = [numbers(x, f"point_to_point: {name}") for name, x in zip(names, given)]
    try:
        shape = np.broadcast_shapes(*(x.shape for x in arrays)) or (1,)
        found = np.empty((len(arrays), *shape))
        for row, x in zip(found, arrays):
            row[...] = x
    except ValueError:
        shapes = ", ".join(f"{n} {x.shape}" for n, x in zip(names, arrays))
        raise InputError(
            f"point_to_point: found shapes {shapes}; expected shapes that fit together"
        ) from None
    if not found.shape[-1]:
        raise InputError("point_to_point: found positions of no joints; expected at least one")
    if not (np.isfinite(found).all() and (found[-3:] > 0).all()):
        for name, x in zip(names, arrays):
            if not np.isfinite(x).all() or (name in LIMITS and not (x > 0).all()):
                above = ", above zero" if name in LIMITS else ""
                raise InputError(f"point_to_point: {name} = {x}; expected finite numbers{above}")
    return found


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Ways, states at the ends and limits of speed in units in which limits of acceleration and jerk are 1, and those units of time."""

    way: np.ndarray
    ends: np.ndarray
    top: np.ndarray
    time: np.ndarray

    def require_possible(self) -> None:
        shares = _shares()(self.ends, self.top)
        if shares.max(initial=0.0) <= 1 + 1e-9:
            return
        *at, what = (int(k) for k in np.unravel_index(int(np.argmax(shares)), shares.shape))
        raise InputError(
            f"point_to_point: the {SHARES[what]} is {shares[*at, what]:.4g} of its limit (joint {at[-1]}{f' of motion {tuple(at[:-1])}' if at[:-1] else ''}); "
            "expected states within the limits that can be left and reached within them"
        )

    def parts(self, T: np.ndarray) -> tuple[np.ndarray, ...]:
        return parts_of()(T, self.way, self.ends, self.top)

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

    def together(self, begin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least duration [s] of every joint, (..., n), and that which is possible for all, (...); of those at which possible ones may begin."""
        least = begin.min(axis=-1)
        T = least.max(axis=-1)
        for _ in range(begin.shape[-1] * begin.shape[-2]):
            if not np.isfinite(T * (1 / NONE)).all() or (NONE * self.time.min() <= T).any():
                break
            blocked = self.parts(T[..., None] / self.time)[3] < 0
            if not blocked.any():
                return least, T
            later = np.where(begin > T[..., None, None], begin, np.inf).min(axis=-1)
            T = np.maximum(T, np.where(blocked, later, 0.0).max(axis=-1))
        raise NumericalError(
            "point_to_point: no duration was found to be possible; expected finite limits of similar sizes"
        )


def _require_duration(T: np.ndarray, least: np.ndarray, margin: np.ndarray) -> None:
    if (margin < 0).any():
        at = tuple(int(k) for k in np.unravel_index(int(np.argmin(margin)), margin.shape))
        raise InputError(
            f"point_to_point: duration = {T.flat[0]:g} s is not possible for joint {at[-1]}, whose least is {least[at]:.6g} s; expected more time "
            "(with moving ends some times above the least are not possible either)"
        )
