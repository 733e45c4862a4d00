"""Visuals of a mechanism as plain data for a browser: simple solids by their sizes, meshes packed once each."""

from __future__ import annotations

import base64
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from articulus.browser.skeleton import Point
from articulus.model.mechanism import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere, Strut, Visual
from articulus.model.mechanism.pose import quaternion_of

MESH_BYTES = 1_500_000
"""Most characters of the packed meshes of a page."""
CELLS = (0.0, 1 / 2048, 1 / 1024, 1 / 512, 1 / 256, 1 / 128, 1 / 64, 1 / 32)
"""Cells in which vertices become one, in parts of the mechanism's size: the first with which all meshes find room is taken."""
STEPS = 65535
"""Steps into which a mesh is divided along each axis: coordinates have 16 bits."""


@dataclass(frozen=True)
class SceneSolid:
    """A shape of a body or of ground, in its frame.

    Parameters
    ----------
    kind : str
        "box", "cylinder", "capsule", "sphere", "ellipsoid", "strut" or "mesh".
    size : tuple of float [m]
        Lengths along x, y, z; radius and length along z; radius; half axes; nothing for a mesh.
    position : three numbers [m]
    quaternion : four numbers (w, x, y, z) [-]
    color : str
        "#rrggbb"; that of the body if empty.
    opacity : float [-]
    mesh : int
        Which of the meshes of the scene; -1 for other kinds.
    body : str
        Body at the other end of a strut.
    end : three numbers [m]
        Where on that body.
    """

    kind: str
    size: tuple[float, ...]
    position: Point
    quaternion: tuple[float, float, float, float]
    color: str
    opacity: float
    mesh: int = -1
    body: str = ""
    end: Point = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class PackedMesh:
    """Triangles as texts in base 64.

    Parameters
    ----------
    origin, step : three numbers [m]
        A coordinate is origin + step * whole number.
    vertices : str
        Three whole numbers each, two bytes a number, the lower first.
    triangles : str
        Three vertices each, four bytes a number if `wide`, else two.
    wide : bool
    palette : list of str
        Colors "#rrggbb" of its triangles; empty when all have that of the solid.
    colors : str
        Number in the palette of each triangle, a byte each.
    """

    origin: Point
    step: Point
    vertices: str
    triangles: str
    wide: bool
    palette: tuple[str, ...] = ()
    colors: str = ""


def solids(visuals: Iterable[Visual], meshes: Mapping[str, int]) -> tuple[SceneSolid, ...]:
    """Return shapes as plain data; meshes that are in the scene by the number of their geometry, others are omitted."""
    return tuple(
        _solid(v, meshes[v.geometry] if isinstance(v, Mesh) else -1)
        for v in visuals
        if not isinstance(v, Mesh) or v.geometry in meshes
    )


def _solid(v: Visual, mesh: int) -> SceneSolid:
    X = v.at.matrix()
    position = (float(X[0, 3]), float(X[1, 3]), float(X[2, 3]))
    opacity = int(v.color[7:] or "ff", 16) / 255
    other = (v.body, _point(np.array(v.end))) if isinstance(v, Strut) else ("", (0.0, 0.0, 0.0))
    return SceneSolid(
        v.type_name,
        _size(v),
        position,
        quaternion_of(X[:3, :3]),
        v.color[:7],
        round(opacity, 3),
        mesh,
        *other,
    )


def _size(v: Visual) -> tuple[float, ...]:
    match v:
        case Box(size=lengths) | Ellipsoid(radii=lengths):
            return lengths
        case Cylinder() | Capsule():
            return v.radius, v.length
        case Sphere() | Strut():
            return (v.radius,)
        case _:
            return ()


def packed_meshes(
    visuals: Iterable[Visual], size: float, room: float
) -> tuple[dict[str, int], tuple[PackedMesh, ...]]:
    """Return the number of each geometry, and the packed meshes in that order.

    Parameters
    ----------
    visuals : iterable of Visual
    size : float [m]
        Size of the mechanism.
    room : float
        Most characters of all of them. Where they need more, they lose detail, the same over the whole mechanism; what is still too
        much at the coarsest is omitted.
    """
    apart = {v.geometry: v for v in visuals if isinstance(v, Mesh)}
    found = _pack(tuple(apart.values()), size, room)
    kept = [(geometry, mesh) for geometry, mesh in zip(apart, found) if mesh is not None]
    return {geometry: k for k, (geometry, _) in enumerate(kept)}, tuple(mesh for _, mesh in kept)


@functools.lru_cache(maxsize=4)
def _pack(meshes: tuple[Mesh, ...], size: float, room: float) -> tuple[PackedMesh | None, ...]:
    for part in CELLS:
        found = [merge_vertices(mesh, part * size) for mesh in meshes]
        if sum(4 / 3 * (v.size * 2 + t.size * _width(v) + len(t)) for v, t, _ in found) <= room:
            return tuple(pack_mesh(*parts) for parts in found)
    return (None,) * len(meshes)


def _width(vertices: np.ndarray) -> int:
    """Return the bytes of a vertex's number."""
    return 4 if len(vertices) > STEPS else 2


def merge_vertices(mesh: Mesh, cell: float) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return vertices (n, 3) [m], triangles (m, 3) and their colors of a mesh in which those vertices that share a cell of a grid are one.

    They meet in their mean, and triangles that lose a side vanish (Rossignac & Borrel 1993). Cells are at least as wide as the steps of
    packed coordinates, so that loose triangles grow together.
    """
    low, high = mesh.bounds()
    width = max(cell, float((high - low).max()) / STEPS, np.finfo(float).tiny)
    grid = np.round((mesh.vertices - low) / width).astype(np.int64)
    _, index = np.unique((grid[:, 0] << 40) + (grid[:, 1] << 20) + grid[:, 2], return_inverse=True)
    sums = [np.bincount(index, mesh.vertices[:, k]) for k in range(3)]
    vertices = np.stack(sums, axis=1) / np.bincount(index)[:, None]
    a, b, c = index[mesh.triangles].T
    whole = (a != b) & (b != c) & (c != a)
    triangles = np.stack([a, b, c], axis=1)[whole]
    used = np.zeros(len(vertices), dtype=bool)
    used[triangles] = True
    colors = None if mesh.colors is None else mesh.colors[whole]
    return vertices[used], (np.cumsum(used) - 1)[triangles], colors


def pack_mesh(
    vertices: np.ndarray, triangles: np.ndarray, colors: np.ndarray | None = None
) -> PackedMesh | None:
    """Return a mesh as short texts; None for one without a triangle."""
    if len(triangles) == 0:
        return None
    low = vertices.min(axis=0)
    step = np.ptp(vertices, axis=0) / STEPS
    whole = np.round((vertices - low) / np.where(step > 0, step, 1.0)).astype("<u2")
    width = _width(vertices)
    numbers = _text(triangles.astype(f"<u{width}"))
    palette, chosen = ((), "") if colors is None else _palette(colors)
    return PackedMesh(_point(low), _point(step), _text(whole), numbers, width == 4, palette, chosen)


def _palette(colors: np.ndarray) -> tuple[tuple[str, ...], str]:
    """Return at most 256 colors and which of them each triangle has; where there are more, similar ones become one."""
    for levels in (256, 52, 26, 13, 9, 6):  # 6 x 6 x 6 is below 256
        steps = np.round(colors / 255 * (levels - 1)).astype(int)
        found, index = np.unique((steps[:, 0] << 16) + (steps[:, 1] << 8) + steps[:, 2], return_inverse=True)
        if len(found) <= 256:
            break
    rgb = np.stack([found >> 16, (found >> 8) & 255, found & 255], axis=1) * 255 // (levels - 1)
    return tuple("#{:02x}{:02x}{:02x}".format(*row) for row in rgb.tolist()), _text(index.astype(np.uint8))


def _text(numbers: np.ndarray) -> str:
    return base64.b64encode(numbers.tobytes()).decode("ascii")


def _point(p: np.ndarray) -> Point:
    x, y, z = (float(f"{u:.8g}") for u in p)
    return x, y, z
