"""A fingertip, an edge or a ball that slides on a face."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
from casadi import SX

from articulus.declared import name_of
from articulus.errors import Finding
from articulus.model.mechanism.constraint.base import Constraint, Kinematics
from articulus.model.mechanism.joint.base import along, unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description


@dataclass(frozen=True)
class SlidingContact(Constraint):
    """A ball about a frame's origin stays on the plane z = 0 of a face and slides on it; of radius 0 a point, with an `edge` a line.

    With `RollingContact` it does not slip. The multiplier of the first row is minus the force that presses the two together; nothing keeps
    it from pulling: `Release`, or a look at the run's `multipliers`, shows where a real contact would open.

    Parameters
    ----------
    name : str
        Unique among constraints.
    face : str
        Body or frame with the face in its plane z = 0; its z axis points to the ball.
    frame : str
        Body or frame with its origin at the center of the ball, the tip of an arm.
    radius : number or Parameter [m]
    edge : three numbers [-]
        Unit vector in the frame that stays parallel to the face: an edge along it slides on the face.

    Source: Lilly & Orin 1989, section 2, general joints of one and two constrained directions.
    """

    name: str
    face: str = name_of("frame", "body or frame with the face in its plane z = 0, z towards the ball")
    frame: str = name_of("frame", "body or frame at the center of the ball")
    radius: Number = quantity("m", "radius of the ball; 0 for a point", default=0.0)
    edge: tuple[float, float, float] | None = quantity(
        "-", "unit vector in the frame that stays parallel to the face", size="3", default=None
    )

    type_name = "sliding_contact"

    def __post_init__(self) -> None:
        convert(self, radius=as_number)
        if self.edge is not None:
            object.__setattr__(self, "edge", unit_axis("SlidingContact", self.edge))

    def row_names(self, description: Description) -> tuple[str, ...]:
        return ("",) if self.edge is None else ("height", "tilt")

    def turning(self, description: Description) -> tuple[bool | None, ...]:
        return (False,) if self.edge is None else (False, True)

    def residual(self, k: Kinematics) -> SX:
        X = k.relative(self.face, self.frame)
        height = X.p[2] - k.number(self.radius)
        return height if self.edge is None else ca.vertcat(height, ca.mtimes(X.R[2, :], along(self.edge)))

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        yield from face_findings(where, self.face, self.frame, self.radius, description)


def face_findings(
    where: str, face: str, frame: str, radius: Number, description: Description
) -> Iterator[Finding]:
    """Yield what is wrong with a ball on a face."""
    if not value_of(radius) >= 0:
        yield Finding(f"{where}.radius", f"{value_of(radius):.6g} m", "a radius >= 0")
    if description.carrier(face)[0] == description.carrier(frame)[0]:
        yield Finding(f"{where}.frame", f"'{frame}' on the body of '{face}'", "a frame on another body")
