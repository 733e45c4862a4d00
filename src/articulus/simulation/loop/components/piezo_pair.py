"""A pair of piezoelectric patches that bends a flexible body."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.checks import at_least, name_after
from articulus.simulation.loop.components.columns import clip
from articulus.simulation.loop.components.station_pair import StationPair


@dataclass(frozen=True)
class PiezoPair(Actuator):
    """Equal and opposite moments at two stations of a flexible body, gain times voltage; the command is the voltage.

    A patch pair from one station to the other, driven in opposition, bends what lies between and leaves the momentum of the
    body as it is. The moments act about the axis of the first frame, on the second frame with the sign of the voltage. The
    stiffness and the mass of the patches belong to the body.

    Parameters
    ----------
    first, second : str
        Frames on stations of the body, where the patches begin and end.
    gain : number [N m/V]
        Moment by voltage.
    voltage_limit : number [V]
        Largest voltage either way.
    axis : three numbers [-]
        Axis of bending, a unit vector in the first frame.
    name : str
        "<first>_piezo_pair" if not given.

    Signals: `voltage` [V], `moment` [N m].
    """

    first: str
    second: str
    gain: Number = quantity("N m/V", "moment by voltage")
    voltage_limit: Number = quantity("V", "largest voltage either way", default=math.inf)
    axis: tuple[float, float, float] = quantity(
        "-", "axis of bending in the first frame", size="3", default=(0.0, 0.0, 1.0)
    )
    name: str = ""

    type_name = "piezo_pair"
    signals: ClassVar = {"voltage": "V", "moment": "N m"}
    command_in: ClassVar = "V"

    def __post_init__(self) -> None:
        convert(self, gain=as_number, voltage_limit=as_number)
        object.__setattr__(self, "axis", unit_axis("PiezoPair", self.axis))
        name_after(self, self.first)
        at_least(self, 0.0, voltage_limit=self.voltage_limit)

    def drive(self, s: Scope, command: SX) -> None:
        StationPair.find(s, self, self.first, self.second, self.axis)
        if math.isfinite(value_of(self.voltage_limit)):
            limit = s.number(self.voltage_limit)
            command = clip(command, -limit, limit)
        moment = s.number(self.gain) * command
        n = ca.mtimes(s.ask("pose", s.q, frames=[self.first])[:3, :3], ca.DM(self.axis))
        wrench = ca.vertcat(moment * n, SX.zeros(3))
        s.write("voltage", command)
        s.write("moment", moment)
        s.wrench(self.first, -wrench)
        s.wrench(self.second, wrench)
