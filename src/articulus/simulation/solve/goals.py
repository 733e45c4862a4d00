"""What inverse kinematics can be asked for: frames at poses or points, the center of mass at a point, an axis at a target.

Each goal gives rows A s = r for the step s that brings it nearer, for positions in a batch.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.model.mechanism.numbers import as_array
from articulus.spatial import log_so3

ORTHOGONAL = 1e-6
"""Error of the rotation of a target up to which it is taken."""

Array = np.ndarray
Params = Mapping[str, Any]


@dataclass(frozen=True)
class GoalRows:
    """What one goal asks of a step, at B positions.

    Attributes
    ----------
    turn, shift : array, (B, m) [rad], (B, n) [m]
        Errors: target minus what is there, as a rotation vector and as a shift, ground axes. None of a kind is n = 0.
    turn_jacobian, shift_jacobian : array, (B, m, nv), (B, n, nv)
    lever : array, (B,) [m]
        Arc that a turn of one radian counts as.
    """

    turn: Array
    turn_jacobian: Array
    shift: Array
    shift_jacobian: Array
    lever: Array


class Goal(abc.ABC):
    """Something that a position shall bring about. Targets take leading axes, one target for each row of a batch."""

    weight: float

    @abc.abstractmethod
    def batch(self) -> tuple[int, ...]:
        """Return the leading axes of the target."""

    @abc.abstractmethod
    def rows(self, mechanism: Mechanism, q: Array, at: Array, params: Params | None) -> GoalRows:
        """Return the rows at positions (B, nq), for the targets with the numbers `at` (B,) of the flattened batch."""

    def check(self, mechanism: Mechanism) -> None:
        """Raise InputError for a goal that the mechanism cannot have."""
        if not 0 < self.weight < np.inf:
            raise InputError(f"{type(self).__name__}: weight = {self.weight!r}; expected a number above zero")


@dataclass(frozen=True)
class FramePose(Goal):
    """A frame at a pose.

    Parameters
    ----------
    frame : str
        Body or frame.
    pose : array, (..., 4, 4)
        In the ground frame.
    weight : float [-]
        Weight of the errors of this goal against those of others, where not all can be met.
    turning : float [-]
        Of its angles against its lengths. An angle counts as the arc that it makes at the largest lever arm.
    """

    frame: str
    pose: Array
    weight: float = 1.0
    turning: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "pose", _pose(self.pose))

    def batch(self) -> tuple[int, ...]:
        return self.pose.shape[:-2]

    def check(self, mechanism: Mechanism) -> None:
        super().check(mechanism)
        mechanism.description.carrier(self.frame)

    def rows(self, mechanism: Mechanism, q: Array, at: Array, params: Params | None) -> GoalRows:
        X, J = mechanism.pose(self.frame, q, params=params), mechanism.jacobian(self.frame, q, params=params)
        goal = self.pose.reshape(-1, 4, 4)[at]
        turn = _rotation_vector(goal[:, :3, :3] @ np.swapaxes(X[:, :3, :3], -1, -2))
        lever = self.turning * _lever(J)
        return GoalRows(turn, J[:, :3], goal[:, :3, 3] - X[:, :3, 3], J[:, 3:], lever)


@dataclass(frozen=True)
class FramePoint(Goal):
    """The origin of a frame at a point; its attitude is free.

    Parameters
    ----------
    frame : str
        Body or frame.
    point : array, (..., 3) [m]
        In the ground frame.
    weight : float [-]
    """

    frame: str
    point: Array
    weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", _point(self.point))

    def batch(self) -> tuple[int, ...]:
        return self.point.shape[:-1]

    def check(self, mechanism: Mechanism) -> None:
        super().check(mechanism)
        mechanism.description.carrier(self.frame)

    def rows(self, mechanism: Mechanism, q: Array, at: Array, params: Params | None) -> GoalRows:
        p = mechanism.pose(self.frame, q, params=params)[:, :3, 3]
        J = mechanism.jacobian(self.frame, q, params=params)[:, 3:]
        return _shift(self.point.reshape(-1, 3)[at] - p, J)


@dataclass(frozen=True)
class CenterOfMass(Goal):
    """The center of mass of everything that moves at a point.

    Parameters
    ----------
    point : array, (..., 3) [m]
        In the ground frame; nan in a component that is free, such as the height of a robot that shall not tip over.
    weight : float [-]
    """

    point: Array
    weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", _point(self.point, free=True))

    def batch(self) -> tuple[int, ...]:
        return self.point.shape[:-1]

    def rows(self, mechanism: Mechanism, q: Array, at: Array, params: Params | None) -> GoalRows:
        goal = self.point.reshape(-1, 3)[at]
        asked = np.isfinite(goal)
        off = np.where(asked, goal - mechanism.center_of_mass(q, params=params), 0.0)
        return _shift(off, asked[:, :, None] * mechanism.center_of_mass_jacobian(q, params=params))


@dataclass(frozen=True)
class LookAt(Goal):
    """An axis of a frame through its origin points at a target; the turn about that axis is free.

    Parameters
    ----------
    frame : str
        Body or frame.
    point : array, (..., 3) [m]
        In the ground frame.
    axis : three numbers
        Direction in the frame's axes.
    weight : float [-]
        An angle counts as the arc that it makes at the largest lever arm of the frame.
    """

    frame: str
    point: Array
    axis: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    weight: float = 1.0

    def __post_init__(self) -> None:
        axis = as_array("LookAt.axis", self.axis)
        if axis.shape != (3,) or not 0 < np.linalg.norm(axis) < np.inf:
            raise InputError(f"LookAt.axis: found {self.axis!r}; expected three numbers, not all zero")
        object.__setattr__(self, "axis", axis / np.linalg.norm(axis))
        object.__setattr__(self, "point", _point(self.point))

    def batch(self) -> tuple[int, ...]:
        return self.point.shape[:-1]

    def check(self, mechanism: Mechanism) -> None:
        super().check(mechanism)
        mechanism.description.carrier(self.frame)

    def rows(self, mechanism: Mechanism, q: Array, at: Array, params: Params | None) -> GoalRows:
        """The line of sight turns by d x ddot = -(d x v) / l when the origin moves with v; the axis by w."""
        X, J = mechanism.pose(self.frame, q, params=params), mechanism.jacobian(self.frame, q, params=params)
        line = self.point.reshape(-1, 3)[at] - X[:, :3, 3]
        length = np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), 1e-12)
        d = line / length
        across = J[:, :3] - d[:, :, None] * np.einsum("bi,bij->bj", d, J[:, :3])[:, None, :]
        sight = np.cross(d[:, :, None], J[:, 3:], axis=1) / length[:, :, None]
        turn = _turn(X[:, :3, :3] @ self.axis, d)
        none = np.zeros((len(q), 0))
        return GoalRows(turn, across + sight, none, np.zeros((len(q), 0, J.shape[-1])), _lever(J))


def _turn(a: Array, d: Array) -> Array:
    """Return the rotation vectors that turn unit vectors a to d, (B, 3); of opposite ones a half turn about some normal."""
    n = np.cross(a, d)
    sine, cosine = np.linalg.norm(n, axis=-1, keepdims=True), np.sum(a * d, axis=-1, keepdims=True)
    side = np.cross(a, np.eye(3)[np.argmin(np.abs(a), axis=-1)])
    side /= np.linalg.norm(side, axis=-1, keepdims=True)
    flat = sine < 1e-9
    about = np.where(flat, np.where(cosine < 0, side, 0.0), n / np.where(flat, 1.0, sine))
    return np.arctan2(sine, cosine) * about


def _rotation_vector(R: Array) -> Array:
    """Return the rotation vectors of rotations (B, 3, 3), in few operations but for turns by nearly half a turn."""
    n = 0.5 * (R[:, (2, 0, 1), (1, 2, 0)] - R[:, (1, 2, 0), (2, 0, 1)])
    sine, cosine = np.sqrt(np.einsum("bi,bi->b", n, n)), 0.5 * (np.einsum("bii->b", R) - 1)
    turned = np.arctan2(sine, cosine)
    out = n * np.where(sine > 0, turned / np.where(sine > 0, sine, 1.0), 1.0)[:, None]
    if turned.max(initial=0.0) > 3.0:
        far = turned > 3.0
        out[far] = log_so3(R[far])
    return out


def _lever(J: Array) -> Array:
    """Return the largest lever arm of a frame's Jacobian, (B,) [m]; 1 where nothing moves it."""
    arm = np.sqrt(np.einsum("bij,bij->bj", J[:, 3:], J[:, 3:]).max(axis=-1, initial=0.0))
    return np.where(arm > 0, arm, 1.0)


def _shift(off: Array, J: Array) -> GoalRows:
    return GoalRows(np.zeros((len(off), 0)), np.zeros((len(off), 0, J.shape[-1])), off, J, np.ones(len(off)))


def _point(point: Any, free: bool = False) -> Array:
    found = as_array("target", point)
    bad = np.isinf(found) if free else ~np.isfinite(found)
    if found.shape[-1:] != (3,) or bad.any():
        raise InputError(f"target: found shape {found.shape}; expected points (..., 3) of finite numbers")
    return found


def _pose(pose: Any) -> Array:
    found = as_array("target", pose)
    if found.shape[-2:] != (4, 4) or not np.isfinite(found).all():
        raise InputError(
            f"target: found shape {found.shape}; expected poses (..., 4, 4) or points (..., 3) of finite numbers"
        )
    R = found[..., :3, :3]
    off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
    last = (found[..., 3, :] == (0, 0, 0, 1)).all()
    if off > ORTHOGONAL or (np.linalg.det(R) < 0).any() or not last:
        raise InputError(
            f"target: found a matrix whose rotation is off by {off:.3g}; expected a pose: an orthogonal right-handed "
            "rotation, a position in the last column, and the last row 0 0 0 1"
        )
    return found
