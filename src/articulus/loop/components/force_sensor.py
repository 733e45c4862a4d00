"""Force and moment that a joint transmits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from casadi import SX

from articulus.loop.component import Scope, Sensor
from articulus.loop.components.checks import find_joint, named


@dataclass(frozen=True)
class ForceSensor(Sensor):
    """The wrench that a joint exerts on its child body, about the joint frame's origin in the child's joint axes.

    It follows the forces of the same instant: feed it back through a sampled component only. Put a fixed joint where
    a force sensor sits.

    Parameters
    ----------
    joint : str
    name : str
        "<joint>_force_sensor" if not given.

    Signals: `moment` [N m], `force` [N].
    """

    joint: str
    name: str = ""

    type_name = "force_sensor"
    signals: ClassVar = {"moment": "N m", "force": "N"}

    def __post_init__(self) -> None:
        named(self, self.joint)

    def measure(self, s: Scope) -> dict[str, SX]:
        find_joint(s, self, self.joint)
        wrench = s.reaction(self.joint)
        return {"moment": wrench[:3], "force": wrench[3:]}
