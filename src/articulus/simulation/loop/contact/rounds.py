"""Balls and capsules: a ball against anything, two capsules, a capsule against a box or a cylinder."""

from __future__ import annotations

import dataclasses

import casadi as ca
from casadi import SX

from articulus.simulation.loop.contact.cores import (
    Brick,
    CoreSegment,
    Drum,
    Facets,
    direction,
    length,
    nearest_of_segment,
    nearest_of_segments,
)
from articulus.simulation.loop.contact.solid import ContactSolid, Touch, touch


def ball(first: ContactSolid, second: ContactSolid) -> list[Touch]:
    """Return where a ball touches a solid."""
    return [touch(first.o, first.margin, second)]


def capsules(first: ContactSolid, second: ContactSolid) -> list[Touch]:
    """Return where two capsules touch: at one point, also when they lie side by side."""
    ends = []
    for each in (first, second):
        assert isinstance(each.core, CoreSegment)
        ends += [each.o - each.core.half * each.axis, 2 * each.core.half * each.axis]
    p, q = nearest_of_segments(*ends)
    n, gap = direction(p - q), length(p - q)
    depth = first.margin + second.margin - gap
    return [Touch((p - first.margin * n + q + second.margin * n) / 2, n, depth, depth)]


def capsule(first: ContactSolid, second: ContactSolid) -> list[Touch]:
    """Return where a capsule touches a box or a cylinder: at both ends, and between them."""
    assert isinstance(first.core, CoreSegment)
    ends = [first.outside(p) for p in first.core.points()]
    found = [touch(p, first.margin, second) for p in ends]
    return [*found, between(found, ends, first.margin, second)]


def capsule_and_hull(first: ContactSolid, second: ContactSolid) -> list[Touch]:
    """Return where a capsule touches a hull: at both ends, and where its axis is nearest to an edge."""
    assert isinstance(first.core, CoreSegment)
    assert isinstance(second.core, Facets)
    ends = [first.outside(p) for p in first.core.points()]
    found = [touch(p, first.margin, second) for p in ends]
    p, q = map(second.outside, second.core.nearest(*map(second.inside, ends)))
    n, gap = direction(p - q), length(p - q)
    depth, deeper = first.margin - gap, ca.fmax(ca.fmax(found[0].depth, found[1].depth), 0)
    return [*found, Touch((p - first.margin * n + q) / 2, n, depth, depth - deeper, tuple(found))]


def between(found: list[Touch], ends: list[SX], margin: SX, second: ContactSolid, sign: int = 1) -> Touch:
    """Return where an edge with a margin touches a solid between its ends, whose own touches are given."""
    assert isinstance(second.core, Brick | Drum)
    p = second.outside(nearest_of_segment(second.core, *map(second.inside, ends)))
    middle = touch(p, margin, second, sign)
    deeper = ca.fmax(ca.fmax(found[0].depth, found[1].depth), 0)
    return dataclasses.replace(middle, counts=middle.depth - deeper, ends=tuple(found))


def edges(first: ContactSolid, second: ContactSolid, corners: list[Touch]) -> list[Touch]:
    """Return where the edges of a box touch a solid between its corners, whose own touches are given."""
    assert isinstance(first.core, Brick)
    points = [first.outside(p) for p in first.core.points()]
    return [
        between([corners[i], corners[j]], [points[i], points[j]], first.margin, second)
        for i, j in first.core.edges()
    ]
