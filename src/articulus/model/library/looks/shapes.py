"""Shapes from which machines are put together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from articulus.model.mechanism import Box, Capsule, Cylinder, Mesh, Pose
from articulus.spatial.rotation import frame_with_z

YELLOW, DARK, STEEL, GLASS, RUBBER, BLACK = "#f0b01e", "#4a5056", "#8f979e", "#9fc4d86b", "#3b4046", "#2a2d31"
WHITE, GREY, BLUE, ORANGE, GOLD = "#e8e6df", "#a9afb5", "#2b4a7d", "#e08a3c", "#c9a24a"

Point = Sequence[float] | np.ndarray


def box(size: Point, at: Point, color: str, rpy: Point = (0.0, 0.0, 0.0)) -> Box:
    """Return a box about a point, turned by angles [rad]."""
    return Box(tuple(size), at=Pose(tuple(at), tuple(rpy)), color=color)


def tube(start: Point, end: Point, radius: float, color: str) -> Cylinder:
    """Return a cylinder from one point to another."""
    length, pose = _along(start, end)
    return Cylinder(radius, length, at=pose, color=color)


def limb(start: Point, end: Point, radius: float, color: str) -> Capsule:
    """Return a cylinder with round ends whose centers are two points."""
    length, pose = _along(start, end)
    return Capsule(radius, length, at=pose, color=color)


def disc(at: Point, axis: Point, radius: float, width: float, color: str) -> Cylinder:
    """Return a cylinder about a point, along an axis: a hinge, a motor, a pin."""
    half = 0.5 * width * np.array(axis, float) / np.linalg.norm(axis)
    return tube(np.array(at) - half, np.array(at) + half, radius, color)


def plate(outline: Sequence[Point] | np.ndarray, width: float, color: str, z: float = 0.0) -> Mesh:
    """Return a plate with an outline in the x-y plane, counter-clockwise, of a width along z about the height z."""
    points = np.array(outline, dtype=float)
    n = len(points)
    below, above = (np.column_stack([points, np.full(n, z + s * width / 2)]) for s in (-1, 1))
    face = np.array(_ears(points))
    k, after = np.arange(n), (np.arange(n) + 1) % n
    sides = [np.column_stack([k, after, after + n]), np.column_stack([k, after + n, k + n])]
    triangles = np.concatenate([face[:, ::-1], face + n, *sides])
    corners = np.concatenate([below, above])[triangles].reshape(-1, 3)  # loose, so that edges are sharp
    return Mesh(corners, np.arange(len(corners)).reshape(-1, 3), color=color)


def tapered_link(
    start: Point, end: Point, sizes: tuple[float, float], width: float, color: str, z: float = 0.0
) -> Mesh:
    """Return a link in the x-y plane from one point to another, as high as two sizes at its ends, round at both."""
    a, b = np.array(start[:2], float), np.array(end[:2], float)
    along = (b - a) / np.linalg.norm(b - a)
    turn = np.arctan2(along[1], along[0])
    arcs = []
    for middle, size, first in ((b, sizes[1], -np.pi / 2), (a, sizes[0], np.pi / 2)):
        angles = turn + first + np.linspace(0, np.pi, 13)
        arcs.append(middle + 0.5 * size * np.column_stack([np.cos(angles), np.sin(angles)]))
    return plate(np.concatenate(arcs), width, color, z)


def _along(start: Point, end: Point) -> tuple[float, Pose]:
    """Return the length from one point to another, and the pose in whose middle z leads from one to the other."""
    a, b = np.array(start, float), np.array(end, float)
    length = float(np.linalg.norm(b - a))
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = frame_with_z((b - a) / length), (a + b) / 2
    return length, Pose.from_matrix(X)


def _ears(points: np.ndarray) -> list[tuple[int, int, int]]:
    """Return the triangles of a simple polygon, counter-clockwise: corners are cut off one after another."""
    left, out = list(range(len(points))), []
    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            if _is_ear(points, a, b, c, left):
                out.append((a, b, c))
                del left[k]
                break
        else:  # only corners without a turn are left
            break
    return [*out, tuple(left[:3])]  # type: ignore[list-item]


def _is_ear(points: np.ndarray, a: int, b: int, c: int, left: list[int]) -> bool:
    if _turn(points[a], points[b], points[c]) <= 0:
        return False
    others = (points[i] for i in left if i not in (a, b, c))
    return not any(
        _turn(points[a], points[b], p) >= 0
        and _turn(points[b], points[c], p) >= 0
        and _turn(points[c], points[a], p) >= 0
        for p in others
    )


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
