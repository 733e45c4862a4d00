"""Buoyancy of a body in a liquid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import (
    Number,
    as_number,
    as_optional_number,
    convert,
    quantity,
    values_of,
)
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import check_frame, name_after, positive, wrong
from articulus.simulation.loop.components.columns import clip


@dataclass(frozen=True)
class Buoyancy(Disturbance):
    """The weight of the displaced liquid, upward at a frame's origin.

    Without a `surface` the body is under water: F = -rho V g. With one it is a sphere of volume V about the frame's
    origin, of which only the part below the surface displaces liquid: a cap of height h has pi h^2 (3 R - h) / 3.

    Parameters
    ----------
    frame : str
        Body or frame whose origin is the center of buoyancy.
    volume : number [m^3]
        V.
    density : number [kg/m^3]
        rho; fresh water if not given.
    surface : number [m]
        Height of the surface above the ground's origin, against gravity; none: under water everywhere.
    name : str
        "<frame>_buoyancy" if not given.

    Signals: `force` on the body, ground axes [N], `volume` below the surface [m^3].

    Notes
    -----
    The force has a potential, which counts as potential energy. Drag and the mass of liquid that moves along are
    other matters (`Drag`; add the mass to the body).
    """

    frame: str
    volume: Number = quantity("m^3", "volume of the body")
    density: Number = quantity("kg/m^3", "density of the liquid", default=1000.0)
    surface: Number | None = quantity(
        "m", "height of the surface; none: under water everywhere", default=None
    )
    name: str = ""

    type_name = "buoyancy"
    signals: ClassVar = {"force": "N", "volume": "m^3"}

    def __post_init__(self) -> None:
        convert(
            self,
            volume=as_number,
            density=as_number,
            surface=as_optional_number,
        )
        name_after(self, self.frame)
        positive(self, volume=self.volume, density=self.density)

    def work(self, s: Scope) -> None:
        check_frame(s, self, self.frame)
        if not any(values_of(s.description.gravity)):
            raise wrong(
                self, "frame", "a mechanism without gravity", "gravity: without it nothing is buoyant"
            )
        g = ca.vertcat(*map(s.number, s.description.gravity))
        strength = ca.norm_2(g)
        up = -g / strength
        height = ca.dot(up, s.ask("pose", s.q, frames=[self.frame])[:3, 3])
        full, weight = s.number(self.volume), s.number(self.density) * strength
        if self.surface is None:
            volume, energy = full, -full * height
        else:
            radius = (3 * full / (4 * math.pi)) ** (1 / 3)
            depth = s.number(self.surface) + radius - height  # of the lowest point
            h = clip(depth, 0, 2 * radius)
            volume = math.pi * h**2 * (3 * radius - h) / 3
            energy = math.pi * h**3 * (4 * radius - h) / 12 + full * (ca.fmax(depth, h) - h)
        force = weight * volume * up
        s.write("force", force)
        s.write("volume", SX(volume))
        s.wrench(self.frame, ca.vertcat(SX.zeros(3), force))
        s.stores(weight * energy)
