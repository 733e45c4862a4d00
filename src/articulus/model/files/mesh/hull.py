"""Convex hulls of meshes: few corners that contacts stand on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.model.files.mesh.reader import read_mesh
from articulus.model.mechanism import Device, Pose

MOST_CORNERS = 64
"""Corners that are kept: more of them are a smooth surface, of which the farthest points in as many directions stand for the others."""


def hull_of(points: Any, most: int = MOST_CORNERS) -> np.ndarray:
    """Return corners of the convex hull of points (n, 3), at most `most` (m, 3) [m]."""
    from scipy.spatial import ConvexHull, QhullError  # late: its import would slow down every first run

    points = np.unique(np.asarray(points, dtype=float), axis=0)
    try:
        corners = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):  # flat, or too few: all of them are corners
        corners = points
    if len(corners) < 4:
        raise InputError(f"hull_of: found {len(corners)} different points; expected at least 4")
    if len(corners) <= most:
        return corners
    chosen = np.unique(np.argmax(corners @ _directions(most).T, axis=0))
    return corners[chosen]


def with_hull(shape: Device) -> Device:
    """Return a shape that may touch with the hull of its mesh; others as they are."""
    if shape.type != "mesh":
        return shape
    held = dict(shape.values)
    mesh = read_mesh(Path(held.pop("file")))
    corners = hull_of(mesh.vertices) * np.array(held.pop("scale", (1.0, 1.0, 1.0)))
    at = Pose(held.get("xyz", (0.0, 0.0, 0.0)), quaternion=held.get("quaternion", (1.0, 0.0, 0.0, 0.0)))
    middle = corners.mean(axis=0)
    place = at.matrix() @ np.append(middle, 1.0)
    held["xyz"] = tuple(map(float, place[:3]))
    return Device("hull", (*held.items(), ("vertices", tuple(map(tuple, (corners - middle).tolist())))))


def _directions(count: int) -> np.ndarray:
    """Return directions that are spread evenly over the sphere: a spiral of golden angles, (count, 3)."""
    k = np.arange(count) + 0.5
    z, angle = 1 - 2 * k / count, np.pi * (1 + 5**0.5) * k
    r = np.sqrt(1 - z * z)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), z])
