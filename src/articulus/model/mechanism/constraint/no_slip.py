"""A wheel that does not slip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from casadi import SX

from articulus.declared import name_of
from articulus.errors import Finding
from articulus.model.mechanism.constraint.base import Constraint, Kinematics
from articulus.model.mechanism.constraint.disc import AXIS, lowest
from articulus.model.mechanism.constraint.touching import disc_findings
from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.spatial import cross

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description


@dataclass(frozen=True)
class NoSlip(Constraint):
    """The lowest point of a disc has no velocity along the ground plane z = 0 (nonholonomic).

    Nothing is said about its height: where the mechanism does not keep the disc on the plane, `Touching` does.

    Parameters
    ----------
    name : str
        Unique among constraints.
    frame : str
        Body or frame with its origin at the center of the disc, turning with it.
    radius : number or Parameter [m]
    axis : three numbers [-]
        Unit vector of the disc's axis in the frame.
    """

    name: str
    frame: str = name_of("frame", "body or frame at the center of the disc, turning with it")
    radius: Number = quantity("m", "radius of the disc")
    axis: tuple[float, float, float] = quantity("-", "unit vector of the disc's axis", size="3", default=AXIS)

    type_name = "no_slip"
    holonomic = False

    def __post_init__(self) -> None:
        convert(self, radius=as_number)
        object.__setattr__(self, "axis", unit_axis("NoSlip", self.axis))

    def row_names(self, description: Description) -> tuple[str, ...]:
        return ("x", "y")

    def residual(self, k: Kinematics) -> SX:
        _, arm = lowest(k, self.frame, self.axis, k.number(self.radius))
        V = k.velocity(self.frame)
        return (V.v + cross(V.w, arm))[:2]

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        yield from disc_findings(where, self.frame, self.radius, description)
