"""Where a frame is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.frame_sensor import FrameSensor


@dataclass(frozen=True)
class FramePose(FrameSensor):
    """Position and attitude of a frame in the ground frame; see `FrameSensor`.

    Signals: `position` [m]; `rpy`, roll, pitch and yaw with R = Rz(yaw) Ry(pitch) Rx(roll) [rad], undefined at a pitch
    of 90 degrees.
    """

    type_name = "frame_pose"
    signals: ClassVar = {"position": "m", "rpy": "rad"}

    def measure(self, s: Scope) -> dict[str, SX]:
        X = self.seen(s, "pose", s.q)
        R = X[:3, :3]
        across = R[0, 0] ** 2 + R[1, 0] ** 2
        upright = across > 0  # at a pitch of exactly 90 degrees roll and yaw are 0, and derivatives finite
        roll = ca.if_else(upright, ca.atan2(R[2, 1], R[2, 2]), 0)
        yaw = ca.if_else(upright, ca.atan2(R[1, 0], R[0, 0]), 0)
        pitch = ca.atan2(-R[2, 0], ca.sqrt(ca.fmax(across, 1e-300)))
        return {"position": X[:3, 3], "rpy": ca.vertcat(roll, pitch, yaw)}
