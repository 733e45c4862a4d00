"""Meshes by the suffix of their file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePath

from articulus.errors import Finding, InputError, ModelError
from articulus.model.files.mesh.assets import AssetResolver, assets_near, no_assets
from articulus.model.files.mesh.obj import parse_obj
from articulus.model.files.mesh.ply import parse_ply
from articulus.model.files.mesh.scene import SCENES, parse_scene
from articulus.model.files.mesh.stl import parse_stl
from articulus.model.files.storage import StrPath, as_path, load_bytes
from articulus.model.mechanism.visual import Mesh

Reader = Callable[[bytes, str, AssetResolver], Mesh]
MESH_READERS: Mapping[str, Reader] = {
    ".stl": lambda content, name, _: parse_stl(content, name),
    ".obj": parse_obj,
    ".ply": parse_ply,
} | dict.fromkeys(SCENES, parse_scene)
"""Reader by suffix."""


def read_mesh(path: StrPath) -> Mesh:
    """Return the mesh of a file, in metres where the format has a unit, else in its own; raise ModelError with what is wrong with it."""
    place = as_path(path)
    _reader(place.name)
    return parse_mesh(load_bytes(place), place.name, assets_near(place))


def parse_mesh(content: bytes, name: str, near: AssetResolver = no_assets) -> Mesh:
    """Return the mesh of a file's content; the suffix of `name` tells its format, `near` gives files that it names."""
    try:
        return _reader(name)(content, name, near)
    except InputError as error:
        raise ModelError(replace(finding, where=name) for finding in error.findings) from None


def _reader(name: str) -> Reader:
    suffix = PurePath(name).suffix
    if suffix.lower() not in MESH_READERS:
        expected = f"one of {', '.join(MESH_READERS)}"
        raise ModelError(
            Finding(name, f"the suffix '{suffix}'", expected, "Convert the mesh with any mesh editor.")
        )
    return MESH_READERS[suffix.lower()]
