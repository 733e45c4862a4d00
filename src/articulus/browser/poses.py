"""Poses of all bodies as positions and quaternions."""

from __future__ import annotations

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.spatial import quaternion_of_rotation


def body_poses(mechanism: Mechanism, q: np.ndarray) -> np.ndarray:
    """Return position and quaternion (w, x, y, z) of every body in the ground frame, (..., bodies, 7) [m, -].

    Along the axis before the last two, quaternions change sign nowhere: what is between two rows may be interpolated.

    Parameters
    ----------
    mechanism : Mechanism
    q : array, (..., nq) [rad, m]
    """
    poses = mechanism.poses(q)
    X = np.stack([poses[name] for name in mechanism.body_names], axis=-3)
    quaternion = quaternion_of_rotation(X[..., :3, :3])
    return np.concatenate([X[..., :3, 3], _continuous(quaternion)], axis=-1)


def _continuous(quaternion: np.ndarray) -> np.ndarray:
    """Return quaternions (..., rows, bodies, 4) with the sign that is nearest to the row before."""
    if quaternion.ndim < 3:
        return quaternion
    dots = np.sum(quaternion[..., 1:, :, :] * quaternion[..., :-1, :, :], axis=-1)
    signs = np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=-2)
    out = quaternion.copy()
    out[..., 1:, :, :] *= signs[..., None]
    return out
