"""Coordinates of frames as rows, for those who prescribe them from outside of the mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
from casadi import SX

from articulus.model.mechanism.body import GROUND
from articulus.model.mechanism.constraint.base import Constraint, Kinematics

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description

LENGTHS = ("x", "y", "z")
ANGLES = ("roll", "pitch", "yaw")


@dataclass(frozen=True)
class FrameCoordinates(Constraint):
    """Coordinates of frames in ground axes, each a row "<frame>.<coordinate>" that vanishes at the origin.

    Methods of inversion subtract the path from the rows; it has no use in a mechanism that is simulated, and no form in files.

    Parameters
    ----------
    name : str
    rows : tuple of (str, str)
        Frame and coordinate: x, y, z [m], or roll, pitch, yaw [rad] with R = Rz(yaw) Ry(pitch) Rx(roll).
    """

    name: str
    rows: tuple[tuple[str, str], ...]

    type_name = "frame_coordinates"

    def row_names(self, description: Description) -> tuple[str, ...]:
        return tuple(f"{frame}.{coordinate}" for frame, coordinate in self.rows)

    def turning(self, description: Description) -> tuple[bool | None, ...]:
        return tuple(what not in LENGTHS for _, what in self.rows)

    def residual(self, k: Kinematics) -> SX:
        return ca.vertcat(*(_coordinate(k, frame, what) for frame, what in self.rows))


def _coordinate(k: Kinematics, frame: str, what: str) -> SX:
    pose = k.relative(GROUND, frame)
    if what in LENGTHS:
        return pose.p[LENGTHS.index(what)]
    R = pose.R
    if what == "roll":
        return ca.atan2(R[2, 1], R[2, 2])
    if what == "yaw":
        return ca.atan2(R[1, 0], R[0, 0])
    return ca.atan2(-R[2, 0], ca.sqrt(R[2, 1] ** 2 + R[2, 2] ** 2))
