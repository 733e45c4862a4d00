"""Poses of all bodies at once, from one kernel."""

from __future__ import annotations

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation

from articulus import kernel
from articulus.api import Mechanism
from articulus.compiled import physics_version
from articulus.dynamics.coupled import Coupled
from articulus.dynamics.flexible import FlexibleTree, flexible_tree
from articulus.dynamics.tree import Tree
from articulus.mechanism import Description


def body_poses(mechanism: Mechanism, q: np.ndarray) -> np.ndarray:
    """Return position and quaternion (w, x, y, z) of every body in the ground frame, (..., bodies, 7) [m, -].

    Along the axis before the last two, quaternions change sign nowhere: what is between two rows may be interpolated.

    Parameters
    ----------
    mechanism : Mechanism
    q : array, (..., nq) [rad, m]
    """
    d = mechanism.description
    key = "|".join([physics_version(), d.fingerprint, "poses of all bodies"])
    compiled = kernel.cached(key, lambda: _poses(d), ranks=lambda: ((1,) * (1 + bool(d.parameters)), (2,)))
    values = np.array(list(mechanism.parameters.values()))
    X = compiled(q, values) if values.size else compiled(q)
    X = X.reshape(*X.shape[:-1], 4, 3)
    R = Rotation.from_matrix(np.swapaxes(X[..., :3, :], -1, -2).reshape(-1, 3, 3))
    quaternion = np.roll(R.as_quat(), 1, axis=-1).reshape(*X.shape[:-2], 4)
    return np.concatenate([X[..., 3, :], _continuous(quaternion)], axis=-1)


def _poses(d: Description) -> ca.Function:
    """Return q (, p) -> columns of rotation and position of each body, a row per body, (bodies, 12)."""
    tree = Tree(d)
    moving: Tree | FlexibleTree = flexible_tree(tree) if d.flexible else tree
    rows = [ca.vec(moving.world_frame(b.name).matrix()[:3, :]).T for b in d.bodies]
    found = ca.Function("of_tree", [tree.q, tree.p], [ca.densify(ca.vertcat(*rows))])
    motion = Coupled(d)
    inputs = [motion.q, motion.p] if d.parameters else [motion.q]
    return ca.Function("poses", inputs, [found(motion.positions, motion.p[: tree.p.numel()])])


def _continuous(quaternion: np.ndarray) -> np.ndarray:
    """Return quaternions (..., rows, bodies, 4) with the sign that is nearest to the row before."""
    if quaternion.ndim < 3:
        return quaternion
    dots = np.sum(quaternion[..., 1:, :, :] * quaternion[..., :-1, :, :], axis=-1)
    signs = np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=-2)
    out = quaternion.copy()
    out[..., 1:, :, :] *= signs[..., None]
    return out
