"""The table of a mesh in a TOML file: where its triangles are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from articulus.errors import Finding, InputError
from articulus.model.files.mesh.reader import parse_mesh
from articulus.model.mechanism import Mesh, Pose, Varying, Vector
from articulus.model.mechanism.numbers import quantity

_OF_A_MESH = {field.name: field for field in dataclasses.fields(Mesh)}


@dataclass(frozen=True)
class MeshFile:
    """Keys of the table, with the meanings of `mechanism.Mesh`."""

    file: str = dataclasses.field(
        metadata={"meaning": "STL, OBJ, PLY, COLLADA or glTF file in the folder of this one or below it"}
    )
    scale: Vector = quantity(
        "-", "factors of x, y, z: 0.001 for a file in millimetres", size="3", default=(1.0, 1.0, 1.0)
    )
    at: Pose = dataclasses.field(default=Pose(), metadata=_OF_A_MESH["at"].metadata)
    color: str = dataclasses.field(default="", metadata=_OF_A_MESH["color"].metadata)

    def visual(self, attached: Callable[[str], bytes]) -> Mesh:
        """Return the mesh; `attached` gives the content of a file by its name."""
        if any(isinstance(x, Varying) or x == 0 for x in self.scale):
            raise InputError(
                Finding("MeshFile.scale", f"{self.scale}", "plain numbers other than zero", field="scale")
            )
        mesh = parse_mesh(attached(self.file), self.file)
        scaled = mesh if self.scale == (1.0, 1.0, 1.0) else mesh.scale(self.scale)  # type: ignore[arg-type]
        return dataclasses.replace(scaled, at=self.at, color=self.color)
