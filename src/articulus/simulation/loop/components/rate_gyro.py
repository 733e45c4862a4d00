"""Angular rate in the axes of the body that turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.frame_sensor import FrameSensor


@dataclass(frozen=True)
class RateGyro(FrameSensor):
    """Angular velocity of a frame in its own axes, as strapped-down gyros give it; see `FrameSensor`.

    Signals: `rate` [rad/s].
    """

    type_name = "rate_gyro"
    signals: ClassVar = {"rate": "rad/s"}

    def measure(self, s: Scope) -> dict[str, SX]:
        R = self.seen(s, "pose", s.q)[:3, :3]
        return {"rate": ca.mtimes(R.T, self.seen(s, "velocity", s.q, s.v)[:3])}
