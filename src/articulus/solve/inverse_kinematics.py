"""Positions that bring a frame to a place: damped least squares within the limits of the joints and with loops closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from articulus.api import Mechanism
from articulus.errors import InputError
from articulus.mechanism.numbers import as_array, values_of
from articulus.solve.assembly import least, moving_freedoms, newton, one_state

STEPS = 100
"""Steps after which the search gives up."""
CLOSING = 1e3
"""Weight of an open loop against the distance of the frame from its target."""
CLOSED = 1e-10
"""Residual of the constraints at which loops count as closed [m, rad]."""
ORTHOGONAL = 1e-6
"""Error of the rotation of a target up to which it is taken."""
SLOW = 1e-10
"""Relative progress of a step below which the search is at its end."""


@dataclass(frozen=True)
class Reach:
    """A position, and how near to its target it brings the frame.

    Attributes
    ----------
    q : array, (nq,)
    reached : bool
        Whether both errors and the residual are within the tolerance.
    distance : float [m]
        Of the frame's origin from the target.
    angle : float [rad]
        Between the frame and the target; 0 where only a point was given.
    residual : float [m, rad]
        Largest residual of the constraints: loops that stay open.
    steps : int
    """

    q: np.ndarray
    reached: bool
    distance: float
    angle: float
    residual: float
    steps: int


def inverse_kinematics(
    mechanism: Mechanism,
    frame: str,
    target: Any,
    q: Any = None,
    fixed: Sequence[str] = (),
    *,
    tolerance: float = 1e-8,
    params: Mapping[str, Any] | None = None,
) -> Reach:
    """Return the position nearest to an estimate's path that brings a frame to a target, or as near as it gets.

    Each step minimises |J s - e|^2 + mu |s|^2 over the steps s that keep every joint within its limits, with mu small near the
    target and grown where a step makes things worse (Levenberg 1944; Nakamura & Hanafusa 1986). Coordinates of flexible bodies
    stay as they are.

    Parameters
    ----------
    mechanism : Mechanism
    frame : str
        Body or frame.
    target : array, (4, 4) or (3,)
        Pose in the ground frame, or only the place of the origin [m].
    q : array, (nq,)
        Where the search starts; neutral if not given.
    fixed : sequence of str
        Joints that stay as they are.
    tolerance : float [m, rad]
        Error up to which the target counts as reached.
    params : dict of parameter name to number
    """
    goal = _target(target)
    x = one_state("q", mechanism.positions(q), mechanism.nq)
    search = _Search(mechanism, frame, goal, moving_freedoms(mechanism, fixed, "inverse_kinematics"), params)
    x, steps = search.run(search.closed(search.within(x)))
    x = search.closed(x)
    angle, distance = search.errors(x)
    residual = float(np.abs(search.open(x)).max(initial=0.0))
    reached = max(angle, distance, residual) <= tolerance
    return Reach(x, bool(reached), distance, angle, residual, steps)


class _Search:
    """The least-squares problem: rows of the frame's error and of open loops, weighted to lengths."""

    def __init__(
        self,
        mechanism: Mechanism,
        frame: str,
        goal: np.ndarray,
        moving: np.ndarray,
        params: Mapping[str, Any] | None,
    ):
        self.mechanism, self.frame, self.goal, self.params = mechanism, frame, goal, params
        d = mechanism.description
        d.carrier(frame)
        self.moving = moving.copy()
        self.lower, self.upper = np.full(mechanism.nv, -np.inf), np.full(mechanism.nv, np.inf)
        self.places = np.full(mechanism.nv, -1)
        for c in d.connections:
            v, at = d.v_slices[c.name], d.q_slices[c.name]
            self.moving[d.mode_slices(c.child)[0]] = False
            if c.joint.nq == c.joint.nv and c.name not in d.coupled:
                self.places[v] = np.arange(at.start, at.stop)
                self.lower[v] = values_of(c.limits.lower) or -np.inf
                self.upper[v] = values_of(c.limits.upper) or np.inf

    def run(self, x: np.ndarray) -> tuple[np.ndarray, int]:
        """Return where the search ends, and after how many steps."""
        A, r = self._rows(x)
        mu = 1e-6 * float(np.linalg.norm(A)) ** 2 or 1.0
        for k in range(STEPS):
            cost = r @ r
            for _ in range(30):
                there = self._moved(x, self._step(A, r, mu, x))
                rows, found = self._rows(there)
                if found @ found < cost:
                    break
                mu = max(4 * mu, 1e-12 * float(np.linalg.norm(A)) ** 2)
            else:
                return x, k
            x, A, r, mu = there, rows, found, 0.1 * mu
            if cost - r @ r <= SLOW * cost or r @ r < 1e-28:
                return x, k + 1
        return x, STEPS

    def errors(self, x: np.ndarray) -> tuple[float, float]:
        """Return angle [rad] and distance [m] from the target."""
        e = self._error(x)
        return float(np.linalg.norm(e[:-3])), float(np.linalg.norm(e[-3:]))

    def within(self, x: np.ndarray) -> np.ndarray:
        """Return a position with every joint that may move inside its limits."""
        x, held = x.copy(), (self.places >= 0) & self.moving
        at = self.places[held]
        x[at] = np.clip(x[at], self.lower[held], self.upper[held])
        return x

    def open(self, x: np.ndarray) -> np.ndarray:
        """Return the residuals of the constraints on positions."""
        d = self.mechanism.description
        return (
            self.mechanism.constraint_residual(x, params=self.params)[d.holonomic_rows]
            if d.constraints
            else np.zeros(0)
        )

    def closed(self, x: np.ndarray) -> np.ndarray:
        """Return the position with its loops closed by the smallest change within the limits, as far as they close.

        A joint that would pass a limit stops there, and the others close the loops without it.
        """
        if not self.mechanism.description.constraints:
            return x
        free = self.moving.copy()
        for _ in range(len(free)):
            there = self._close(x, free)
            low, high = self._room(there)
            out = free & ((low > 0) | (high < 0))
            if not out.any():
                return there
            x, free = self.within(there), free & ~out
        return self.within(x)

    def _close(self, x: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return where Newton's method leads that moves only free freedoms."""

        def step(q: np.ndarray, g: np.ndarray) -> np.ndarray:
            return least(self._closing(q), -g, free)

        return newton(x, self.open, step, self.mechanism.integrate_position, CLOSED)[0]

    def _closing(self, x: np.ndarray) -> np.ndarray:
        """Return the Jacobian of the constraints on positions."""
        return self.mechanism.constraint_jacobian(x, params=self.params)[
            self.mechanism.description.holonomic_rows
        ]

    def _error(self, x: np.ndarray) -> np.ndarray:
        """Return target minus frame: rotation vector (only of a pose) and shift, ground axes."""
        X = self.mechanism.pose(self.frame, x, params=self.params)
        if self.goal.shape == (3,):
            return self.goal - X[:3, 3]
        turn = Rotation.from_matrix(self.goal[:3, :3] @ X[:3, :3].T).as_rotvec()
        return np.concatenate([turn, self.goal[:3, 3] - X[:3, 3]])

    def _rows(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return A and r of A s = r; angles count as the arcs that they make at the largest lever arm."""
        J, e = self.mechanism.jacobian(self.frame, x, params=self.params), self._error(x)
        lever = float(np.linalg.norm(J[3:], axis=0).max(initial=0.0)) or 1.0
        weight = np.array([lever] * (e.size - 3) + [1.0] * 3)
        A, r = weight[:, None] * J[-e.size :], weight * e
        if self.mechanism.description.constraints:
            A = np.vstack([A, CLOSING * self._closing(x)])
            r = np.concatenate([r, -CLOSING * self.open(x)])
        return A, r

    def _step(self, A: np.ndarray, r: np.ndarray, mu: float, x: np.ndarray) -> np.ndarray:
        """Return the damped step; a joint that would pass a limit goes as far as it and the others make up for it."""
        low, high = self._room(x)
        step, free = np.zeros(A.shape[1]), self.moving.copy()
        while free.any():
            rest = r - A[:, ~free] @ step[~free]
            B = A[:, free]
            step[free] = np.linalg.solve(B.T @ B + mu * np.eye(B.shape[1]), B.T @ rest)
            out = free & ((step < low) | (step > high))
            if not out.any():
                break
            step[out] = np.clip(step[out], low[out], high[out])
            free &= ~out
        return step

    def _room(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how far each freedom may go down and up."""
        known = self.places >= 0
        at = np.where(known, x[self.places], 0.0)
        return np.where(known, self.lower - at, -np.inf), np.where(known, self.upper - at, np.inf)

    def _moved(self, x: np.ndarray, step: np.ndarray) -> np.ndarray:
        return self.within(self.mechanism.integrate_position(x, step))


def _target(target: Any) -> np.ndarray:
    goal = as_array("target", target)
    if goal.shape not in ((3,), (4, 4)) or not np.isfinite(goal).all():
        raise InputError(
            f"target: found shape {goal.shape}; expected a pose (4, 4) or a point (3,) of finite numbers"
        )
    if goal.shape == (4, 4):
        R = goal[:3, :3]
        off = float(np.abs(R.T @ R - np.eye(3)).max())
        if off > ORTHOGONAL or np.linalg.det(R) < 0 or not np.array_equal(goal[3], (0, 0, 0, 1)):
            raise InputError(
                f"target: found a matrix whose rotation is off by {off:.3g}; expected a pose: an orthogonal right-handed "
                "rotation, a position in the last column, and the last row 0 0 0 1"
            )
    return goal
