"""Reading URDF, strictly: what the specification demands has to be there, and nothing is guessed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar

from articulus.errors import Finding, InputError, ModelError, UnsupportedOperation, did_you_mean
from articulus.files.asset_paths import why_outside
from articulus.files.lump import lump_fixed as lumped
from articulus.files.report import Report
from articulus.files.storage import StrPath, as_path, load_text
from articulus.files.urdf.elements import Elements
from articulus.files.urdf.visuals import UrdfVisuals
from articulus.files.xml_tree import Element, parse_xml
from articulus.mechanism import GROUND, MAX_BODIES, Body, Connection, Description, Fixed, Free, Visual

MAX_DEPTH = 64

Base = Literal["fixed", "floating"]
Mimic = Literal["refuse", "independent"]
Thing = TypeVar("Thing", Body, Connection)


def read_urdf(
    path: StrPath,
    *,
    base: Base = "fixed",
    lump_fixed: bool = False,
    package_roots: Mapping[str, StrPath] | None = None,
    mimic: Mimic = "refuse",
) -> Description:
    """Return the mechanism of a URDF file; raise ModelError with everything that is wrong in it.

    Parameters
    ----------
    path : path
        The file; UTF-8, at most 64 MB.
    base : "fixed" or "floating"
        Whether the root link is welded to ground or hangs on it by a free joint.
    lump_fixed : bool
        Whether links behind fixed joints are merged into their parent; their names stay as frames.
    package_roots : mapping of str to path
        Folder of each package that mesh names of the form package://name/... may lie in.
    mimic : "refuse" or "independent"
        A joint that mimics another is refused, or becomes a joint of its own (the coupling is dropped).
    """
    place = as_path(path)
    options = {"base": base, "lump_fixed": lump_fixed, "package_roots": package_roots, "mimic": mimic}
    return parse_urdf(load_text(place), place.name, folder=place.parent, **options)  # type: ignore[arg-type]


def parse_urdf(
    text: str,
    name: str = "model.urdf",
    *,
    base: Base = "fixed",
    lump_fixed: bool = False,
    package_roots: Mapping[str, StrPath] | None = None,
    mimic: Mimic = "refuse",
    folder: Path | None = None,
) -> Description:
    """Return the mechanism of a URDF text, as `read_urdf` does; `name` stands for the file in messages."""
    _one_of("base", base, ("fixed", "floating"))
    _one_of("mimic", mimic, ("refuse", "independent"))
    roots = _roots_of(package_roots)
    robot = _Robot(parse_xml(text, name, MAX_DEPTH), name)
    robot.check_files(folder, roots)
    visuals = UrdfVisuals(robot.root, name, folder, roots)
    description = robot.description(base, visuals)
    if mimic == "refuse":
        robot.refuse_mimics()
    visuals.warn()
    return lumped(description) if lump_fixed else description


def _one_of(option: str, value: str, valid: tuple[str, ...]) -> None:
    if value not in valid:
        raise InputError(f"{option}: found {value!r}; expected one of {', '.join(map(repr, valid))}")


def _roots_of(package_roots: Mapping[str, StrPath] | None) -> dict[str, Path]:
    """Return the folder of each package; raise InputError when the option is no such mapping."""
    if package_roots is None:
        return {}
    expected = "a mapping from package names to folders, such as {'name': 'folder'}"
    if not isinstance(package_roots, Mapping):
        raise InputError(f"package_roots: found {package_roots!r}; expected {expected}")
    for key, root in package_roots.items():
        if not isinstance(key, str) or not isinstance(root, (str, os.PathLike)):
            raise InputError(f"package_roots: found {key!r}: {root!r}; expected {expected}")
    return {key: as_path(root) for key, root in package_roots.items()}


def _in_urdf(finding: Finding) -> Finding:
    """Return a finding with what a URDF can do about it, where its hint is written for TOML."""
    if finding.expected == "mass > 0":
        return replace(finding, hint="Delete <inertial> for a link that is only a frame.")
    return finding


def _said(finding: Finding) -> bool:
    """Return whether this reader has said it already, as a second root, a cycle or a missing link."""
    return finding.found == "no joint that carries it" or finding.expected == "the name of a body"


class _Robot:
    """The <robot> element on its way to a Description."""

    def __init__(self, root: Element, name: str):
        self.root = root
        self.lines: dict[str, int] = {"": root.line}
        self.report = Report(name, self.lines, {"body": "link"})
        self.elements = Elements(self.report, self.lines)
        self._check_root()

    def _check_root(self) -> None:
        if self.root.tag != "robot":
            self.report.add("", f"{self.root}", "<robot>", "Is it a URDF file?")
        if any(e.tag.startswith("xacro:") for e in self.root.children):
            self.report.add("", "xacro macros", "plain URDF", "Expand the file with xacro first.")
        if self.root.named("loop_joint"):
            self.report.add("", "<loop_joint>", "a tree of links", "Closed loops are not part of URDF.")
        if len(self.root.named("link")) > MAX_BODIES:
            self.report.add("", f"{len(self.root.named('link'))} links", f"at most {MAX_BODIES}")
        self.report.raise_if_any()
        self.elements.check(self.root, "robot")

    # files

    def check_files(self, folder: Path | None, roots: Mapping[str, Path]) -> None:
        """Report meshes and textures that lie outside the model's folder and the declared packages."""
        for link in [*self.root.named("link"), *self.root.named("material")]:
            for element in link.everything():
                filename = element.attributes.get("filename")
                if element.tag in ("mesh", "texture") and filename is not None:
                    self._check_file(element, link, why_outside(filename, folder, roots))

    def _check_file(self, element: Element, link: Element, reason: str) -> None:
        if reason:
            path = f"{link.tag}.{link.attributes.get('name', '')}.{element.tag}"
            self.lines[path] = element.line
            self.report.add(
                path,
                f'filename="{element.attributes["filename"]}": {reason}',
                "a path inside the model's folder or a declared package",
                "Declare the folder it lies in: package_roots={'name': folder}.",
            )

    # tree

    def description(self, base: Base, visuals: UrdfVisuals) -> Description:
        def body(element: Element, name: str) -> Body:
            return replace(self.elements.link(element, name), visuals=visuals.of(element, name))

        bodies = self._each("link", "body", body)
        joints = self._each("joint", "joint", self.elements.joint)
        self._references({b.name for b in bodies}, joints)
        roots = self._roots(bodies, joints)
        ground = [b for b in roots[:1] if b.name == GROUND and b.massless and base == "fixed"]
        if roots and not ground:
            joints.insert(0, self._base(roots[0], base, {j.name for j in joints}))
        bodies = [b for b in bodies if b not in ground]
        return self._build(tuple(bodies), tuple(joints), ground[0].visuals if ground else ())

    def _each(self, tag: str, kind: str, read: Callable[[Element, str], Thing]) -> list[Thing]:
        """Return an object for each element of a tag; names have to be there and unique."""
        out: dict[str, Thing] = {}
        for number, element in enumerate(self.root.named(tag)):
            name = element.attributes.get("name", "")
            path = f"{kind}.{name or number}"
            if name in out:
                self.lines[f"{path} (second)"] = element.line
                first = self.lines[path]
                self.report.add(
                    f"{path} (second)", f"a second {tag} '{name}', the first on line {first}", "unique names"
                )
                continue
            self.lines[path] = element.line
            if not name:
                self.report.add(path, f"<{tag}> without a name", f'<{tag} name="...">')
                continue
            out[name] = read(element, name)
        return list(out.values())

    def _references(self, links: set[str], joints: list[Connection]) -> None:
        for joint in joints:
            for role, name in (("parent", joint.parent), ("child", joint.child)):
                if name and name not in links:
                    where = f"joint.{joint.name}.{role}"
                    self.report.add(where, f"'{name}'", "the name of a link", did_you_mean(name, links))

    def _roots(self, bodies: list[Body], joints: list[Connection]) -> list[Body]:
        if not bodies:
            self.report.add("", "no link at all", "at least one <link>")
        carried = {j.child for j in joints}
        roots = [b for b in bodies if b.name not in carried]
        for other in roots[1:]:
            self.report.add(
                f"body.{other.name}",
                f"a second root link: neither '{other.name}' nor '{roots[0].name}' is the child of a joint",
                "one root",
                "A joint is missing, or the name of its child is misspelled.",
            )
        return roots

    def _base(self, root: Body, base: Base, taken: set[str]) -> Connection:
        name = "floating_base" if base == "floating" else "fixed_base"
        while name in taken:
            name += "_"
        self.lines[f"joint.{name}"] = self.lines[f"body.{root.name}"]
        return Connection(name, Free() if base == "floating" else Fixed(), GROUND, root.name)

    def _build(
        self, bodies: tuple[Body, ...], joints: tuple[Connection, ...], standing: tuple[Visual, ...]
    ) -> Description:
        title = self.root.attributes.get("name", "")
        told = {"source": f"URDF file {self.report.name}", "locate": self.report.locate}
        try:
            built = Description.build(title, bodies, joints, visuals=standing, **told)  # type: ignore[arg-type]
        except ModelError as error:
            self.report.findings += [_in_urdf(f) for f in error.findings if not _said(f)]
            self.report.raise_if_any()
            raise
        self.report.raise_if_any()
        return built

    def refuse_mimics(self) -> None:
        """Raise UnsupportedOperation that names every joint that mimics another."""
        found = [
            f"{self.report.locate('joint.' + j.attributes.get('name', ''))} mimics joint "
            f"'{mimic.attributes.get('joint', '')}'"
            for j in self.root.named("joint")
            for mimic in j.named("mimic")
        ]
        if found:
            raise UnsupportedOperation(
                "\n".join(found)
                + "\nCoupled joints cannot be represented; mimic='independent' reads each as a "
                "joint of its own and drops the coupling"
            )
