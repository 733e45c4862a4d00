"""A wheel that stays on the ground."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from casadi import SX

from articulus.declared import name_of
from articulus.errors import Finding
from articulus.model.mechanism.body import GROUND
from articulus.model.mechanism.constraint.base import Constraint, Kinematics
from articulus.model.mechanism.constraint.disc import AXIS, lowest
from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description


@dataclass(frozen=True)
class Touching(Constraint):
    """The lowest point of a disc is on the ground plane z = 0; with `NoSlip` the disc rolls.

    Parameters
    ----------
    name : str
        Unique among constraints.
    frame : str
        Body or frame with its origin at the center of the disc.
    radius : number or Parameter [m]
    axis : three numbers [-]
        Unit vector of the disc's axis in the frame.
    """

    name: str
    frame: str = name_of("frame", "body or frame at the center of the disc")
    radius: Number = quantity("m", "radius of the disc")
    axis: tuple[float, float, float] = quantity("-", "unit vector of the disc's axis", size="3", default=AXIS)

    type_name = "touching"

    def __post_init__(self) -> None:
        convert(self, radius=as_number)
        object.__setattr__(self, "axis", unit_axis("Touching", self.axis))

    def row_names(self, description: Description) -> tuple[str, ...]:
        return ("",)

    def residual(self, k: Kinematics) -> SX:
        center, arm = lowest(k, self.frame, self.axis, k.number(self.radius))
        return center[2] + arm[2]

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        yield from disc_findings(where, self.frame, self.radius, description)


def disc_findings(where: str, frame: str, radius: Number, description: Description) -> Iterator[Finding]:
    """Yield what is wrong with a disc."""
    if not value_of(radius) > 0:
        yield Finding(f"{where}.radius", f"{value_of(radius):.6g} m", "a radius > 0")
    if description.carrier(frame)[0] == GROUND:
        yield Finding(f"{where}.frame", f"'{frame}', which is on the ground", "a frame that moves")
