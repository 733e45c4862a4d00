"""Joint motion that follows from the deformation of the links: rows e(t) . (end - hub) = y(t), solved for the joints.

The rows say where the tip is, or that the end of every link is on the line on which that of the rigid link would be, and that it is
not twisted. Positions by Newton's method, velocities and accelerations by one linear solution each; all times at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.links.chain import Chain
from articulus.numerics.newton import least_step, newton
from articulus.simulation.solve.inverse_kinematics import inverse_kinematics

KNOTS = 65
"""Times at which the posture is followed one after another; those between start from them."""
CLOSE, REACHED = 1e-13, 1e-9
"""Error of a row over the reach of the arm: below the first it counts as rounding, above the second the joints do not reach it."""
NO_AUTHORITY = 1e-6
"""Smallest singular value of the rows over the largest at which a direction counts as lost."""


@dataclass(frozen=True, eq=False)
class ConditionRow:
    """e . (place of `end` - place of `hub`) = y, or e . (axis of `end`) = y.

    Parameters
    ----------
    end, hub : str
        Frames; no hub: the ground.
    e : array, (3, N, 3)
        Direction and its first two derivatives.
    y : array, (3, N)
        Value and its first two derivatives.
    axis : array, (3,) or None
        Fixed in `end`; None for a row of places.
    name : str
        For messages.
    """

    end: str
    hub: str
    e: np.ndarray
    y: np.ndarray
    axis: np.ndarray | None
    name: str


@dataclass(frozen=True, eq=False)
class Conditions:
    """As many rows as joints."""

    chain: Chain
    rows: tuple[ConditionRow, ...]

    def motion(self, q: np.ndarray, eta: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return q, v and vdot, (N, nv) each, with modal coordinates and their derivatives `eta`, each (N, modes).

        Parameters
        ----------
        q : array, (N, nq)
            Estimate of the joint positions.
        """
        chain = self.chain
        joints, modes = chain.joints, chain.modes
        q, v, vdot = q.copy(), np.zeros_like(q), np.zeros_like(q)
        q[:, modes], v[:, modes], vdot[:, modes] = eta
        pose, J = self._close(q)
        inverse = np.linalg.inv(J[:, :, joints])
        v[:, joints] = _times(inverse, self._velocity(pose) - _times(J[:, :, modes], eta[1]))
        vdot[:, joints] = _times(inverse, self._acceleration(pose, v, vdot))
        return q, v, vdot

    def jacobian(self, q: np.ndarray, at: slice = slice(None)) -> np.ndarray:
        """Return d rows/d q at the times `at`, (N, rows, nv)."""
        return self._jacobian(Posture(self.chain.arm, q), at)

    def error(self, q: np.ndarray, at: slice = slice(None)) -> np.ndarray:
        """Return y less its value at the times `at`, (N, rows)."""
        return self._error(Posture(self.chain.arm, q), at)

    def require_authority(self, q: np.ndarray, t: np.ndarray, what: str) -> float:
        """Return the worst condition number of the rows; raise InputError that names a direction that no joint moves."""
        U, s, _ = np.linalg.svd(self.jacobian(q)[:, :, self.chain.joints])
        worst = int(np.argmin(s[:, -1] / s[:, 0]))
        if s[worst, -1] < NO_AUTHORITY * s[worst, 0]:
            share = np.abs(U[worst, :, -1])
            lost = ", ".join(row.name for row, part in zip(self.rows, share) if part > 0.3)
            raise InputError(
                f"{what}: at t = {t[worst]:.4g} s no joint moves {lost} (singular posture); expected a path on which every "
                "required direction can be driven"
            )
        return float(s[worst, 0] / s[worst, -1])

    def _close(self, q: np.ndarray) -> tuple[Posture, np.ndarray]:
        """Bring the joints onto the rows, in place, and return the posture and the Jacobian there."""
        joints = self.chain.joints
        reach = max(1.0, *(np.abs(row.y[0]).max() for row in self.rows))
        pose = Posture(self.chain.arm, q.copy())

        def look(x: np.ndarray) -> Posture:
            nonlocal pose
            if not np.array_equal(x, pose.q[:, joints]):
                whole = q.copy()
                whole[:, joints] = x
                pose = Posture(self.chain.arm, whole)
            return pose

        def step(x: np.ndarray, off: np.ndarray) -> np.ndarray:
            by = np.linalg.solve(self._jacobian(look(x))[:, :, joints], off[:, :, None])[:, :, 0]
            return np.clip(by, -0.5, 0.5)

        try:
            q[:, joints] = newton(q[:, joints], lambda x: self._error(look(x)), step, np.add, CLOSE * reach)[
                0
            ]
        except np.linalg.LinAlgError:  # singular; told below
            q[:, joints] = pose.q[:, joints]
        off = np.abs(self._error(look(q[:, joints])))
        if off.max() <= REACHED * reach:
            return pose, self._jacobian(pose)
        raise NumericalError(
            f"joint positions not found: {self.rows[int(np.argmax(off.max(0)))].name} is off by {np.nanmax(off):.3g} after Newton's method; "
            "expected a path within reach, away from singular postures"
        )

    def _jacobian(self, pose: Posture, at: slice = slice(None)) -> np.ndarray:
        out = np.zeros((len(pose.q), len(self.rows), self.chain.arm.nv))
        for k, row in enumerate(self.rows):
            J, e = pose.jacobian(row.end), row.e[0, at]
            if row.axis is None:
                apart = J[:, 3:] - pose.jacobian(row.hub)[:, 3:] if row.hub else J[:, 3:]
                out[:, k] = np.einsum("ti,tij->tj", e, apart)
            else:
                out[:, k] = np.einsum("ti,tij->tj", np.cross(pose.apart(row), e), J[:, :3])
        return out

    def _error(self, pose: Posture, at: slice = slice(None)) -> np.ndarray:
        return np.stack([row.y[0, at] - _dot(row.e[0, at], pose.apart(row)) for row in self.rows], axis=1)

    def _velocity(self, pose: Posture) -> np.ndarray:
        return np.stack([row.y[1] - _dot(row.e[1], pose.apart(row)) for row in self.rows], axis=1)

    def _acceleration(self, pose: Posture, v: np.ndarray, vdot: np.ndarray) -> np.ndarray:
        frames = {name for row in self.rows for name in (row.end, row.hub) if name}
        held = {name: self.chain.arm.acceleration(name, pose.q, v, vdot) for name in frames}
        out = []
        for row in self.rows:
            place, rate, second = pose.apart(row), _times(pose.jacobian(row.end), v), held[row.end]
            if row.axis is not None:
                w = rate[:, :3]
                first = np.cross(w, place)
                bias = np.cross(second[:, :3], place) + np.cross(w, first)
            elif row.hub:
                first = (rate - _times(pose.jacobian(row.hub), v))[:, 3:]
                bias = (second - held[row.hub])[:, 3:]
            else:
                first, bias = rate[:, 3:], second[:, 3:]
            out.append(row.y[2] - _dot(row.e[2], place) - 2 * _dot(row.e[1], first) - _dot(row.e[0], bias))
        return np.stack(out, axis=1)


class Posture:
    """Positions of an arm over time with what was asked of them, each once."""

    def __init__(self, arm: Mechanism, q: np.ndarray) -> None:
        self.arm, self.q = arm, q
        self._poses: dict[str, np.ndarray] = {}
        self._jacobians: dict[str, np.ndarray] = {}

    def pose(self, frame: str) -> np.ndarray:
        """Return the poses of a frame, (N, 4, 4)."""
        if frame not in self._poses:
            self._poses[frame] = self.arm.pose(frame, self.q)
        return self._poses[frame]

    def jacobian(self, frame: str) -> np.ndarray:
        """Return the Jacobians of a frame, (N, 6, nv)."""
        if frame not in self._jacobians:
            self._jacobians[frame] = self.arm.jacobian(frame, self.q)
        return self._jacobians[frame]

    def apart(self, row: ConditionRow) -> np.ndarray:
        """Return what a row is about: the end from the hub, or the axis of the end, (N, 3)."""
        pose = self.pose(row.end)
        if row.axis is not None:
            return pose[:, :3, :3] @ row.axis
        return pose[:, :3, 3] - (self.pose(row.hub)[:, :3, 3] if row.hub else 0.0)


def tip_rows(tip: str, axes: str, wanted: np.ndarray) -> tuple[ConditionRow, ...]:
    """Return rows for the place of the tip along some of x, y, z of the ground; `wanted` (3, N, axes) with derivatives."""
    rows = []
    for k, letter in enumerate(axes):
        e = np.zeros((3, wanted.shape[1], 3))
        e[0, :, "xyz".index(letter)] = 1.0
        rows.append(ConditionRow(tip, "", e, wanted[:, :, k], None, f"{tip}.{letter}"))
    return tuple(rows)


def chord_rows(chain: Chain, nominal: np.ndarray) -> tuple[ConditionRow, ...]:
    """Return rows by which the end of every link is where that of the rigid link would be, but for its distance from the hub.

    Parameters
    ----------
    nominal : array, (3, N, joints)
        Positions, velocities and accelerations of the joints of the rigid arm.
    """
    arm, rows = chain.arm, []
    q, v, vdot = (np.zeros((nominal.shape[1], arm.nv)) for _ in range(3))
    q[:, chain.joints], v[:, chain.joints], vdot[:, chain.joints] = nominal
    start = arm.poses(q[0])
    for link in chain.links:
        R, J = arm.pose(link.end, q)[:, :3, :3], arm.jacobian(link.end, q)
        w, alpha = _times(J[:, :3], v), arm.acceleration(link.end, q, v, vdot)[:, :3]
        chord = R[0].T @ (start[link.end] - start[link.hub])[:3, 3]
        across = _across(chain, link.joints, link.end, J[0], R[0], chord)
        zero = np.zeros((3, len(q)))
        rows += [
            ConditionRow(
                link.end, link.hub, _carry(e, R, w, alpha), zero, None, f"'{link.end}' across '{link.name}'"
            )
            for e in across[: min(2, len(link.joints))]
        ]
        if len(link.joints) == 3:
            turned = _carry(across[1], R, w, alpha)
            rows.append(ConditionRow(link.end, "", turned, zero, across[0], f"twist of '{link.name}'"))
    return tuple(rows)


def _carry(direction: np.ndarray, R: np.ndarray, w: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return a direction that turns with R (N, 3, 3) at w, with its first two derivatives, (3, N, 3)."""
    e = R @ direction
    turn = np.cross(w, e)
    return np.stack([e, turn, np.cross(alpha, e) + np.cross(w, turn)])


def _across(
    chain: Chain, joints: tuple[str, ...], end: str, J: np.ndarray, R: np.ndarray, chord: np.ndarray
) -> list[np.ndarray]:
    """Return two directions across a link, in the axes R of its end, whose Jacobian is J; the first is that in which its only joint moves the end."""
    if len(joints) > 3:
        raise InputError(f"joints {', '.join(joints)} meet at one place; expected at most three")
    c = chord / np.linalg.norm(chord)
    if len(joints) == 1:
        place = chain.joints[chain.joint_names.index(joints[0])]
        first = R.T @ J[3:, place]
        first = first - c * (c @ first)
        if np.linalg.norm(first) < NO_AUTHORITY * np.linalg.norm(chord):
            raise InputError(
                f"joint '{joints[0]}' does not move '{end}' across the link; expected a hinge whose axis is not along it"
            )
    else:
        first = np.cross(c, np.eye(3)[int(np.argmin(np.abs(c)))])
    first = first / np.linalg.norm(first)
    return [first, np.cross(c, first)]


def follow_postures(
    conditions: Conditions, t: np.ndarray, tip: str, axes: str, q0: np.ndarray, what: str
) -> np.ndarray:
    """Return postures of the rigid arm along the rows of a tip, (N, nq), from the posture `q0` on."""
    chain, rows = conditions.chain, conditions.rows
    target = chain.arm.pose(tip, q0)[:3, 3].copy()
    for letter, row in zip(axes, rows):
        target["xyz".index(letter)] = row.y[0, 0]
    reach = inverse_kinematics(chain.arm, tip, target, q0) if len(axes) == 3 else None
    q = q0.copy() if reach is None else np.asarray(reach.q, dtype=float)
    moving = np.flatnonzero(np.any([np.diff(row.y[0]) != 0 for row in rows], axis=0))
    first, last = (moving[0], moving[-1] + 1) if len(moving) else (0, len(t) - 1)
    knots = np.unique(np.linspace(first, last, KNOTS).astype(int))
    found = []
    for k in knots:
        q, off = _posture_at(conditions, q, slice(k, k + 1))
        if not off <= REACHED:
            raise InputError(
                f"{what}: '{tip}' cannot be brought to {np.array([row.y[0, k] for row in rows])} m, required at t = {t[k]:.4g} s (off by "
                f"{off:.3g} m); expected a path within reach. Pass `guess`, a posture near the start"
            )
        found.append(q)
    return np.stack([np.interp(t, t[knots], column) for column in np.array(found).T], axis=1)


def _posture_at(conditions: Conditions, q: np.ndarray, at: slice) -> tuple[np.ndarray, float]:
    """Return the posture near q that keeps the rows at one time, and by how much the largest of them is off."""
    joints = np.zeros(conditions.chain.arm.nv, dtype=bool)
    joints[conditions.chain.joints] = True
    q, history = newton(
        q,
        lambda q: conditions.error(q[None], at)[0],
        lambda q, off: np.clip(least_step(conditions.jacobian(q[None], at)[0], off, joints), -0.3, 0.3),
        np.add,
        REACHED,
    )
    return q, history[-1]


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ti,ti->t", a, b)


def _times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("tij,tj->ti", A, x)
