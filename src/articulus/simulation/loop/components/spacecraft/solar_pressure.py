"""Pressure of sunlight on the facets of a craft."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import (
    Number,
    Vector,
    as_number,
    as_numbers,
    convert,
    quantity,
    value_of,
)
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import at_least, wrong
from articulus.simulation.loop.components.spacecraft.environment import surroundings
from articulus.simulation.loop.components.spacecraft.facets import facets, normals
from articulus.simulation.loop.components.tracking import names
from articulus.spacecraft.planet import AU, SUN_PRESSURE


@dataclass(frozen=True)
class SolarPressure(Disturbance):
    """The pressure of sunlight on facets, each at the origin of its own frame, also on moving panels; none in the Earth's shadow.

    With the direction s of the Sun, the outward normal n and c = max(0, n . s):
    F = -P A c ((1 - specular) s + 2 (specular c + diffuse/3) n), P = 4.54e-6 N/m^2 at 1 AU. Without normals F = -P A (1 + specular) s.
    Facets do not shade one another.

    Parameters
    ----------
    frames : names
        Body or frame of each facet, at its center of pressure.
    areas : numbers [m^2]
        One for all, or one each.
    normals : rows of three numbers [-]
        Outward unit normals in the frames, one for all or one each; none: spheres.
    specular, diffuse : number [-]
        Parts of the light that are thrown back; the rest is absorbed.
    environment : str
        Name of a SpaceEnvironment with an epoch.
    name : str

    Signals: `force` on all facets together, ground axes [N].

    Notes
    -----
    Source: Montenbruck & Gill 2000, section 3.4; Wertz 1978, section 17.2.
    """

    frames: tuple[str, ...]
    areas: Vector = quantity("m^2", "area of each facet", size="1 or facets")
    normals: Any = quantity("-", "outward normals in the frames", size="facets x 3", default=())
    specular: Number = quantity("-", "part of the light thrown back as by a mirror", default=0.0)
    diffuse: Number = quantity("-", "part of the light thrown back to all sides", default=0.0)
    environment: str = "space"
    name: str = "solar_pressure"

    type_name = "solar_pressure"
    signals: ClassVar = {"force": "N"}

    def __post_init__(self) -> None:
        convert(self, frames=names, areas=as_numbers, normals=normals, specular=as_number, diffuse=as_number)
        at_least(self, 0.0, areas=self.areas, specular=self.specular, diffuse=self.diffuse)
        thrown = value_of(self.specular) + value_of(self.diffuse)
        if thrown > 1:
            raise wrong(self, "diffuse", f"{thrown:g} of the light thrown back in all", "at most 1")

    def work(self, s: Scope) -> None:
        away, lit = surroundings(s, self, self.environment, "sun", "sunlight")
        distance = ca.norm_2(away)
        e, pressure = away / distance, SUN_PRESSURE * (AU / distance) ** 2 * lit
        specular, diffuse = s.number(self.specular), s.number(self.diffuse)
        total = SX.zeros(3)
        for frame, area, n in facets(s, self):
            if n is None:
                force = -pressure * area * (1 + specular) * e
            else:
                c = ca.fmax(ca.dot(n, e), 0)
                force = -pressure * area * c * ((1 - specular) * e + 2 * (specular * c + diffuse / 3) * n)
            s.wrench(frame, ca.vertcat(SX.zeros(3), force))
            total += force
        s.write("force", total)
