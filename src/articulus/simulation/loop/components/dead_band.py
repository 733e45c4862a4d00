"""A command that small values do not move."""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.checks import at_least
from articulus.simulation.loop.components.columns import clip
from articulus.simulation.loop.components.shaping import Shaping


@dataclass(frozen=True)
class DeadBand(Shaping):
    """Zero within +- width, and beyond it the command less the width; see `Shaping`.

    Parameters
    ----------
    actuator : Actuator or str
    width : number [unit of the command]
    """

    width: Number = quantity("command", "half of the band that gives nothing")

    type_name = "dead_band"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, width=as_number)
        at_least(self, 0.0, width=self.width)

    def shaped(self, s: Scope, command: SX) -> SX:
        width = s.number(self.width)
        return command - clip(command, -width, width)
