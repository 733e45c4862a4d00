"""A fingertip or a ball that does not slip on a face."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import casadi as ca
from casadi import SX

from articulus.declared import name_of
from articulus.errors import Finding
from articulus.model.mechanism.body import GROUND
from articulus.model.mechanism.constraint.base import Constraint, Kinematics
from articulus.model.mechanism.constraint.sliding_contact import face_findings
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.spatial import cross

if TYPE_CHECKING:
    from articulus.model.mechanism.description import Description


@dataclass(frozen=True)
class RollingContact(Constraint):
    """The points at which a ball and a face touch have one velocity along the face (nonholonomic).

    Nothing is said about the distance: `SlidingContact` keeps the ball on the face. The multipliers are minus the friction forces on the ball
    along x and y of the face; where they need more than friction can give, a real contact slips.

    Parameters
    ----------
    name : str
        Unique among constraints.
    face : str
        Body or frame with the face in its plane z = 0; its z axis points to the ball.
    frame : str
        Body or frame with its origin at the center of the ball, turning with it.
    radius : number or Parameter [m]
    spin : bool
        Whether the two do not turn against each other about the normal either: a soft finger.

    Source: Lilly & Orin 1989, section 2, general joints of rolling contacts and soft fingers.
    """

    name: str
    face: str = name_of("frame", "body or frame with the face in its plane z = 0, z towards the ball")
    frame: str = name_of("frame", "body or frame at the center of the ball, turning with it")
    radius: Number = quantity("m", "radius of the ball; 0 for a point", default=0.0)
    spin: bool = field(
        default=False, metadata={"meaning": "whether neither turns against the other about the normal"}
    )

    type_name = "rolling_contact"
    holonomic = False

    def __post_init__(self) -> None:
        convert(self, radius=as_number)

    def row_names(self, description: Description) -> tuple[str, ...]:
        return ("x", "y", "spin") if self.spin else ("x", "y")

    def turning(self, description: Description) -> tuple[bool | None, ...]:
        return (False, False, True) if self.spin else (False, False)

    def residual(self, k: Kinematics) -> SX:
        here, there = k.relative(GROUND, self.face), k.relative(GROUND, self.frame)
        arm = -k.number(self.radius) * here.R[:, 2]
        ball, face = k.velocity(self.frame), k.velocity(self.face)
        slip = ball.v + cross(ball.w, arm) - face.v - cross(face.w, there.p + arm - here.p)
        along = ca.mtimes(here.R[:, :2].T, slip)
        return ca.vertcat(along, ca.dot(here.R[:, 2], ball.w - face.w)) if self.spin else along

    def findings(self, where: str, description: Description) -> Iterator[Finding]:
        yield from face_findings(where, self.face, self.frame, self.radius, description)
