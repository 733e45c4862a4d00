"""Rotations, quaternions and poses as arrays of numbers: exponentials, logarithms and what goes with them.

All functions take any leading axes. Quaternions are (w, x, y, z); twists are angular part first, (w, v), in the axes of the
frame that moves; poses are homogeneous matrices (4, 4).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray


def exp_so3(vector: Any) -> Array:
    """Return the rotation (..., 3, 3) of a rotation vector (..., 3) [rad]: a turn about it by its length."""
    W = _skew(vector)
    a, b, _ = _coefficients(vector)
    return np.eye(3) + a[..., None, None] * W + b[..., None, None] * (W @ W)


def log_so3(rotation: Any) -> Array:
    """Return the rotation vector (..., 3) [rad], at most pi long, of a rotation (..., 3, 3)."""
    return quaternion_log(quaternion_of_rotation(rotation))


def exp_se3(twist: Any) -> Array:
    """Return the pose (..., 4, 4) that a constant twist (..., 6) [rad, m] leads to in one second, from the identity."""
    xi = np.asarray(twist, dtype=float)
    W = _skew(xi[..., :3])
    _, b, c = _coefficients(xi[..., :3])
    V = np.eye(3) + b[..., None, None] * W + c[..., None, None] * (W @ W)
    return pose_of(exp_so3(xi[..., :3]), (V @ xi[..., 3:, None])[..., 0])


def log_se3(pose: Any) -> Array:
    """Return the twist (..., 6) [rad, m] that leads from the identity to a pose (..., 4, 4) in one second."""
    X = np.asarray(pose, dtype=float)
    w, p = log_so3(X[..., :3, :3]), X[..., :3, 3]
    square = np.sum(w * w, axis=-1)
    small = square < 1e-3
    half = np.sqrt(np.where(small, 1.0, square)) / 2
    series = 1 / 12 + square / 720 + square**2 / 30240
    c = np.where(small, series, (1 - half * np.cos(half) / np.sin(half)) / (4 * half**2))
    once = np.cross(w, p)
    return np.concatenate([w, p - 0.5 * once + c[..., None] * np.cross(w, once)], axis=-1)


def quaternion_exp(vector: Any) -> Array:
    """Return the unit quaternion (..., 4) of a rotation vector (..., 3) [rad]."""
    v = np.asarray(vector, dtype=float)
    half = 0.5 * np.linalg.norm(v, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * v * np.sinc(half / np.pi)], axis=-1)


def quaternion_log(quaternion: Any) -> Array:
    """Return the rotation vector (..., 3) [rad], at most pi long, of a quaternion (..., 4) of any norm but zero."""
    q = np.asarray(quaternion, dtype=float)
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    none = sine == 0
    scale = np.where(none, 2 / np.where(none, q[..., :1], 1.0), 2 * np.arctan2(sine, q[..., :1]))
    return q[..., 1:] * np.where(none, scale, scale / np.where(none, 1.0, sine))


def quaternion_multiply(a: Any, b: Any) -> Array:
    """Return the quaternion (..., 4) of the rotation a after b, R(a) R(b)."""
    a, b = (np.asarray(x, dtype=float) for x in (a, b))
    u, w = a[..., 1:], a[..., :1]
    real = w * b[..., :1] - np.sum(u * b[..., 1:], axis=-1, keepdims=True)
    return np.concatenate([real, w * b[..., 1:] + b[..., :1] * u + np.cross(u, b[..., 1:])], axis=-1)


def quaternion_inverse(quaternion: Any) -> Array:
    """Return the quaternion (..., 4) of the inverse rotation; of a unit quaternion its conjugate."""
    q = np.asarray(quaternion, dtype=float)
    return q * np.array([1.0, -1.0, -1.0, -1.0]) / np.sum(q * q, axis=-1, keepdims=True)


def quaternion_of_rotation(rotation: Any) -> Array:
    """Return the unit quaternion (..., 4), w >= 0, of a rotation (..., 3, 3), from its largest component."""
    R = np.asarray(rotation, dtype=float)
    x, y, z = (R[..., i, i] for i in range(3))
    a, b, c = (R[..., i, j] - R[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0)))
    xy, xz, yz = (R[..., i, j] + R[..., j, i] for i, j in ((0, 1), (0, 2), (1, 2)))
    forms = np.stack(
        [
            np.stack([1 + (x + y + z), a, b, c], axis=-1),
            np.stack([a, 1 + x - y - z, xy, xz], axis=-1),
            np.stack([b, xy, 1 + y - z - x, yz], axis=-1),
            np.stack([c, xz, yz, 1 + z - x - y], axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(np.stack([x + y + z, x, y, z], axis=-1), axis=-1)
    q = np.take_along_axis(forms, best[..., None, None], axis=-2)[..., 0, :]
    return q / np.linalg.norm(q, axis=-1, keepdims=True) * np.where(q[..., :1] >= 0, 1.0, -1.0)


def rotation_of_quaternion(quaternion: Any) -> Array:
    """Return the rotation (..., 3, 3) of a quaternion (..., 4) of any norm but zero."""
    q = np.asarray(quaternion, dtype=float)
    U, scale = _skew(q[..., 1:]), 2 / np.sum(q * q, axis=-1)
    return np.eye(3) + scale[..., None, None] * (q[..., :1, None] * U + U @ U)


def slerp(start: Any, end: Any, share: Any) -> Array:
    """Return the unit quaternion (..., 4) at a share of the shorter turn from one (0) to another (1)."""
    turn = quaternion_log(quaternion_multiply(quaternion_inverse(start), end))
    q = quaternion_multiply(start, quaternion_exp(np.asarray(share, dtype=float)[..., None] * turn))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def rotation_of_rpy(rpy: Any) -> Array:
    """Return Rz(yaw) Ry(pitch) Rx(roll), (..., 3, 3), of roll, pitch, yaw about fixed axes (..., 3) [rad]."""
    angles = np.asarray(rpy, dtype=float)
    x, y, z = (exp_so3(angles[..., k, None] * np.eye(3)[k]) for k in range(3))
    return z @ y @ x


def rpy_of_rotation(rotation: Any) -> Array:
    """Return roll, pitch, yaw (..., 3) [rad] of a rotation (..., 3, 3); yaw is zero where pitch is a right angle."""
    R = np.asarray(rotation, dtype=float)
    cosine = np.hypot(R[..., 0, 0], R[..., 1, 0])
    upright = cosine < 1e-12
    roll = np.where(upright, np.arctan2(-R[..., 1, 2], R[..., 1, 1]), np.arctan2(R[..., 2, 1], R[..., 2, 2]))
    yaw = np.where(upright, 0.0, np.arctan2(R[..., 1, 0], R[..., 0, 0]))
    return np.stack([roll, np.arctan2(-R[..., 2, 0], cosine), yaw], axis=-1)


def pose_of(rotation: Any, position: Any) -> Array:
    """Return the pose (..., 4, 4) of a rotation (..., 3, 3) and a position (..., 3) [m]."""
    R, p = np.asarray(rotation, dtype=float), np.asarray(position, dtype=float)
    lead = np.broadcast_shapes(R.shape[:-2], p.shape[:-1])
    X = np.zeros((*lead, 4, 4))
    X[..., :3, :3], X[..., :3, 3], X[..., 3, 3] = R, p, 1.0
    return X


def inverse_pose(pose: Any) -> Array:
    """Return the inverse (..., 4, 4) of poses."""
    X = np.asarray(pose, dtype=float)
    R = np.swapaxes(X[..., :3, :3], -1, -2)
    return pose_of(R, -(R @ X[..., :3, 3, None])[..., 0])


def adjoint(pose: Any) -> Array:
    """Return the matrix (..., 6, 6) that takes a twist in the axes of a frame B to A, for the pose X_AB (..., 4, 4).

    Its transpose takes wrenches (moment, force) in A to B.
    """
    X = np.asarray(pose, dtype=float)
    R = X[..., :3, :3]
    out = np.zeros((*X.shape[:-2], 6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = R
    out[..., 3:, :3] = _skew(X[..., :3, 3]) @ R
    return out


def _skew(vector: Any) -> Array:
    """Return the matrices (..., 3, 3) of `vector x`."""
    v = np.asarray(vector, dtype=float)
    out = np.zeros((*v.shape, 3))
    for k, (i, j) in enumerate(((2, 1), (0, 2), (1, 0))):
        out[..., i, j], out[..., j, i] = v[..., k], -v[..., k]
    return out


def _coefficients(vector: Any) -> tuple[Array, Array, Array]:
    """Return sin(x)/x, (1 - cos x)/x^2 and (x - sin x)/x^3 of the length x of vectors; power series near zero."""
    v = np.asarray(vector, dtype=float)
    square = np.sum(v * v, axis=-1)
    small = square < 1e-3
    x = np.sqrt(np.where(small, 1.0, square))
    a = np.where(small, 1 - square / 6 * (1 - square / 20 * (1 - square / 42)), np.sin(x) / x)
    b = np.where(small, 0.5 - square / 24 * (1 - square / 30 * (1 - square / 56)), (1 - np.cos(x)) / x**2)
    c = np.where(small, 1 / 6 - square / 120 * (1 - square / 42 * (1 - square / 72)), (x - np.sin(x)) / x**3)
    return a, b, c
