"""A force between two frames by command."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.between import FrameLine, two_frames
from articulus.simulation.loop.components.checks import at_least
from articulus.simulation.loop.components.columns import clip


@dataclass(frozen=True)
class LinearActuator(Actuator):
    """A force along the line between the origins of two frames, equal to the command up to a limit; positive pushes apart.

    Parameters
    ----------
    first, second : str
        Bodies or frames.
    limit : number [N]
        Largest force either way.
    damping : number [N s/m]
        Viscous friction.
    name : str
        "<first>_<second>_linear_actuator" if not given.

    Signals: `force` [N], `length` [m].
    """

    first: str
    second: str
    limit: Number = quantity("N", "largest force either way", default=math.inf)
    damping: Number = quantity("N s/m", "viscous friction", default=0.0)
    name: str = ""

    type_name = "linear_actuator"
    signals: ClassVar = {"force": "N", "length": "m"}
    command_in: ClassVar = "N"

    def __post_init__(self) -> None:
        convert(self, limit=as_number, damping=as_number)
        two_frames(self, self.first, self.second)
        at_least(self, 0.0, limit=self.limit, damping=self.damping)

    @property
    def path(self) -> tuple[str, ...]:
        return self.first, self.second

    def drive(self, s: Scope, command: SX) -> None:
        line = FrameLine.find(s, self, self.first, self.second)
        if math.isfinite(value_of(self.limit)):
            limit = s.number(self.limit)
            command = clip(command, -limit, limit)
        friction = s.number(self.damping) * line.rate
        line.pull(s, friction - command)
        s.write("force", command - friction)
        s.write("length", line.length)
        s.supplies(command * line.rate)
        s.dissipates(friction * line.rate)
