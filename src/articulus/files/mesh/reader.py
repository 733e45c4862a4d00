"""Meshes by the suffix of their file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

from articulus.errors import Finding, InputError, ModelError
from articulus.files.mesh.obj import parse_obj
from articulus.files.mesh.stl import parse_stl
from articulus.files.storage import StrPath, as_path, load_bytes
from articulus.mechanism.visual import Mesh

MESH_READERS: dict[str, Callable[[bytes, str], Mesh]] = {".stl": parse_stl, ".obj": parse_obj}
"""Reader by suffix."""


def read_mesh(path: StrPath) -> Mesh:
    """Return the mesh of an STL or OBJ file in the unit of the file; raise ModelError with what is wrong with it."""
    place = as_path(path)
    _reader(place.name)
    return parse_mesh(load_bytes(place), place.name)


def parse_mesh(content: bytes, name: str) -> Mesh:
    """Return the mesh of a file's content; the suffix of `name` tells its format."""
    try:
        return _reader(name)(content, name)
    except InputError as error:
        found, _, expected = str(error).partition("found ")[2].partition("; expected ")
        raise ModelError(Finding(name, found, expected)) from None


def _reader(name: str) -> Callable[[bytes, str], Mesh]:
    suffix = PurePath(name).suffix
    if suffix.lower() not in MESH_READERS:
        expected = f"one of {', '.join(MESH_READERS)}"
        raise ModelError(
            Finding(name, f"the suffix '{suffix}'", expected, "Convert the mesh with any mesh editor.")
        )
    return MESH_READERS[suffix.lower()]
