"""Where the working frames of a chain sit: along joint axes and common normals, as Denavit and Hartenberg put them.

The user's frames may lie anywhere. Equations get short when every working frame has z along its joint axis and x
along the common normal to the next axis: then the pose between two neighbors is a turn about x with a shift along
x, followed by a turn about z with a shift along z, and symbols cancel by themselves. Everything here is constant
geometry, worked out once with numbers (Khalil & Kleinfinger 1986, modified Denavit-Hartenberg parameters).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.spatial import exact, frame_with_z

PARALLEL = 1e-12
"""Sine of the angle below which two axes count as parallel."""
OBLIQUE = 0.05
"""Sine below which two axes that are not parallel get no common normal: its feet would lie far away."""


@dataclass(frozen=True)
class FixedPose:
    """A constant pose with numbers: rotation `R` and position `p`."""

    R: np.ndarray
    p: np.ndarray

    @staticmethod
    def identity() -> FixedPose:
        return FixedPose(np.eye(3), np.zeros(3))

    def __matmul__(self, other: FixedPose) -> FixedPose:
        return FixedPose(exact(self.R @ other.R), self.p + self.R @ other.p)

    def inverse(self) -> FixedPose:
        return FixedPose(self.R.T, -(self.R.T @ self.p))


@dataclass(frozen=True)
class CommonNormal:
    """The common normal of an axis (z of some frame) and a next axis: what it does to both frames."""

    foot: FixedPose
    """Frame on the first axis: z along it, x along the normal, origin where the normal starts."""
    step: FixedPose
    """Turn about x and shift along x that lead from `foot` to the frame on the next axis."""


def common_normal(axis: np.ndarray, point: np.ndarray, direction: np.ndarray) -> CommonNormal | None:
    """Return the common normal of the line {t axis} and the line {point + t direction}, None if ill-defined."""
    n = np.cross(axis, direction)
    sine, cosine = float(np.linalg.norm(n)), float(axis @ direction)
    if sine <= PARALLEL:
        return _parallel_normal(axis, point, cosine)
    if sine < OBLIQUE:
        return None
    x = n / sine
    along_first = float(np.cross(point, direction) @ n) / sine**2
    length = float(point @ x)
    foot = FixedPose(exact(np.column_stack([x, np.cross(axis, x), axis])), axis * along_first)
    return CommonNormal(foot, _turn_and_shift(sine, cosine, length))


def _parallel_normal(axis: np.ndarray, point: np.ndarray, cosine: float) -> CommonNormal:
    along_first = float(point @ axis)
    offset = point - axis * along_first
    length = float(np.linalg.norm(offset))
    if length > 1e-12 * max(1.0, abs(along_first)):
        x = offset / length
        R = exact(np.column_stack([x, np.cross(axis, x), axis]))
    else:
        length, R = 0.0, frame_with_z(axis)
    return CommonNormal(FixedPose(R, axis * along_first), _turn_and_shift(0.0, np.sign(cosine), length))


def _turn_and_shift(sine: float, cosine: float, length: float) -> FixedPose:
    norm = np.hypot(sine, cosine)
    s, c = sine / norm, cosine / norm
    R = exact(np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]))
    return FixedPose(R, np.array([length, 0.0, 0.0]))


def turn_about_z(outer: FixedPose, inner: FixedPose) -> tuple[float, float]:
    """Return the angle and the shift about the common z axis that lead from `outer` to `inner`."""
    R = outer.R.T @ inner.R
    angle = float(np.arctan2(R[1, 0], R[0, 0]))
    shift = float(outer.R[:, 2] @ (inner.p - outer.p))
    return (0.0 if abs(angle) < 4e-16 else angle), shift
