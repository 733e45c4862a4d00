"""Shadow of a planet."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.spacecraft.planet import SUN_RADIUS


def sunlight(p: SX, sun: SX, radius: float) -> SX:
    """Return the part of the Sun's disk that is seen, 0 in the umbra, 1 in full light.

    Parameters
    ----------
    p, sun : (3,) [m]
        Craft and Sun from the planet's center.
    radius : float [m]
        Radius of the planet.

    Notes
    -----
    With the apparent radii a of the Sun and b of the planet and the angle c between their centers: a - b < c < a + b is the
    penumbra, where the overlap of two disks is hidden. Source: Montenbruck & Gill 2000, section 3.4.2.
    """
    away = sun - p
    r, distance = ca.norm_2(p), ca.norm_2(away)
    a, b = ca.asin(SUN_RADIUS / distance), ca.asin(ca.fmin(radius / r, 1))
    across, along = ca.norm_2(ca.cross(-p, away)), -ca.dot(p, away)
    c = ca.atan2(across, along)  # exact for small angles, unlike acos
    inside = ca.fmin(ca.fmax(c, ca.fabs(b - a)), a + b)
    x = (inside**2 + a**2 - b**2) / (2 * inside)
    y = ca.sqrt(ca.fmax(a**2 - x**2, 0))
    hidden = (
        a**2 * ca.acos(ca.fmin(ca.fmax(x / a, -1), 1))
        + b**2 * ca.acos(ca.fmin(ca.fmax((inside - x) / b, -1), 1))
        - inside * y
    )
    part = 1 - hidden / (ca.pi * a**2)
    whole = ca.if_else(b >= a, 0, 1 - (b / a) ** 2)
    return ca.if_else(c >= a + b, 1, ca.if_else(c <= ca.fabs(b - a), whole, part))
