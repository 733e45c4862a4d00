"""An actuator that follows its command as a damped oscillator does."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.checks import at_least, positive
from articulus.simulation.loop.components.shaping import Shaping


@dataclass(frozen=True)
class SecondOrderActuator(Shaping):
    """y'' = w^2 (command - y) - 2 zeta w y' from rest at y = 0, and y drives the actuator behind; see `Shaping`.

    Parameters
    ----------
    actuator : Actuator or str
    bandwidth : number [rad/s]
        w, the undamped natural frequency.
    damping : number [-]
        zeta; 1 is critical.
    """

    bandwidth: Number = quantity("rad/s", "undamped natural frequency")
    damping: Number = quantity("-", "damping ratio; 1 is critical", default=1.0)

    type_name = "second_order"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, bandwidth=as_number, damping=as_number)
        positive(self, bandwidth=self.bandwidth)
        at_least(self, 0.0, damping=self.damping)

    def shaped(self, s: Scope, command: SX) -> SX:
        w, zeta = s.number(self.bandwidth), s.number(self.damping)
        y = s.state(self.own, (0.0, 0.0))
        s.rate(self.own, ca.vertcat(y[1], w**2 * (command - y[0]) - 2 * zeta * w * y[1]))
        return y[0]
