"""What a frame keeps to all the way: a line, a box, a direction."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus import declared
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import Finding, InputError
from articulus.motion.trajectory.costs import MotionSymbols
from articulus.motion.trajectory.points import Point, point_of
from articulus.motion.trajectory.problem import PhaseConstraint
from articulus.motion.trajectory.quantities import quantity

MOVES = 1e-9
"""Derivative by the coordinates below which a row counts as constant."""
SAMPLES = 5
"""Positions at which it is looked whether a row is constant."""


class Keep(abc.ABC):
    """What a frame keeps to at every time."""

    frame: str

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """For messages and reports."""

    @abc.abstractmethod
    def rows(self, pose: SX) -> tuple[SX, np.ndarray, np.ndarray]:
        """Return the constrained expressions of the pose (4, 4), and their lower and upper bounds."""

    def join(self, rows: SX, lower: np.ndarray, upper: np.ndarray) -> tuple[SX, np.ndarray, np.ndarray]:
        """Return the same without the rows that never change; a kind whose rows belong together joins them here."""
        return rows, lower, upper

    def way(self, count: int) -> np.ndarray | None:
        """Return points of the frame along the way, (count, 3) [m], as an initial guess; None where it may be anywhere."""
        return None


@dataclass(frozen=True)
class OnLine(Keep):
    """The origin of a frame stays near the straight line through two points.

    Parameters
    ----------
    frame : str
        Body or frame.
    start, end : three numbers [m]
        In the ground frame.
    tolerance : float [m]
        Largest distance from the line at the points of the mesh, above 0; 1e-6 converges as well as 1e-3.
    """

    frame: str = declared.name_of("frame", "body or frame")
    start: Point = declared.quantity("m", "a point of the line, in the ground frame", size="3")
    end: Point = declared.quantity("m", "another one", size="3")
    tolerance: float = declared.quantity("m", "largest distance from the line", default=1e-3, above=0)

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            object.__setattr__(self, name, point_of(getattr(self, name), f"OnLine.{name}"))
        if self.start == self.end:
            raise InputError(f"OnLine: start and end are both {self.start}; expected two points")
        if not 0 < self.tolerance < np.inf:
            raise InputError(
                Finding(
                    "OnLine.tolerance",
                    repr(self.tolerance),
                    "metres, above 0: ends on the line would fix it twice",
                    field="tolerance",
                )
            )

    @property
    def name(self) -> str:
        return f"{self.frame} on its line"

    def rows(self, pose: SX) -> tuple[SX, np.ndarray, np.ndarray]:
        along = np.subtract(self.end, self.start)
        across = _across(along / np.linalg.norm(along))
        rows = ca.mtimes(ca.DM(across), pose[:3, 3] - ca.DM(self.start))
        return rows, np.full(2, -self.tolerance), np.full(2, self.tolerance)

    def join(self, rows: SX, lower: np.ndarray, upper: np.ndarray) -> tuple[SX, np.ndarray, np.ndarray]:
        if rows.numel() < 2:
            return rows, lower, upper
        return ca.sumsqr(rows) / self.tolerance, np.array([-np.inf]), np.array([self.tolerance])

    def way(self, count: int) -> np.ndarray | None:
        return np.linspace(self.start, self.end, count)


@dataclass(frozen=True)
class InBox(Keep):
    """The origin of a frame stays in a box along the axes of the ground frame.

    Parameters
    ----------
    frame : str
        Body or frame.
    center : three numbers [m]
    size : three numbers [m]
        Whole lengths of its edges.
    """

    frame: str = declared.name_of("frame", "body or frame")
    center: Point = declared.quantity("m", "center", size="3")
    size: Point = declared.quantity("m", "whole lengths of its edges", size="3")

    def __post_init__(self) -> None:
        for name in ("center", "size"):
            object.__setattr__(self, name, point_of(getattr(self, name), f"InBox.{name}"))
        if min(self.size) < 0:
            raise InputError(Finding("InBox.size", f"{self.size}", "lengths, not negative", field="size"))

    @property
    def name(self) -> str:
        return f"{self.frame} in its box"

    def rows(self, pose: SX) -> tuple[SX, np.ndarray, np.ndarray]:
        half = np.array(self.size) / 2
        return pose[:3, 3], self.center - half, self.center + half


@dataclass(frozen=True)
class Facing(Keep):
    """An axis of a frame stays within an angle of a direction, such as a cup held upright.

    Parameters
    ----------
    frame : str
        Body or frame.
    axis : three numbers [-]
        In the axes of the frame.
    direction : three numbers [-]
        In the ground frame.
    angle : float [rad]
        Largest angle between them, above 0 and up to pi.
    """

    frame: str = declared.name_of("frame", "body or frame")
    axis: Point = declared.quantity("-", "axis of the frame", size="3")
    direction: Point = declared.quantity("-", "direction in the ground frame", size="3")
    angle: float = declared.quantity("rad", "largest angle between them", above=0)

    def __post_init__(self) -> None:
        for name in ("axis", "direction"):
            found = np.array(point_of(getattr(self, name), f"Facing.{name}"))
            if not (length := np.linalg.norm(found)):
                raise InputError(Finding(f"Facing.{name}", "zero", "a direction", field=name))
            object.__setattr__(self, name, tuple((found / length).tolist()))
        if not 0 < self.angle <= np.pi:
            raise InputError(
                Finding("Facing.angle", f"{self.angle!r} rad", "above 0 and up to pi", field="angle")
            )

    @property
    def name(self) -> str:
        return f"{self.frame} facing its direction"

    def rows(self, pose: SX) -> tuple[SX, np.ndarray, np.ndarray]:
        turned = ca.mtimes(pose[:3, :3], ca.DM(self.axis))
        return ca.dot(turned, ca.DM(self.direction)), np.array([np.cos(self.angle)]), np.array([np.inf])


def keep_constraints(
    mechanism: Mechanism, keep: Sequence[Keep], motion: MotionSymbols, z: SX, first: np.ndarray
) -> tuple[PhaseConstraint, ...]:
    """Return the constraints on z that make frames keep to what is given.

    Rows that the mechanism cannot change, such as the height of a planar arm, are checked and left out.
    """
    made = []
    for each in keep:
        if not isinstance(each, Keep):
            raise InputError(Finding("keep", repr(each), "OnLine, InBox or Facing"))
        rows, lower, upper = each.rows(motion.pose(each.frame))
        moving = _moving(mechanism, each, first)
        here = _values(mechanism, each, first)
        for k in np.flatnonzero(~moving):
            if not lower[k] - 1e-9 <= here[k] <= upper[k] + 1e-9:
                raise InputError(
                    Finding(
                        f"keep: {each.name}",
                        f"{here[k]:.6g} whatever the position",
                        f"between {lower[k]:.6g} and {upper[k]:.6g}. '{each.frame}' cannot get there",
                    )
                )
        if not moving.any():
            continue
        chosen = np.flatnonzero(moving).tolist()
        rows, lower, upper = each.join(rows[chosen], lower[chosen], upper[chosen])
        made.append(PhaseConstraint(each.name, ca.Function("kept", [z], [rows]), lower, upper))
    return tuple(made)


def _moving(mechanism: Mechanism, each: Keep, first: np.ndarray) -> np.ndarray:
    """Tell which rows change with the position."""
    symbol = SX.sym("q", mechanism.nq)
    rows, _, _ = each.rows(quantity(mechanism, "pose", [each.frame])(symbol))
    slopes = ca.Function("slopes", [symbol], [ca.jacobian(rows, symbol)])
    steps = np.random.default_rng(0).uniform(-0.5, 0.5, (SAMPLES, mechanism.nv))
    at = mechanism.integrate_position(np.broadcast_to(first, (SAMPLES, mechanism.nq)), steps)
    return np.array([np.abs(np.array(slopes(x))).max(1) for x in at]).max(0) > MOVES


def _values(mechanism: Mechanism, each: Keep, q: np.ndarray) -> np.ndarray:
    rows, _, _ = each.rows(SX(ca.DM(mechanism.pose(each.frame, q))))
    return np.array(ca.evalf(rows)).ravel()


def _across(along: np.ndarray) -> np.ndarray:
    """Return two unit vectors across a unit vector, (2, 3)."""
    other = np.eye(3)[np.abs(along).argmin()]
    side = np.cross(along, other)
    side /= np.linalg.norm(side)
    return np.array([side, np.cross(along, side)])
