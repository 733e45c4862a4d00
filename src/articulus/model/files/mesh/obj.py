"""Meshes of OBJ files: vertices, faces and the colors of their materials; normals are passed over."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np

from articulus.errors import Finding, ModelError
from articulus.model.files.mesh.assets import AssetResolver, no_assets
from articulus.model.files.mesh.material import MeshMaterial, read_materials
from articulus.model.files.mesh.texture import paint_triangles
from articulus.model.files.storage import decode
from articulus.model.mechanism.visual import MAX_TRIANGLES, Mesh


def parse_obj(content: bytes, name: str, beside: AssetResolver = no_assets) -> Mesh:
    """Return the mesh of an OBJ file's content, faces cut into triangles, colored by its materials.

    Parameters
    ----------
    content : bytes
    name : str
        Stands for the file in messages.
    beside : callable
        Gives the material libraries and pictures that it names.
    """
    vertices: list[tuple[float, ...]] = []
    places: list[tuple[float, ...]] = []
    triangles: list[tuple[int, int, int]] = []
    on_picture: list[tuple[int, int, int]] = []
    uses: list[tuple[int, str]] = [(0, "")]
    libraries: list[str] = []
    for number, line in enumerate(decode(content, name).split("\n"), 1):
        words = line.split()
        kind = words[0] if words else ""
        if kind == "v":
            vertices.append(_vertex(words, f"{name}:{number}"))
        elif kind == "f":
            corners, at = _corners(words, len(vertices), len(places), f"{name}:{number}")
            triangles += [(corners[0], *pair) for pair in itertools.pairwise(corners[1:])]
            on_picture += [(at[0], *pair) for pair in itertools.pairwise(at[1:])]
            if len(triangles) > MAX_TRIANGLES:
                raise _refusal(f"{name}:{number}", f"triangle {len(triangles)}", f"at most {MAX_TRIANGLES}")
        elif kind == "vt":
            places.append(_place(words))
        elif kind == "usemtl":
            uses.append((len(triangles), line.strip()[7:].strip()))
        elif kind == "mtllib":
            libraries.append(line.strip()[7:].strip())
    if not triangles:
        raise _refusal(
            name, f"{len(vertices)} vertices and no face", "lines 'v x y z' and 'f 1 2 3', as OBJ has"
        )
    materials = {
        key: m for library in libraries for key, m in read_materials(beside(library), beside).items()
    }
    corners_at = np.array(places, dtype=float).reshape(-1, 2), np.array(on_picture)
    return _with_colors(np.array(vertices), np.array(triangles), corners_at, uses, materials)


def _with_colors(
    vertices: np.ndarray,
    triangles: np.ndarray,
    on_picture: tuple[np.ndarray, np.ndarray],
    uses: list[tuple[int, str]],
    materials: Mapping[str, MeshMaterial],
) -> Mesh:
    """Return the mesh with the colors of its materials; without colors when no material of them is known."""
    if not any(used in materials for _, used in uses):
        return Mesh(vertices, triangles)
    places, corners = on_picture
    parts, ends = [], [*(start for start, _ in uses[1:]), len(triangles)]
    for (start, used), end in zip(uses, ends):
        own, material = triangles[start:end], materials.get(used, MeshMaterial())
        if not len(own):
            continue
        if material.picture is not None and corners[start:end].min() >= 0:
            parts.append(paint_triangles(vertices, own, places[corners[start:end]], material.picture))
        else:
            parts.append((vertices, own, np.tile(material.color, (len(own), 1))))
    starts = np.cumsum([0, *(0 if p[0] is vertices else len(p[0]) for p in parts)]) + len(vertices)
    moved = [t if v is vertices else t + start for (v, t, _), start in zip(parts, starts)]
    every = [vertices, *(v for v, _, _ in parts if v is not vertices)]
    return Mesh(np.concatenate(every), np.concatenate(moved), np.concatenate([c for _, _, c in parts]))


def obj_text(mesh: Mesh) -> str:
    """Return a mesh, without pose and color, as OBJ text; nine digits tell all numbers of single precision apart."""
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (mesh.triangles + 1).tolist()]
    return "\n".join(lines) + "\n"


def _vertex(words: list[str], where: str) -> tuple[float, ...]:
    """Return x, y, z; a weight or a color may follow them."""
    try:
        numbers = tuple(map(float, words[1:4]))
    except ValueError:
        numbers = ()
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise _refusal(where, repr(" ".join(words)[:60]), "'v' and three finite numbers")
    return numbers


def _place(words: list[str]) -> tuple[float, ...]:
    """Return the place u, v in a picture; where it cannot be read, the middle, for a picture never stops a model."""
    try:
        return float(words[1]), float(words[2])
    except (ValueError, IndexError):
        return 0.5, 0.5


def _corners(words: list[str], count: int, places: int, where: str) -> tuple[list[int], list[int]]:
    """Return the vertices of a face and their places in the picture, from zero; -1 for a corner without a place.

    A negative number counts from the last vertex so far.
    """
    if len(words) < 4:
        raise _refusal(where, f"a face of {len(words) - 1} corners", "three or more")
    try:
        given = [int(word.partition("/")[0]) for word in words[1:]]
    except ValueError:
        given = [0]
    if 0 in given or max(given) > count or min(given) < -count:
        found = f"the corners {' '.join(words[1:])[:60]!r}"
        raise _refusal(where, found, f"numbers of the {count} vertices so far")
    return [n - 1 if n > 0 else count + n for n in given], [_place_of(word, places) for word in words[1:]]


def _place_of(word: str, places: int) -> int:
    """Return the number of a corner's place in the picture; -1 without a valid one."""
    given = word.split("/")[1:2]
    try:
        n = int(given[0]) if given and given[0] else 0
    except ValueError:
        n = 0
    found = n - 1 if n > 0 else places + n if n < 0 else -1
    return found if 0 <= found < places else -1


def _refusal(where: str, found: str, expected: str) -> ModelError:
    return ModelError(Finding(where, found, expected))
