"""Shapes that touch, each at a frame of the mechanism."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from articulus.errors import Finding, InputError
from articulus.model.mechanism.numbers import (
    Number,
    as_number,
    as_vector,
    convert,
    quantity,
    value_of,
    values_of,
)
from articulus.model.mechanism.pose import IDENTITY_QUATERNION, Pose

MOST_CORNERS = 64
"""Corners of a convex hull: each is a point of contact with its own force."""
ROUND = 0.02
"""Radius of edges that are not given, in parts of the smallest extent."""


@dataclass(frozen=True)
class Shape:
    """A solid at a frame; the ground itself is the frame "ground".

    Parameters
    ----------
    frame : str
    xyz : three numbers [m]
        Where the shape is in its frame: plain numbers, the origin if not given.
    quaternion : four numbers [-]
        How it is turned there (w, x, y, z); plain numbers.
    """

    in_file = "shape"

    type_name: ClassVar[str]
    frame: str
    _: KW_ONLY
    xyz: tuple[float, ...] = quantity("m", "place in the frame", size="3", default=(0.0, 0.0, 0.0))
    quaternion: tuple[float, ...] = quantity(
        "-", "rotation in the frame as quaternion w, x, y, z", size="4", default=IDENTITY_QUATERNION
    )

    def _convert(self, **how: Any) -> None:
        """Convert fields, and the place, which all shapes have."""
        convert(
            self,
            xyz=lambda x: values_of(as_vector(x, 3)),
            quaternion=lambda x: values_of(as_vector(x, 4)),
            **how,
        )

    @property
    def at(self) -> Pose:
        """Pose of the shape in its frame."""
        return Pose(self.xyz, quaternion=self.quaternion)

    def _positive(self, **numbers: Any) -> None:
        for name, value in numbers.items():
            if not all(0 < x < math.inf for x in values_of(value if isinstance(value, tuple) else (value,))):
                raise self.wrong(name, f"{value!r}", "finite numbers above 0")

    def wrong(self, field: str, found: str, expected: str) -> InputError:
        """Return the error for a field."""
        return InputError(
            Finding(f"{type(self).__name__} at '{self.frame}', {field}", found, expected, field=field)
        )


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball around the origin of a frame.

    Parameters
    ----------
    frame : str
    radius : number [m]
    """

    type_name = "sphere"
    radius: Number = quantity("m", "radius")

    def __post_init__(self) -> None:
        self._convert(radius=as_number)
        self._positive(radius=self.radius)

    @property
    def bound(self) -> Number:
        """Radius about the origin of the frame that holds the shape [m]."""
        return self.radius


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along z with half a ball at each end, around the origin of a frame.

    Parameters
    ----------
    frame : str
    radius : number [m]
    length : number [m]
        From center to center of the half balls.
    """

    type_name = "capsule"
    radius: Number = quantity("m", "radius")
    length: Number = quantity("m", "from center to center of the ends")

    def __post_init__(self) -> None:
        self._convert(radius=as_number, length=as_number)
        self._positive(radius=self.radius, length=self.length)

    @property
    def bound(self) -> Number:
        """Radius about the origin of the frame that holds the shape [m]."""
        return self.length / 2 + self.radius


@dataclass(frozen=True)
class Box(Shape):
    """A box along the axes of a frame, around its origin, with round edges and corners.

    Parameters
    ----------
    frame : str
    size : three numbers [m]
        Lengths of the edges.
    rounding : number [m]
        Radius of edges and corners; contacts deeper than that are only approximate. Not given: 2 percent of the smallest size.
    """

    type_name = "box"
    size: tuple[Number, ...] = quantity("m", "lengths of the edges", size="3")
    rounding: Number | None = quantity("m", "radius of edges and corners", default=None)

    def __post_init__(self) -> None:
        self._convert(size=lambda x: as_vector(x, 3))
        self._positive(size=self.size)
        _round(self, min(values_of(self.size)))

    @property
    def bound(self) -> Number:
        """Radius about the origin of the frame that holds the shape [m]."""
        x, y, z = self.size
        return ((x * x + y * y + z * z) ** 0.5) / 2


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along z around the origin of a frame, with round rims.

    Parameters
    ----------
    frame : str
    radius : number [m]
    length : number [m]
    rounding : number [m]
        Radius of the rims; contacts deeper than that are only approximate. Not given: 2 percent of the smaller extent.
    """

    type_name = "cylinder"
    radius: Number = quantity("m", "radius")
    length: Number = quantity("m", "length")
    rounding: Number | None = quantity("m", "radius of the rims", default=None)

    def __post_init__(self) -> None:
        self._convert(radius=as_number, length=as_number)
        self._positive(radius=self.radius, length=self.length)
        _round(self, min(2 * value_of(self.radius), value_of(self.length)))

    @property
    def bound(self) -> Number:
        """Radius about the origin of the frame that holds the shape [m]."""
        return (self.radius * self.radius + self.length * self.length / 4) ** 0.5


@dataclass(frozen=True)
class Plane(Shape):
    """The plane z = 0 of a frame; below it is solid.

    Parameters
    ----------
    frame : str
        "ground" if not given.
    """

    type_name = "plane"
    frame: str = "ground"

    def __post_init__(self) -> None:
        self._convert()


@dataclass(frozen=True)
class HeightField(Shape):
    """Ground of varying height: z = h(x, y) in the axes of a frame, a smooth (cubic) surface through a grid of heights.

    Parameters
    ----------
    frame : str
    heights : rows of numbers [m]
        Plain numbers, at least 4 x 4; a row for each x, a column for each y. The grid has its middle at the origin of the frame;
        beyond its rim the height is that of the nearest point of the rim.
    spacing : two numbers [m]
        From row to row and from column to column; plain numbers.

    Notes
    -----
    A point costs about 4 multiply-adds per height: symbols have no table that is looked up. The distance of a point is measured
    from the tangent plane at its foot, which is exact for plane slopes and errs with curvature times distance.
    """

    type_name = "height_field"
    heights: tuple[tuple[float, ...], ...] = quantity("m", "heights on a grid", size="rows x columns")
    spacing: tuple[float, ...] = quantity("m", "between rows, and between columns", size="2")

    def __post_init__(self) -> None:
        self._convert(spacing=lambda x: values_of(as_vector(x, 2)), heights=_grid)
        self._positive(spacing=self.spacing)
        rows, columns = len(self.heights), len(self.heights[0]) if self.heights else 0
        if rows < 4 or columns < 4:
            raise self.wrong("heights", f"a grid of {rows} x {columns}", "at least 4 x 4")


@dataclass(frozen=True)
class ConvexHull(Shape):
    """The convex hull of points; it touches planes and height fields with its corners, in `Contacts` all other solids, too.

    Parameters
    ----------
    frame : str
    vertices : rows of three numbers [m]
        Corners in the axes of the frame, at most 64; plain numbers. The convex hull of a mesh: `articulus.model.files.mesh.hull.hull_of`.
    """

    type_name = "hull"
    vertices: tuple[tuple[float, ...], ...] = quantity("m", "corners", size="rows x 3")

    def __post_init__(self) -> None:
        self._convert(vertices=_grid)
        if not 4 <= len(self.vertices) <= MOST_CORNERS or len(self.vertices[0]) != 3:
            raise self.wrong(
                "vertices",
                f"{len(self.vertices)} rows of {len(self.vertices[0]) if self.vertices else 0}",
                f"4 to {MOST_CORNERS} rows of three",
            )

    @property
    def bound(self) -> float:
        """Radius about the origin of the frame that holds the shape [m]."""
        return max(math.hypot(*corner) for corner in self.vertices)


SHAPES: tuple[type[Shape], ...] = (Sphere, Capsule, Box, Cylinder, ConvexHull, Plane, HeightField)


def _round(shape: Any, extent: float) -> None:
    """Check the radius of the edges of a shape, or give it one."""
    if shape.rounding is None:
        object.__setattr__(shape, "rounding", ROUND * extent)
    convert(shape, rounding=as_number)
    if not 0 < value_of(shape.rounding) < extent / 2:
        raise shape.wrong(
            "rounding",
            f"{shape.rounding!r}",
            f"above 0 and below half of the smallest extent, {extent / 2:g}",
        )


def _grid(x: Any) -> tuple[tuple[float, ...], ...]:
    rows = tuple(tuple(float(value_of(as_number(h))) for h in row) for row in x)
    if any(len(row) != len(rows[0]) for row in rows) or not all(
        math.isfinite(h) for row in rows for h in row
    ):
        raise InputError("expected finite plain numbers in rows of one length")
    return rows
