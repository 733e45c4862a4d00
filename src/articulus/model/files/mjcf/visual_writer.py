"""Shapes as geoms of MJCF that are drawn and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree as ET

from articulus.model.mechanism import Box, Capsule, Cylinder, Ellipsoid, Mesh, Pose, Sphere, Visual


def geom_of(visual: Visual, file_of: Callable[[Mesh], str]) -> ET.Element | None:
    """Return the geom of a shape; None for one that MJCF has not."""
    match visual:
        case Box():
            shape = {"type": "box", "size": _sizes(*(0.5 * s for s in visual.size))}
        case Sphere():
            shape = {"type": "sphere", "size": _sizes(visual.radius)}
        case Capsule():
            shape = {"type": "capsule", "size": _sizes(visual.radius, 0.5 * visual.length)}
        case Cylinder():
            shape = {"type": "cylinder", "size": _sizes(visual.radius, 0.5 * visual.length)}
        case Ellipsoid():
            shape = {"type": "ellipsoid", "size": _sizes(*visual.radii)}
        case Mesh():
            shape = {"type": "mesh", "mesh": file_of(visual)}
        case _:
            return None
    X = Pose.from_matrix(visual.at.matrix())
    shape |= {"pos": _sizes(*X.xyz), "quat": _sizes(*X.quaternion)}
    if visual.color:
        channels = [int(visual.color[k : k + 2], 16) / 255 for k in range(1, len(visual.color), 2)]
        shape["rgba"] = _sizes(*channels, *([1.0] if len(channels) == 3 else []))
    return ET.Element("geom", {**shape, "mass": "0", "contype": "0", "conaffinity": "0", "group": "1"})


def _sizes(*held: object) -> str:
    return " ".join(repr(float(x)) for x in held)  # type: ignore[arg-type]
