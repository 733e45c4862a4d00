"""Friction as the bending of bristles: the law of LuGre."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.simulation.loop.component import Scope

STILL = 1e-12
"""Share of the Stribeck speed below which |v| is rounded off, so that its derivative is finite at rest."""


@dataclass(frozen=True)
class Bristle:
    """Friction of a sliding pair, from the levels at which it slides.

    With the deflection z of the bristles,

        dz/dt = v - s0 |v| z / g(v),   g = c + (s - c) exp(-(v / vs)^2),   f = s0 z + s1 dz/dt + s2 v

    At rest a force below s bends the bristles and is held forever; in steady sliding f = g sign(v) + s2 v.
    Levels are forces, or coefficients of friction that the caller multiplies with a load.

    Attributes
    ----------
    coulomb, static : SX
        c, s: friction in fast sliding, and at the end of sticking.
    stiffness, damping : SX
        s0, s1, of the bristles.
    stribeck : SX
        vs, speed of the change from static to Coulomb friction [rad/s or m/s].
    viscous : SX
        s2.

    Notes
    -----
    Source: Canudas de Wit, Olsson, Astrom & Lischinsky 1995.
    """

    coulomb: SX
    static: SX
    stiffness: SX
    damping: SX
    stribeck: SX
    viscous: SX

    def work(self, s: Scope, v: SX) -> tuple[SX, SX, SX]:
        """Return f, z and dz/dt at speed v; z becomes the state "deflection" of the component."""
        z = s.state("deflection", 0.0)
        level = self.coulomb + (self.static - self.coulomb) * ca.exp(-((v / self.stribeck) ** 2))
        speed = ca.sqrt(v**2 + (STILL * self.stribeck) ** 2)
        rate = v - self.stiffness * speed * z / level
        s.rate("deflection", rate)
        return self.stiffness * z + self.damping * rate + self.viscous * v, z, rate
