"""Constants of a planet."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX


@dataclass(frozen=True)
class Planet:
    """Size, gravity and rotation of a planet.

    Parameters
    ----------
    name : str
    mu : float [m^3/s^2]
        Gravitational parameter.
    radius : float [m]
        Radius of the equator.
    flattening : float [-]
    rotation : float [rad/s]
        About its pole.
    """

    name: str
    mu: float
    radius: float
    flattening: float
    rotation: float

    def altitude(self, p: SX) -> SX:
        """Return the height above the ellipsoid along the radius, of a position from the center, (3,) [m].

        It differs from the geodetic height by less than 60 m below 2000 km.
        """
        r2 = ca.sumsqr(p)
        across = (p[0] ** 2 + p[1] ** 2) / r2
        squashed = (1 - self.flattening) ** 2
        surface = self.radius * ca.sqrt(squashed / (1 - (1 - squashed) * across))
        return ca.sqrt(r2) - surface


EARTH = Planet("Earth", 3.986004418e14, 6378137.0, 1 / 298.257223563, 7.292115e-5)
"""WGS 84 with the gravitational parameter of the IERS Conventions 2010."""
SUN_MU, MOON_MU = 1.32712440018e20, 4.902800066e12
"""Gravitational parameters of the Sun and the Moon [m^3/s^2]; IERS Conventions 2010, table 1.1, and lunar ephemeris DE421."""
SUN_RADIUS = 6.957e8
"""[m]"""
AU = 149597870700.0
"""Astronomical unit [m]."""
SUN_PRESSURE = 4.5398e-6
"""Pressure of sunlight on what absorbs it, at 1 AU [N/m^2]: 1361 W/m^2 over the speed of light."""
