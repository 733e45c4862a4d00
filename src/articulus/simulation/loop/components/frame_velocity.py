"""How fast a frame moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from casadi import SX

from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.frame_sensor import FrameSensor


@dataclass(frozen=True)
class FrameVelocity(FrameSensor):
    """Velocity of a frame and of its origin, ground axes; see `FrameSensor`.

    Signals: `angular` [rad/s], `linear` [m/s].
    """

    type_name = "frame_velocity"
    signals: ClassVar = {"angular": "rad/s", "linear": "m/s"}

    def measure(self, s: Scope) -> dict[str, SX]:
        velocity = self.seen(s, "velocity", s.q, s.v)
        return {"angular": velocity[:3], "linear": velocity[3:]}
