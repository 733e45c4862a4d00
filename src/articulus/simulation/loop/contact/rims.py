"""Points of the rims of a cylinder that a neighbour may touch."""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from articulus.simulation.loop.contact.cores import Drum, direction
from articulus.simulation.loop.contact.solid import Solid

UPRIGHT = 1e-9
"""Part of the x axis in the direction of a rim's lowest point: decides when the cylinder stands on its end."""

ROUNDS = 2
"""Rounds in which a point of the rim follows the neighbour's normal: exact for flat neighbours."""
PROJECTIONS = 4
"""Projections to the neighbour and back that follow, for round ones."""


def rim(drum: Solid, neighbour: Any) -> list[SX]:
    """Return four points of each rim of the core: that towards a neighbour, the one opposite, and both in between.

    The first is the one nearest to the neighbour's core.
    """
    assert isinstance(drum.core, Drum)
    out = []
    for sign in (-1, 1):
        centre = drum.o + sign * drum.core.half * drum.axis
        d = _towards(drum, neighbour.distance(centre)[1])
        for _ in range(ROUNDS):
            d = _towards(drum, neighbour.distance(centre + drum.core.radius * d)[1])
        for _ in range(PROJECTIONS):
            p = centre + drum.core.radius * d
            gap, n = neighbour.distance(p)
            d = _towards(drum, centre - p + gap * n)
        across = ca.cross(drum.axis, d)
        out += [centre + drum.core.radius * each for each in (d, -d, across, -across)]
    return out


def _towards(drum: Solid, n: SX) -> SX:
    """Return the unit vector across the axis that goes most against n."""
    down = -n + ca.dot(n, drum.axis) * drum.axis
    return direction(down + UPRIGHT * drum.R[:, 0])
