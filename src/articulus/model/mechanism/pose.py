"""Where a frame is: a position and a rotation, as the user gave them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import Finding, InputError
from articulus.model.mechanism.numbers import Vector, as_vector, quantity, value_of

IDENTITY_QUATERNION = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Pose:
    """Pose X_AB of a frame B in a frame A.

    Parameters
    ----------
    xyz : three numbers [m]
        Position of B's origin in A.
    rpy : three numbers [rad]
        Roll, pitch, yaw about the fixed axes x, y, z of A: R_AB = Rz(yaw) Ry(pitch) Rx(roll).
    quaternion : four numbers [-]
        (w, x, y, z), instead of `rpy`; its norm does not matter.
    """

    in_file = "pose"

    xyz: Vector = quantity("m", "position of the frame's origin", size="3", default=(0.0, 0.0, 0.0))
    rpy: Vector = quantity(
        "rad", "roll, pitch, yaw about the fixed axes x, y, z", size="3", default=(0.0, 0.0, 0.0)
    )
    quaternion: Vector = quantity(
        "-", "rotation as quaternion w, x, y, z, instead of rpy", size="4", default=IDENTITY_QUATERNION
    )

    def __post_init__(self) -> None:
        for name, length in (("xyz", 3), ("rpy", 3), ("quaternion", 4)):
            try:
                object.__setattr__(self, name, as_vector(getattr(self, name), length))
            except InputError as error:
                raise error.within(f"Pose.{name}", name) from None
        if self.turned_by_rpy() and self.quaternion != IDENTITY_QUATERNION:
            raise InputError("Pose: give rpy or quaternion, not both")
        if not any((isinstance(x, float) and x != 0) or not isinstance(x, float) for x in self.quaternion):
            wrong = InputError(
                "all four numbers are zero; expected (w, x, y, z)",
                [Finding("", "four zeros", "(w, x, y, z) of a rotation")],
            )
            raise wrong.within("Pose.quaternion", "quaternion")

    def turned_by_rpy(self) -> bool:
        return any(not isinstance(angle, float) or angle != 0.0 for angle in self.rpy)

    @property
    def is_identity(self) -> bool:
        return self == Pose()

    @staticmethod
    def of(value: Any) -> Pose:
        """Return the pose meant by a Pose, three numbers (a position) or a 4 x 4 matrix."""
        if isinstance(value, Pose):
            return value
        if value is None:
            return Pose()
        if np.shape(value) == (4, 4):
            return Pose.from_matrix(np.asarray(value, dtype=float))
        return Pose(xyz=as_vector(value, 3))

    @staticmethod
    def from_matrix(matrix: np.ndarray) -> Pose:
        """Return the pose of a homogeneous 4 x 4 matrix with a proper rotation."""
        R = matrix[:3, :3]
        if not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0:
            raise InputError("pose matrix: its 3 x 3 block is not a rotation (orthonormal, right-handed)")
        if not np.array_equal(matrix[3], [0, 0, 0, 1]):
            raise InputError(f"pose matrix: last row is {matrix[3].tolist()}, expected [0, 0, 0, 1]")
        return Pose(xyz=tuple(map(float, matrix[:3, 3])), quaternion=quaternion_of(R))

    def matrix(self) -> np.ndarray:
        """Return the homogeneous 4 x 4 matrix with every parameter at its own value."""
        out = np.eye(4)
        out[:3, :3] = self.rotation()
        out[:3, 3] = [value_of(x) for x in self.xyz]
        return out

    def rotation(self) -> np.ndarray:
        """Return R_AB with every parameter at its own value; near-exact entries are made exact."""
        from articulus.spatial import exact

        if self.turned_by_rpy():
            r, p, y = (value_of(a) for a in self.rpy)
            return exact(_turn(2, y) @ _turn(1, p) @ _turn(0, r))
        w, *u = (value_of(a) for a in self.quaternion)
        U = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
        return exact(np.eye(3) + 2 / (w * w + np.dot(u, u)) * (w * U + U @ U))


def _turn(axis: int, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R


def quaternion_of(R: np.ndarray) -> tuple[float, float, float, float]:
    """Return the unit quaternion (w, x, y, z), w >= 0, of a rotation matrix."""
    from articulus.spatial import quaternion_of_rotation

    w, x, y, z = map(float, quaternion_of_rotation(R))
    return w, x, y, z
