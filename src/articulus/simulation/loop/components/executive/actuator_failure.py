"""An actuator that fails."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.actuator_wrappers import Shaping
from articulus.simulation.loop.components.executive.sensor_failure import (
    check_interval,
    during,
    with_interval,
)


@dataclass(frozen=True)
class ActuatorFailure(Shaping):
    """gain times the command + offset for a time, the command before and after; see `Shaping`.

    A gain of 0 is an actuator that is dead, with an offset one that is stuck open.

    Parameters
    ----------
    actuator : Actuator or str
    start : number [s]
    end : number [s]
        From when on it works again; never if not given.
    gain : number [-]
    offset : number [unit of the command]
    """

    start: Number = quantity("s", "when it fails")
    end: Number | None = quantity("s", "from when on it works again; never if not given", default=None)
    gain: Number = quantity("-", "what is left of the command", default=0.0)
    offset: Number = quantity("command", "what is added", default=0.0)

    type_name = "actuator_failure"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, gain=as_number, offset=as_number)
        check_interval(self)

    @property
    def times(self) -> tuple[float, ...]:
        """Return when it fails and when it works again, with the instants of the actuator behind."""
        return with_interval(self, self.actuator.times)

    def shape(self, s: Scope, command: SX) -> SX:
        failed = s.number(self.gain) * command + s.number(self.offset)
        return ca.if_else(during(s, self), failed, command)
