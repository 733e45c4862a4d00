"""An ideal actuator: the command is the joint force."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.checks import at_least, name_after, one_dof
from articulus.simulation.loop.components.columns import clip


@dataclass(frozen=True)
class Torque(Actuator):
    """A joint force equal to the command, up to a limit.

    Parameters
    ----------
    joint : str
        Joint of one degree of freedom.
    limit : number [N m or N]
        Largest force either way.
    name : str
        "<joint>_torque" if not given.

    Signals: `force` [N m or N].
    """

    joint: str = field()
    limit: Number = quantity("N m or N", "largest force either way", default=math.inf)
    name: str = ""

    type_name = "torque"
    signals: ClassVar = {"force": "N m or N"}
    command_in: ClassVar = "N m or N"

    def __post_init__(self) -> None:
        convert(self, limit=as_number)
        name_after(self, self.joint)
        at_least(self, 0.0, limit=self.limit)

    def drive(self, s: Scope, command: SX) -> None:
        one_dof(s, self, self.joint)
        if math.isfinite(value_of(self.limit)):
            limit = s.number(self.limit)
            command = clip(command, -limit, limit)
        s.write("force", command)
        s.force(self.joint, command)
