"""Boxes and cylinders against each other: corners, rims and edges of one against the other."""

from __future__ import annotations

import dataclasses

import casadi as ca

from articulus.simulation.loop.contact.cores import Drum
from articulus.simulation.loop.contact.rims import rim
from articulus.simulation.loop.contact.rounds import between, edges
from articulus.simulation.loop.contact.solid import ContactSolid, Touch, touch

ACROSS = 1e-2
"""Angle between a normal and the plane across an axis up to which the side of a cylinder touches [rad]."""


def boxes(first: ContactSolid, second: ContactSolid) -> list[Touch]:
    """Return where two boxes touch: 16 corners and 12 edges."""
    return [*_corners(first, second), *_corners(second, first, -1), *_edges(first, second)]


def box_and_cylinder(first: ContactSolid, second: ContactSolid) -> list[Touch]:
    """Return where a box touches a cylinder: 8 corners, 8 points of rims and 12 edges."""
    return [*_corners(first, second), *_rims(second, first, -1), *_edges(first, second)]


def cylinders(first: ContactSolid, second: ContactSolid) -> list[Touch]:
    """Return where two cylinders touch: 8 points of rims each, side on side, and side on end."""
    rims, others = _rims(first, second), _rims(second, first, -1)
    side, end = _side(first, second, rims), _side(second, first, others, -1)
    flat = (
        ca.dot(end.normal, first.axis) ** 2
    )  # one for an end of the first, zero for its side, which `side` has
    return [*rims, *others, side, dataclasses.replace(end, counts=flat * end.counts)]


def _corners(first: ContactSolid, second: ContactSolid, sign: int = 1) -> list[Touch]:
    return [touch(first.outside(p), first.margin, second, sign) for p in first.core.points()]  # type: ignore[union-attr]


def _rims(first: ContactSolid, second: ContactSolid, sign: int = 1) -> list[Touch]:
    return [touch(p, first.margin, second, sign) for p in rim(first, second)]


def _edges(first: ContactSolid, second: ContactSolid) -> list[Touch]:
    return edges(first, second, _corners(first, second))


def _side(first: ContactSolid, second: ContactSolid, rims: list[Touch], sign: int = 1) -> Touch:
    """Return where the side of a cylinder touches a solid between its ends: there the normal is across the axis."""
    assert isinstance(first.core, Drum)
    half = first.core.half * first.axis
    ends = [first.o - half, first.o + half]
    found = between([rims[0], rims[4]], ends, first.core.radius + first.margin, second, sign)
    across = ca.fmax(1 - ca.fabs(ca.dot(found.normal, first.axis)) / ACROSS, 0)
    depth = ca.if_else(across > 0, found.depth, ca.fmax(rims[0].depth, rims[4].depth))
    return dataclasses.replace(found, depth=depth, counts=across * found.counts)
