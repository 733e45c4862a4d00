"""The fastest run along a given path, for trees and closed loops, for many paths at once.

Along a path q(s) the forces of the motors are a(s) s'' + b(s) s'^2 + c(s) + d(s) s': limits are lines in the plane of s'' and s'^2
(`speed_profile`), but for d, which is brought up to date from run to run. What a run exceeds between the points is taken off the limits there,
and the run is repeated.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from articulus.dynamics.loops.free_coordinates import split
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import DoubtfulResult, InputError, NumericalError
from articulus.model.mechanism import Prescribed, PrescribedPoint
from articulus.motion.trajectory.path_curves import Closing, Curve, SplineCurve, chords, looked_at
from articulus.motion.trajectory.path_jerk import with_jerk
from articulus.motion.trajectory.path_limits import PathLimits, has_dampers, less, limit_values
from articulus.motion.trajectory.path_motion import PathMotion
from articulus.motion.trajectory.speed_profile import Profiles

MOST = 2**17
"""Most intervals of a grid."""
SWEEPS = 60
"""Most repetitions with dampers."""
SETTLED = 1e-6
"""Change of the squared speeds, over the largest, at which those repetitions end."""
LEAST = 1e-9
"""Squared speed, over the largest, about which the dampers are taken where the run is slower."""
KEPT = 5e-5
"""Excess of a limit between the points, over the limit, from which on it is taken off there."""
DOUBTFUL = 1e-3
"""Excess of a limit that is warned of."""
CHECKED = (0.5,), (0.3, 0.5, 0.7), *8 * [(0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875)]
"""Places within the intervals at which limits are examined before each repetition; the first two of all paths."""
BENT = 0.99
"""What is kept of a limit, below which it is examined at more places."""
TOGETHER = 32
"""Paths that are worked on together."""
ARRAYS = "names", "q", "first", "second", "s", "steps", "forces"
"""Arrays of `_Work` whose first axis is that of the paths."""
LOOKED = 16
"""Places in an interval that are examined after a run whose grid is too coarse for all knots of the curve."""
HALVINGS = 60
"""Steps in which the share of the slowest run is found for a given duration."""


def path_speed(
    mechanism: Mechanism,
    points: Any,
    *,
    torque_limit: Mapping[str, float] | float | None = None,
    velocity_limit: Mapping[str, float] | float | None = None,
    acceleration_limit: Mapping[str, float] | float | None = None,
    jerk_limit: Mapping[str, float] | float | None = None,
    tool: tuple[str, float] | None = None,
    friction: Mapping[str, float] | None = None,
    actuators: Sequence[str] | None = None,
    guess: Any = None,
    grid: int = 400,
    gap: float | None = None,
    speeds: tuple[float, float] = (0.0, 0.0),
    duration: float | None = None,
) -> PathMotion:
    """Return the fastest run through positions on a smooth curve, within the limits of the joints.

    Parameters
    ----------
    mechanism : Mechanism
        Whose velocities are the rates of its coordinates; dampers of its joints count.
    points : array, (..., k, nq), or callable
        Positions to pass, two or more, joined by a cubic spline by the lengths of their chords; leading axes are many paths. Or s -> (q,
        dq/ds, d2q/ds2) for s from 0 to 1. With closed loops, of the coordinates of `actuators` alone.
    torque_limit, velocity_limit, acceleration_limit, jerk_limit : dict of joint to number, or a number
        Limits in place of those of the joints (the joints have none of acceleration and jerk). With limits of jerk s'' is zero at both
        ends, and every path is a program of its own for ipopt: tenths of a second instead of a millisecond.
    tool : (str, float) [m/s]
        Frame whose speed is limited, and its limit.
    friction : dict of joint to float [N m or N]
        Dry friction, which the motors overcome.
    actuators : sequence of str
        With closed loops: the joints with motors, as many as there are degrees of freedom.
    guess : positions
        With closed loops: a position near the start of the path, in which they are closed; that of the model if not given.
    grid : int
        Intervals of the grid; they are shorter towards the ends.
    gap : float [-]
        Estimated distance of the duration from the least, over the duration, down to which the grid is refined; not at all if not given.
    speeds : (float, float) [1/s]
        Rates of s at the start and at the end.
    duration : float [s]
        Time to take, in place of the least: between the fastest and the slowest run.

    Raises
    ------
    InputError
        No force can hold the mechanism at some point of the path: says where and which joint. The motors do not determine the forces.
    """
    limits = _limits(
        mechanism,
        points,
        torque_limit,
        velocity_limit,
        acceleration_limit,
        tool,
        friction,
        actuators,
        guess,
        speeds,
        duration,
    )
    if not isinstance(grid, int | np.integer) or grid < 2:
        raise InputError(f"path_speed: grid = {grid}; expected 2 or more intervals")
    solved = (
        _motion if jerk_limit is None else partial(_jerk_motion, limit_values(mechanism, "jerk", jerk_limit))
    )
    motion = solved(limits, grid)
    while gap is not None and (lost := float(np.max(motion.gap))) > gap:
        grid *= 2
        if grid > MOST:
            raise NumericalError(
                f"path_speed: with {MOST} intervals the duration is still about {lost:.2g} from the least; expected a gap above that"
            )
        motion = solved(limits, grid)
    return motion


def _jerk_motion(jerk: np.ndarray, limits: PathLimits, grid: int) -> PathMotion:
    if isinstance(limits.curve, SplineCurve) and limits.curve.points.ndim > 2:
        raise InputError(
            f"path_speed: found points of shape {limits.curve.points.shape} with limits of jerk; expected one path at a time, (k, n)"
        )
    return with_jerk(limits, jerk, _motion(replace(limits, duration=None), grid, dense=True), grid)


def _limits(
    m: Mechanism,
    points: Any,
    effort: Any,
    velocity: Any,
    acceleration: Any,
    tool: Any,
    friction: Any,
    joints: Any,
    start: Any,
    speeds: Any,
    duration: Any,
) -> PathLimits:
    if m.nq != m.nv and not m.constraint_names:
        raise InputError(
            f"path_speed: '{m.name}' has joints whose velocities are not the rates of their coordinates; expected joints with one degree of freedom"
        )
    if m.description.flexible:
        raise InputError(
            f"path_speed: '{m.name}' has flexible bodies, whose deflections no motor makes follow a path; expected rigid bodies. Rigid ones "
            "for the path and `plan` for the flexible ones are ways out"
        )
    motors = np.arange(m.nv)
    if m.constraint_names:
        curve, motors = _closed(m, points, joints, start)
    elif joints is not None or start is not None:
        raise InputError(
            f"path_speed: found actuators or guess, but '{m.name}' has no closed loops; expected neither"
        )
    else:
        curve = points if callable(points) else _spline(points, m.nq)
    if np.shape(speeds) != (2,) or min(speeds) < 0 or not np.isfinite(speeds).all():
        raise InputError(f"path_speed: speeds = {speeds}; expected two finite numbers of at least zero")
    dry = np.zeros(m.nv)
    for joint, size in (friction or {}).items():
        if not 0 <= size < np.inf:
            raise InputError(
                f"path_speed: friction of '{joint}' is {size}; expected a number of at least zero"
            )
        limit_values(m, "friction", {joint: 1.0})
        dry[m.v_slice(joint)] = size
    values = [
        limit_values(m, *pair)
        for pair in (("effort", effort), ("velocity", velocity), ("acceleration", acceleration))
    ]
    if not np.isfinite(np.append(values[0][motors], values[2])).any():
        raise InputError(
            "path_speed: found no finite limit of forces or accelerations; expected torque_limit=... or acceleration_limit=..."
        )
    if tool is not None and (isinstance(tool, str) or len(tool) != 2 or not tool[1] > 0):
        raise InputError(
            f"path_speed: tool = {tool!r}; expected a frame and the limit of its speed, a number above zero"
        )
    return PathLimits(
        m,
        curve,
        motors,
        values[0][motors],
        values[1],
        values[2],
        tool,
        dry[motors],
        speeds,
        duration,
        has_dampers(m),
    )


def _warn_of(excess: float) -> None:
    if excess > DOUBTFUL:
        warnings.warn(
            f"path_speed: between the points of the grid a limit is exceeded by {100 * excess:.2g} %; expected less with more intervals",
            DoubtfulResult,
            stacklevel=2,
        )


def _spline(points: Any, n: int) -> Curve:
    points = np.asarray(points, dtype=float)
    if (
        points.ndim < 2
        or not points.size
        or points.shape[-2] < 2
        or points.shape[-1] != n
        or not np.isfinite(points).all()
    ):
        raise InputError(
            f"path_speed: found points of shape {points.shape}; expected (..., k, {n}) with k of 2 or more, at least one path, all finite"
        )
    return SplineCurve(points, chords(points))


def _closed(m: Mechanism, points: Any, joints: Sequence[str] | None, start: Any) -> tuple[Curve, np.ndarray]:
    """Return the curve of all coordinates and the motors of a mechanism with closed loops."""
    for each in m.description.constraints:
        if isinstance(each, Prescribed | PrescribedPoint):
            raise InputError(
                f"path_speed: found the motion '{each.name}', which is given over time; expected closed loops alone"
            )
    q = np.asarray(m.positions(start), dtype=float) if start is not None else np.asarray(m.neutral)
    free = m.nv - len(split(m.constraint_jacobian(q)).dependent)
    motors = [k for j in joints or () for k in range(*m.v_slice(j).indices(m.nv))]
    if len(motors) != free:
        raise InputError(
            f"path_speed: '{m.name}' has closed loops with {free} degree(s) of freedom, and actuators = {list(joints or ())} has {len(motors)}; the "
            f"forces of the motors are determined by the motion only with {free}"
        )
    places = np.array(motors, dtype=int)
    coordinates = [k for j in joints or () for k in range(*m.q_slice(j).indices(m.nq))]
    if len(coordinates) != len(motors):
        raise InputError(
            f"path_speed: actuators = {list(joints or ())}: found one whose velocities are not the rates of its coordinates; expected joints with one "
            "degree of freedom"
        )
    given = points if callable(points) else _spline(points, free)
    return Closing(m, given, places, np.array(coordinates, dtype=int), q), places


def _motion(limits: PathLimits, grid: int, dense: bool = False) -> PathMotion:
    s, whole = _grid(limits.curve, grid, dense)
    if isinstance(limits.curve, SplineCurve) and s.ndim > 1:  # few paths at a time stay in the cache
        lead, many, rows = s.shape[:-1], limits.curve.flat, s.reshape(-1, grid + 1)
        run, late = np.empty((*rows.shape, 3)), list[_Work]()
        for k in range(0, len(rows), TOGETHER):
            part = slice(k, k + TOGETHER)
            run[part] = _Work(limits, rows[part], many.part(part), whole, k).solve(late)
            if sum(len(work.s) for work in late) >= TOGETHER:
                _finish(late, run)
    else:
        work, late = _Work(limits, s, limits.curve, whole), []
        lead, run = work.lead, work.solve(late)
    _finish(late, run)
    run = run.reshape(*lead, -1, 3)
    speed = np.sqrt(np.maximum(run[..., 0], 0.0))
    if (speed[..., 1:-1] <= 0).any():
        where = float(np.broadcast_to(s, speed.shape)[..., 1:-1].flat[int(np.argmin(speed[..., 1:-1]))])
        raise NumericalError(f"path_speed: the run comes to a stop at s = {where:.4g} of the path")
    found = PathMotion(limits, s, speed, run[..., 1:, 1:].copy(), partial(_motion, limits, dense=dense))
    if not whole:  # the curve may bend more often than the grid has points
        _warn_of(found.overload(LOOKED))
    return found


def _finish(late: list[_Work], found: np.ndarray) -> None:
    """Repeat the runs that are left of some works all together."""
    if not late:
        return
    rest = copy(late[0])
    for name in (*ARRAYS, "kept"):
        setattr(rest, name, np.concatenate([getattr(work, name) for work in late]))
    rest.hold = max(work.hold for work in late)
    found[rest.names] = rest.kept_to(rest.swept(found[rest.names, :, 0]), 2)
    late.clear()


@lru_cache(maxsize=8)
def _grid_points(count: int, dense: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a grid from 0 to 1 without knots, and the middles of its intervals."""
    even = np.linspace(0.0, 1.0, count + 1)
    s = even / 2 + (1 - np.cos(np.pi * even)) / 4
    if dense:  # like the way from rest with constant jerk
        s = even**3 * (10 - 15 * even + 6 * even**2)
    return s, (s[1:] + s[:-1]) / 2


def _grid(curve: Curve, count: int, dense: bool) -> tuple[np.ndarray, bool]:
    """Return a grid with shorter (much shorter if dense) intervals towards the ends, (points,), or (..., points) with the nearest point moved to every
    knot, and whether every knot is a point of it."""
    s, middles = _grid_points(count, dense)
    knots = getattr(curve, "knots", None)
    if knots is None:
        return s.copy(), True
    inner = knots[..., 1:-1]
    near = np.clip(np.searchsorted(middles, inner), 1, count - 1)
    out = np.broadcast_to(s, (*knots.shape[:-1], count + 1)).copy()
    np.put_along_axis(out, near, inner, axis=-1)
    return out, bool((near[..., 1:] > near[..., :-1]).all())


class _Work:
    """Limits on a grid, and runs within them; `whole` if every knot of the curve is a point of the grid."""

    def __init__(self, limits: PathLimits, s: np.ndarray, curve: Curve, whole: bool, before: int = 0):
        m = limits.mechanism
        own = isinstance(curve, SplineCurve) or m.nq != m.nv  # of which the given curve has been looked at
        q, first, second = curve(s) if own else looked_at(curve, s, limits.mechanism.nq)
        self.limits, self.curve, self.grid, self.lead = limits, curve, s, q.shape[:-2]
        self.finer = "" if whole else "; the grid has fewer points than the path, more intervals may help"
        self.cubic = whole and limits.plain and isinstance(curve, SplineCurve)
        self.places: dict[float, tuple[np.ndarray, ...]] = {}
        self.chosen: np.ndarray | None = None
        self.rest: _Work | None = None
        self.names = before + np.arange(q[..., 0, 0].size)
        self.q, self.first, self.second = (x.reshape(-1, *x.shape[-2:]) for x in (q, first, second))
        limits.warn_beyond(self.q)
        self.s = np.broadcast_to(s, (*self.lead, s.shape[-1])).reshape(len(self.q), -1)
        self.steps = np.zeros((*self.s.shape, 2))  # intervals before and after each point
        self.steps[:, 1:, 0] = self.steps[:, :-1, 1] = np.diff(self.s)
        self.forces, hold = limits.coefficients(self.q, self.first, self.second)
        rows = len(limits.motors) + (limits.mechanism.nv if limits.limits_acceleration else 0) + 1
        self.kept = np.ones((*self.s.shape, rows))
        self.hold = float(hold.max())
        if limits.friction.any():
            self._turn_round()

    def _turn_round(self) -> None:
        """Take dry friction off the limits at both ends of the intervals in which its joint turns round, whichever sign it has there."""
        dry, effort, n = self.limits.friction, self.limits.effort, len(self.limits.motors)
        rate = self.first[..., self.limits.motors]
        still = rate == 0
        turns = (rate[:, 1:] * rate[:, :-1] < 0) | (still[:, 1:] != still[:, :-1])
        near = np.zeros(rate.shape, dtype=bool)
        near[:, 1:] = turns
        near[:, :-1] |= turns
        hold = self.forces[..., 2 * n : 3 * n]
        hold -= np.where(near, dry * np.sign(rate), 0.0)
        self.kept[..., :n] = np.where(near, np.maximum(1 - dry / effort, 0.0), 1.0)
        self.hold = max(self.hold, float((np.abs(hold) / effort).max()))

    def _part(self, rows: np.ndarray) -> _Work:
        """Return the work on some of the paths."""
        part = copy(self)
        for name in ARRAYS:
            setattr(part, name, np.take(getattr(self, name), rows, axis=0))
        if self.cubic:  # the curve is not asked any more
            return part
        if isinstance(self.curve, SplineCurve):
            part.curve, part.grid, part.places = self.curve.flat.part(rows), self.s[rows], {}
        else:
            part.chosen = rows if self.chosen is None else self.chosen[rows]
        return part

    def solve(self, late: list[_Work]) -> np.ndarray:
        """Return the run, (paths, points, 3), as `Profiles.run` does; work on paths that need more repetitions may be left to `_finish`."""
        found = self.kept_to(self.swept(None), 0)
        if self.rest is not None:
            late.append(self.rest)
        return found

    def kept_to(self, found: np.ndarray, stage: int) -> np.ndarray:
        """Return the run after what it exceeds has been taken off the limits."""
        kept, loads = self._less(found, stage)
        largest = loads.max(axis=1)
        worse = largest > 1.0 + KEPT
        if (
            stage == 1 and not self.cubic
        ):  # where much has been taken off, loads bend within an interval: look closer
            worse |= self.kept.min(axis=(1, 2)) < BENT
        if worse.any() and stage == len(CHECKED) - 1:
            _warn_of(float(largest.max()) - 1.0)
            return found
        if not worse.any():
            return found if stage else self.kept_to(found, 1)
        if not stage:
            self.kept = kept
            return self.kept_to(self.swept(found[..., 0]), 1)
        rows = np.nonzero(worse)[0]
        again = self if len(rows) == len(found) else self._part(rows)
        again.kept = kept[rows]
        if stage == 1 and self.cubic:
            self.rest = again
            return found
        found[rows] = again.kept_to(again.swept(found[rows, :, 0]), stage + 1)
        return found

    def _less(self, found: np.ndarray, stage: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what is to be kept of the limits at the points after a run, and the largest load of the intervals about each."""
        paths, points = found.shape[:2]
        loads = np.empty(
            (paths * points + 1, self.kept.shape[-1])
        )  # those of intervals from the second row on
        if self.cubic:
            loads[1:-1] = self.limits.peaks(self, found, stage > 0)
        else:
            inner = loads[1:].reshape(paths, points, -1)[:, :-1]
            inner[:] = self.limits.end_loads(self, found)
            for place in CHECKED[stage]:
                np.maximum(inner, self.limits.between(self, found, place), out=inner)
        loads[::points] = 0.0  # before the first and after the last points
        shape = self.kept.shape
        kept, largest = less(shape[-1])(loads[:-1].reshape(shape), loads[1:].reshape(shape), self.kept)
        return kept, largest

    def inside(self, place: float) -> tuple[np.ndarray, ...]:
        """Return the curve at a place within every interval."""
        if place not in self.places:
            grid = self.grid
            at = self.curve(grid[..., :-1] + place * np.diff(grid))
            self.places[place] = tuple(x.reshape(-1, *x.shape[-2:]) for x in at)
        found = self.places[place]
        return found if self.chosen is None else tuple(x[self.chosen] for x in found)

    def swept(self, about: np.ndarray | None) -> np.ndarray:
        """Return the run within what is kept of the limits, with dampers about squared rates of s."""
        if not self.limits.damped:
            return self._run(None)
        # d sqrt(x) by its tangent about the speed of the run before; first where it takes a quarter of the forces
        if about is None:
            with np.errstate(divide="ignore"):
                d = self.forces[..., 3 * len(self.limits.motors) : -1]
                about = np.min((self.limits.effort / (4 * np.abs(d))) ** 2, axis=-1, initial=np.inf)
            about = np.minimum(about, self.forces[..., -1])
        for _ in range(SWEEPS):
            found = self._run(np.maximum(about, LEAST * about.max()))
            x = found[..., 0]
            if np.abs(x - about).max() < SETTLED * x.max():
                return found
            change, about = np.abs(x - about).max() / x.max(), x
        raise NumericalError(
            f"path_speed: with dampers the speeds still change by {change:.2g} of the largest after {SWEEPS} runs; expected them to settle"
        )

    def _run(self, about: np.ndarray | None) -> np.ndarray:
        last = self.limits.speeds[1]
        # whether every point can be held at rest: then some speed is within the limits everywhere, and the end is reached
        rests = about is None and last == 0 and self.hold < 0.999 * float(self.kept.min())
        within = Profiles(self.limits.tables(self, about, rests))
        if not rests:
            self._require_open(within)
        found = within.reachable(np.full(len(self.first), last**2), rests)
        self._require_reachable(within, found, rests)
        first = np.full(len(self.first), self.limits.speeds[0] ** 2)
        fast = within.run(first)
        if self.limits.duration is None:
            return fast
        return self._in_time(fast, within.run(first, fast=False))

    def _in_time(self, fast: np.ndarray, slow: np.ndarray) -> np.ndarray:
        """Return the mix of two runs that takes the given time: limits are lines, so that a mix keeps to them, too."""
        wanted = self.limits.duration

        def mix(share: np.ndarray) -> np.ndarray:
            return fast + share[:, None, None] * (slow - fast)

        def time(share: np.ndarray) -> np.ndarray:
            run = mix(share)
            speed = np.sqrt(np.maximum(run[..., 0], 0.0))
            again = partial(_motion, self.limits)
            return np.asarray(PathMotion(self.limits, self.s, speed, run[:, 1:, 1:], again).duration)

        low, high = np.zeros(len(fast)), np.ones(len(fast))
        least, most = time(low), time(high)
        if not (np.all(least <= wanted) and np.all(most >= wanted)):
            k = int(np.argmax(np.maximum(least - wanted, wanted - most)))
            slowest = f"{most[k]:.5g} s" if most[k] < 1e6 else "any time"
            raise InputError(
                f"path_speed: duration = {wanted:g} s; the fastest run takes {least[k]:.5g} s and the slowest {slowest}. Expected a time between"
            )
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            early = time(middle) < wanted
            low, high = np.where(early, middle, low), np.where(early, high, middle)
        return mix(low)

    def _require_reachable(self, within: Profiles, found: np.ndarray, rests: bool) -> None:
        """Raise where the path, or its start with its speed, is not in the sets from which the end can be reached."""
        sets = (
            found[:, None] if rests else np.concatenate([found[:, None], within.table[:, :-1, -2:]], axis=1)
        )
        empty = sets[..., 0] > sets[..., 1] * (1 + 1e-9) + 1e-12
        if empty.any():
            row, where = (int(k[-1]) for k in np.nonzero(empty))
            which = f" of path {self.names[row]}" if self.lead else ""
            raise InputError(
                f"path_speed: from s = {self._at(row, where):.4g}{which} the end cannot be reached within the limits{self._holding(where, row)}. Expected "
                f"larger limits, a gentler curve, or other speeds at the ends{self.finer}"
            )
        begin = self.limits.speeds[0] ** 2
        off = (begin > found[:, 1] * (1 + 1e-9)) | (begin < found[:, 0] * (1 - 1e-9))
        if off.any():
            low, high = np.sqrt(np.maximum(found[np.argmax(off)], 0.0))
            raise InputError(
                f"path_speed: the speed {self.limits.speeds[0]:g} 1/s at the start is outside of {low:.4g} to {high:.4g} 1/s, from which the end "
                "can be reached"
            )

    def _require_open(self, within: Profiles) -> None:
        closed = within.table[..., -2] > within.table[..., -1]
        if closed.any():
            row, where = (int(k[0]) for k in np.nonzero(closed))
            which = f" of path {self.names[row]}" if self.lead else ""
            raise InputError(
                f"path_speed: at s = {self._at(row, where):.4g}{which} no speed is within the limits{self._holding(where, row)}. Expected larger limits or "
                f"another path{self.finer}"
            )
        last = self.limits.speeds[1] ** 2
        if (over := last > within.table[:, -1, -1] * (1 + 1e-9)).any():
            most = np.sqrt(max(within.table[np.argmax(over), -1, -1], 0.0))
            raise InputError(
                f"path_speed: the speed {self.limits.speeds[1]:g} 1/s at the end is above {most:.4g} 1/s, which the limits allow there"
            )

    def _at(self, path: int, point: int) -> float:
        return float(self.s[path, point])

    def _holding(self, where: int, path: int) -> str:
        """Return what holding the mechanism still on the rest of the path takes, if that is more than the limits."""
        n = len(self.limits.motors)
        hold = np.abs(self.forces[path, where:, 2 * n : 3 * n]) / self.limits.effort
        k, motor = np.unravel_index(int(np.argmax(hold)), hold.shape)
        if hold[k, motor] <= 1:
            return ""
        name = self.limits.mechanism.v_names[self.limits.motors[motor]]
        return f"; holding still at s = {self._at(path, where + int(k)):.4g} takes {hold[k, motor]:.3g} of the limit of '{name}'"
