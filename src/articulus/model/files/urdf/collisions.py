"""<collision> elements of a URDF text as shapes that may touch. Like a picture, a shape never stops a model: what is none is listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from articulus.errors import Finding
from articulus.model.files.urdf.visuals import UrdfVisuals
from articulus.model.files.xml_tree import XmlElement
from articulus.model.mechanism import Box, Capsule, Cylinder, Device, Mesh, Sphere, Visual
from articulus.model.mechanism.pose import quaternion_of

LEFT_OUT = "omitted contact shape"
"""Kind of a finding."""


class UrdfCollisions(UrdfVisuals):
    """Reads <collision> elements; the arguments are those of `UrdfVisuals`. Meshes are not read before contacts are asked for."""

    def __init__(self, root: XmlElement, name: str, folder: Path | None, package_roots: Mapping[str, Path]):
        super().__init__(root, name, folder, package_roots)
        self.files: dict[str, tuple[Path, tuple[float, ...]]] = {}

    def of_link(self, link: XmlElement, name: str) -> list[Device]:
        """Return the shapes of a link, which is called `name` here."""
        out = []
        for k, element in enumerate(link.children_with_tag("collision")):
            path = f"body.{name}.collision[{k}]"
            solid = self._visual(element, path)
            if solid is not None:
                given = element.attributes.get("name") or f"{name}_collision{k}"
                out.append(self._device(solid, given, name, path))
        return out

    def doubts(self) -> list[Finding]:
        """Return what is no shape."""
        return [replace(f, kind=LEFT_OUT) for f in (*self.report.findings, *self.report.doubts)]

    def _device(self, solid: Visual, name: str, link: str, path: str) -> Device:
        at = solid.at.matrix()
        placed = (("xyz", tuple(map(float, at[:3, 3]))), ("quaternion", quaternion_of(at[:3, :3])))
        first = (("name", name), ("frame", link))
        match solid:
            case Sphere():
                return Device("sphere", (*first, ("radius", solid.radius), *placed))
            case Box():
                return Device("box", (*first, ("size", solid.size), *placed))
            case Capsule() | Cylinder():
                kind = "capsule" if isinstance(solid, Capsule) else "cylinder"
                return Device(kind, (*first, ("radius", solid.radius), ("length", solid.length), *placed))
        file, scale = self.files[path]
        return Device("mesh", (*first, ("file", str(file)), ("scale", scale), *placed))

    def _mesh(self, element: XmlElement, path: str) -> Mesh | None:
        """Return a stand-in for a mesh, whose file and scale are kept by its path in the text."""
        scale = self.elements.numbers(element, "scale", 3, path, optional=True) or (1.0, 1.0, 1.0)
        place = self._place(element.attributes.get("filename", ""), path)
        if place is None or not all(scale):
            return None
        self.files[path.removesuffix(".mesh")] = place, scale
        return Mesh(np.eye(3), np.array([[0, 1, 2]]))
