"""From one state to another within limits of speed, acceleration and jerk, all joints at the same time: the least time, in closed form per duration.

In units in which the limits of acceleration and jerk are 1, a motion of given duration T that ends as far ahead as possible has the jerks
+1, 0, -1, 0, -1, 0, +1 (speeding up to a_1, slowing down with a_2): T and the change of speed determine a_1 and a_2 by quadratic equations,
in five cases of which limits are met. Mirrored, it ends as far behind as possible. States between those two are reached by mixing them: limits are
convex, so that a mix keeps to them. A duration is possible if the goal lies between; where possible ones begin, polynomials say (`durations`), or, more
quickly without accelerations at the ends, Newton steps on convex functions (`extreme_motion`). All joints then take the least duration that is possible for
all.
"""

from __future__ import annotations

import threading
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
from articulus.motion.trajectory.durations import BEGINNINGS, beginnings
from articulus.motion.trajectory.extreme_motion import (
    FAR,
    JERKS,
    ROW,
    SHARES,
    end_shares,
    parts,
    possible_durations,
    scale_function,
    search_on,
)
from articulus.motion.trajectory.points import numbers, require_joints

PARTS = 7
"""Parts with constant jerk of an extreme motion."""
FLOAT = np.dtype(float)
LIMITS = ROW[6:9]
MOST = 1e150
"""Durations from which on none is possible."""


@dataclass(frozen=True, eq=False)
class PointMotion(Motion):
    """A motion from state to state, or many.

    Parameters
    ----------
    q0 : array, (..., n)
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

    q0: np.ndarray
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
            for name in ("q0", "least", "parts", "share", "ends", "jerk_limit")
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
        out[0] += self.q0[..., None]
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
    q0: Any,
    goal: Any,
    *,
    velocity_limit: Any,
    acceleration_limit: Any,
    jerk_limit: Any,
    v0: Any = 0.0,
    goal_velocity: Any = 0.0,
    vdot0: Any = 0.0,
    goal_acceleration: Any = 0.0,
    duration: float | None = None,
    mechanism: Mechanism | None = None,
) -> PointMotion:
    """Return the fastest motion from one state to another with limits of speed, acceleration and jerk; all joints arrive together.

    Parameters
    ----------
    q0, end : array, (..., n)
        Positions; leading axes are many motions.
    velocity_limit, acceleration_limit, jerk_limit : number or array, (n,)
        Limits.
    v0, goal_velocity, vdot0, goal_acceleration : number or array, (..., n)
        The rest of the states at the ends.
    duration : float [s]
        Time to take, in place of the least.
    mechanism : Mechanism
        Whose joints move, if the motion is to be run, tracked or saved with its forces; every joint has a motor. Limits of forces are ignored.

    Raises
    ------
    InputError
        A state at an end breaks a limit, or cannot be left or reached without breaking one; a given duration is not possible.
    """
    if duration is not None and not (np.ndim(duration) == 0 and np.isfinite(duration)):
        raise InputError(
            f"point_to_point: duration = {duration!r}; expected one number of seconds for all motions"
        )
    arrays = _arrays(
        q0,
        v0,
        vdot0,
        goal,
        goal_velocity,
        goal_acceleration,
        velocity_limit,
        acceleration_limit,
        jerk_limit,
    )
    shape = _shape(arrays)
    pushed = bool(arrays[2].any() or arrays[5].any())
    single = _one(arrays, shape[0], pushed) if len(shape) == 1 and duration is None else None
    rows, durations, T, parts = single or _many(_fill(np.empty((*shape, len(ROW))), arrays), pushed, duration)
    return PointMotion(
        rows[..., 0],
        T,
        durations[..., 1],
        parts[..., :-2].reshape(*shape, 2, PARTS),
        parts[..., -2],
        rows[..., 1:3],
        rows[..., 8],
        require_joints(mechanism, shape[-1]),
    )


def _arrays(*given: Any) -> list[np.ndarray]:
    """Return what is given as arrays of numbers, in the order of `ROW`."""
    return [
        x if type(x) is np.ndarray and x.dtype is FLOAT else numbers(x, "point_to_point: ", name)
        for name, x in zip(ROW, given)
    ]


def _shape(arrays: Sequence[np.ndarray]) -> tuple[int, ...]:
    """Return how many motions there are, along each axis, and how many joints."""
    try:
        shape = np.broadcast(*arrays).shape or (1,)
    except ValueError:
        shapes = ", ".join(f"{n} {x.shape}" for n, x in zip(ROW, arrays))
        raise InputError(
            f"point_to_point: found shapes {shapes}; expected shapes that fit together"
        ) from None
    if not shape[-1]:
        raise InputError("point_to_point: found positions of no joints; expected at least one")
    return shape


def _fill(rows: np.ndarray, arrays: Sequence[np.ndarray]) -> np.ndarray:
    for k, x in enumerate(arrays):
        rows[..., k] = x
    return rows


class _Desk:
    """One motion of n joints on arrays that stay where they are, with native code prepared for them: what else surrounds a call takes longer than the call."""

    def __init__(self, n: int, pushed: bool):
        self.rows = np.empty((n, len(ROW)))
        self.search = (beginnings() if pushed else possible_durations()).bind(self.rows)
        (self.durations,) = self.search.outputs
        self.together = _together(n, pushed).bind(self.durations)
        self.worst, self.T = self.together.outputs
        self.part = parts().bind(self.rows, self.T)
        (self.parts,) = self.part.outputs


class _Desks(threading.local):
    """Those of a thread, by number of joints and whether they are pushed."""

    def __init__(self) -> None:
        self.all: dict[tuple[int, bool], _Desk] = {}


_desks = _Desks()


def _one(arrays: Sequence[np.ndarray], n: int, pushed: bool) -> tuple[Any, ...] | None:
    """Return numbers, durations, the least for all joints and its parts of one motion; None where `_many` has to look closer."""
    desk = _desks.all.get((n, pushed))
    if desk is None:
        desk = _desks.all[n, pushed] = _Desk(n, pushed)
    _fill(desk.rows, arrays)
    desk.search()
    desk.together()
    if not desk.worst.item() <= FAR:
        return None
    desk.part()
    if pushed and not desk.parts[:, -1].min() >= 0:
        return None
    return desk.rows.copy(), desk.durations.copy(), desk.T.item(), desk.parts.copy()


def _many(rows: np.ndarray, pushed: bool, duration: float | None) -> tuple[Any, ...]:
    """Return numbers, durations, the least for all joints of each motion or the given one, and its parts; refuse what is not possible."""
    durations = (beginnings() if pushed else possible_durations())(rows)
    together = _together(rows.shape[-2], pushed)
    worst, T = together(durations)
    if not worst.max() <= FAR and not pushed:
        slow = ~(durations[..., 0] <= FAR)
        durations[slow] = search_on(rows[slow])
        worst, T = together(durations)
    if not worst.max() <= FAR:
        _refuse(rows, durations[..., 0])
    if duration is not None:
        T = np.full(T.shape, float(duration))
    found = parts()(rows, T[..., None])
    if duration is not None:
        _require_duration(T, durations[..., 1], found[..., -1])
    elif pushed:
        T, found = _next_possible(rows, durations[..., 2:], T, found)
    return rows, durations, T if T.ndim else float(T), found


def _refuse(rows: np.ndarray, worst: np.ndarray) -> None:
    """Say what is wrong with rows whose states take more than all of a limit, or are no numbers."""
    for name, x in zip(ROW, np.moveaxis(rows, -1, 0)):
        bad = ~(np.isfinite(x) & ((x > 0) | (name not in LIMITS)))
        if bad.any():
            above = ", above zero" if name in LIMITS else ""
            at = _place(bad)
            raise InputError(
                f"point_to_point: {name} = {float(x[at])}; expected finite numbers{above} ({_words(at)})"
            )
    at = _place(worst)
    shares = np.array(_shares()(rows[at])).ravel()
    what = int(np.argmax(shares))
    if not shares[what] > FAR:
        raise NumericalError(
            "point_to_point: no duration was found to be possible; expected finite limits of similar sizes"
        )
    raise InputError(
        f"point_to_point: the {SHARES[what]} is {shares[what]:.4g} of its limit ({_words(at)}); "
        "expected states within the limits that can be left and reached within them"
    )


def _place(of: np.ndarray) -> tuple[int, ...]:
    """Return where the largest number is."""
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(of)), of.shape))


def _words(at: tuple[int, ...]) -> str:
    return f"joint {at[-1]}{f' of motion {at[:-1]}' if at[:-1] else ''}"


@cache
def _shares() -> ca.Function:
    """Return the function of the numbers of a joint to what its states at the ends take of the limits, (6,)."""
    row = SX.sym("row", len(ROW))
    _, ends, V, _, _ = scale_function()(row)
    return ca.Function("shares", [row], [ca.vertcat(*end_shares(ca.vertsplit(ends), V))])


@cache
def _together(n: int, pushed: bool) -> kernel.Kernel:
    """Return native code: durations of n joints, as `possible_durations` or, for `pushed` ones, `beginnings` gives them, to the largest share that states take of
    their limits, and the duration that is possible for all joints; for pushed ones the largest of those that are possible for each, with which the search begins.
    """

    columns = 2 + (BEGINNINGS if pushed else 2)

    def build() -> ca.Function:
        durations = SX.sym("durations", n, columns)
        worst, least = ca.mmax(durations[:, 0]), durations[:, 1]
        T = ca.mmax(least)
        for _ in range(0 if pushed else n):
            blocked = (durations[:, 2] < T) * (durations[:, 3] > T)
            T = ca.fmax(T, ca.mmax(ca.if_else(blocked, durations[:, 3], 0)))
        return ca.Function("together", [durations], [worst, T])

    key = f"point to point together 1 {n} {columns}"
    return kernel.cached(key, build, finite=False, ranks=lambda: ((2,), (0, 0)))


def _next_possible(
    rows: np.ndarray, begin: np.ndarray, T: np.ndarray, found: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first duration from T on that is possible for all joints, (...), of those at which possible ones may begin, and its parts."""
    for _ in range(begin.shape[-1] * begin.shape[-2]):
        if not np.max(T) < MOST:
            break
        margin = found[..., -1]
        if margin.min() >= 0:
            return T, found
        later = np.where(begin > T[..., None, None], begin, np.inf).min(axis=-1)
        T = np.maximum(T, np.where(margin < 0, later, 0.0).max(axis=-1))
        found = parts()(rows, T[..., None])
    raise NumericalError(
        "point_to_point: no duration was found to be possible; expected finite limits of similar sizes"
    )


def _require_duration(T: np.ndarray, least: np.ndarray, margin: np.ndarray) -> None:
    if (margin < 0).any():
        at = _place(-margin)
        raise InputError(
            f"point_to_point: duration = {T.flat[0]:g} s is not possible for joint {at[-1]}, whose least is {least[at]:.6g} s; expected more time "
            "(with moving ends some times above the least are not possible either)"
        )
