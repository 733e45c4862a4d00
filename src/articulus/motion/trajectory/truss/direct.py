"""`track_nodes`: a truss follows poses of its end, all its nodes at once: pseudo-inverse, null space for limits, Newton against drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError
from articulus.motion.trajectory.obstacles import Obstacle
from articulus.motion.trajectory.truss.nodes import Distances, Truss, member_lengths
from articulus.motion.trajectory.truss.settle import Rows, settle

REACHED = 1e-9
"""Residual of an end pose and of rods [m] up to which it counts as reached."""


@dataclass(frozen=True, eq=False)
class TrussMotion:
    """Positions of the nodes along a motion.

    Parameters
    ----------
    truss : Truss
    nodes : array, (poses, n, 3) [m]
    residual : array, (poses,) [m]
        Largest error of a node of the end face and of the length of a rod.
    clearance : array, (poses,) [m]
        Least distance of members from obstacles; infinite without.
    margin : float [m]
        Asked for.
    """

    truss: Truss
    nodes: np.ndarray
    residual: np.ndarray
    clearance: np.ndarray
    margin: float

    @property
    def lengths(self) -> np.ndarray:
        """Lengths of the legs, (poses, legs) [m]."""
        return self.truss.lengths(self.nodes)

    @property
    def violations(self) -> tuple[str, ...]:
        """What is not kept, pose by pose; empty if all is."""
        low, high = self.truss.stroke
        out = []
        for k, (lengths, off, free) in enumerate(zip(self.lengths, self.residual, self.clearance)):
            if off > REACHED:
                out.append(f"pose {k}: the end or a rod is off by {off:.3g} m; out of reach")
            if free < self.margin - REACHED:
                out.append(f"pose {k}: clearance {free:.4g} m instead of {self.margin:g} m")
            for i in np.flatnonzero((lengths < low - REACHED) | (lengths > high + REACHED)):
                out.append(f"pose {k}: leg {i} is {lengths[i]:.4g} m long instead of {low:g} to {high:g} m")
        return tuple(out)


def track_nodes(
    truss: Truss,
    poses: np.ndarray,
    *,
    obstacles: Sequence[Obstacle] = (),
    margin: float = 0.0,
    start: np.ndarray | None = None,
) -> TrussMotion:
    """Return a motion whose end face follows poses; what the truss is free to do beside keeps legs within their stroke and members clear.

    Parameters
    ----------
    truss : Truss
    poses : array, (poses, 4, 4)
        Poses of the end face, see `Truss.pose`, one near the other.
    obstacles : sequence of Obstacle
    margin : float [m]
        Distance of members from obstacles.
    start : array, (n, 3) [m]
        Nodes to begin from; at rest if not given.
    """
    targets = check_poses(poses)
    nodes = truss.nodes if start is None else np.asarray(start, dtype=float)
    keep = _limits(truss, obstacles, margin)
    out, off = [], []
    for pose in targets:
        equal = _equations(truss, truss.corners(pose))
        flat, residual, _ = settle(nodes[truss.free].ravel(), equal, keep, longest=0.1 * truss.stroke[1])
        nodes = _whole(truss, flat)
        out.append(nodes)
        off.append(residual)
    return with_clearances(truss, np.array(out), obstacles, margin, np.array(off))


def with_clearances(
    truss: Truss, nodes: np.ndarray, obstacles: Sequence[Obstacle], margin: float, residual: np.ndarray
) -> TrussMotion:
    """Return the motion with its clearances."""
    free = np.array([truss.clearance(each, obstacles) for each in nodes])
    return TrussMotion(truss, nodes, residual, free, margin)


def check_poses(poses: np.ndarray) -> np.ndarray:
    """Return poses, after a look at them."""
    every = np.asarray(poses, dtype=float)
    if every.ndim != 3 or every.shape[1:] != (4, 4) or not np.all(np.isfinite(every)):
        raise InputError(f"poses: found an array of shape {every.shape}; expected finite ones, (poses, 4, 4)")
    turns = every[:, :3, :3]
    off = np.abs(turns @ np.swapaxes(turns, 1, 2) - np.eye(3)).max()
    if off > 1e-9:
        raise InputError(
            f"poses: found axes that are off by {off:.2g} from orthogonal unit vectors; expected rotation matrices"
        )
    if (np.linalg.det(turns) < 0).any():
        raise InputError(
            "poses: found axes of a left hand; expected rotation matrices, whose determinant is 1"
        )
    return every


def _whole(truss: Truss, flat: np.ndarray) -> np.ndarray:
    nodes = truss.nodes.copy()
    nodes[truss.free] = flat.reshape(-1, 3)
    return nodes


def _equations(truss: Truss, corners: np.ndarray) -> Rows:
    """Return the equations of the end face's nodes and of rods; those within the end face follow from its nodes."""
    place = np.full(len(truss.nodes), -1)
    place[truss.free] = np.arange(len(truss.free))
    inside = np.isin(truss.rods, truss.end).all(1) | np.isin(truss.rods, truss.base).all(1)
    rods = truss.rods[~inside]
    length = truss.lengths(truss.nodes, rods)
    end = np.zeros((9, 3 * len(truss.free)))
    for i, node in enumerate(truss.end):
        end[3 * i : 3 * i + 3, 3 * place[node] : 3 * place[node] + 3] = np.eye(3)

    def equal(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nodes = _whole(truss, flat)
        now, slopes = member_lengths(nodes, rods, place)
        return np.concatenate([end @ flat - corners.ravel(), now - length]), np.vstack([end, slopes])

    return equal


def _limits(truss: Truss, obstacles: Sequence[Obstacle], margin: float) -> Rows:
    """Return what is to stay positive: strokes of legs, and distances of members from obstacles minus the margin."""
    place = np.full(len(truss.nodes), -1)
    place[truss.free] = np.arange(len(truss.free))
    distances = Distances(obstacles) if obstacles else None
    spread = truss.spread[:, truss.free]
    low, high = truss.stroke

    def keep(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nodes = _whole(truss, flat)
        length, slopes = member_lengths(nodes, truss.legs, place)
        values, rows = [length - low, high - length], [slopes, -slopes]
        if distances is not None:
            d, slope = distances(truss.spread @ nodes)
            for each, grows in zip(d - truss.radius - margin, slope):
                near = each < 0.05 * high
                values.append(each[near])
                rows.append(
                    (spread[near][:, :, None] * grows[near][:, None, :]).reshape(
                        near.sum(), 3 * len(truss.free)
                    )
                )
        return np.concatenate(values), np.vstack(rows)

    return keep
