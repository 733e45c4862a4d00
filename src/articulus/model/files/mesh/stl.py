"""Meshes of STL files, binary or text: loose triangles, joined where corners are equal. Units are not part of the format."""

from __future__ import annotations

import re

import numpy as np

from articulus.errors import Finding, ModelError
from articulus.model.mechanism.visual import MAX_TRIANGLES, Mesh

HEADER = 80
RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])

MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
"""Odd numbers that make one number of the bits of three, as hash functions do."""

_VERTEX = re.compile(rb"\bvertex[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)")


def parse_stl(content: bytes, name: str) -> Mesh:
    """Return the mesh of an STL file's content; `name` stands for the file in messages."""
    text = content.lstrip().startswith(b"solid")
    if text and len(content) != _binary_size(content):
        return _text(content, name)
    return _binary(content, name)


def _count(content: bytes) -> int:
    return int.from_bytes(content[HEADER : HEADER + 4], "little")


def _binary_size(content: bytes) -> int:
    return HEADER + 4 + RECORD.itemsize * _count(content)


def _binary(content: bytes, name: str) -> Mesh:
    count = _count(content)
    if len(content) < HEADER + 4 or count == 0:
        raise _refusal(name, f"{len(content)} bytes without a triangle", "an STL file, binary or text")
    _check_count(count, name)
    if len(content) < _binary_size(content):
        found = f"{len(content)} bytes"
        raise _refusal(name, found, f"{_binary_size(content)} for its {count} triangles", "Is it cut off?")
    records = np.frombuffer(content, RECORD, count, HEADER + 4)
    return _join_corners(records["corners"].reshape(-1, 3))


def _text(content: bytes, name: str) -> Mesh:
    words = _VERTEX.findall(content)
    facets = len(re.findall(rb"\bendfacet\b", content))
    if not re.search(rb"\bendsolid\b", content) or len(words) != 3 * facets or not facets:
        found = f"{len(words)} vertices in {facets} closed facets"
        raise _refusal(name, found, "three in each, and 'endsolid'", "Is it cut off, or binary?")
    _check_count(facets, name)
    try:
        corners = np.array(words, dtype=float)
    except ValueError:
        raise _bad_number(content, name) from None
    return _join_corners(corners)


def _bad_number(content: bytes, name: str) -> ModelError:
    """Return the refusal of the first vertex that holds something else than numbers."""
    for match in _VERTEX.finditer(content):
        for word in match.groups():
            try:
                float(word)
            except ValueError:
                line = content.count(b"\n", 0, match.start()) + 1
                return _refusal(f"{name}:{line}", repr(word.decode(errors="replace")), "a number")
    return _refusal(name, "something else than numbers", "vertices of three numbers")


def _check_count(count: int, name: str) -> None:
    if count > MAX_TRIANGLES:
        raise _refusal(name, f"{count} triangles", f"at most {MAX_TRIANGLES}")


def _join_corners(corners: np.ndarray) -> Mesh:
    """Return the mesh of corners (3 m, 3) in which equal ones are one vertex."""
    with np.errstate(over="ignore"):  # a mesh refuses what is too large
        points = corners.astype(np.float32) + np.float32(0)  # without negative zeros
    keys = (points.view(np.uint32).astype(np.uint64) * MIX).sum(axis=1, dtype=np.uint64)
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    if not np.array_equal(points[first][index], points):  # two points with one key, or none with a number
        first = index = np.arange(len(points))
    return Mesh(points[first], index.reshape(-1, 3))


def _refusal(where: str, found: str, expected: str, hint: str = "") -> ModelError:
    return ModelError(Finding(where, found, expected, hint))
