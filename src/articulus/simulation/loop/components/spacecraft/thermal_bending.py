"""A boom that sunlight bends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import at_least, name_after, positive
from articulus.simulation.loop.components.spacecraft.environment import surroundings
from articulus.simulation.loop.components.station_pair import StationPair


@dataclass(frozen=True)
class ThermalBending(Disturbance):
    """The bending of a boom by the difference of temperature between its sunlit and its dark side, which lags behind the light.

    time_constant k' = sunlight curvature n . (s x e) - k, with the direction s of the Sun, the axis n of bending and the direction e from the
    first frame to the second as the boom stands now: moments EI k on both ends bend it by the curvature k, the sunlit side outside. A
    sudden change of light makes it ring; light from the root's side feeds vibrations, light from the tip's side damps them.

    Parameters
    ----------
    first, second : str
        Frames on stations of a flexible body, the ends of what is heated.
    stiffness : number [N m^2]
        EI of the boom.
    curvature : number [1/m]
        In the end, with the Sun square to the boom: expansion times the steady gradient of temperature.
    time_constant : number [s]
        Of the gradient: 1 / (k / (density c r^2) + 4 emissivity 5.67e-8 T^3 / (density c h)) for a tube of radius r and wall h.
    axis : three numbers [-]
        Axis of bending, a unit vector in the first frame; another component bends about another axis.
    initial : number [1/m]
        Curvature at the start: 0 for a boom that comes out of the shadow.
    environment : str
        Name of a SpaceEnvironment with an epoch.
    name : str
        "<first>_thermal_bending" if not given.

    Signals: `curvature` [1/m], `moment` [N m].

    Notes
    -----
    Source: Boley & Weiner 1960; Thornton & Kim 1993. The gradient is the same all along the boom, and the light that of its chord.
    """

    first: str
    second: str
    stiffness: Number = quantity("N m^2", "EI of the boom")
    curvature: Number = quantity("1/m", "in the end, the Sun square to the boom")
    time_constant: Number = quantity("s", "of the gradient of temperature")
    axis: tuple[float, float, float] = quantity(
        "-", "axis of bending in the first frame", size="3", default=(0.0, 0.0, 1.0)
    )
    initial: Number = quantity("1/m", "curvature at the start", default=0.0)
    environment: str = "space"
    name: str = ""

    type_name = "thermal_bending"
    signals: ClassVar = {"curvature": "1/m", "moment": "N m"}

    def __post_init__(self) -> None:
        convert(self, stiffness=as_number, curvature=as_number, time_constant=as_number, initial=as_number)
        object.__setattr__(self, "axis", unit_axis("ThermalBending", self.axis))
        name_after(self, self.first)
        at_least(self, 0.0, stiffness=self.stiffness)
        positive(self, time_constant=self.time_constant)

    def work(self, s: Scope) -> None:
        StationPair.find(s, self, self.first, self.second, self.axis)
        away, lit = surroundings(s, self, self.environment, "sun", "sunlight")
        root, tip = (s.ask("pose", s.q, frames=[frame]) for frame in (self.first, self.second))
        n, along = ca.mtimes(root[:3, :3], ca.DM(self.axis)), tip[:3, 3] - root[:3, 3]
        square = ca.dot(n, ca.cross(away, along)) / (ca.norm_2(away) * ca.norm_2(along))
        k = s.state("bending", self.initial)
        s.rate("bending", (lit * s.number(self.curvature) * square - k) / s.number(self.time_constant))
        moment = s.number(self.stiffness) * k
        wrench = ca.vertcat(moment * n, SX.zeros(3))
        s.wrench(self.first, -wrench)
        s.wrench(self.second, wrench)
        s.write("curvature", k)
        s.write("moment", moment)
