"""What bodies look like as simple solids with poses, for worlds that draw them themselves: visuals, or the skeleton where there are none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.browser.scene import scene_of
from articulus.browser.skeleton import SkeletonShape
from articulus.dynamics.mechanism import Mechanism
from articulus.model.mechanism import GROUND, Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere, Visual

GREY = "#7c8896"


@dataclass(frozen=True, eq=False)
class DrawnSolid:
    """A solid on a body.

    Parameters
    ----------
    kind : str
        "box", "ellipsoid", "cylinder", "capsule" or "mesh".
    size : array, (3,) [m]
        Lengths along x, y, z; of a capsule with its half balls; nothing for a mesh.
    pose : array, (4, 4)
        In the frame of the body.
    color : tuple of four float
        Red, green, blue and opacity from 0 to 1.
    vertices, triangles : array, (n, 3) [m], (m, 3)
        Vertices and triangles of a mesh.
    """

    kind: str
    size: np.ndarray
    pose: np.ndarray
    color: tuple[float, float, float, float]
    vertices: np.ndarray | None = None
    triangles: np.ndarray | None = None


def solids_of(mechanism: Mechanism) -> dict[str, list[DrawnSolid]]:
    """Return the solids of ground and of every body; of telescopes and bent bodies only what is rigid."""
    d = mechanism.description
    scene = scene_of(mechanism)
    out = {GROUND: [s for v in d.visuals for s in _visual(v, GREY)]}
    if not out[GROUND]:
        out[GROUND] = [_skeleton(s, GREY) for s in scene.ground]
    for body, shown in zip(d.bodies, scene.bodies, strict=True):
        drawn = [s for v in body.visuals for s in _visual(v, shown.color)]
        out[body.name] = drawn or [_skeleton(s, shown.color) for s in shown.shapes if s.role != "mass"]
    return out


def _visual(v: Visual, color: str) -> list[DrawnSolid]:
    text = v.color or color
    rgba = _color(text)
    pose = v.at.matrix()
    match v:
        case Box():
            return [DrawnSolid("box", np.array(v.size), pose, rgba)]
        case Sphere():
            return [DrawnSolid("ellipsoid", np.full(3, 2 * v.radius), pose, rgba)]
        case Ellipsoid():
            return [DrawnSolid("ellipsoid", 2 * np.array(v.radii), pose, rgba)]
        case Cylinder():
            return [DrawnSolid("cylinder", np.array([2 * v.radius, 2 * v.radius, v.length]), pose, rgba)]
        case Capsule():
            size = np.array([2 * v.radius, 2 * v.radius, v.length + 2 * v.radius])
            return [DrawnSolid("capsule", size, pose, rgba)]
        case Mesh():
            return [DrawnSolid("mesh", np.zeros(3), pose, rgba, v.vertices, v.triangles)]
    return []


def _skeleton(shape: SkeletonShape, color: str) -> DrawnSolid:
    """Return a shape of a skeleton, which reaches from its start to its end, as a solid along z."""
    start, end = np.array(shape.start), np.array(shape.end)
    length = float(np.linalg.norm(end - start))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = _along(end - start), 0.5 * (start + end)
    wide = 2 * shape.radius
    kind = {"tube": "capsule", "disc": "cylinder", "box": "box", "ball": "ellipsoid"}[shape.kind]
    tall = {"tube": length + wide, "ball": wide}.get(shape.kind, length)
    return DrawnSolid(kind, np.array([wide, wide, tall]), pose, _color(color))


def _color(text: str) -> tuple[float, float, float, float]:
    """Return the numbers of a color "#rrggbb" or "#rrggbbaa"."""
    red, green, blue, opacity = (int(text[k : k + 2] or "ff", 16) / 255 for k in (1, 3, 5, 7))
    return red, green, blue, opacity


def _along(direction: np.ndarray) -> np.ndarray:
    """Return a rotation that brings z into a direction, (3, 3); the identity for none."""
    length = np.linalg.norm(direction)
    if length == 0.0:
        return np.eye(3)
    z = direction / length
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
