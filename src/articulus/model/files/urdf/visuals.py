"""What a URDF text draws. A picture never stops a model: what cannot be drawn is omitted, and listed in the findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from articulus.errors import Finding, InputError, ModelError
from articulus.model.files.asset_paths import package_folder, place_of, why_outside
from articulus.model.files.mesh.reader import read_mesh
from articulus.model.files.report import Report
from articulus.model.files.urdf.elements import Elements
from articulus.model.files.xml_tree import XmlElement
from articulus.model.mechanism import Box, Capsule, Cylinder, Mesh, Sphere, Visual
from articulus.model.mechanism.visual import color_text

MAX_MESH_TRIANGLES = 5_000_000
"""Most triangles of all meshes of a model."""
DECLARE = "Declare the folder of the package: package_roots={'name': folder}."


class UrdfVisuals:
    """Reads <visual> elements.

    Parameters
    ----------
    root : Element
        <robot>, whose materials the links use by name.
    name : str
        Name of the file in messages.
    folder : Path or None
        In which it lies; without one no mesh is read.
    package_roots : mapping of str to Path
        Folder of each declared package.
    """

    def __init__(self, root: XmlElement, name: str, folder: Path | None, package_roots: Mapping[str, Path]):
        self.lines: dict[str, int] = {"": root.line}
        self.report = Report(name, self.lines, {"body": "link"})
        self.elements = Elements(self.report, self.lines)
        self.folder = folder
        own = {} if folder is None else {"": package_folder(folder)}
        self.roots = {**own, **package_roots}
        self.meshes: dict[Path, Mesh] = {}
        self.colors: dict[str, str] = {}
        for material in root.children_with_tag("material"):
            self._color(material, f"material.{material.attributes.get('name', '')}")

    def of(self, link: XmlElement, name: str) -> tuple[Visual, ...]:
        """Return what is drawn for a link."""
        found = [
            self._visual(v, f"body.{name}.visual[{k}]")
            for k, v in enumerate(link.children_with_tag("visual"))
        ]
        return tuple(v for v in found if v is not None)

    def doubts(self) -> list[Finding]:
        """Return what is not drawn."""
        return [replace(f, kind=f.kind or "shape") for f in (*self.report.findings, *self.report.doubts)]

    def _visual(self, element: XmlElement, path: str) -> Visual | None:
        self.lines[path] = element.line
        before = len(self.report.findings)
        at = self.elements.origin(element, path)
        color = self._material(element, path)
        geometry = self.elements.only(element, "geometry", path, required=True)
        if geometry is None or len(self.report.findings) > before:
            return None
        solid = self._solid(geometry, path)
        try:
            return None if solid is None else replace(solid, at=at, color=color)
        except InputError as error:
            self.report.add_error(path, error)
            return None

    def _material(self, element: XmlElement, path: str) -> str:
        material = self.elements.only(element, "material", path)
        return "" if material is None else self._color(material, path)

    def _color(self, material: XmlElement, path: str) -> str:
        """Return the color of a <material>: its own, else that of the first one with its name."""
        color = self.elements.only(material, "color", path)
        rgba = self.elements.numbers(color, "rgba", 4, f"{path}.color") if color else ()
        name = material.attributes.get("name", "")
        if not rgba:
            return self.colors.get(name, "")
        self.colors.setdefault(name, color_text(rgba))
        return color_text(rgba)

    def _solid(self, geometry: XmlElement, path: str) -> Visual | None:
        """Return the shape of a <geometry>, at the origin and without color."""
        makers: dict[str, Callable[[XmlElement, str], Visual | None]] = {
            "box": lambda e, p: Box(self.elements.numbers(e, "size", 3, p)),
            "cylinder": lambda e, p: Cylinder(*self._round(e, p)),
            "capsule": lambda e, p: Capsule(*self._round(e, p)),
            "sphere": lambda e, p: Sphere(self.elements.number(e, "radius", p, 0.0)),
            "mesh": self._mesh,
        }
        shapes = [e for e in geometry.children if e.tag in makers]
        if len(shapes) != 1:
            self.report.add(path, f"<geometry> with {len(shapes)} shapes", f"one of {', '.join(makers)}")
            return None
        shape, before = shapes[0], len(self.report.findings)
        self.lines[f"{path}.{shape.tag}"] = shape.line
        self.elements.check(shape, path)
        try:
            return makers[shape.tag](shape, f"{path}.{shape.tag}")
        except InputError as error:
            if len(self.report.findings) == before:
                self.report.add_error(f"{path}.{shape.tag}", error)
            return None

    def _round(self, element: XmlElement, path: str) -> tuple[float, float]:
        radius, length = (self.elements.number(element, key, path, 0.0) for key in ("radius", "length"))
        return radius, length

    def _mesh(self, element: XmlElement, path: str) -> Mesh | None:
        filename = element.attributes.get("filename", "")
        scale = self.elements.numbers(element, "scale", 3, path, optional=True)
        if "scale" in element.attributes and not all(scale or (0.0,)):
            if scale:
                self.report.add(path, "a scale of zero", "factors other than zero")
            return None
        mesh = self._file(filename, path)
        return mesh.scale(scale) if mesh is not None and scale else mesh

    def _file(self, filename: str, path: str) -> Mesh | None:
        """Return the mesh of a file, each file read once."""
        place = self._place(filename, path)
        if place is None:
            return None
        try:
            mesh = self.meshes.get(place) or read_mesh(place)
        except ModelError as error:
            first = error.findings[0]
            hint = DECLARE if "://" in filename and first.found == "no such file" else first.hint
            self.report.doubt("mesh", path, f"'{filename}': {first.found}", first.expected, hint)
            return None
        self.meshes[place] = mesh
        if sum(len(m.triangles) for m in self.meshes.values()) > MAX_MESH_TRIANGLES:
            del self.meshes[place]
            expected = f"{MAX_MESH_TRIANGLES} triangles in all"
            self.report.doubt("mesh", path, f"'{filename}', beyond the others", expected)
            return None
        return mesh

    def _place(self, filename: str, path: str) -> Path | None:
        """Return where a mesh lies; None, with a finding, where it may not be read."""
        outside = why_outside(filename, self.folder, self.roots)
        place = None if self.folder is None or outside else place_of(filename, self.folder, self.roots)
        if outside or (place is None and self.folder is not None):
            reason = outside or "it leads out of its package"
            expected = "a path inside the model's folder or a declared package"
            self.report.doubt("foreign path", path, f"'{filename}': {reason}", expected, DECLARE)
        elif place is None:
            expected = "a URDF file, with a folder to look in"
            self.report.doubt("mesh", path, f"the file '{filename}' in a text", expected)
        return place
