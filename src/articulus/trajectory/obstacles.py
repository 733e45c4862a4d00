"""Obstacles in the ground frame, hulls of bodies, and the distances that have to stay positive."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.api import Mechanism
from articulus.errors import InputError
from articulus.trajectory.problem import Constraint

SMALL = 1e-9
"""Squared length below which a distance is smoothed [m^2]."""

Point = tuple[float, float, float]


class Obstacle(abc.ABC):
    """Something in the way."""

    name: str

    @abc.abstractmethod
    def distance(self, point: SX) -> SX:
        """Return the distance of a point (3,) in the ground frame from the surface [m], negative inside."""


@dataclass(frozen=True)
class Ball(Obstacle):
    """A ball.

    Parameters
    ----------
    center : three numbers [m]
    radius : float [m]
    name : str
    """

    center: Point
    radius: float
    name: str = "ball"

    def distance(self, point: SX) -> SX:
        return _length(point - ca.DM(self.center)) - self.radius


@dataclass(frozen=True)
class Rod(Obstacle):
    """All points near a line between two points: a capsule.

    Parameters
    ----------
    start, end : three numbers [m]
    radius : float [m]
    name : str
    """

    start: Point
    end: Point
    radius: float
    name: str = "rod"

    def distance(self, point: SX) -> SX:
        a, along = np.array(self.start), np.subtract(self.end, self.start)
        s = ca.fmin(ca.fmax(ca.dot(point - ca.DM(a), ca.DM(along)) / float(along @ along), 0), 1)
        return _length(point - ca.DM(a) - s * ca.DM(along)) - self.radius


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

    center: Point
    size: Point
    name: str = "crate"

    def distance(self, point: SX) -> SX:
        beyond = ca.fabs(point - ca.DM(self.center)) - ca.DM(np.array(self.size) / 2)
        outside = _length(ca.fmax(beyond, 0))
        return outside + ca.fmin(ca.mmax(beyond), 0)


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

    body: str
    start: Point
    end: Point
    radius: float
    balls: int = 5

    def points(self) -> np.ndarray:
        """Return the centres, (balls, 3)."""
        return np.linspace(self.start, self.end, self.balls)


@dataclass(frozen=True)
class Clear:
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


def clearances(
    mechanism: Mechanism, obstacles: Sequence[Clear], size: int, q: slice
) -> tuple[Constraint, ...]:
    """Return the constraints on z that keep hulls clear of obstacles."""
    made = []
    for clear in obstacles:
        if not isinstance(clear, Clear):
            raise InputError(
                f"obstacles: found {clear!r}; expected Clear(obstacle, hulls): which bodies must not touch it"
            )
        for hull in clear.hulls:
            z = SX.sym("z", size)
            pose = mechanism.function("pose", [hull.body])(z[q])
            rows = [
                clear.obstacle.distance(pose[:3, 3] + ca.mtimes(pose[:3, :3], ca.DM(p)))
                - hull.radius
                - clear.margin
                for p in hull.points()
            ]
            made.append(
                Constraint(
                    f"{hull.body} clear of {clear.obstacle.name}",
                    ca.Function("clearance", [z], [ca.vertcat(*rows)]),
                    np.zeros(len(rows)),
                    np.full(len(rows), np.inf),
                )
            )
    return tuple(made)


def _length(x: SX) -> SX:
    return ca.sqrt(ca.sumsqr(x) + SMALL)
