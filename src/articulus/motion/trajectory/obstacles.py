"""Obstacles in the ground frame, hulls of bodies, and the distances that have to stay positive."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX
from scipy.interpolate import CubicHermiteSpline

from articulus import declared
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import Finding, InputError
from articulus.motion.trajectory.costs import MotionSymbols
from articulus.motion.trajectory.points import Point, point_of
from articulus.motion.trajectory.problem import PhaseConstraint
from articulus.spatial.rotation import frame_with_z

PLACES = 8
"""Parts of the time between two points in which it is looked whether an obstacle was jumped across."""
JUMP = 0.1
"""Depth in an obstacle over the way between two points, from which on a hull has not gone round it."""
SMALL = 1e-9
"""Squared length below which a distance is smoothed [m^2]."""


class Obstacle(abc.ABC):
    """Something in the way."""

    name: str

    @abc.abstractmethod
    def distance(self, point: SX) -> SX:
        """Return the distance of a point (3,) in the ground frame from the surface [m], negative inside."""

    def shape(self) -> dict[str, Any]:
        """Return how it is drawn: shape, size [m] and pose in the ground frame; empty if it is not."""
        return {}


@dataclass(frozen=True)
class Ball(Obstacle):
    """A ball.

    Parameters
    ----------
    center : three numbers [m]
    radius : float [m]
    name : str
    """

    center: Point = declared.quantity("m", "center", size="3")
    radius: float = declared.quantity("m", "radius")
    name: str = declared.text("what messages call it", default="ball")

    def __post_init__(self) -> None:
        _check_points(self, "center")
        _positive(self, self.radius, "radius")

    def distance(self, point: SX) -> SX:
        return _length(point - ca.DM(self.center)) - self.radius

    def shape(self) -> dict[str, Any]:
        return {"shape": "sphere", "size": [self.radius], "pose": _pose(np.eye(3), self.center)}


@dataclass(frozen=True)
class Rod(Obstacle):
    """All points near a line between two points: a capsule.

    Parameters
    ----------
    start, end : three numbers [m]
    radius : float [m]
    name : str
    """

    start: Point = declared.quantity("m", "one end of its line", size="3")
    end: Point = declared.quantity("m", "the other end", size="3")
    radius: float = declared.quantity("m", "radius")
    name: str = declared.text("what messages call it", default="rod")

    def __post_init__(self) -> None:
        _check_points(self, "start", "end")
        _positive(self, self.radius, "radius")
        if self.start == self.end:
            raise InputError(f"Rod: start and end are both {self.start}; expected two points. A Ball has one")

    def distance(self, point: SX) -> SX:
        a, along = np.array(self.start), np.subtract(self.end, self.start)
        s = ca.fmin(ca.fmax(ca.dot(point - ca.DM(a), ca.DM(along)) / float(along @ along), 0), 1)
        return _length(point - ca.DM(a) - s * ca.DM(along)) - self.radius

    def shape(self) -> dict[str, Any]:
        along = np.subtract(self.end, self.start)
        length, middle = float(np.linalg.norm(along)), np.add(self.start, self.end) / 2
        pose = _pose(frame_with_z(along / length), middle)
        return {"shape": "capsule", "size": [self.radius, length], "pose": pose}


@dataclass(frozen=True)
class Crate(Obstacle):
    """A box along the axes of the ground frame.

    Parameters
    ----------
    center : three numbers [m]
    size : three numbers [m]
        Whole lengths of its edges.
    name : str
    """

    center: Point = declared.quantity("m", "center", size="3")
    size: Point = declared.quantity("m", "whole lengths of its edges", size="3")
    name: str = declared.text("what messages call it", default="crate")

    def __post_init__(self) -> None:
        _check_points(self, "center", "size")
        _positive(self, min(self.size), "size")

    def distance(self, point: SX) -> SX:
        beyond = ca.fabs(point - ca.DM(self.center)) - ca.DM(np.array(self.size) / 2)
        outside = _length(ca.fmax(beyond, 0))
        return outside + ca.fmin(ca.mmax(beyond), 0)

    def shape(self) -> dict[str, Any]:
        return {"shape": "box", "size": [float(x) for x in self.size], "pose": _pose(np.eye(3), self.center)}


@dataclass(frozen=True)
class Hull:
    """What a body takes up: a row of balls along a line on it.

    Parameters
    ----------
    body : str
        Body or frame.
    start, end : three numbers [m]
        In its axes.
    radius : float [m]
    balls : int
        How many stand for the line.
    """

    body: str = declared.name_of("frame", "body or frame")
    start: Point = declared.quantity("m", "one end of its line, in the axes of the body", size="3")
    end: Point = declared.quantity("m", "the other end", size="3")
    radius: float = declared.quantity("m", "radius", least=0)
    balls: int = declared.whole("how many balls stand for the line", least=1, default=5)

    def __post_init__(self) -> None:
        _check_points(self, "start", "end")
        if not isinstance(self.balls, int) or self.balls < 1:
            raise InputError(Finding("Hull.balls", f"{self.balls}", "1 or more", field="balls"))
        if not isinstance(self.radius, Real) or not 0 <= float(self.radius) < np.inf:
            raise InputError(
                Finding("Hull.radius", repr(self.radius), "metres, not negative", field="radius")
            )

    def points(self) -> np.ndarray:
        """Return the centers, (balls, 3)."""
        return np.linspace(self.start, self.end, self.balls)


class Clearance(abc.ABC):
    """What has to stay apart."""

    @abc.abstractmethod
    def constraints(self, motion: MotionSymbols, z: SX) -> list[PhaseConstraint]:
        """Return the constraints on z."""

    @abc.abstractmethod
    def penetrations(
        self, mechanism: Mechanism, q: np.ndarray, between: np.ndarray, repeat: int
    ) -> list[tuple[str, np.ndarray]]:
        """Return how deep balls are in what they keep away from at positions between those of points q, (times, pairs) [m], with who is in what.

        Depths up to a tenth of the way from one point to the next, which has `repeat` positions, count as zero.
        """


@dataclass(frozen=True)
class Clear(Clearance):
    """An obstacle and the hulls that must not touch it.

    Parameters
    ----------
    obstacle : Obstacle
    hulls : sequence of Hull
    margin : float [m]
        Distance to keep.
    """

    obstacle: Obstacle
    hulls: tuple[Hull, ...]
    margin: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.obstacle, Obstacle):
            raise InputError(
                Finding(
                    "Clear.obstacle",
                    repr(self.obstacle),
                    "a Ball, a Rod, a Crate or another Obstacle",
                    field="obstacle",
                )
            )
        hulls = tuple(self.hulls) if isinstance(self.hulls, Sequence) else (self.hulls,)
        if not hulls or not all(isinstance(h, Hull) for h in hulls):
            raise InputError(Finding("Clear.hulls", repr(self.hulls), "one or more Hull", field="hulls"))
        object.__setattr__(self, "hulls", hulls)
        if not isinstance(self.margin, Real) or not np.isfinite(float(self.margin)):
            raise InputError(
                Finding("Clear.margin", repr(self.margin), "a finite number of metres", field="margin")
            )

    def constraints(self, motion: MotionSymbols, z: SX) -> list[PhaseConstraint]:
        made = []
        for hull in self.hulls:
            rows = [self.obstacle.distance(p) - hull.radius - self.margin for p in _centers(motion, hull)]
            made.append(_positive_rows(f"{hull.body} clear of {self.obstacle.name}", rows, z))
        return made

    def penetrations(
        self, mechanism: Mechanism, q: np.ndarray, between: np.ndarray, repeat: int
    ) -> list[tuple[str, np.ndarray]]:
        point, out = SX.sym("point", 3), []
        distance = ca.Function("distance", [point], [self.obstacle.distance(point)])
        for hull in self.hulls:
            at, inside = (_places(mechanism, hull, each) for each in (q, between))
            away = np.array(distance(inside.reshape(-1, 3).T)).reshape(inside.shape[:2])
            way = np.linalg.norm(np.diff(at, axis=0), axis=-1)
            out.append(
                (
                    f"{hull.body} is {{}} deep in {self.obstacle.name}",
                    _depths(hull.radius - away, way, repeat),
                )
            )
        return out


@dataclass(frozen=True)
class Apart(Clearance):
    """Hulls of the mechanism itself that must not touch each other.

    Parameters
    ----------
    first, second : Hull
        Hulls of bodies that move against each other.
    margin : float [m]
        Distance to keep.
    """

    first: Hull
    second: Hull
    margin: float = 0.0

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            if not isinstance(getattr(self, name), Hull):
                raise InputError(Finding(f"Apart.{name}", repr(getattr(self, name)), "a Hull", field=name))
        if self.first.body == self.second.body:
            raise InputError(
                Finding("Apart.second", f"'{self.second.body}' twice", "hulls of two bodies", field="second")
            )
        if not isinstance(self.margin, Real) or not np.isfinite(float(self.margin)):
            raise InputError(
                Finding("Apart.margin", repr(self.margin), "a finite number of metres", field="margin")
            )

    @property
    def name(self) -> str:
        """For messages and reports."""
        return f"{self.first.body} clear of {self.second.body}"

    def constraints(self, motion: MotionSymbols, z: SX) -> list[PhaseConstraint]:
        least = self.first.radius + self.second.radius + self.margin
        pairs = itertools.product(_centers(motion, self.first), _centers(motion, self.second))
        return [_positive_rows(self.name, [_length(a - b) - least for a, b in pairs], z)]

    def penetrations(
        self, mechanism: Mechanism, q: np.ndarray, between: np.ndarray, repeat: int
    ) -> list[tuple[str, np.ndarray]]:
        at, inside = (
            (
                _places(mechanism, self.first, x)[:, :, None] - _places(mechanism, self.second, x)[:, None, :]
            ).reshape(len(x), -1, 3)
            for x in (q, between)
        )
        deep = self.first.radius + self.second.radius - np.linalg.norm(inside, axis=-1)
        way = np.linalg.norm(np.diff(at, axis=0), axis=-1)
        return [(f"{self.first.body} is {{}} deep in {self.second.body}", _depths(deep, way, repeat))]


def clearance_constraints(
    obstacles: Sequence[Clearance], motion: MotionSymbols, z: SX
) -> tuple[PhaseConstraint, ...]:
    """Return the constraints on z that keep hulls clear of obstacles and of each other."""
    made: list[PhaseConstraint] = []
    for each in obstacles:
        if not isinstance(each, Clearance):
            raise InputError(
                Finding(
                    "obstacles",
                    repr(each),
                    "Clear(obstacle, hulls): which bodies must not touch it, or Apart(hull, hull)",
                )
            )
        made += each.constraints(motion, z)
    return tuple(made)


def penetrations(
    mechanism: Mechanism, obstacles: Sequence[Clearance], t: np.ndarray, q: np.ndarray, rate: np.ndarray
) -> tuple[str, ...]:
    """Return where hulls touch obstacles or each other between the points of a motion, in words.

    Distances are kept at times t (points,) with positions q (points, nq) and their rates. What a hull is deeper than the margin between two
    points counts from a tenth of its way from one to the other on: a bend of the motion takes less, a jump across an obstacle half of it.
    """
    part = np.arange(1, PLACES) / PLACES
    between = (t[:-1, None] + np.diff(t)[:, None] * part).ravel()
    middle, told = CubicHermiteSpline(t, q, rate)(between), []
    for each in obstacles:
        for text, deep in each.penetrations(mechanism, q, middle, len(part)):
            k, ball = np.unravel_index(int(deep.argmax()), deep.shape)
            if deep[k, ball] > 0:
                told.append(f"{text.format(f'{deep[k, ball]:.2g} m')} at t = {between[k]:.4g} s")
    return tuple(told)


def _depths(deep: np.ndarray, way: np.ndarray, repeat: int) -> np.ndarray:
    """Return depths, (times, pairs), zero where they are less than a tenth of the way between points, (points - 1, pairs)."""
    return np.where(deep < JUMP * way.repeat(repeat, axis=0), 0.0, deep)


def _centers(motion: MotionSymbols, hull: Hull) -> list[SX]:
    """Return where the centers of a hull's balls are in the ground frame."""
    pose = motion.pose(hull.body)
    return [pose[:3, 3] + ca.mtimes(pose[:3, :3], ca.DM(p)) for p in hull.points()]


def _positive_rows(name: str, rows: Sequence[SX], z: SX) -> PhaseConstraint:
    function = ca.Function("clearance", [z], [ca.vertcat(*rows)])
    return PhaseConstraint(name, function, np.zeros(len(rows)), np.full(len(rows), np.inf))


def _places(mechanism: Mechanism, hull: Hull, q: np.ndarray) -> np.ndarray:
    """Return the centers of a hull's balls in the ground frame at positions q (k, nq), (k, balls, 3)."""
    pose = mechanism.pose(hull.body, q)
    return pose[:, None, :3, 3] + np.einsum("kij,bj->kbi", pose[:, :3, :3], hull.points())


def _check_points(shape: object, *fields: str) -> None:
    """Make points of a frozen shape three plain numbers each."""
    for field in fields:
        object.__setattr__(shape, field, point_of(getattr(shape, field), f"{type(shape).__name__}.{field}"))


def _positive(shape: object, number: float, field: str) -> None:
    if not isinstance(number, Real) or not 0 < float(number) < np.inf:
        raise InputError(
            Finding(f"{type(shape).__name__}.{field}", repr(number), "metres, above 0", field=field)
        )


def _pose(R: np.ndarray, position: Any) -> list[list[float]]:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, position
    return X.tolist()


def _length(x: SX) -> SX:
    return ca.sqrt(ca.sumsqr(x) + SMALL)
