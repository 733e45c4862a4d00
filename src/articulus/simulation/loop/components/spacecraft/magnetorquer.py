"""A coil in the Earth's magnetic field."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.checks import at_least, check_frame, name_after
from articulus.simulation.loop.components.columns import clip
from articulus.simulation.loop.components.spacecraft.environment import surroundings


@dataclass(frozen=True)
class Magnetorquer(Actuator):
    """A magnetic dipole along an axis of a frame; the command is its moment. The moment on the body is m x B.

    Parameters
    ----------
    frame : str
        Body or frame that carries it.
    axis : three numbers [-]
        Unit vector in the frame.
    limit : number [A m^2]
        Bound of the dipole moment either way.
    environment : str
        Name of a SpaceEnvironment with an epoch.
    name : str
        "<frame>_magnetorquer" if not given.

    Signals: `dipole` [A m^2].
    """

    frame: str
    axis: tuple[float, float, float] = quantity(
        "-", "unit vector in the frame", size="3", default=(0.0, 0.0, 1.0)
    )
    limit: Number = quantity("A m^2", "largest dipole moment", default=math.inf)
    environment: str = "space"
    name: str = ""

    type_name = "magnetorquer"
    signals: ClassVar = {"dipole": "A m^2"}
    command_in: ClassVar = "A m^2"

    def __post_init__(self) -> None:
        convert(self, limit=as_number)
        object.__setattr__(self, "axis", unit_axis("Magnetorquer", self.axis))
        name_after(self, self.frame)
        at_least(self, 0.0, limit=self.limit)

    def drive(self, s: Scope, command: SX) -> None:
        check_frame(s, self, self.frame)
        (B,) = surroundings(s, self, self.environment, "magnetic_field")
        limit = s.number(self.limit)
        dipole = clip(command, -limit, limit)
        n = ca.mtimes(s.ask("pose", s.q, frames=[self.frame])[:3, :3], ca.DM(self.axis))
        s.write("dipole", dipole)
        s.wrench(self.frame, ca.vertcat(ca.cross(dipole * n, B), SX.zeros(3)))
