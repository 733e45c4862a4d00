"""How a frame accelerates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from casadi import SX

from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.frame_sensor import FrameSensor


@dataclass(frozen=True)
class FrameAcceleration(FrameSensor):
    """Acceleration of a frame and of its origin, ground axes, without gravity; see `FrameSensor`.

    It follows the forces of the same instant: feed it back through a sampled component only.

    Signals: `angular` [rad/s^2], `linear` [m/s^2].
    """

    type_name = "frame_acceleration"
    signals: ClassVar = {"angular": "rad/s^2", "linear": "m/s^2"}

    def measure(self, s: Scope) -> dict[str, SX]:
        acceleration = self.seen(s, "acceleration", s.q, s.v, s.vdot)
        return {"angular": acceleration[:3], "linear": acceleration[3:]}
