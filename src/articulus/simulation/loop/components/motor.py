"""A direct-current motor with a gear."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.checks import at_least, name_after, one_dof, positive
from articulus.simulation.loop.components.columns import clip


@dataclass(frozen=True)
class Motor(Actuator):
    """L di/dt = V - R i - ke N v and force = N kt i; the command is the voltage V, v the rate of the joint.

    The inertia of the rotor belongs to the mechanism: give its joint a `Rotor` of the same ratio. An ideal gear;
    friction belongs to the joint.

    Parameters
    ----------
    joint : str
        Joint of one degree of freedom.
    ratio : number [- or rad/m]
        N, motor speed over joint speed.
    torque_constant : number [N m/A]
        kt.
    resistance : number [ohm]
        R.
    inductance : number [H]
        L; 0: the current follows the voltage at once.
    back_emf : number [V s/rad]
        ke; equal to kt (in these units) if not given.
    voltage_limit : number [V]
        Largest voltage either way.
    name : str
        "<joint>_motor" if not given.

    Signals: `current` [A], `force` [N m or N].
    """

    joint: str = field()
    ratio: Number = quantity("- or rad/m", "motor speed over joint speed")
    torque_constant: Number = quantity("N m/A", "torque by current")
    resistance: Number = quantity("ohm", "resistance of the winding")
    inductance: Number = quantity("H", "inductance of the winding; 0: none", default=0.0)
    back_emf: Number | None = quantity(
        "V s/rad", "back-EMF constant; the torque constant if not given", default=None
    )
    voltage_limit: Number = quantity("V", "largest voltage either way", default=math.inf)
    name: str = ""

    type_name = "motor"
    signals: ClassVar = {"current": "A", "force": "N m or N"}
    command_in: ClassVar = "V"

    def __post_init__(self) -> None:
        if self.back_emf is None:
            object.__setattr__(self, "back_emf", self.torque_constant)
        numbers = ("ratio", "torque_constant", "resistance", "inductance", "back_emf", "voltage_limit")
        convert(self, **dict.fromkeys(numbers, as_number))
        name_after(self, self.joint)
        positive(self, resistance=self.resistance)
        at_least(self, 0.0, inductance=self.inductance, voltage_limit=self.voltage_limit)

    def drive(self, s: Scope, command: SX) -> None:
        one_dof(s, self, self.joint)
        ratio, kt, ke = (s.number(x) for x in (self.ratio, self.torque_constant, self.back_emf or 0.0))
        if math.isfinite(value_of(self.voltage_limit)):
            limit = s.number(self.voltage_limit)
            command = clip(command, -limit, limit)
        current = self._current(s, command - ke * ratio * s.joint_v(self.joint))
        s.write("current", current)
        s.write("force", ratio * kt * current)
        s.force(self.joint, ratio * kt * current)

    def _current(self, s: Scope, voltage: SX) -> SX:
        """Return the current that a voltage across resistance and inductance drives."""
        if not value_of(self.inductance):
            return voltage / s.number(self.resistance)
        current = s.state("current", 0.0)
        s.rate("current", (voltage - s.number(self.resistance) * current) / s.number(self.inductance))
        return current
