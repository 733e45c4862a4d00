"""Files for the meshes of a mechanism that is written: one for each geometry."""

from __future__ import annotations

from collections.abc import Iterator

from articulus.model.files.mesh.obj import obj_text
from articulus.model.files.mesh.ply import ply_bytes
from articulus.model.mechanism import Description, Mesh


def meshes_of(description: Description) -> Iterator[Mesh]:
    """Yield a mesh of each geometry."""
    drawn = [*description.visuals, *(v for b in description.bodies for v in b.visuals)]
    yield from {v.geometry: v for v in drawn if isinstance(v, Mesh)}.values()


def mesh_files(description: Description, stem: str) -> dict[str, str]:
    """Return the name of the file of each geometry of meshes; all begin with `stem`."""
    suffix = {True: "obj", False: "ply"}
    return {
        m.geometry: f"{stem}mesh{k}.{suffix[m.colors is None]}" for k, m in enumerate(meshes_of(description))
    }


def mesh_bytes(mesh: Mesh) -> bytes:
    """Return the file of a mesh: OBJ, which people can read, or PLY where triangles have colors."""
    return obj_text(mesh).encode() if mesh.colors is None else ply_bytes(mesh)
