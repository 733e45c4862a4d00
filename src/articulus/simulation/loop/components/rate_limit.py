"""A command that cannot change faster than a limit."""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.checks import positive
from articulus.simulation.loop.components.columns import clip
from articulus.simulation.loop.components.shaping import Shaping


@dataclass(frozen=True)
class RateLimit(Shaping):
    """y' = (command - y) / step, at most `rate` either way, from y = 0; see `Shaping`.

    A command that changes slower than the rate is followed with a lag of one step of the integration.

    Parameters
    ----------
    actuator : Actuator or str
    rate : number [unit of the command / s]
    """

    rate: Number = quantity("command/s", "largest rate either way")

    type_name = "rate_limit"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, rate=as_number)
        positive(self, rate=self.rate)

    def shaped(self, s: Scope, command: SX) -> SX:
        limited, rate = s.state(self.own, 0.0), s.number(self.rate)
        s.rate(self.own, clip((command - limited) / s.h, -rate, rate))
        return limited
