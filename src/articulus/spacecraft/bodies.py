"""Sun and Moon by short series, for forces and pointing: within 0.01 and 0.3 degrees."""

from __future__ import annotations

from typing import Any

import casadi as ca

from articulus.spacecraft.epoch import Epoch
from articulus.spacecraft.planet import EARTH

RAD = ca.pi / 180
UNIT = 149597870000.0
"""Astronomical unit of the series [m]."""
ECLIPTIC, ECLIPTIC_RATE = 23.439291, -0.0130042
"""Obliquity of the ecliptic [deg] and its change in a century."""


def sun_position(epoch: Epoch, t: Any = 0.0) -> Any:
    """Return the Sun from the Earth's center, (3,) [m], mean axes of date, t seconds after the epoch; numbers or symbols.

    Within 0.01 degrees from 1950 to 2050. Source: Vallado 2013, algorithm 29, after the Astronomical Almanac.
    """
    T = epoch.centuries(t)
    M = (357.5291092 + 35999.05034 * T) * RAD
    along = (280.460 + 36000.771 * T + 1.914666471 * ca.sin(M) + 0.019994643 * ca.sin(2 * M)) * RAD
    r = (1.000140612 - 0.016708617 * ca.cos(M) - 0.000139589 * ca.cos(2 * M)) * UNIT
    tilt = (ECLIPTIC + ECLIPTIC_RATE * T) * RAD
    return r * ca.vertcat(ca.cos(along), ca.cos(tilt) * ca.sin(along), ca.sin(tilt) * ca.sin(along))


def moon_position(epoch: Epoch, t: Any = 0.0) -> Any:
    """Return the Moon from the Earth's center, (3,) [m], mean axes of date, t seconds after the epoch; numbers or symbols.

    Within 0.3 degrees in longitude, 0.2 in latitude, 1300 km. Source: Vallado 2013, algorithm 31, after the Astronomical Almanac.
    """
    T = epoch.centuries(t)

    def wave(f: Any, amplitude: float, phase: float, rate: float) -> Any:
        return amplitude * f((phase + rate * T) * RAD)

    along = 218.32 + 481267.8813 * T + sum(wave(ca.sin, *row) for row in LONGITUDE)
    above = sum(wave(ca.sin, *row) for row in LATITUDE)
    parallax = 0.9508 + sum(wave(ca.cos, *row) for row in PARALLAX)
    l, b, tilt = along * RAD, above * RAD, (ECLIPTIC + ECLIPTIC_RATE * T) * RAD
    r = EARTH.radius / ca.sin(parallax * RAD)
    y, z = ca.cos(b) * ca.sin(l), ca.sin(b)
    return r * ca.vertcat(
        ca.cos(b) * ca.cos(l), ca.cos(tilt) * y - ca.sin(tilt) * z, ca.sin(tilt) * y + ca.cos(tilt) * z
    )


LONGITUDE = (
    (6.29, 134.9, 477198.85), (-1.27, 259.2, -413335.38), (0.66, 235.7, 890534.23),
    (0.21, 269.9, 954397.70), (-0.19, 357.5, 35999.05), (-0.11, 186.6, 966404.05),
)  # fmt: skip
LATITUDE = (
    (5.13, 93.3, 483202.03), (0.28, 228.2, 960400.87), (-0.28, 318.3, 6003.18), (-0.17, 217.6, -407332.20),
)  # fmt: skip
PARALLAX = (
    (0.0518, 134.9, 477198.85), (0.0095, 259.2, -413335.38), (0.0078, 235.7, 890534.23), (0.0028, 269.9, 954397.70),
)  # fmt: skip
"""Amplitude [deg], phase [deg], rate [deg in a century] of each wave."""
