"""A given force in a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from articulus.model.mechanism.numbers import convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import find_joint, named
from articulus.simulation.loop.components.columns import as_in_time, at_time


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
        named(self, self.joint)

    def work(self, s: Scope) -> None:
        force = at_time(s, self, "force", find_joint(s, self, self.joint).joint.nv)
        s.write("force", force)
        s.force(self.joint, force)
