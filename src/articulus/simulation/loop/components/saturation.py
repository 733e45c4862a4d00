"""A command between bounds."""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.checks import wrong
from articulus.simulation.loop.components.columns import clip
from articulus.simulation.loop.components.shaping import Shaping


@dataclass(frozen=True)
class Saturation(Shaping):
    """The command, or the bound that it has passed; see `Shaping`.

    Parameters
    ----------
    actuator : Actuator or str
    lower, upper : number [unit of the command]
    """

    lower: Number = quantity("command", "smallest command")
    upper: Number = quantity("command", "largest command")

    type_name = "saturation"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, lower=as_number, upper=as_number)
        if not value_of(self.lower) <= value_of(self.upper):
            raise wrong(
                self,
                "lower",
                f"{value_of(self.lower):g} above upper = {value_of(self.upper):g}",
                "lower <= upper",
                "Are the two exchanged?",
            )

    def shaped(self, s: Scope, command: SX) -> SX:
        return clip(command, s.number(self.lower), s.number(self.upper))
