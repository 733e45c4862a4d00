"""A still picture of a mechanism as a PNG file, made without a browser: what a notebook shows.

Triangles are drawn in parallel projection with a depth buffer, lit from above the viewer's left shoulder.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from articulus.browser import skeleton
from articulus.browser.poses import body_poses
from articulus.browser.scene import COLORS, flexible_of, mechanism_size, move_points
from articulus.browser.skeleton import SkeletonShape
from articulus.browser.solids import merge_vertices
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.model.mechanism import (
    GROUND,
    Body,
    Box,
    Capsule,
    Cylinder,
    Description,
    Ellipsoid,
    Mesh,
    Sphere,
    Strut,
    Visual,
)
from articulus.spatial.rotation import frame_with_z

WIDTH, HEIGHT = 560, 400
FINER = 2
"""Pixels of the drawing along each side of one of the picture: edges are smooth."""
FROM = (0.62, -0.95, 0.42)
"""Direction in which the viewer is, with z up."""
LIGHT = (-0.25, -0.55, 1.0)
JOINT, GREY = "#7c8896", "#8f979e"
AROUND = 20
"""Sides of a round solid."""
DETAIL = 1 / 160
"""Cells of meshes, in parts of the mechanism's size."""

UP = 2
"""Number of the filter of PNG that takes the row above away."""

Part = tuple[np.ndarray, np.ndarray]
"""Corners of triangles (m, 3, 3) [m] and their colors (m, 3)."""


def picture(mechanism: Mechanism, q: Any = None) -> bytes:
    """Return a PNG file that shows a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
    q : array, (nq,)
        Position; neutral if not given.
    """
    return _png(_drawing(mechanism, q))


def animation(mechanism: Mechanism, positions: Any, seconds: float, width: int = WIDTH) -> bytes:
    """Return an animated PNG file that shows a mechanism in one position after the other, for ever; the viewer does not move.

    Browsers play it like any picture. Flexible bodies are drawn straight.

    Parameters
    ----------
    mechanism : Mechanism
    positions : array (frames, nq)
    seconds : float
        How long all frames take together.
    width : int
        Of the picture, in pixels; its height is 5/7 of that.
    """
    frames = [_triangles(mechanism, np.asarray(q, dtype=float)) for q in positions]
    if not frames:
        raise InputError("animation: no positions; expected at least one")
    up = skeleton.up_direction(mechanism.description)
    window = _bounds([corners for corners, _ in frames], up)
    size = (width, round(width * HEIGHT / WIDTH))
    drawn = [_draw(corners, colors, up, window=window, size=size) for corners, colors in frames]
    return _animated_png(drawn, seconds / len(drawn))


def pixels(mechanism: Mechanism, q: Any = None, span: float | None = None) -> np.ndarray:
    """Return a picture of a mechanism on white, (HEIGHT, WIDTH, 3) of bytes, for the frames of a video.

    Parameters
    ----------
    mechanism : Mechanism
    q : array, (nq,)
        Position; neutral if not given.
    span : float [m]
        Height that the picture shows around the middle of the mechanism; as much as it needs if not given.
    """
    shown = _drawing(mechanism, q, span).astype(float)
    cover = shown[..., 3:] / 255
    return np.asarray(np.rint(shown[..., :3] * cover + 255 * (1 - cover)), dtype=np.uint8)


def _drawing(mechanism: Mechanism, q: Any, span: float | None = None) -> np.ndarray:
    at = mechanism.neutral if q is None else np.asarray(q, dtype=float)
    return _draw(*_triangles(mechanism, at), skeleton.up_direction(mechanism.description), span)


def _triangles(mechanism: Mechanism, q: np.ndarray) -> Part:
    parts = list(_parts(mechanism, q))
    corners = np.concatenate([c for c, _ in parts]) if parts else np.zeros((0, 3, 3))
    colors = np.concatenate([c for _, c in parts]) if parts else np.zeros((0, 3))
    return corners, colors


def _parts(mechanism: Mechanism, q: np.ndarray) -> Iterator[Part]:
    """Yield what is drawn, in ground axes."""
    d, size = mechanism.description, mechanism_size(mechanism)
    radius = skeleton.thickness(d, size)
    drawn = bool(d.visuals) or any(b.visuals for b in d.bodies)
    for v in d.visuals:
        yield from _visual(v, GREY, size)
    if not drawn:
        for shape in skeleton.ground_shapes(d, size, radius):
            yield _shape(shape, JOINT)
    poses = body_poses(mechanism, q)
    yield from _struts(d, poses)
    for k, (body, pose) in enumerate(zip(d.bodies, poses)):
        color = COLORS[k % len(COLORS)]
        own: list[Part] = [part for v in body.visuals for part in _visual(v, color, size)]
        if not own and not (drawn and body.massless):
            shapes = skeleton.body_shapes(d, body, size, radius)
            own = [_shape(s, JOINT if s.role == "joint" else color) for s in shapes if s.role != "mass"]
            own += [_shape(s, color) for s in _chain(body, radius[body.name])]
        for corners, colors in own:
            yield move_points(pose, corners.reshape(-1, 3)).reshape(-1, 3, 3), colors


def _chain(body: Body, radius: float) -> Iterator[SkeletonShape]:
    """Yield the tubes of a flexible body, not bent."""
    held = flexible_of(body, radius)
    for i, j in held.edges if held else ():
        a, b = (held.stations[k].position for k in (i, j))  # type: ignore[union-attr]
        yield SkeletonShape("tube", (a[0], a[1], a[2]), (b[0], b[1], b[2]), radius)


def _struts(d: Description, poses: np.ndarray) -> Iterator[Part]:
    """Yield barrel and rod of every telescope between two bodies."""
    still = np.array([0.0, 0, 0, 1, 0, 0, 0])
    pose = dict(zip((b.name for b in d.bodies), poses)) | {GROUND: still}
    for owner, visuals in ((GROUND, d.visuals), *((b.name, b.visuals) for b in d.bodies)):
        for v in visuals:
            if isinstance(v, Strut):
                start = move_points(pose[owner], v.at.matrix()[None, :3, 3])[0]
                end = move_points(pose[v.body], np.array([v.end]))[0]
                joint = start + 0.62 * (end - start)
                for a, b, radius, color in (
                    (start, joint, v.radius, v.color or GREY),
                    (joint, end, 0.52 * v.radius, "#b4bac0"),
                ):
                    yield _shape(SkeletonShape("disc", tuple(a), tuple(b), radius), color)


def _visual(v: Visual, color: str, size: float) -> Iterator[Part]:
    match v:
        case Box():
            corners = _box(0.5 * np.array(v.size))
        case Cylinder():
            corners = _round(
                [(0, -v.length / 2), (v.radius, -v.length / 2), (v.radius, v.length / 2), (0, v.length / 2)]
            )
        case Capsule():
            corners = _round(_capsule(v.radius, v.length))
        case Sphere():
            corners = _round(_capsule(v.radius, 0.0))
        case Ellipsoid():
            corners = _round(_capsule(1.0, 0.0)) * np.array(v.radii)
        case Mesh():
            vertices, triangles, painted = merge_vertices(v, DETAIL * size)
            if len(triangles):
                yield (
                    _place(v, vertices[triangles]),
                    _rgb(v.color or color, len(triangles)) if painted is None else painted / 255,
                )
            return
        case _:
            return
    yield _place(v, corners), _rgb(v.color or color, len(corners))


def _place(v: Visual, corners: np.ndarray) -> np.ndarray:
    X = v.at.matrix()
    return corners @ X[:3, :3].T + X[:3, 3]


def _shape(s: SkeletonShape, color: str) -> Part:
    """Return a solid of a skeleton."""
    a, b = np.array(s.start), np.array(s.end)
    length = float(np.linalg.norm(b - a))
    outlines = {
        "tube": _capsule(s.radius, length),
        "ball": _capsule(s.radius, 0.0),
        "disc": [(0, -length / 2), (s.radius, -length / 2), (s.radius, length / 2), (0, length / 2)],
    }
    corners = (
        _box(np.array([s.radius, s.radius, length / 2])) if s.kind == "box" else _round(outlines[s.kind])
    )
    R = frame_with_z((b - a) / length) if length else np.eye(3)
    middle = a if s.kind == "ball" else (a + b) / 2
    placed = corners @ R.T + middle
    return placed, _rgb(color, len(placed))


def _rgb(color: str, count: int) -> np.ndarray:
    return np.tile([int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)], (count, 1))


def _box(half: np.ndarray) -> np.ndarray:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners[[(f[0], f[k], f[k + 1]) for f in faces for k in (1, 2)]]


def _capsule(radius: float, length: float) -> list[tuple[float, float]]:
    """Return the outline of a cylinder with half balls, as radius and height."""
    turn = np.linspace(0, np.pi / 2, 6)
    lower = [(radius * np.sin(a), -length / 2 - radius * np.cos(a)) for a in turn]
    return lower + [(r, -z) for r, z in reversed(lower)]


def _round(outline: list[tuple[float, float]]) -> np.ndarray:
    """Return the triangles of a solid of revolution about z, (m, 3, 3)."""
    angle = np.arange(AROUND) * 2 * np.pi / AROUND
    rings = np.array([[(r * np.cos(a), r * np.sin(a), z) for a in angle] for r, z in outline])
    following = np.roll(rings, -1, axis=1)
    a, b, c, d = rings[:-1], following[:-1], following[1:], rings[1:]
    return np.concatenate([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)]).reshape(-1, 3, 3)


def _draw(
    corners: np.ndarray,
    colors: np.ndarray,
    up: np.ndarray,
    span: float | None = None,
    window: np.ndarray | None = None,
    size: tuple[int, int] = (WIDTH, HEIGHT),
) -> np.ndarray:
    """Return the picture, (height, width, 4) of bytes, transparent where nothing is; `window`: what of the view must be seen."""
    axes = _axes(up)
    seen = corners @ axes.T  # right, up, towards the viewer
    width, height = (FINER * n for n in size)
    depth = np.full((height, width), -np.inf)
    image = np.zeros((height, width, 4))
    if len(seen):
        low, high = _bounds([corners], up) if window is None else window
        scale = 0.9 * min(width / max(high[0] - low[0], 1e-12), height / max(high[1] - low[1], 1e-12))
        scale = scale if span is None else height / span
        middle = (low + high) / 2
        pixels = (seen - middle) * scale * np.array([1, -1, 1]) + np.array([width / 2, height / 2, 0])
        for corner, shade in zip(pixels, _lit(corners, colors, axes)):
            _fill(image, depth, corner, shade)
    small = image.reshape(size[1], FINER, size[0], FINER, 4).mean(axis=(1, 3))
    small[..., :3] /= np.maximum(small[..., 3:], 1e-9)
    return (255 * small.clip(0, 1)).round().astype(np.uint8)


def _bounds(frames: Sequence[np.ndarray], up: np.ndarray) -> np.ndarray:
    """Return the lowest and the highest coordinates (right, up, towards the viewer) of all triangles of some frames, (2, 3)."""
    seen = np.concatenate([np.zeros((0, 3)), *(corners.reshape(-1, 3) @ _axes(up).T for corners in frames)])
    return np.array([seen.min(axis=0), seen.max(axis=0)]) if len(seen) else np.zeros((2, 3))


def _axes(up: np.ndarray) -> np.ndarray:
    """Return right, up and towards the viewer as rows, in ground axes."""
    z = np.array(up, float)
    x = np.array([1.0, 0, 0]) if abs(z[0]) < 0.9 else np.array([0, 0, 1.0])
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    frame = np.stack([x, np.cross(z, x), z])
    towards = np.array(FROM) @ frame / np.linalg.norm(FROM)
    right = np.cross(z, towards)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(towards, right), towards])


def _lit(corners: np.ndarray, colors: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return the colors of triangles in the light, whichever side is seen."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    normal *= np.where(normal @ axes[2] < 0, -1.0, 1.0)[:, None]
    light = LIGHT[0] * axes[0] + LIGHT[2] * axes[1] - LIGHT[1] * axes[2]
    bright = 0.45 + 0.55 * np.clip(normal @ (light / np.linalg.norm(light)), 0, 1)
    return np.clip(colors * bright[:, None], 0, 1)


def _fill(image: np.ndarray, depth: np.ndarray, corner: np.ndarray, color: np.ndarray) -> None:
    """Draw a triangle (3, 3): columns, rows and depths of its corners."""
    height, width = depth.shape
    x0, y0 = np.maximum(np.floor(corner[:, :2].min(axis=0)).astype(int), 0)
    x1, y1 = np.minimum(np.ceil(corner[:, :2].max(axis=0)).astype(int) + 1, (width, height))
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = corner
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if x0 >= x1 or y0 >= y1 or area == 0:
        return
    x, y = np.arange(x0, x1) + 0.5, (np.arange(y0, y1) + 0.5)[:, None]
    b = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
    c = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
    z = az + b * (bz - az) + c * (cz - az)
    window = (slice(y0, y1), slice(x0, x1))
    inside = (b >= 0) & (c >= 0) & (b + c <= 1) & (z > depth[window])
    depth[window][inside] = z[inside]
    image[window][inside] = (*color, 1.0)


def _png(pixels: np.ndarray) -> bytes:
    """Return red, green, blue and opacity (height, width, 4) as a PNG file."""
    return _png_file((_header(pixels), (b"IDAT", _compress_rows(pixels)), (b"IEND", b"")))


def _animated_png(frames: Sequence[np.ndarray], seconds: float) -> bytes:
    """Return pictures of one size as an animated PNG file, each shown for so long, again and again."""
    height, width, _ = frames[0].shape
    chunks = [_header(frames[0]), (b"acTL", struct.pack(">II", len(frames), 0))]
    number = 0
    for k, pixels in enumerate(frames):
        shown = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, round(1000 * seconds), 1000, 0, 0)
        chunks.append((b"fcTL", shown))
        number += 1
        if k == 0:
            chunks.append((b"IDAT", _compress_rows(pixels)))
            continue
        chunks.append((b"fdAT", struct.pack(">I", number) + _compress_rows(pixels)))
        number += 1
    return _png_file((*chunks, (b"IEND", b"")))


def _header(pixels: np.ndarray) -> tuple[bytes, bytes]:
    height, width, _ = pixels.shape
    return b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)


def _compress_rows(pixels: np.ndarray) -> bytes:
    """Return the rows of a picture, each less the one above, compressed."""
    flat = pixels.reshape(len(pixels), -1)
    above = np.concatenate([np.zeros_like(flat[:1]), flat[:-1]])
    rows = np.concatenate([np.full((len(flat), 1), UP, np.uint8), flat - above], axis=1)
    return zlib.compress(rows.tobytes(), 9)


def _png_file(chunks: Iterable[tuple[bytes, bytes]]) -> bytes:
    parts = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
