"""Speed of a reaction wheel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.simulation.loop.component import Scope, Sensor
from articulus.simulation.loop.components.actuator_wrappers import Shaping
from articulus.simulation.loop.components.checks import wrong
from articulus.simulation.loop.components.reaction_wheel import ReactionWheel


@dataclass(frozen=True)
class Tachometer(Sensor):
    """Speed of a reaction wheel in its bearing, and its momentum, for laws; wrap it in `Measured` for noise and resolution.

    Parameters
    ----------
    wheel : str
        Name of the ReactionWheel.
    name : str
        "<wheel>_tachometer" if not given.

    Signals: `speed` [rad/s], `momentum` along the axis [N m s].
    """

    wheel: str
    name: str = ""

    type_name = "tachometer"
    signals: ClassVar = {"speed": "rad/s", "momentum": "N m s"}

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or f"{self.wheel}_tachometer")

    def measure(self, s: Scope) -> dict[str, SX]:
        wheel = s.peer(self.wheel)
        while isinstance(wheel, Shaping):
            wheel = wheel.actuator
        if not isinstance(wheel, ReactionWheel):
            raise wrong(
                self, "wheel", f"'{self.wheel}', a {type(wheel).__name__}", "the name of a ReactionWheel"
            )
        H = s.state_of(self.wheel, "momentum")
        n = ca.mtimes(s.ask("pose", s.q, frames=[wheel.frame])[:3, :3], ca.DM(wheel.axis))
        omega = s.ask("velocity", s.q, s.v, frames=[wheel.frame])[:3]
        return {"speed": H / s.number(wheel.inertia) - ca.dot(n, omega), "momentum": H}
