"""Contact of simple shapes: the shapes, where two of them touch, and the forces there.

A shape is a core (a point, a segment, a box, a cylinder) with a margin around it. Two shapes touch where their cores come
nearer than the sum of the margins, so that edges and corners are round and every normal is that of a shortest line.
To add a shape: its class in `shapes`, its core in `cores`, its pairs in one of the files that `pairs` lists.
"""

from articulus.simulation.loop.contact.materials import dissipation_of, hertz_stiffness, restitution_of
from articulus.simulation.loop.contact.shapes import (
    SHAPES,
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    HeightField,
    Plane,
    Shape,
    Sphere,
)

__all__ = [
    "SHAPES",
    "Box",
    "Capsule",
    "ConvexHull",
    "Cylinder",
    "HeightField",
    "Plane",
    "Shape",
    "Sphere",
    "dissipation_of",
    "hertz_stiffness",
    "restitution_of",
]  # fmt: skip
