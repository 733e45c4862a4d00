"""Meshes of COLLADA, glTF and other scenes, through the package trimesh (extra `mesh`): all parts in one mesh, colored.

Node transforms and the unit of the file are applied. The upward axis that a COLLADA file declares is not: in robot models it
is ignored by the tools with which their makers draw them.
"""

from __future__ import annotations

import importlib
import io
import re
from pathlib import PurePath
from typing import Any

import numpy as np

from articulus.errors import Finding, ModelError
from articulus.model.files.mesh.assets import AssetResolver
from articulus.model.files.mesh.gltf_sizes import require_bounded
from articulus.model.files.mesh.texture import paint_triangles, reduced
from articulus.model.mechanism.visual import MAX_TRIANGLES, Mesh

SCENES = (".dae", ".glb", ".gltf", ".off")
"""Suffixes that are read here."""
GREY = (178, 178, 178)
"""Color of a part without one, beside parts that have some."""

_UNIT = re.compile(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([^\"']+)[\"']")
_DECLARED = re.compile(rb"<!(DOCTYPE|ENTITY)", re.I)


def parse_scene(content: bytes, name: str, beside: AssetResolver) -> Mesh:
    """Return the mesh of a scene's content; `name` stands for the file in messages, `beside` gives files that it names."""
    parts = _load_parts(content, name, beside)
    if not parts:
        raise ModelError(Finding(name, "a scene without a triangle", "a mesh"))
    starts = np.cumsum([0, *(len(vertices) for vertices, _, _ in parts)])
    vertices = np.concatenate([v for v, _, _ in parts]) * _metres(content, name)
    triangles = np.concatenate([t + start for (_, t, _), start in zip(parts, starts)])
    if len(triangles) > MAX_TRIANGLES:
        raise ModelError(Finding(name, f"{len(triangles)} triangles", f"at most {MAX_TRIANGLES}"))
    given = [c for _, _, c in parts]
    if all(c is None for c in given):
        return Mesh(vertices, triangles)
    colors = [np.full((len(t), 3), GREY) if c is None else c for (_, t, _), c in zip(parts, given)]
    return Mesh(vertices, triangles, np.concatenate(colors))


Part = tuple[np.ndarray, np.ndarray, np.ndarray | None]
"""Vertices, triangles and colors."""


def _load_parts(content: bytes, name: str, beside: AssetResolver) -> list[Part]:
    """Return the parts of a scene; what the package that reads it raises, here or there, is told as one thing."""
    suffix = PurePath(name).suffix.lower()
    if suffix in (".glb", ".gltf"):
        require_bounded(content, name)
    if suffix == ".dae" and _DECLARED.search(content):
        raise ModelError(Finding(name, "a document type or an entity", "plain COLLADA"))
    try:
        trimesh: Any = importlib.import_module("trimesh")
        scene = trimesh.load_scene(
            io.BytesIO(content), file_type=suffix[1:], resolver=_Resolver(beside), process=False
        )
        return [_part(part, X) for part, X in _parts(scene)]
    except ImportError as error:
        missing = f"the package {error.name}" if error.name else "the package that reads it"
        hint = 'Install it: pip install "articulus[mesh]".'
        raise ModelError(Finding(name, f"a {suffix} file without {missing}", "that package", hint)) from None
    except Exception as error:  # noqa: BLE001  (readers of foreign formats raise anything)
        raise ModelError(
            Finding(
                name,
                f"a file that cannot be read ({type(error).__name__}: {error})"[:200],
                f"a {suffix} file",
            )
        ) from None


class _Resolver:
    """Gives trimesh the files that a scene names, no other ones."""

    def __init__(self, beside: AssetResolver):
        self.beside = beside

    def get(self, name: str) -> bytes:
        content = self.beside(name)
        if content is None:
            raise FileNotFoundError(name)
        return content

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)


def _parts(scene: Any) -> Any:
    """Yield every part with triangles, and its pose in the scene."""
    for node in scene.graph.nodes_geometry:
        X, key = scene.graph[node]
        part = scene.geometry[key]
        if len(getattr(part, "faces", ())):
            yield part, np.asarray(X, dtype=float)


def _part(part: Any, X: np.ndarray) -> Part:
    """Return vertices, triangles and colors of a part."""
    vertices = np.asarray(part.vertices, dtype=float) @ X[:3, :3].T + X[:3, 3]
    triangles = np.asarray(part.faces, dtype=np.int64)
    colors = None
    material, uv = getattr(part.visual, "material", None), getattr(part.visual, "uv", None)
    picture = None if material is None else _first(material, "image", "baseColorTexture")
    if picture is not None and uv is not None and len(uv) == len(vertices):
        vertices, triangles, colors = paint_triangles(
            vertices, triangles, np.asarray(uv, dtype=float), reduced(picture)
        )
    elif material is not None:
        rgba = _first(material, "baseColorFactor", "diffuse")
        colors = None if rgba is None else np.tile(_bytes(rgba), (len(triangles), 1))
    elif part.visual.defined:
        colors = np.asarray(part.visual.face_colors)[:, :3]
    if np.linalg.det(X[:3, :3]) < 0:
        triangles = triangles[:, [0, 2, 1]]
    return vertices, triangles, colors


def _first(thing: Any, *names: str) -> Any:
    found = (getattr(thing, name, None) for name in names)
    return next((x for x in found if x is not None), None)


def _bytes(rgba: Any) -> np.ndarray:
    numbers = np.asarray(rgba)
    return np.clip(numbers * (255 if numbers.dtype.kind == "f" else 1), 0, 255).astype(np.uint8)[:3]


def _metres(content: bytes, name: str) -> float:
    """Return the length of the file's unit [m]."""
    match = _UNIT.search(content) if name.lower().endswith(".dae") else None
    try:
        unit = float(match[1]) if match else 1.0
    except ValueError:
        unit = 0.0
    if not 0 < unit < np.inf:
        raise ModelError(Finding(name, "a unit that is no length", 'such as <unit meter="1"/>'))
    return unit
