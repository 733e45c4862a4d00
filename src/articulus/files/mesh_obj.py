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
        if words[:1] == ["v"]:
            vertices.append(_vertex(words, f"{name}:{number}"))
        elif words[:1] == ["f"]:
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
    """Return a mesh, without pose and colour, as OBJ text; reading it gives the same vertices and triangles."""
    lines = [f"v {x} {y} {z}" for x, y, z in mesh.vertices]
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
    return [_corner(word, count, where) for word in words[1:]]


def _corner(word: str, count: int, where: str) -> int:
    try:
        given = int(word.split("/")[0])
    except ValueError:
        given = 0
    index = given - 1 if given > 0 else count + given
    if given == 0 or not 0 <= index < count:
        raise _refusal(where, f"the corner {word[:30]!r}", f"1 to {count}, the vertices so far")
    return index


def _refusal(where: str, found: str, expected: str) -> ModelError:
    return ModelError(Finding(where, found, expected))
