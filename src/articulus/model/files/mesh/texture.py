"""Pictures on triangles: each triangle gets the color that the picture has at its center, after large ones are cut.

One color per triangle is all that the browser and the files of a model keep, so that there is one way to color a mesh, whatever
format it came from.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

LARGEST_SIDE = 256
"""Pixels along the longer side of a picture, to which it is reduced first."""
FINE = 6.0
"""Pixels along the longest side of a triangle up to which it is not cut."""
MOST = 30_000
"""Triangles up to which a part is cut."""


def decode_picture(content: bytes | None) -> np.ndarray | None:
    """Return a picture as an array (height, width, 3) of bytes; None when it is missing or cannot be read."""
    if content is None:
        return None
    try:
        from PIL import Image

        with Image.open(io.BytesIO(content)) as image:
            return reduced(image)
    except (
        ImportError,
        OSError,
        ValueError,
        SyntaxError,
        ArithmeticError,
    ):  # what Pillow raises for broken files
        return None


def reduced(image: Any) -> np.ndarray:
    """Return a picture of Pillow as an array, with at most `LARGEST_SIDE` pixels along a side."""
    small = image.convert("RGB")
    small.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    return np.asarray(small)


def paint_triangles(
    vertices: np.ndarray, triangles: np.ndarray, uv: np.ndarray, picture: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return vertices, triangles and their colors (m, 3) after triangles that span many pixels are cut in four.

    Parameters
    ----------
    vertices : array, (n, 3) [m]
    triangles : array of int, (m, 3)
    uv : array, (n, 2) or (m, 3, 2)
        Place in the picture of each vertex, or of each corner of each triangle: from 0 to 1, from its lower left.
    picture : array of bytes, (height, width, 3)
    """
    size = np.array(picture.shape[1::-1], dtype=float)
    corners, places = vertices[triangles].astype(float), uv if uv.ndim == 3 else uv[triangles]
    fine: list[tuple[np.ndarray, np.ndarray]] = []
    while len(corners):
        sides = np.linalg.norm((places - np.roll(places, 1, axis=1)) * size, axis=2).max(axis=1)
        coarse = sides > FINE
        room = len(corners) + 3 * int(coarse.sum()) + sum(len(part[0]) for part in fine)
        if not coarse.any() or room > max(MOST, len(triangles)):
            coarse[:] = False
        fine.append((corners[~coarse], places[~coarse]))
        corners, places = _cut(corners[coarse]), _cut(places[coarse])
    corners, places = (np.concatenate(parts) for parts in zip(*fine))
    return corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3), _sample_colors(places, picture)


def _cut(corners: np.ndarray) -> np.ndarray:
    """Return each triangle (m, 3, k) as four, cut at the middles of its sides."""
    a, b, c = np.moveaxis(corners, 1, 0)
    ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
    parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return np.concatenate([np.stack(part, axis=1) for part in parts])


def _sample_colors(places: np.ndarray, picture: np.ndarray) -> np.ndarray:
    height, width = picture.shape[:2]
    u, v = np.nan_to_num(places.mean(axis=1)).T
    column = np.floor(np.mod(u, 1.0) * width).astype(int).clip(0, width - 1)
    row = np.floor(np.mod(1.0 - v, 1.0) * height).astype(int).clip(0, height - 1)
    return picture[row, column]
