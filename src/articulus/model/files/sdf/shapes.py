"""What an SDF text draws, and its shapes that may touch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from articulus.errors import Finding, InputError
from articulus.model.files.sdf.values import SdfValues
from articulus.model.files.urdf.visuals import UrdfVisuals
from articulus.model.files.xml_tree import XmlElement
from articulus.model.mechanism import Box, Capsule, Cylinder, Device, Ellipsoid, Pose, Sphere, Visual
from articulus.model.mechanism.pose import quaternion_of
from articulus.model.mechanism.visual import color_text
from articulus.spatial import frame_with_z

PRIMITIVES = ("box", "sphere", "cylinder", "capsule", "ellipsoid")


class SdfShapes:
    """Reads <geometry>; what cannot be drawn or touched is omitted and listed, it never stops a model."""

    def __init__(self, meshes: UrdfVisuals):
        self.meshes = meshes
        self.values = SdfValues(meshes.report, meshes.lines)

    def visuals(self, link: XmlElement, name: str) -> tuple[Visual, ...]:
        """Return what is drawn for a link."""
        out = []
        for k, element in enumerate(link.children_with_tag("visual")):
            path = f"body.{name}.visual[{k}]"
            self.meshes.lines[path] = element.line
            shape = self._geometry(element, path)
            solid = self._solid(shape, path) if shape is not None else None
            if solid is not None:
                at = Pose.from_matrix(self.values.pose(element, path)[0])
                out.append(replace(solid, at=at, color=self._color(element, path)))
        return tuple(out)

    def collisions(self, link: XmlElement, name: str, frame: str) -> list[Device]:
        """Return the shapes of a link that may touch; `frame` is what carries them."""
        out = []
        for k, element in enumerate(link.children_with_tag("collision")):
            path = f"body.{name}.collision[{k}]"
            self.meshes.lines[path] = element.line
            shape = self._geometry(element, path)
            if shape is None:
                continue
            held = self._device(shape, path)
            if held is None:
                continue
            kind, values, turn = held
            at = self.values.pose(element, path)[0] @ turn
            placed = (("xyz", tuple(map(float, at[:3, 3]))), ("quaternion", quaternion_of(at[:3, :3])))
            given = element.attributes.get("name") or f"{name}_collision{k}"
            found = Device(kind, (("name", given), ("frame", frame), *values, *placed))
            mu = self._friction(element, path)
            out.append(found if mu is None else replace(found, values=(*found.values, ("friction", mu))))
        return out

    def doubts(self) -> list[Finding]:
        """Return what is omitted."""
        return self.meshes.doubts()

    def _geometry(self, element: XmlElement, path: str) -> XmlElement | None:
        geometry = self.values.only(element, "geometry", path)
        shapes = [] if geometry is None else geometry.children
        if len(shapes) != 1:
            self.meshes.report.add(path, f"<geometry> with {len(shapes)} shapes", "one shape")
            return None
        self.meshes.lines[f"{path}.{shapes[0].tag}"] = shapes[0].line
        return shapes[0]

    def _sizes(self, shape: XmlElement, path: str) -> dict[str, tuple[float, ...]]:
        where = f"{path}.{shape.tag}"
        wanted = {
            "box": {"size": 3}, "sphere": {"radius": 1}, "cylinder": {"radius": 1, "length": 1},
            "capsule": {"radius": 1, "length": 1}, "ellipsoid": {"radii": 3},
        }[shape.tag]  # fmt: skip
        return {
            key: self.values.numbers(
                self.values.only(shape, key, where), count, f"{where}.{key}", (1.0,) * count
            )
            for key, count in wanted.items()
        }

    def _solid(self, shape: XmlElement, path: str) -> Visual | None:
        try:
            if shape.tag in PRIMITIVES:
                held = self._sizes(shape, path)
                size = [x[0] if len(x) == 1 else x for x in held.values()]
                return {
                    "box": Box,
                    "sphere": Sphere,
                    "cylinder": Cylinder,
                    "capsule": Capsule,
                    "ellipsoid": Ellipsoid,
                }[shape.tag](*size)
            if shape.tag == "mesh":
                mesh = self.meshes._file(self.values.text(shape, "uri", path), path)
                scale = self._scale(shape, path)
                return mesh.scale(scale) if mesh is not None and scale != (1.0,) * 3 else mesh
        except InputError as error:
            self.meshes.report.add_error(path, error)
            return None
        if shape.tag not in ("plane", "empty"):
            self.meshes.report.add(path, f"<{shape.tag}>", f"one of {', '.join(PRIMITIVES)}, mesh")
        return None

    def _device(
        self, shape: XmlElement, path: str
    ) -> tuple[str, list[tuple[str, object]], np.ndarray] | None:
        turn = np.eye(4)
        if shape.tag == "mesh":
            place = self.meshes._place(self.values.text(shape, "uri", path), path)
            return (
                None
                if place is None
                else ("mesh", [("file", str(Path(place))), ("scale", self._scale(shape, path))], turn)
            )
        if shape.tag == "plane":
            normal = self.values.numbers(
                self.values.only(shape, "normal", path), 3, f"{path}.normal", (0.0, 0.0, 1.0)
            )
            turn[:3, :3] = frame_with_z(normal) if any(normal) else np.eye(3)
            return "plane", [], turn
        if shape.tag not in PRIMITIVES or shape.tag == "ellipsoid":
            if shape.tag != "empty":
                self.meshes.report.add(
                    path, f"<{shape.tag}> that may touch", "a primitive but an ellipsoid, a plane or a mesh"
                )
            return None
        held = self._sizes(shape, path)
        return shape.tag, [(key, x[0] if len(x) == 1 else x) for key, x in held.items()], turn

    def _scale(self, shape: XmlElement, path: str) -> tuple[float, ...]:
        return self.values.numbers(
            self.values.only(shape, "scale", path), 3, f"{path}.scale", (1.0, 1.0, 1.0)
        )

    def _color(self, element: XmlElement, path: str) -> str:
        material = self.values.only(element, "material", path)
        for tag in ("diffuse", "ambient"):
            found = None if material is None else self.values.only(material, tag, path)
            if found is not None and len(found.text.split()) in (3, 4):
                rgba = self.values.numbers(found, len(found.text.split()), f"{path}.{tag}", (0.5,) * 4)
                return color_text((*rgba[:3], *(rgba[3:] or (1.0,))))
        return ""

    def _friction(self, element: XmlElement, path: str) -> float | None:
        found: XmlElement | None = element
        for tag in ("surface", "friction", "ode", "mu"):
            found = None if found is None else self.values.only(found, tag, path)
        return None if found is None else abs(self.values.numbers(found, 1, f"{path}.mu", (1.0,))[0])
