"""Pull of a distant body on what falls about a planet."""

from __future__ import annotations

import casadi as ca
from casadi import SX


def third_body(p: SX, body: SX, mu: float) -> SX:
    """Return the acceleration that a distant body adds to a fall about the planet, (3,) [m/s^2].

    mu ((s - p)/|s - p|^3 - s/|s|^3) with the difference of the cubes written out, so that no digits cancel.
    Source: Battin 1999, section 8.4.
    """
    away = body - p
    z = ca.dot(p, p - 2 * body) / ca.sumsqr(body)
    f = z * (3 + 3 * z + z**2) / (1 + (1 + z) * ca.sqrt(1 + z))  # (|s - p|/|s|)^3 - 1
    return -mu / ca.norm_2(away) ** 3 * (p + f * body)
