"""Velocity in the axes of what moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.frame_sensor import FrameSensor


@dataclass(frozen=True)
class Velocimeter(FrameSensor):
    """Velocity of a frame's origin in the frame's own axes, as Doppler logs give it; see `FrameSensor`.

    Signals: `velocity` [m/s].
    """

    type_name = "velocimeter"
    signals: ClassVar = {"velocity": "m/s"}

    def measure(self, s: Scope) -> dict[str, SX]:
        R = self.seen(s, "pose", s.q)[:3, :3]
        return {"velocity": ca.mtimes(R.T, self.seen(s, "velocity", s.q, s.v)[3:])}
