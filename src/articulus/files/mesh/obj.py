"""Meshes of OBJ files: vertices and faces; normals, texture coordinates and materials are passed over."""

from __future__ import annotations

import itertools
import math

from articulus.errors import Finding, ModelError
from articulus.files.storage import decode
from articulus.mechanism.visual import MAX_TRIANGLES, Mesh


def parse_obj(content: bytes, name: str) -> Mesh:
    """Return the mesh of an OBJ file's content, faces cut into triangles; `name` stands for the file in messages."""
    vertices: list[tuple[float, ...]] = []
    triangles: list[tuple[int, int, int]] = []
    for number, line in enumerate(decode(content, name).split("\n"), 1):
        words = line.split()
        kind = words[0] if words else ""
        if kind == "v":
            vertices.append(_vertex(words, f"{name}:{number}"))
        elif kind == "f":
            corners = _corners(words, len(vertices), f"{name}:{number}")
            triangles += [(corners[0], *pair) for pair in itertools.pairwise(corners[1:])]
            if len(triangles) > MAX_TRIANGLES:
                raise _refusal(f"{name}:{number}", f"triangle {len(triangles)}", f"at most {MAX_TRIANGLES}")
    if not triangles:
        raise _refusal(
            name, f"{len(vertices)} vertices and no face", "lines 'v x y z' and 'f 1 2 3', as OBJ has"
        )
    return Mesh(vertices, triangles)  # type: ignore[arg-type]


def obj_text(mesh: Mesh) -> str:
    """Return a mesh, without pose and colour, as OBJ text; nine digits tell all numbers of single precision apart."""
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (mesh.triangles + 1).tolist()]
    return "\n".join(lines) + "\n"


def _vertex(words: list[str], where: str) -> tuple[float, ...]:
    """Return x, y, z; a weight or a colour may follow them."""
    try:
        numbers = tuple(map(float, words[1:4]))
    except ValueError:
        numbers = ()
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise _refusal(where, repr(" ".join(words)[:60]), "'v' and three finite numbers")
    return numbers


def _corners(words: list[str], count: int, where: str) -> list[int]:
    """Return the vertices of a face, from zero; a negative number counts from the last vertex so far."""
    if len(words) < 4:
        raise _refusal(where, f"a face of {len(words) - 1} corners", "three or more")
    try:
        given = [int(word.partition("/")[0]) for word in words[1:]]
    except ValueError:
        given = [0]
    if 0 in given or max(given) > count or min(given) < -count:
        found = f"the corners {' '.join(words[1:])[:60]!r}"
        raise _refusal(where, found, f"numbers of the {count} vertices so far")
    return [n - 1 if n > 0 else count + n for n in given]


def _refusal(where: str, found: str, expected: str) -> ModelError:
    return ModelError(Finding(where, found, expected))
