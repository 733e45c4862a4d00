"""Points of the rims of a cylinder that a neighbor may touch."""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from articulus.simulation.loop.contact.cores import Drum, direction
from articulus.simulation.loop.contact.solid import ContactSolid

UPRIGHT = 1e-9
"""Part of the x axis in the direction of a rim's lowest point: decides when the cylinder stands on its end."""

ROUNDS = 2
"""Rounds in which a point of the rim follows the neighbor's normal: exact for flat neighbors."""
PROJECTIONS = 4
"""Projections to the neighbor and back that follow, for round ones."""


def rim(drum: ContactSolid, neighbor: Any) -> list[SX]:
    """Return four points of each rim of the core: that towards a neighbor, the one opposite, and both in between.

    The first is the one nearest to the neighbor's core.
    """
    assert isinstance(drum.core, Drum)
    out = []
    for sign in (-1, 1):
        center = drum.o + sign * drum.core.half * drum.axis
        d = _towards(drum, neighbor.distance(center)[1])
        for _ in range(ROUNDS):
            d = _towards(drum, neighbor.distance(center + drum.core.radius * d)[1])
        for _ in range(PROJECTIONS):
            p = center + drum.core.radius * d
            gap, n = neighbor.distance(p)
            d = _towards(drum, center - p + gap * n)
        across = ca.cross(drum.axis, d)
        out += [center + drum.core.radius * each for each in (d, -d, across, -across)]
    return out


def _towards(drum: ContactSolid, n: SX) -> SX:
    """Return the unit vector across the axis that goes most against n."""
    down = -n + ca.dot(n, drum.axis) * drum.axis
    return direction(down + UPRIGHT * drum.R[:, 0])
