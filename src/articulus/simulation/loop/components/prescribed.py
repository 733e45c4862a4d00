"""Commands and joint forces given over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from articulus.errors import did_you_mean
from articulus.model.mechanism.numbers import convert, quantity
from articulus.simulation.loop.component import Controller, Disturbance, Scope
from articulus.simulation.loop.components.checks import find_joint, name_after, wrong
from articulus.simulation.loop.components.columns import as_in_time, at_time


@dataclass(frozen=True)
class PrescribedCommand(Controller):
    """A command over time for one actuator, added to what other controllers command it: feedforward of voltages and forces.

    Parameters
    ----------
    actuator : str
        Name of the actuator; of a coordinate in a run without actuators.
    command : number, Table or casadi.Function of t
        In the unit of the actuator's command.
    name : str
        "<actuator>_prescribed_command" if not given.
    """

    actuator: str
    command: Any = quantity("any", "command, in the unit of the actuator's", size="1")
    name: str = ""

    type_name = "prescribed_command"

    def __post_init__(self) -> None:
        convert(self, command=as_in_time)
        name_after(self, self.actuator)

    def work(self, s: Scope) -> None:
        if self.actuator not in s.command_names:
            raise wrong(
                self, "actuator", f"{self.actuator!r}", "the name of an actuator of this run",
                did_you_mean(self.actuator, s.command_names),
            )  # fmt: skip
        command = at_time(s, self, "command", 1)
        s.command(ca.vertcat(*(command if name == self.actuator else 0 for name in s.command_names)))


@dataclass(frozen=True)
class PrescribedForce(Disturbance):
    """A joint force that is given over time.

    Parameters
    ----------
    joint : str
    force : numbers, Table or casadi.Function of t [N m or N]
        One for each degree of freedom of the joint.
    name : str
        "<joint>_prescribed_force" if not given.

    Signals: `force` [N m or N].
    """

    joint: str
    force: Any = quantity("N m or N", "joint force", size="nv")
    name: str = ""

    type_name = "prescribed_force"
    signals: ClassVar = {"force": "N m or N"}

    def __post_init__(self) -> None:
        convert(self, force=as_in_time)
        name_after(self, self.joint)

    def work(self, s: Scope) -> None:
        force = at_time(s, self, "force", find_joint(s, self, self.joint).joint.nv)
        s.write("force", force)
        s.force(self.joint, force)
