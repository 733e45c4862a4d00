"""Which function finds the touches of which pair of shapes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from articulus.errors import UnsupportedOperation
from articulus.simulation.loop.contact import boxes, ground, rounds
from articulus.simulation.loop.contact.shapes import Box, Capsule, ConvexHull, Cylinder, Shape, Sphere
from articulus.simulation.loop.contact.solid import ContactSolid, Touch

PAIRS: dict[tuple[type[Shape], type[Shape]], Callable[[ContactSolid, ContactSolid], list[Touch]]] = {
    (Sphere, Sphere): rounds.ball,
    (Sphere, Capsule): rounds.ball,
    (Sphere, Box): rounds.ball,
    (Sphere, Cylinder): rounds.ball,
    (Capsule, Capsule): rounds.capsules,
    (Capsule, Box): rounds.capsule,
    (Capsule, Cylinder): rounds.capsule,
    (Sphere, ConvexHull): rounds.ball,
    (Capsule, ConvexHull): rounds.capsule_and_hull,
    (Box, Box): boxes.boxes,
    (Box, Cylinder): boxes.box_and_cylinder,
    (Cylinder, Cylinder): boxes.cylinders,
}


def touches(
    kinds: tuple[type[Shape], type[Shape]], first: ContactSolid, second: ContactSolid | ground.Surface
) -> list[Touch]:
    """Return where two shapes of given kinds touch."""
    if isinstance(second, ground.Surface):
        return ground.touches(first, second)
    if kinds in PAIRS:
        return PAIRS[kinds](first, second)
    if kinds[::-1] in PAIRS:
        found = PAIRS[kinds[::-1]](second, first)
        return [dataclasses.replace(each, normal=-each.normal) for each in found]
    raise UnsupportedOperation(f"contact of a {kinds[0].type_name} with a {kinds[1].type_name}")
