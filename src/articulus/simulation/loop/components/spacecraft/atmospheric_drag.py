"""Drag of thin air on the facets of a craft."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, Vector, as_number, as_numbers, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import at_least
from articulus.simulation.loop.components.spacecraft.environment import surroundings
from articulus.simulation.loop.components.spacecraft.facets import facets, normals
from articulus.simulation.loop.components.tracking import names


@dataclass(frozen=True)
class AtmosphericDrag(Disturbance):
    """The drag of air that turns with the Earth on facets, each at the origin of its own frame, also on moving panels.

    With the velocity u of a facet through the air and its outward normal n: F = -1/2 rho C A |u| max(0, n . u/|u|) u. Without
    normals F = -1/2 rho C A |u| u. Facets do not shade one another.

    Parameters
    ----------
    frames : names
        Body or frame of each facet, at its center of pressure.
    areas : numbers [m^2]
        One for all, or one each.
    normals : rows of three numbers [-]
        Outward unit normals in the frames, one for all or one each; none: spheres.
    coefficient : number [-]
        C.
    environment : str
        Name of the SpaceEnvironment.
    name : str

    Signals: `force` on all facets together, ground axes [N].

    Notes
    -----
    Source: Montenbruck & Gill 2000, section 3.5.
    """

    frames: tuple[str, ...]
    areas: Vector = quantity("m^2", "area of each facet", size="1 or facets")
    normals: Any = quantity("-", "outward normals in the frames", size="facets x 3", default=())
    coefficient: Number = quantity("-", "drag coefficient", default=2.2)
    environment: str = "space"
    name: str = "atmospheric_drag"

    type_name = "atmospheric_drag"
    signals: ClassVar = {"force": "N"}

    def __post_init__(self) -> None:
        convert(self, frames=names, areas=as_numbers, normals=normals, coefficient=as_number)
        at_least(self, 0.0, areas=self.areas, coefficient=self.coefficient)

    def work(self, s: Scope) -> None:
        density, wind = surroundings(s, self, self.environment, "density", "wind")
        total = SX.zeros(3)
        for frame, area, n in facets(s, self):
            u = s.ask("velocity", s.q, s.v, frames=[frame])[3:] - wind
            speed = ca.norm_2(u) if n is None else ca.fmax(ca.dot(n, u), 0)
            force = -density * s.number(self.coefficient) * area / 2 * speed * u
            s.wrench(frame, ca.vertcat(SX.zeros(3), force))
            s.dissipates(-ca.dot(force, u))
            s.supplies(ca.dot(force, wind))
            total += force
        s.write("force", total)
