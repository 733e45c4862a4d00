"""What all that reshapes a command has in common: it comes before an actuator."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field

from casadi import SX

from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.checks import wrong
from articulus.simulation.loop.components.torque import Torque


@dataclass(frozen=True)
class Shaping(Actuator):
    """An actuator whose command is reshaped before it gets there. Shapings nest: the outermost acts first.

    Parameters
    ----------
    actuator : Actuator or str
        The actuator behind it; the name of a joint means an ideal `Torque` in it.
    name : str
        That of the actuator behind if not given.

    Signals: those of the actuator behind.
    """

    actuator: Actuator
    name: str = field(default="", kw_only=True)
    joint: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if isinstance(self.actuator, str):
            object.__setattr__(self, "actuator", Torque(self.actuator))
        if not isinstance(self.actuator, Actuator):
            raise wrong(self, "actuator", repr(self.actuator), "an actuator or the name of a joint")
        object.__setattr__(self, "name", self.name or self.actuator.name)
        object.__setattr__(self, "joint", self.actuator.joint)

    def signal_units(self) -> dict[str, str]:
        return self.actuator.signal_units()

    @property
    def path(self) -> tuple[str, ...]:
        return self.actuator.path

    def command_unit(self) -> str:
        return self.actuator.command_unit()

    @property
    def own(self) -> str:
        """Return a name for the state of this shaping, different from those of shapings behind it."""
        depth, behind = 1, self.actuator
        while isinstance(behind, Shaping):
            depth, behind = depth + 1, behind.actuator
        return f"{self.type_name}_{depth}"

    @abc.abstractmethod
    def shaped(self, s: Scope, command: SX) -> SX:
        """Return what becomes of the command."""

    def drive(self, s: Scope, command: SX) -> None:
        self.actuator.drive(s, self.shaped(s, command))
