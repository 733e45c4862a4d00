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
from functools import partial
from typing import Any

import numpy as np

from articulus.api import Mechanism
from articulus.dynamics.loops.free_coordinates import split
from articulus.errors import DoubtfulResult, InputError, NumericalError
from articulus.trajectory.path_curves import Closing, Curve, Spline, chords
from articulus.trajectory.path_jerk import with_jerk
from articulus.trajectory.path_limits import PathLimits, has_dampers, limit_values
from articulus.trajectory.path_motion import PathMotion
from articulus.trajectory.speed_profile import Profiles

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
MORE = 1.1
"""Share of the excess that is taken off."""
CHECKED = (0.5,), (0.3, 0.5, 0.7), *8 * [(0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875)]
"""Places within the intervals at which limits are looked at before each repetition; the first two of all paths."""
BENT = 0.99
"""What is kept of a limit, below which it is looked at more places."""
TOGETHER = 32
"""Paths that are worked on together."""
HALVINGS = 60
"""Steps in which the share of the slowest run is found for a given duration."""


def path_speed(
    mechanism: Mechanism,
    points: Any,
    *,
    effort: Mapping[str, float] | float | None = None,
    velocity: Mapping[str, float] | float | None = None,
    acceleration: Mapping[str, float] | float | None = None,
    jerk: Mapping[str, float] | float | None = None,
    tool: tuple[str, float] | None = None,
    friction: Mapping[str, float] | None = None,
    joints: Sequence[str] | None = None,
    start: Any = None,
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
        dq/ds, d2q/ds2) for s from 0 to 1. With closed loops, of the coordinates of `joints` alone.
    effort, velocity, acceleration, jerk : dict of joint to number, or a number
        Limits in place of those of the joints (the joints have none of acceleration and jerk). With limits of jerk s'' is zero at both
        ends, and every path is a program of its own for ipopt: tenths of a second instead of a millisecond.
    tool : (str, float) [m/s]
        Frame whose speed is limited, and its limit.
    friction : dict of joint to float [N m or N]
        Dry friction, which the motors overcome.
    joints : sequence of str
        With closed loops: the joints with motors, as many as there are degrees of freedom.
    start : positions
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
        mechanism, points, effort, velocity, acceleration, tool, friction, joints, start, speeds, duration
    )
    if grid < 2:
        raise InputError(f"path_speed: grid = {grid}; expected 2 or more intervals")
    solved = _motion if jerk is None else partial(_jerk_motion, limit_values(mechanism, "jerk", jerk))
    found = solved(limits, grid)
    while gap is not None and (lost := float(np.max(found.gap))) > gap:
        grid *= 2
        if grid > MOST:
            raise NumericalError(
                f"path_speed: with {MOST} intervals the duration is still about {lost:.2g} from the least; expected a gap above that"
            )
        found = solved(limits, grid)
    return found


def _jerk_motion(jerk: np.ndarray, limits: PathLimits, grid: int) -> PathMotion:
    if isinstance(limits.curve, Spline) and limits.curve.points.ndim > 2:
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
    if m.nq != m.nv:
        raise InputError(
            f"path_speed: '{m.name}' has joints whose velocities are not the rates of their coordinates; expected joints with one degree of freedom"
        )
    motors = np.arange(m.nv)
    if m.constraint_names:
        curve, motors = _closed(m, points, joints, start)
    elif joints is not None or start is not None:
        raise InputError(
            f"path_speed: found joints or start, but '{m.name}' has no closed loops; expected neither"
        )
    else:
        curve = points if callable(points) else _spline(points, m.nq)
    if min(speeds) < 0 or not np.isfinite(speeds).all():
        raise InputError(f"path_speed: speeds = {speeds}; expected two finite numbers of at least zero")
    dry = np.zeros(m.nv)
    for joint, size in (friction or {}).items():
        if size < 0:
            raise InputError(f"path_speed: friction of '{joint}' is {size}; expected at least zero")
        limit_values(m, "friction", {joint: 1.0})
        dry[m.v_slice(joint)] = size
    values = [
        limit_values(m, *pair)
        for pair in (("effort", effort), ("velocity", velocity), ("acceleration", acceleration))
    ]
    if not np.isfinite(np.append(values[0][motors], values[2])).any():
        raise InputError(
            "path_speed: found no finite limit of forces or accelerations; expected effort=... or acceleration=..."
        )
    if tool is not None and not tool[1] > 0:
        raise InputError(
            f"path_speed: the speed of '{tool[0]}' is limited to {tool[1]:g} m/s; expected a number above zero"
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
    if points.ndim < 2 or points.shape[-2] < 2 or points.shape[-1] != n or not np.isfinite(points).all():
        raise InputError(
            f"path_speed: found points of shape {points.shape}; expected (..., k, {n}) with k of 2 or more, finite"
        )
    return Spline(points, chords(points))


def _closed(m: Mechanism, points: Any, joints: Sequence[str] | None, start: Any) -> tuple[Curve, np.ndarray]:
    """Return the curve of all coordinates and the motors of a mechanism with closed loops."""
    q = np.asarray(m.positions(start), dtype=float) if start is not None else np.zeros(m.nq)
    free = m.nv - len(split(m.constraint_jacobian(q)).dependent)
    motors = [k for j in joints or () for k in range(*m.v_slice(j).indices(m.nv))]
    if len(motors) != free:
        raise InputError(
            f"path_speed: '{m.name}' has closed loops with {free} degree(s) of freedom, and joints = {list(joints or ())} has {len(motors)}; the "
            f"forces of the motors are determined by the motion only with {free}"
        )
    places = np.array(motors, dtype=int)
    given = points if callable(points) else _spline(points, free)
    return Closing(m, given, places, q), places


def _motion(limits: PathLimits, grid: int, dense: bool = False) -> PathMotion:
    s = _grid(limits.curve, grid, dense)
    if isinstance(limits.curve, Spline) and s.ndim > 1:  # few paths at a time stay in the cache
        many, rows = limits.curve.flat, s.reshape(-1, grid + 1)
        parts = [slice(k, k + TOGETHER) for k in range(0, len(rows), TOGETHER)]
        found = [_Work(limits, rows[p], many.part(p), p.start).solve() for p in parts]
        lead = s.shape[:-1]
    else:
        work = _Work(limits, s, limits.curve)
        found, lead = [work.solve()], work.lead
    x, u = (y[0] if len(y) == 1 else np.concatenate(y) for y in zip(*found))
    speed = np.sqrt(np.maximum(x, 0.0)).reshape(*lead, -1)
    if (speed[..., 1:-1] <= 0).any():
        where = float(np.broadcast_to(s, speed.shape)[..., 1:-1].flat[int(np.argmin(speed[..., 1:-1]))])
        raise NumericalError(f"path_speed: the run comes to a stop at s = {where:.4g} of the path")
    return PathMotion(limits, s, speed, u.reshape(*lead, -1, 2), partial(_motion, limits, dense=dense))


def _grid(curve: Curve, count: int, dense: bool) -> np.ndarray:
    """Return a grid with shorter (much shorter if dense) intervals towards the ends, (points,), or (..., points) with the nearest point moved to every
    knot."""
    even = np.linspace(0.0, 1.0, count + 1)
    s = even / 2 + (1 - np.cos(np.pi * even)) / 4
    if dense:  # like the way from rest with constant jerk
        s = even**3 * (10 - 15 * even + 6 * even**2)
    knots = getattr(curve, "knots", None)
    if knots is None:
        return s
    inner = knots[..., 1:-1]
    near = np.clip(np.searchsorted((s[1:] + s[:-1]) / 2, inner), 1, count - 1)
    out = np.broadcast_to(s, (*knots.shape[:-1], count + 1)).copy()
    np.put_along_axis(out, near, inner, axis=-1)
    return out


class _Work:
    """Limits on a grid, and runs within them."""

    def __init__(self, limits: PathLimits, s: np.ndarray, curve: Curve, before: int = 0):
        q, first, second = curve(s)
        self.limits, self.curve, self.grid, self.lead = limits, curve, s, q.shape[:-2]
        self.inside: dict[float, tuple[np.ndarray, ...]] = {}
        self.chosen: np.ndarray | None = None
        self.names = before + np.arange(q[..., 0, 0].size)
        self.first, self.second = first.reshape(-1, *q.shape[-2:]), second.reshape(-1, *q.shape[-2:])
        q = q.reshape(self.first.shape)
        self.s = np.broadcast_to(s, (*self.lead, s.shape[-1])).reshape(len(q), -1)
        self.h = np.diff(self.s)
        self.a, self.b, self.c, self.d, self.top = limits.coefficients(q, self.first, self.second)
        self.kept: np.ndarray = np.ones(
            len(limits.motors) + (limits.mechanism.nv if limits.pulled else 0) + 1
        )

    def _part(self, rows: np.ndarray) -> _Work:
        """Return the work on some of the paths."""
        part = copy(self)
        for name in ("names", "first", "second", "s", "h", "a", "b", "c", "d", "top"):
            setattr(part, name, getattr(self, name)[rows])
        if isinstance(self.curve, Spline):
            part.curve, part.grid, part.inside = self.curve.flat.part(rows), self.s[rows], {}
        else:
            part.chosen = rows if self.chosen is None else self.chosen[rows]
        part.kept = self.kept[rows] if self.kept.ndim > 1 else self.kept
        return part

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return squared rates of s at the points, and its second derivatives at both ends of the intervals."""
        return self._kept_to(*self._swept(None), 0)

    def _kept_to(self, x: np.ndarray, u: np.ndarray, stage: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the run after what it exceeds has been taken off the limits."""
        loads = self._loads(x, u, CHECKED[stage])
        worse = loads.max(axis=(1, 2)) > 1.0 + KEPT
        if stage == 1:  # where much has been taken off, loads bend within an interval: look closer
            worse |= self.kept.min(axis=(-1, -2) if self.kept.ndim > 1 else None) < BENT
        if worse.any() and stage == len(CHECKED) - 1:
            _warn_of(float(loads.max()) - 1.0)
            return x, u
        if not worse.any():
            return (x, u) if stage else self._kept_to(x, u, 1)
        rows = np.arange(len(x)) if not stage else np.nonzero(worse)[0]
        again = self if len(rows) == len(x) else self._part(rows)
        again.kept = again.kept / (np.maximum(loads[rows], 1.0) * MORE - (MORE - 1.0))
        x[rows], u[rows] = again._kept_to(*again._swept(x[rows]), stage + 1)
        return x, u

    def _loads(self, x: np.ndarray, u: np.ndarray, places: Sequence[float]) -> np.ndarray:
        """Return the largest loads at and about every point, (paths, points, limits), from those at the points and at places within the intervals."""
        loads = self.limits.point_loads(self, x, u)
        for place in places:
            pull = u[..., 0] + place * (u[..., 1] - u[..., 0])
            squared = np.maximum(x[:, :-1] + place * self.h * (u[..., 0] + pull), 0.0)
            between = self.limits.loads(self._inside(place), squared, pull)
            np.maximum(loads[:, :-1], between, out=loads[:, :-1])
            np.maximum(loads[:, 1:], between, out=loads[:, 1:])
        return loads

    def _inside(self, place: float) -> tuple[np.ndarray, ...]:
        """Return the curve at a place within every interval."""
        if place not in self.inside:
            grid = self.grid
            at = self.curve(grid[..., :-1] + place * np.diff(grid))
            self.inside[place] = tuple(x.reshape(-1, *x.shape[-2:]) for x in at)
        found = self.inside[place]
        return found if self.chosen is None else tuple(x[self.chosen] for x in found)

    def _swept(self, about: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        if not self.limits.damped:
            return self._run(None)
        # d sqrt(x) by its tangent about the speed of the run before; first where it takes a quarter of the forces
        if about is None:
            with np.errstate(divide="ignore"):
                about = np.min((self.limits.effort / (4 * np.abs(self.d))) ** 2, axis=-1, initial=np.inf)
            about = np.minimum(about, self.top)
        for _ in range(SWEEPS):
            x, u = self._run(np.maximum(about, LEAST * about.max()))
            if np.abs(x - about).max() < SETTLED * x.max():
                return x, u
            change, about = np.abs(x - about).max() / x.max(), x
        raise NumericalError(
            f"path_speed: with dampers the speeds still change by {change:.2g} of the largest after {SWEEPS} runs; expected them to settle"
        )

    def _run(self, about: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        within = Profiles(self.limits.tables(self, self.kept, about), self.h)
        self._require_open(within)
        sets = self._reachable(within)
        first = np.full(len(sets), self.limits.speeds[0] ** 2)
        fast = within.run(first, sets)
        if self.limits.duration is None:
            return fast
        return self._in_time(fast, within.run(first, sets, fast=False))

    def _in_time(
        self, fast: tuple[np.ndarray, ...], slow: tuple[np.ndarray, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the mix of two runs that takes the given time: limits are lines, so that a mix keeps to them, too."""
        wanted = self.limits.duration

        def mixed(share: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            x = fast[0] + share[:, None] * (slow[0] - fast[0])
            u = fast[1] + share[:, None, None] * (slow[1] - fast[1])
            speed = np.sqrt(np.maximum(x, 0.0))
            return x, u, PathMotion(self.limits, self.s, speed, u, partial(_motion, self.limits)).duration

        low, high = np.zeros(len(fast[0])), np.ones(len(fast[0]))
        least, most = mixed(low)[2], mixed(high)[2]
        if not (np.all(least <= wanted) and np.all(most >= wanted)):
            k = int(np.argmax(np.maximum(least - wanted, wanted - most)))
            slowest = f"{most[k]:.5g} s" if most[k] < 1e6 else "any time"
            raise InputError(
                f"path_speed: duration = {wanted:g} s; the fastest run takes {least[k]:.5g} s and the slowest {slowest}. Expected a time between"
            )
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            early = mixed(middle)[2] < wanted
            low, high = np.where(early, middle, low), np.where(early, high, middle)
        return mixed(low)[:2]

    def _reachable(self, within: Profiles) -> np.ndarray:
        last = self.limits.speeds[1] ** 2
        if (over := last > within.table[:, -1, -1] * (1 + 1e-9)).any():
            most = np.sqrt(max(within.table[np.argmax(over), -1, -1], 0.0))
            raise InputError(
                f"path_speed: the speed {self.limits.speeds[1]:g} 1/s at the end is above {most:.4g} 1/s, which the limits allow there"
            )
        found = within.reachable(np.full(len(self.first), last))
        empty = found[..., 0] > found[..., 1] * (1 + 1e-9) + 1e-12
        if empty.any():
            row, where = (int(k[-1]) for k in np.nonzero(empty))
            which = f" of path {self.names[row]}" if self.lead else ""
            raise InputError(
                f"path_speed: from s = {self._at(row, where):.4g}{which} the end cannot be reached within the limits{self._holding(where, row)}. Expected "
                "larger limits, a gentler curve, or other speeds at the ends"
            )
        begin = self.limits.speeds[0] ** 2
        off = (begin > found[:, 0, 1] * (1 + 1e-9)) | (begin < found[:, 0, 0] * (1 - 1e-9))
        if off.any():
            low, high = np.sqrt(np.maximum(found[np.argmax(off), 0], 0.0))
            raise InputError(
                f"path_speed: the speed {self.limits.speeds[0]:g} 1/s at the start is outside of {low:.4g} to {high:.4g} 1/s, from which the end "
                "can be reached"
            )
        return found

    def _require_open(self, within: Profiles) -> None:
        closed = within.table[..., -2] > within.table[..., -1]
        if closed.any():
            row, where = (int(k[0]) for k in np.nonzero(closed))
            which = f" of path {self.names[row]}" if self.lead else ""
            raise InputError(
                f"path_speed: at s = {self._at(row, where):.4g}{which} no speed is within the limits{self._holding(where, row)}. Expected larger limits or "
                "another path"
            )

    def _at(self, path: int, point: int) -> float:
        return float(self.s[path, point])

    def _holding(self, where: int, path: int) -> str:
        """Return what holding the mechanism still on the rest of the path takes, if that is more than the limits."""
        hold = np.abs(self.c[path, where:]) / self.limits.effort
        k, motor = np.unravel_index(int(np.argmax(hold)), hold.shape)
        if hold[k, motor] <= 1:
            return ""
        name = self.limits.mechanism.v_names[self.limits.motors[motor]]
        return f"; holding still at s = {self._at(path, where + int(k)):.4g} takes {hold[k, motor]:.3g} of the limit of '{name}'"
