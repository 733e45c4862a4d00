"""What an accelerometer feels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.frame_sensor import FrameSensor


@dataclass(frozen=True)
class Accelerometer(FrameSensor):
    """Acceleration of a frame's origin less gravity, in the frame's own axes; 9.81 m/s^2 upward at rest. See `FrameSensor`.

    It follows the forces of the same instant: feed it back through a sampled component only.

    Signals: `specific_force` [m/s^2].
    """

    type_name = "accelerometer"
    signals: ClassVar = {"specific_force": "m/s^2"}

    def measure(self, s: Scope) -> dict[str, SX]:
        R = self.seen(s, "pose", s.q)[:3, :3]
        gravity = ca.vertcat(*map(s.number, s.description.gravity))
        return {
            "specific_force": ca.mtimes(R.T, self.seen(s, "acceleration", s.q, s.v, s.vdot)[3:] - gravity)
        }
