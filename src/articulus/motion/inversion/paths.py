"""Paths over time for outputs such as the tip: profiles, lines, arcs, splines, tables; with derivatives, and where they jump.

Every path is at rest before its start and after its end. It gives Taylor coefficients at any time, so that a curve run along
with a profile has exact derivatives of any order; and the position at a symbol of time, so that it is a target, a command or a prescribed
motion of a simulation, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path as FilePath
from typing import Any, Literal

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError, doubtful
from articulus.model.files.csv_table import read_columns
from articulus.model.files.units import parse_unit
from articulus.model.mechanism.numbers import as_array
from articulus.motion.piecewise import Piecewise

JUMP = 1e-6
"""Jump of a derivative over its largest value from which it counts."""
ROUNDING = 100 * np.finfo(float).eps
"""Error of a sample over the largest one."""
SAMPLED = 16
"""Points of a spline over time from which it is examined as samples of a motion, which may have jumps of their own."""


@dataclass(frozen=True)
class PathJump:
    """A derivative of a path that jumps: which (0 is the position), which coordinate, when [s], and by how much (SI)."""

    derivative: int
    coordinate: int
    time: float
    size: float

    def __str__(self) -> str:
        return f"derivative {self.derivative} of coordinate {self.coordinate} jumps by {self.size:.6g} at t = {self.time:.6g} s"


class Path:
    """A motion in one or more coordinates that begins at rest at `t0` [s] and ends at rest at `t_end` [s]."""

    t0: float
    t_end: float

    @property
    def count(self) -> int:
        """Number of coordinates."""
        raise NotImplementedError

    def taylor(self, t: np.ndarray, order: int, right: bool = True) -> np.ndarray:
        """Return the Taylor coefficients at times t, (order + 1, N, count); where pieces meet, of the piece after (right) or before."""
        raise NotImplementedError

    def at(self, t: SX) -> SX:
        """Return the position at a symbol of time, (count,)."""
        raise NotImplementedError

    def function(self) -> ca.Function:
        """Return the position as a function of time: targets, commands and prescribed motions take it, or the path itself."""
        t = SX.sym("t")
        return ca.Function("path", [t], [self.at(t)])

    def coordinates(self) -> tuple[Path, ...]:
        """Return the coordinates as paths of one each, such as x and z of a prescribed point."""
        return tuple(PathCoordinate(self, k) for k in range(self.count))

    @property
    def knots(self) -> np.ndarray:
        """Times at which pieces meet, with t0 and t_end [s]."""
        return np.array([self.t0, self.t_end])

    def derivatives(self, t: Any, order: int = 4) -> np.ndarray:
        """Return position and derivatives up to `order` at times t [s], (order + 1, N, count)."""
        found = self.taylor(np.atleast_1d(np.asarray(t, dtype=float)), order)
        return found * np.array([math.factorial(k) for k in range(order + 1)])[:, None, None]

    def position(self, t: Any) -> np.ndarray:
        """Return the positions at times t [s], (N, count)."""
        return self.derivatives(t, 0)[0]

    def jumps(self, order: int = 4) -> tuple[PathJump, ...]:
        """Return where derivatives up to `order` jump, the lowest first."""
        knots = self.knots
        inner = np.linspace(self.t0, self.t_end, 401)
        scale = np.abs(self.taylor(inner, order)).max(1)  # (order + 1, count)
        step = self.taylor(knots, order, right=True) - self.taylor(knots, order, right=False)
        scale = np.maximum(scale, np.abs(step).max(1))
        least = np.maximum(JUMP * scale, self._noise(order)[:, None])
        found = np.argwhere(np.abs(step) > np.maximum(least, 1e-300)[:, None])
        return tuple(
            PathJump(int(k), int(i), float(knots[j]), float(abs(step[k, j, i])) * math.factorial(k))
            for k, j, i in found
        )

    def _noise(self, order: int) -> np.ndarray:
        """Return what rounding does to the Taylor coefficients, (order + 1,)."""
        return np.zeros(order + 1)


@dataclass(frozen=True)
class Profile(Path):
    """How far along its way a motion is: from 0 to 1, at rest before and after.

    Parameters
    ----------
    duration : float [s]
    order : int
        Derivatives that are continuous everywhere: 2 for a continuous acceleration. The torque of an arm whose tip has the
        relative degree r is continuous from order r. Always 4 of "sine".
    law : str
        "polynomial": of degree 2 order + 1, the lowest possible.
        "sine": acceleration A sin(2 pi s) (1 - cos(2 pi s)), s = t / duration.
    t0 : float [s]
        Time at which the motion begins.
    """

    duration: float
    order: int = 4
    law: Literal["polynomial", "sine"] = "polynomial"
    t0: float = 0.0

    def __post_init__(self) -> None:
        if not (self.duration > 0 and math.isfinite(self.duration) and math.isfinite(self.t0)):
            raise InputError(
                f"Profile: found duration {self.duration!r}, t0 {self.t0!r}; expected a positive duration [s]"
            )
        if self.law not in ("polynomial", "sine"):
            raise InputError(f"Profile.law: found {self.law!r}; expected 'polynomial' or 'sine'")
        if self.law == "sine" and self.order != 4:
            raise InputError(
                f"Profile.order: found {self.order} with the law 'sine', whose continuous derivatives are 4"
            )
        if isinstance(self.order, bool) or not isinstance(self.order, int) or not 0 <= self.order <= 10:
            raise InputError(f"Profile.order: found {self.order!r}; expected a whole number from 0 to 10")

    @property
    def t_end(self) -> float:  # type: ignore[override]
        return self.t0 + self.duration

    @property
    def count(self) -> int:
        return 1

    def taylor(self, t: np.ndarray, order: int, right: bool = True) -> np.ndarray:
        before = t < self.t0 if right else t <= self.t0
        after = t >= self.t_end if right else t > self.t_end
        s = np.clip((t - self.t0) / self.duration, 0.0, 1.0)
        inside = _sine(s, order) if self.law == "sine" else _smooth_step(s, self.order, order)
        inside /= self.duration ** np.arange(order + 1)[:, None]
        inside[:, before | after] = 0.0
        inside[0, after] = 1.0
        return inside[:, :, None]

    def at(self, t: SX) -> SX:
        s = ca.fmin(ca.fmax((t - self.t0) / self.duration, 0), 1)
        if self.law == "sine":
            turn = 2 * np.pi * s
            return s + (ca.sin(2 * turn) / 8 - ca.sin(turn)) / (1.5 * np.pi)
        late, total = s > 0.5, SX(0)
        x = ca.if_else(late, 1 - s, s)  # by the symmetry f(s) = 1 - f(1 - s): no cancellation
        for factor in reversed(_smooth_step_powers(self.order)):
            total = total * x + factor
        return ca.if_else(late, 1 - total, total)


class ProfiledPath(Path):
    """A curve that is run along with a profile, whose times are those of the path."""

    profile: Profile

    @property
    def t0(self) -> float:  # type: ignore[override]
        return self.profile.t0

    @property
    def t_end(self) -> float:  # type: ignore[override]
        return self.profile.t_end


@dataclass(frozen=True)
class Line(ProfiledPath):
    """A straight line from one point to another, in 1, 2, 3 or more coordinates.

    Parameters
    ----------
    start, end : float or sequence of floats
    profile : Profile
    """

    start: Any
    end: Any
    profile: Profile

    def __post_init__(self) -> None:
        start, end = (_point("Line", x) for x in (self.start, self.end))
        if len(start) != len(end):
            raise InputError(
                f"Line: found points of {len(start)} and {len(end)} coordinates; expected as many"
            )
        _set(self, start=start, end=end)
        _law("Line", self.profile)

    @property
    def count(self) -> int:
        return len(self.start)

    def taylor(self, t: np.ndarray, order: int, right: bool = True) -> np.ndarray:
        start, end = np.array(self.start), np.array(self.end)
        found = self.profile.taylor(t, order, right) * (end - start)
        found[0] += start
        return found

    def at(self, t: SX) -> SX:
        return ca.DM(self.start) + self.profile.at(t) * ca.DM(np.subtract(self.end, self.start))


@dataclass(frozen=True)
class Circle(ProfiledPath):
    """An arc of a circle, or several turns of it, in 2 or 3 coordinates.

    Parameters
    ----------
    center, start : sequences of 2 or 3 floats
        Center, and the point where the motion begins.
    sweep : float [rad]
        Angle to turn through, positive about the normal; 2 pi is the whole circle.
    profile : Profile
    normal : sequence of 3 floats
        Normal of the plane, for 3 coordinates.
    """

    center: Any
    start: Any
    sweep: float
    profile: Profile
    normal: Any = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        center, start, normal = (_point("Circle", x) for x in (self.center, self.start, self.normal))
        if len(center) != len(start) or len(center) not in (2, 3) or len(normal) != 3:
            raise InputError(
                f"Circle: found a center of {len(center)}, a first point of {len(start)} and a normal of {len(normal)} coordinates; "
                "expected 2 or 3, and 3 of the normal"
            )
        arm, n = np.subtract(start, center), np.array(normal)
        if not np.linalg.norm(arm) > 0 or not np.linalg.norm(n) > 0:
            raise InputError("Circle: found a radius or a normal of length zero")
        if len(center) == 3 and abs(arm @ n) > 1e-9 * np.linalg.norm(arm) * np.linalg.norm(n):
            raise InputError(
                f"Circle: found a first point that is not in the plane of the center, normal {normal}; expected (start - center) "
                "perpendicular to the normal"
            )
        if not math.isfinite(self.sweep):
            raise InputError(f"Circle.sweep: found {self.sweep!r}; expected an angle [rad]")
        _set(self, center=center, start=start, normal=normal)
        _law("Circle", self.profile)

    @property
    def count(self) -> int:
        return len(self.center)

    def taylor(self, t: np.ndarray, order: int, right: bool = True) -> np.ndarray:
        center, first, second = self._axes
        law = self.profile.taylor(t, order, right)[:, :, 0]
        angle = self.sweep * law[0]
        k = np.arange(order + 1)[:, None]
        scale = self.sweep**k / np.array([math.factorial(i) for i in range(order + 1)])[:, None]
        cos, sin = (scale * wave(angle + k * np.pi / 2) for wave in (np.cos, np.sin))
        curve = cos[..., None] * first + sin[..., None] * second
        curve[0] += center
        return _compose(curve, law)

    def at(self, t: SX) -> SX:
        center, first, second = (ca.DM(x) for x in self._axes)
        angle = self.sweep * self.profile.at(t)
        return center + ca.cos(angle) * first + ca.sin(angle) * second

    @property
    def _axes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Center, the arm to the first point, and that a quarter turn later."""
        center = np.array(self.center)
        first = np.array(self.start) - center
        if len(center) == 2:
            return center, first, np.array([-first[1], first[0]])
        return center, first, np.cross(np.array(self.normal) / np.linalg.norm(self.normal), first)


@dataclass(frozen=True, eq=False)
class SplinePath(Path):
    """A smooth curve through points: at given times, or run along with a profile.

    Parameters
    ----------
    points : rows of floats, (N, count)
    times : N ascending floats [s]
        When each point is passed; the motion is at rest at the first and the last.
    profile : Profile
        In place of times: how far along the curve (by the lengths of its chords) the motion is.
    order : int
        With times: derivatives that are zero at both ends; the degree of the spline is 2 order + 1. With a profile the curve
        has 6 continuous derivatives and the profile says how smooth the motion is.
    """

    points: Any
    times: Any = None
    profile: Profile | None = None
    order: int = 3

    def __post_init__(self) -> None:
        points = as_array("SplinePath.points", self.points)
        points = points[:, None] if points.ndim == 1 else points
        if points.ndim != 2 or len(points) < 2 or not np.isfinite(points).all():
            raise InputError(
                f"SplinePath: found points of shape {points.shape}; expected 2 rows or more, finite"
            )
        if (self.times is None) == (self.profile is None):
            raise InputError("SplinePath: expected either times or a profile")
        _set(self, points=points)
        if self.profile is not None:
            _law("SplinePath", self.profile)
            if not (np.linalg.norm(np.diff(points, axis=0), axis=1) > 0).all():
                raise InputError("SplinePath: found two equal points in a row; expected different ones")
            return
        times = as_array("SplinePath.times", self.times)
        if times.shape != (len(points),) or not (np.diff(times) > 0).all() or not np.isfinite(times).all():
            raise InputError(
                f"SplinePath: found times of shape {times.shape} for {len(points)} points; expected one per point, ascending"
            )
        if not 0 <= self.order <= 4:
            raise InputError(f"SplinePath.order: found {self.order!r}; expected a whole number from 0 to 4")
        _set(self, times=times)

    @property
    def t0(self) -> float:  # type: ignore[override]
        return self.profile.t0 if self.profile else float(self.times[0])

    @property
    def t_end(self) -> float:  # type: ignore[override]
        return self.profile.t_end if self.profile else float(self.times[-1])

    @property
    def count(self) -> int:
        return self.points.shape[1]

    @property
    def knots(self) -> np.ndarray:
        return self._curve[0] if self.profile is None else np.array([self.t0, self.t_end])

    @cached_property
    def _curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Knots, and the Taylor coefficients of each piece at its first knot, (degree + 1, pieces, count)."""
        from scipy.interpolate import make_interp_spline

        if self.profile is None:
            x, half = self.times, self.order + 1
            ends = [(k, np.zeros(self.count)) for k in range(1, half)]
        else:
            chords = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
            x = np.concatenate([[0.0], np.cumsum(chords) / chords.sum()])
            half = min(4, len(x))
            ends = [(k, np.zeros(self.count)) for k in range(half, 2 * half - 1)]
        spline = make_interp_spline(x, self.points, 2 * half - 1, bc_type=(ends, ends) if ends else None)
        knots = np.unique(spline.t)
        orders = range(2 * half)
        return knots, np.array([spline(knots[:-1], nu=k) / math.factorial(k) for k in orders])

    def taylor(self, t: np.ndarray, order: int, right: bool = True) -> np.ndarray:
        if self.profile is None:
            found = self._pieces(np.clip(t, self.t0, self.t_end), order, right)
            before = t < self.t0 if right else t <= self.t0
            after = t >= self.t_end if right else t > self.t_end
            found[:, before | after] = 0.0
            found[0, before], found[0, after] = self.points[0], self.points[-1]
            return found
        law = self.profile.taylor(t, order, right)[:, :, 0]
        return _compose(self._pieces(law[0], order, right), law)

    def at(self, t: SX) -> SX:
        knots, c = self._curve
        h = np.diff(knots)[:, None] ** np.arange(len(c))
        pieces = Piecewise(knots, np.moveaxis(c, 0, 1) * h[:, :, None])
        return pieces.at(t if self.profile is None else self.profile.at(t))

    def _pieces(self, x: np.ndarray, order: int, right: bool) -> np.ndarray:
        knots, c = self._curve
        i = np.clip(np.searchsorted(knots, x, "right" if right else "left") - 1, 0, len(knots) - 2)
        step, c = (x - knots[i])[:, None], c[:, i]
        found = np.zeros((order + 1, *c.shape[1:]))
        for k in range(min(order, len(c) - 1) + 1):
            for j in range(len(c) - 1, k - 1, -1):
                found[k] = found[k] * step + math.comb(j, k) * c[j]
        return found

    def _noise(self, order: int) -> np.ndarray:
        if self.profile is not None:
            return np.zeros(order + 1)
        step = np.diff(self.times).min()
        return ROUNDING * np.abs(self.points).max() * (2 / step) ** np.arange(order + 1)

    def jumps(self, order: int = 4) -> tuple[PathJump, ...]:
        sampled = self.profile is None and len(self.points) >= SAMPLED
        rough = _rough(self.times, self.points, order) if sampled else ()
        return tuple(sorted((*rough, *super().jumps(order)), key=lambda jump: jump.derivative))


@dataclass(frozen=True, eq=False)
class PathCoordinate(Path):
    """One coordinate of a path.

    Parameters
    ----------
    path : Path
    place : int
    """

    path: Path
    place: int

    @property
    def t0(self) -> float:  # type: ignore[override]
        return self.path.t0

    @property
    def t_end(self) -> float:  # type: ignore[override]
        return self.path.t_end

    @property
    def count(self) -> int:
        return 1

    @property
    def knots(self) -> np.ndarray:
        return self.path.knots

    def taylor(self, t: np.ndarray, order: int, right: bool = True) -> np.ndarray:
        return self.path.taylor(t, order, right)[:, :, [self.place]]

    def at(self, t: SX) -> SX:
        return self.path.at(t)[self.place]

    def _noise(self, order: int) -> np.ndarray:
        return self.path._noise(order)


@dataclass(frozen=True, eq=False)
class PathSamples:
    """A desired motion at given times.

    Parameters
    ----------
    t : array, (N,) [s]
    derivatives : array, (order + 1, N, count)
        Positions and their derivatives.
    path : Path
        From which it was taken.
    """

    t: np.ndarray
    derivatives: np.ndarray
    path: Path = field(repr=False)

    @property
    def t0(self) -> float:
        """Start of the motion [s]."""
        return self.path.t0

    @property
    def t_end(self) -> float:
        """End of the motion [s]."""
        return self.path.t_end

    @property
    def count(self) -> int:
        """Number of coordinates."""
        return self.derivatives.shape[2]

    @property
    def y(self) -> np.ndarray:
        """Positions, (N, count)."""
        return self.derivatives[0]

    @property
    def velocity(self) -> np.ndarray:
        """First derivatives, (N, count)."""
        return self.derivatives[1]

    @property
    def acceleration(self) -> np.ndarray:
        """Second derivatives, (N, count)."""
        return self.derivatives[2]


def as_path(path: Any, t: Any = None) -> Path:
    """Return a path as it is; rows of numbers at times t, (N,) or (N, count), as the spline through them, at rest outside t."""
    if isinstance(path, Path):
        return path
    if t is None:
        raise InputError(
            f"path: found {type(path).__name__}; expected a path such as Line, or rows of numbers with their times"
        )
    points = as_array("path", path)
    points = points[:, None] if points.ndim == 1 else points
    times = np.asarray(t, dtype=float)
    if points.ndim != 2 or len(points) != len(times):
        raise InputError(
            f"path: found numbers of shape {points.shape}; expected a row per time, {len(times)}"
        )
    moving = np.flatnonzero((np.diff(points, axis=0) != 0).any(1))
    first, last = (moving[0], moving[-1] + 2) if len(moving) else (0, len(times))
    return SplinePath(points[first:last], times=times[first:last])


def sample_path(path: Any, t: Any, order: int = 4) -> PathSamples:
    """Return a path at times t with its derivatives.

    Parameters
    ----------
    path : Path, or array (N,) or (N, count)
        Rows of numbers are samples at the times t; the motion is the spline through them, and at rest outside.
    t : array, (N,) [s]
    order : int
        Highest derivative.
    """
    t = np.asarray(t, dtype=float)
    whole = as_path(path, t)
    return PathSamples(t, whole.derivatives(t, order), whole)


def require_smooth(path: Path, degree: int, method: str) -> None:
    """Raise InputError that names the jumps unless the derivatives up to degree - 1 are continuous.

    An input that acts on the `degree`-th derivative of an output (its relative degree) has to be infinite at such a jump.
    """
    found = path.jumps(degree - 1) if degree > 0 else ()
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise InputError(
            f"{method}: the path is not smooth enough: {found[0]}{more}; expected continuous derivatives up to {degree - 1}, because "
            f"the inputs act on derivative {degree}. A Profile of order {degree} or more is smooth enough"
        )


def from_csv(file: str | PathLike[str], columns: Sequence[str] = (), *, order: int = 3) -> SplinePath:
    """Return the path through the rows of a CSV file: times first, then coordinates, with units as in "x [mm]" brought to SI.

    Warns (DoubtfulResult) if the rows begin or end in motion, which the spline brings to rest abruptly.

    Parameters
    ----------
    file : path
    columns : sequence of str
        Headings of the coordinates; all after the times if not given.
    order : int
        Derivatives that are zero at both ends, see `SplinePath`.
    """
    held = read_columns(FilePath(file), columns)
    factors = [float(parse_unit(unit or "-").factor) for unit in held.units]
    points = np.array(held.rows) * factors
    speeds = np.linalg.norm(np.diff(points, axis=0), axis=1) / np.diff(held.times)
    if len(speeds) >= SAMPLED and max(speeds[0], speeds[-1]) > 0.2 * speeds.max():
        doubtful(
            f"{FilePath(file).name}: the rows begin with the speed {speeds[0]:.3g} and end with {speeds[-1]:.3g}, largest {speeds.max():.3g}; "
            "expected a motion from rest to rest, the spline is bent to rest at both ends"
        )
    return SplinePath(points, times=held.times, order=order)


def _smooth_step(s: np.ndarray, n: int, order: int) -> np.ndarray:
    """Return Taylor coefficients (order + 1, N) of the polynomial from 0 to 1 whose derivatives 1..n are zero at both ends."""
    c = _smooth_step_powers(n)
    late = s > 0.5  # there by the symmetry f(s) = 1 - f(1 - s): no cancellation
    x = np.where(late, 1 - s, s)
    found = np.zeros((order + 1, len(s)))
    for k in range(min(order, len(c) - 1) + 1):
        for j in range(len(c) - 1, k - 1, -1):
            found[k] = found[k] * x + math.comb(j, k) * c[j]
    signs = -((-1.0) ** np.arange(order + 1))[:, None]
    found = np.where(late, signs * found, found)
    found[0] += late
    return found


def _smooth_step_powers(n: int) -> np.ndarray:
    """Return the coefficients of that polynomial, lowest power first."""
    c = np.zeros(2 * n + 2)
    for k in range(n + 1):
        c[n + 1 + k] = (-1) ** k * math.comb(n + k, k) * math.comb(2 * n + 1, n - k)
    return c


def _sine(s: np.ndarray, order: int) -> np.ndarray:
    """Return Taylor coefficients (order + 1, N) of the motion from 0 to 1 with acceleration A sin(2 pi s) (1 - cos(2 pi s))."""
    k = np.arange(order + 1)[:, None]
    turn = 2 * np.pi * s
    waves = -np.sin(turn + k * np.pi / 2) + 2.0**k / 8 * np.sin(2 * turn + k * np.pi / 2)
    found = (2 * np.pi) ** k * waves / (1.5 * np.pi)
    found[0] += s
    if order:
        found[1] += 1.0
    # near both ends the waves cancel the straight line: there by their series, s^5 and higher
    for at, base in ((s < 0.02, 0.0), (s > 0.98, 1.0)):
        found[:, at] = _sine_series(s[at] - base, order)
        found[0, at] += base
    return found / np.array([math.factorial(i) for i in range(order + 1)])[:, None]


def _sine_series(x: np.ndarray, order: int) -> np.ndarray:
    found = np.zeros((order + 1, len(x)))
    for p in range(5, 24, 2):
        wave = (2 * np.pi) ** p * (-1) ** (p // 2) * (2.0**p / 8 - 1) / (1.5 * np.pi * math.factorial(p))
        for k in range(min(order, p) + 1):
            found[k] += wave * math.factorial(p) / math.factorial(p - k) * x ** (p - k)
    return found


def _compose(curve: np.ndarray, law: np.ndarray) -> np.ndarray:
    """Return Taylor coefficients of curve(law(t)): (order + 1, N, count) at law[0], and (order + 1, N)."""
    order = len(law) - 1
    step = law[:, :, None].copy()
    step[0] = 0.0
    found = np.zeros_like(curve)
    for k in range(order, -1, -1):  # Horner: found * step + curve[k], cut after the order
        product = np.zeros_like(curve)
        for i in range(1, order + 1):
            product[i:] += step[i] * found[: order + 1 - i]
        found = product
        found[0] += curve[k]
    return found


def _rough(times: np.ndarray, points: np.ndarray, order: int) -> tuple[PathJump, ...]:
    """Return jumps seen in samples: a derivative is unbounded when its differences grow as the samples get denser."""
    rest = np.arange(1, order + 3)
    lead, tail = times[0] - rest[::-1] * (times[1] - times[0]), times[-1] + rest * (times[-1] - times[-2])
    times = np.concatenate([lead, times, tail])
    points = np.pad(points, ((len(rest), len(rest)), (0, 0)), mode="edge")
    for k in range(1, order + 2):
        fine, middle = _differences(times, points, k)
        coarse = max(np.abs(_differences(times[i::2], points[i::2], k)[0]).max(initial=0.0) for i in (0, 1))
        noise = ROUNDING * np.abs(points).max() * (2 / np.diff(times).min()) ** k
        size = np.abs(fine)
        if size.max() > 1.6 * coarse + noise:
            j, i = np.unravel_index(size.argmax(), size.shape)
            return (PathJump(k - 1, int(i), float(middle[j]), float(size[j, i] * np.diff(times).mean())),)
    return ()


def _differences(times: np.ndarray, points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return k-th derivatives by divided differences of neighboring samples, and their times."""
    found = points
    for i in range(1, k + 1):
        found = np.diff(found, axis=0) / (times[i:] - times[:-i])[:, None]
    return found * math.factorial(k), (times[k:] + times[: len(times) - k]) / 2


def _point(owner: str, x: Any) -> tuple[float, ...]:
    try:
        found = tuple(map(float, np.atleast_1d(np.asarray(x, dtype=float))))
    except (TypeError, ValueError):
        found = ()
    if not found or not all(map(math.isfinite, found)):
        raise InputError(f"{owner}: found {x!r}; expected the coordinates of a point, finite numbers")
    return found


def _law(owner: str, profile: Any) -> None:
    if not isinstance(profile, Profile):
        raise InputError(f"{owner}.profile: found {profile!r}; expected a Profile, such as Profile(0.5)")


def _set(thing: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(thing, name, value)
