"""A thruster that is fixed to a body."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.checks import at_least, check_frame, name_after, wrong
from articulus.simulation.loop.components.columns import clip


@dataclass(frozen=True)
class Thruster(Actuator):
    """A force at a frame's origin along an axis of that frame: it turns with its body. The command is the thrust.

    A thruster pushes one way; `lower` below zero makes a propeller, which may reverse. The mass that is thrown out
    is not taken off the body.

    Parameters
    ----------
    frame : str
        Body or frame that carries the thruster, at the point where it pushes.
    axis : three numbers [-]
        Direction of the force on the body, a unit vector in the frame.
    upper, lower : number [N]
        Bounds of the thrust.
    name : str
        "<frame>_thruster" if not given.

    Signals: `thrust` [N].
    """

    frame: str
    axis: tuple[float, float, float] = quantity(
        "-", "direction of the force on the body, in the frame", size="3", default=(1.0, 0.0, 0.0)
    )
    upper: Number = quantity("N", "largest thrust", default=math.inf)
    lower: Number = quantity("N", "smallest thrust", default=0.0)
    name: str = ""

    type_name = "thruster"
    signals: ClassVar = {"thrust": "N"}
    command_in: ClassVar = "N"

    def __post_init__(self) -> None:
        convert(self, upper=as_number, lower=as_number)
        object.__setattr__(self, "axis", unit_axis("Thruster", self.axis))
        name_after(self, self.frame)
        at_least(self, 0.0, upper=self.upper)
        if not value_of(self.lower) <= value_of(self.upper):
            raise wrong(self, "lower", f"{value_of(self.lower):g}", f"at most {value_of(self.upper):g}")

    def drive(self, s: Scope, command: SX) -> None:
        check_frame(s, self, self.frame)
        thrust = clip(command, s.number(self.lower), s.number(self.upper))
        R = s.ask("pose", s.q, frames=[self.frame])[:3, :3]
        s.write("thrust", thrust)
        s.wrench(self.frame, ca.vertcat(SX.zeros(3), thrust * ca.mtimes(R, ca.DM(self.axis))))
