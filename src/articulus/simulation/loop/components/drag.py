"""Drag of a body in a fluid of constant density."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import at_least, check_frame, name_after, positive
from articulus.simulation.loop.components.columns import at_time, in_time

STILL = 1e-12
"""Square of the speed below which drag is linear in it, so that its derivative is finite, over the square of the mechanism's length over its time [-]."""


@dataclass(frozen=True)
class Drag(Disturbance):
    """The resistance of a fluid at a frame's origin.

    With the velocity u of that point through the fluid, F = -1/2 rho C A |u| u. With a `normal` the body is a plate, on
    which only the flow across it acts: F = -1/2 rho C A |u_n| u_n n, u_n = n . u. Rotation of the body about the point
    is not resisted: put a Drag at several points where that matters.

    Parameters
    ----------
    frame : str
        Body or frame whose origin is the center of pressure.
    area : number [m^2]
        A.
    coefficient : number [-]
        C.
    density : number [kg/m^3]
        rho; air at sea level if not given.
    flow : three numbers, Table or casadi.Function of t [m/s]
        Velocity of the fluid, ground axes.
    normal : three numbers [-]
        Normal of a plate, a unit vector in the frame; none for a body that looks the same from all sides.
    name : str
        "<frame>_drag" if not given.

    Signals: `force` on the body, ground axes [N].

    Notes
    -----
    What the fluid takes, -F . u, is dissipated; what a flow gives, F . flow, is input.
    """

    frame: str
    area: Number = quantity("m^2", "area")
    coefficient: Number = quantity("-", "drag coefficient", default=1.0)
    density: Number = quantity("kg/m^3", "density of the fluid", default=1.225)
    flow: Any = quantity("m/s", "velocity of the fluid, ground axes", size="3", default=(0.0, 0.0, 0.0))
    normal: tuple[float, float, float] | None = quantity(
        "-", "normal of a plate, in the frame", size="3", default=None
    )
    name: str = ""

    type_name = "drag"
    signals: ClassVar = {"force": "N"}

    def __post_init__(self) -> None:
        convert(self, area=as_number, coefficient=as_number, density=as_number, flow=in_time(3))
        if self.normal is not None:
            object.__setattr__(self, "normal", unit_axis("Drag", self.normal))
        name_after(self, self.frame)
        positive(self, density=self.density)
        at_least(self, 0.0, area=self.area, coefficient=self.coefficient)

    def work(self, s: Scope) -> None:
        check_frame(s, self, self.frame)
        factor = s.number(self.density) * s.number(self.coefficient) * s.number(self.area) / 2
        flow = at_time(s, self, "flow", 3)
        u = s.ask("velocity", s.q, s.v, frames=[self.frame])[3:] - flow
        felt = u
        if self.normal is not None:
            n = ca.mtimes(s.ask("pose", s.q, frames=[self.frame])[:3, :3], ca.DM(self.normal))
            felt = ca.dot(n, u) * n
        scales = s.description.scales()
        still = STILL * (scales.length / scales.time) ** 2
        force = -factor * ca.sqrt(ca.sumsqr(felt) + still) * felt
        s.write("force", force)
        s.wrench(self.frame, ca.vertcat(SX.zeros(3), force))
        s.dissipates(-ca.dot(force, u))
        s.supplies(ca.dot(force, flow))
