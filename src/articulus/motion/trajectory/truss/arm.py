"""`track_frame`: an arm of more joints than needed follows poses of a frame; what is free keeps limits and brings other frames near a curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.model.mechanism.numbers import values_of
from articulus.motion.trajectory.obstacles import Hull, Obstacle
from articulus.motion.trajectory.points import numbers
from articulus.motion.trajectory.truss.direct import REACHED, check_poses
from articulus.motion.trajectory.truss.nodes import Distances
from articulus.motion.trajectory.truss.settle import settle
from articulus.spatial.lie import log_so3


@dataclass(frozen=True, eq=False)
class ArmMotion:
    """Positions of an arm along a motion.

    Parameters
    ----------
    q : array, (poses, nq)
    residual : array, (poses,) [rad, m]
        Largest error of the frame's pose.
    clearance : array, (poses,) [m]
        Least distance of hulls from obstacles; infinite without.
    inside : array, (poses,) [rad or m]
        Least distance of a joint from its limits, negative beyond them; infinite without limits.
    margin : float [m]
        Asked for.
    """

    q: np.ndarray
    residual: np.ndarray
    clearance: np.ndarray
    inside: np.ndarray
    margin: float

    @property
    def violations(self) -> tuple[str, ...]:
        """What is not kept, pose by pose; empty if all is."""
        out = []
        for k, (off, free) in enumerate(zip(self.residual, self.clearance)):
            if off > REACHED:
                out.append(f"pose {k}: the frame is off by {off:.3g} rad or m; out of reach")
            if free < self.margin - REACHED:
                out.append(f"pose {k}: clearance {free:.4g} m instead of {self.margin:g} m")
            if self.inside[k] < -REACHED:
                out.append(f"pose {k}: a joint is {-self.inside[k]:.3g} rad or m beyond its limit")
        return tuple(out)


def track_frame(
    mechanism: Mechanism,
    frame: str,
    poses: np.ndarray,
    start: Sequence[float],
    *,
    frames: Sequence[str] = (),
    points: np.ndarray | None = None,
    hulls: Sequence[Hull] = (),
    obstacles: Sequence[Obstacle] = (),
    margin: float = 0.0,
) -> ArmMotion:
    """Return a motion of an arm whose frame follows poses, and whose hulls stay clear of obstacles.

    Parameters
    ----------
    mechanism : Mechanism
        A tree of joints with one degree of freedom each; limits of their positions are kept.
    frame : str
    poses : array, (poses, 4, 4)
        One near the other.
    start : sequence of float [rad or m]
        Positions to begin from.
    frames : sequence of str
        Others that are brought near points, as far as the poses and limits leave it open.
    points : array, (poses, frames, 3) [m]
        Theirs, for example on a curve: `curve.weights(s)[0] @ vertices`.
    hulls, obstacles : sequences
        What stays clear, of what.
    margin : float [m]
    """
    targets = check_poses(poses)
    if mechanism.nq != mechanism.nv or mechanism.nv != len(mechanism.joint_names):
        raise InputError(
            "track_frame: found joints of several degrees of freedom; expected revolute and prismatic ones"
        )
    if mechanism.constraint_names:
        raise InputError(f"track_frame: '{mechanism.name}' has closed loops; expected a tree")
    if obstacles and not hulls:
        raise InputError("track_frame: found obstacles, but no hulls; expected hulls that stay clear of them")
    places = np.zeros((len(targets), 0, 3)) if points is None else np.asarray(points, dtype=float)
    if places.shape != (len(targets), len(frames), 3):
        raise InputError(
            f"track_frame: found points of shape {places.shape}; expected {(len(targets), len(frames), 3)}, one per pose and frame"
        )
    q = numbers(start, "track_frame: start")
    if q.shape != (mechanism.nq,) or not np.isfinite(q).all():
        raise InputError(f"track_frame: start: found {q}; expected {mechanism.nq} finite numbers")
    distances = Distances(obstacles) if obstacles else None
    lower, upper = _limits(mechanism)
    low, high, eye = np.isfinite(lower), np.isfinite(upper), np.eye(mechanism.nq)

    def joints(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate([(q - lower)[low], (upper - q)[high]]), np.vstack([eye[low], -eye[high]])

    def keep(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        within, slopes = joints(q)
        values, rows = [within], [slopes]
        for hull in hulls if distances is not None else ():
            pose, J = mechanism.pose(hull.body, q), mechanism.jacobian(hull.body, q)
            arms = hull.points() @ pose[:3, :3].T
            d, grows = distances(arms + pose[:3, 3])  # type: ignore[misc]
            # velocity of a point: linear + angular x arm
            moves = J[3:] + np.cross(J[:3].T[None], arms[:, None]).transpose(0, 2, 1)
            values.append((d - hull.radius - margin).ravel())
            rows.append(np.einsum("opk,pkj->opj", grows, moves).reshape(-1, len(q)))
        return np.concatenate(values), np.vstack(rows)

    out, off, free, short = [], [], [], []
    for k, target in enumerate(targets):

        def equal(q: np.ndarray, target: np.ndarray = target) -> tuple[np.ndarray, np.ndarray]:
            pose = mechanism.pose(frame, q)
            return np.concatenate(
                [log_so3(pose[:3, :3] @ target[:3, :3].T), pose[:3, 3] - target[:3, 3]]
            ), mechanism.jacobian(frame, q)

        def near(q: np.ndarray, k: int = k) -> tuple[np.ndarray, np.ndarray]:
            apart = [mechanism.pose(f, q)[:3, 3] - places[k, i] for i, f in enumerate(frames)]
            return np.concatenate(apart), np.vstack([mechanism.jacobian(f, q)[3:] for f in frames])

        q, residual, _ = settle(q, equal, keep, longest=0.2, wish=near if frames else None)
        out.append(q)
        off.append(residual)
        inside = joints(q)[0]
        free.append(keep(q)[0][len(inside) :].min(initial=np.inf) + margin)
        short.append(inside.min(initial=np.inf))
    return ArmMotion(np.array(out), np.array(off), np.array(free), np.array(short), margin)


def _limits(mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and largest positions of the joints."""
    lower, upper = np.full(mechanism.nq, -np.inf), np.full(mechanism.nq, np.inf)
    for connection in mechanism.description.connections:
        if connection.name in mechanism.joint_names:
            for side, numbers in ((lower, connection.limits.lower), (upper, connection.limits.upper)):
                if numbers:
                    side[mechanism.q_slice(connection.name)] = values_of(numbers)
    return lower, upper
