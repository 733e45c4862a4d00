"""A shape on symbols: its core and margin, where it is and how it moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.simulation.loop.contact.cores import Brick, Core, CorePoint, CoreSegment, Corners, Drum
from articulus.simulation.loop.contact.shapes import Box, Capsule, ConvexHull, Cylinder, Shape, Sphere


@dataclass(frozen=True)
class ContactSolid:
    """A core with a margin, placed.

    Attributes
    ----------
    core : Core
    margin : SX [m]
    R : SX (3, 3)
        Axes of the shape in ground axes.
    o : SX (3,) [m]
        Origin of the shape, ground axes.
    """

    core: Core
    margin: SX
    R: SX
    o: SX

    def inside(self, p: SX) -> SX:
        """Return a point of the ground in the axes of the shape."""
        return ca.mtimes(self.R.T, p - self.o)

    def outside(self, p: SX) -> SX:
        """Return a point of the shape in ground axes."""
        return self.o + ca.mtimes(self.R, p)

    def distance(self, p: SX) -> tuple[SX, SX]:
        """Return the distance of a point from the core and its gradient, ground axes."""
        found, g = self.core.distance(self.inside(p))
        return found, ca.mtimes(self.R, g)

    @property
    def axis(self) -> SX:
        """The z axis."""
        return self.R[:, 2]


@dataclass(frozen=True)
class Touch:
    """Where two solids touch or would: ground axes.

    Attributes
    ----------
    point : SX (3,) [m]
        In the middle of the overlap, or of the gap.
    normal : SX (3,)
        Unit vector from the second to the first.
    depth : SX [m]
        Depth of the overlap; negative for a gap.
    counts : SX [m]
        Depth from which the force follows: that of a point of an edge counts from the deeper end of the edge on, which has a
        touch of its own.
    ends : tuple of Touch
        Those of the ends of the edge.
    """

    point: SX
    normal: SX
    depth: SX
    counts: SX
    ends: tuple[Touch, ...] = ()


def sizes_of(shape: Shape) -> list[Any]:
    """Return the numbers from which `solid` makes core and margin."""
    match shape:
        case Sphere():
            return [shape.radius]
        case Capsule():
            return [shape.radius, shape.length]
        case Box():
            return [shape.rounding, *shape.size]
        case Cylinder():
            return [shape.rounding, shape.radius, shape.length]
        case ConvexHull():
            inside = [sum(column) / len(shape.vertices) for column in zip(*shape.vertices)]
            return [x for corner in shape.vertices for x in corner] + inside * (
                corners_of(shape) - len(shape.vertices)
            )
    return []


def corners_of(shape: ConvexHull) -> int:
    """Return the number of corners with which a hull is computed: a multiple of 16, so that hulls of about one size share their code.

    The others lie in the middle of the corners, where they touch nothing.
    """
    return -(-len(shape.vertices) // 16) * 16


def solid(kind: type[Shape], sizes: Sequence[SX], R: SX, o: SX) -> ContactSolid:
    """Return a shape of a kind with its sizes (see `sizes_of`) at a pose."""
    makers: dict[type[Shape], Callable[..., tuple[Core, SX]]] = {
        Sphere: lambda r: (CorePoint(), r),
        Capsule: lambda r, length: (CoreSegment(length / 2), r),
        Box: lambda r, x, y, z: (Brick(SX(ca.vertcat(x, y, z)) / 2 - r), r),
        Cylinder: lambda r, radius, length: (Drum(radius - r, length / 2 - r), r),
        ConvexHull: lambda *x: (
            Corners(tuple(ca.vertcat(*x[i : i + 3]) for i in range(0, len(x), 3))),
            SX(0),
        ),
    }
    core, margin = makers[kind](*sizes)
    return ContactSolid(core, margin, R, o)


def touch(p: SX, margin: SX, second: ContactSolid | Any, sign: int = 1) -> Touch:
    """Return where a ball touches a solid; sign -1 when the ball belongs to the second."""
    distance, n = second.distance(p)
    depth = margin + second.margin - distance
    point = p - n * (margin + distance - second.margin) / 2
    return Touch(point, sign * n, depth, depth)
