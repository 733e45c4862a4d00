"""An actuator that follows its command with a lag."""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.checks import positive
from articulus.simulation.loop.components.shaping import Shaping


@dataclass(frozen=True)
class FirstOrderActuator(Shaping):
    """y' = w (command - y) from y = 0, and y drives the actuator behind; see `Shaping`.

    Parameters
    ----------
    actuator : Actuator or str
    bandwidth : number [rad/s]
        w, at which the amplitude has fallen to 71 percent.
    """

    bandwidth: Number = quantity("rad/s", "frequency at which the amplitude has fallen to 71 percent")

    type_name = "first_order"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, bandwidth=as_number)
        positive(self, bandwidth=self.bandwidth)

    def shaped(self, s: Scope, command: SX) -> SX:
        y = s.state(self.own, 0.0)
        s.rate(self.own, s.number(self.bandwidth) * (command - y))
        return y
