"""Reading URDF: what is wrong is refused, what is doubtful is kept as it is and listed, nothing is repaired."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from articulus.errors import Finding, InputError, ModelError, did_you_mean
from articulus.model.files.findings import announce
from articulus.model.files.lump import lump_fixed as lumped
from articulus.model.files.report import Report
from articulus.model.files.storage import StrPath, as_path, load_text
from articulus.model.files.urdf.collisions import UrdfCollisions
from articulus.model.files.urdf.elements import Elements
from articulus.model.files.urdf.inertias import mark_doubtful, wrong_bodies
from articulus.model.files.urdf.visuals import UrdfVisuals
from articulus.model.files.xml_tree import XmlElement, parse_xml
from articulus.model.mechanism import (
    GROUND,
    MAX_BODIES,
    STANDARD_GRAVITY,
    Body,
    Connection,
    Coupling,
    Description,
    Device,
    Equipment,
    Fixed,
    Free,
    Visual,
)
from articulus.model.mechanism.numbers import as_gravity
from articulus.model.mechanism.regular import joints_without_inertia

MAX_DEPTH = 64
FIXED_BASE = "fixed_base"
"""Joint that welds the root link to ground."""
NO_INERTIA = "no inertia behind it in the URDF"

Base = Literal["fixed", "free", "floating"]
Mimic = Literal["couple", "independent"]
Thing = TypeVar("Thing", Body, Connection)


def read_urdf(path: StrPath, **options: Any) -> Description:
    """Return the mechanism of a URDF file, at most 64 MB of UTF-8; `options` are those of `parse_urdf`."""
    place = as_path(path)
    return parse_urdf(load_text(place), place.name, folder=place.parent, **options)


def parse_urdf(
    text: str,
    name: str = "model.urdf",
    *,
    base: Base = "fixed",
    gravity: Sequence[Any] = STANDARD_GRAVITY,
    lump_fixed: bool = False,
    package_roots: Mapping[str, StrPath] | None = None,
    mimic: Mimic = "couple",
    strict: bool = False,
    folder: Path | None = None,
) -> Description:
    """Return the mechanism of a URDF text; raise ModelError with everything that is wrong in it.

    Parameters
    ----------
    text : str
    name : str
        Stands for the file in messages.
    base : "fixed" or "free"
        Whether the root link is welded to ground or is attached to it by a free joint ("floating" means the same).
    gravity : three numbers [m/s^2]
        Acceleration of gravity in ground axes, of which a URDF says nothing.
    lump_fixed : bool
        Whether links behind fixed joints are merged into their parent; their names stay as frames.
    package_roots : mapping of str to path
        Folder of each package that mesh names of the form package://name/... may lie in.
    mimic : "couple" or "independent"
        Whether a joint that mimics another follows it, as a `Coupling`, or has a coordinate of its own.
    strict : bool
        Whether what is doubtful is refused as well, instead of being listed in `Mechanism.findings`.
    folder : Path
        In which relative paths of meshes are looked for; without it no mesh is read.
    """
    _one_of("base", base, ("fixed", "free", "floating"))
    _one_of("mimic", mimic, ("couple", "independent"))
    roots, gravity = _roots_of(package_roots), as_gravity(gravity)
    robot = _Robot(parse_xml(text, name, MAX_DEPTH), name)
    visuals = UrdfVisuals(robot.root, name, folder, roots)
    description = robot.description(base != "fixed", gravity, visuals, mimic == "couple")
    findings = robot.report.in_order([*robot.report.doubts, *visuals.doubts()])
    announce(findings, name, strict)
    collisions = UrdfCollisions(robot.root, name, folder, roots)
    shapes = robot.collisions(description, collisions)
    description = replace(
        description,
        findings=(*findings, *robot.report.in_order(collisions.doubts())),
        equipment=Equipment(collisions=shapes),
    )
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

    def __init__(self, root: XmlElement, name: str):
        self.root = root
        self.lines: dict[str, int] = {"": root.line}
        self.report = Report(name, self.lines, {"body": "link", "coupling": "mimic"})
        self.elements = Elements(self.report, self.lines)
        self._check_root()

    def _check_root(self) -> None:
        if self.root.tag != "robot":
            self.report.add("", f"{self.root}", "<robot>", "Is it a URDF file?")
        if any(e.tag.startswith("xacro:") for e in self.root.children):
            self.report.add("", "xacro macros", "plain URDF", "Name it .xacro, or expand it first.")
        if self.root.children_with_tag("loop_joint"):
            self.report.add("", "<loop_joint>", "a tree of links", "Closed loops are not part of URDF.")
        if len(self.root.children_with_tag("link")) > MAX_BODIES:
            self.report.add("", f"{len(self.root.children_with_tag('link'))} links", f"at most {MAX_BODIES}")
        self.report.raise_if_any()
        self.elements.check(self.root, "robot")

    # tree

    def description(
        self, free: bool, gravity: Sequence[Any], visuals: UrdfVisuals, couple: bool
    ) -> Description:
        def body(element: XmlElement, name: str) -> Body:
            return replace(self.elements.link(element, name), visuals=visuals.of(element, name))

        bodies = self._each("link", "body", body)
        joints = self._each("joint", "joint", self.elements.joint)
        self._references({b.name for b in bodies}, joints)
        roots = self._roots(bodies, joints)
        ground = [b for b in roots[:1] if b.name == GROUND and not free]
        bodies, joints = self._without_ground([b for b in bodies if b not in ground], joints)
        if roots and not ground:
            root = next(b.name for b in bodies if b.name not in {j.child for j in joints})
            joints.insert(0, self._base(root, free, {j.name for j in joints}))
        bodies, doubts = mark_doubtful(bodies)
        couplings = self._couplings(joints) if couple else ()
        standing = ground[0].visuals if ground else ()
        built = self._build(tuple(bodies), tuple(joints), couplings, gravity, standing)
        self._judge(doubts, wrong_bodies(built))
        return self._only_massless(built)

    def collisions(self, description: Description, read: UrdfCollisions) -> tuple[Device, ...]:
        """Return the shapes that may touch, each with a name of its own, at the names that the links have in the mechanism."""
        known, taken = {b.name for b in description.bodies}, set[str]()
        out = []
        for link in self.root.children_with_tag("link"):
            name = link.attributes["name"]
            if name == GROUND and name not in known:
                renamed = sorted(b for b in known if b.strip("_") == f"{GROUND}_link")
                name = renamed[0] if renamed and description.inboard(renamed[0]).parent == GROUND else GROUND
            for shape in read.of_link(link, name):
                given = shape.name
                while given in taken:
                    given += "_"
                taken.add(given)
                out.append(replace(shape, values=(("name", given), *shape.values[1:])))
        return tuple(out)

    def _judge(self, doubts: list[Finding], wrong: set[str]) -> None:
        """Take up what is doubtful, and refuse what is wrong among it."""
        for f in doubts:
            found = _in_urdf(replace(f, where=self.report.locate(f.where)))
            if f.where.removeprefix("body.").rpartition(".")[0] in wrong:
                self.report.findings.append(replace(found, kind=""))
            else:
                self.report.doubts.append(found)
        self.report.raise_if_any()

    def _each(self, tag: str, kind: str, read: Callable[[XmlElement, str], Thing]) -> list[Thing]:
        """Return an object for each element of a tag; names have to be there and unique."""
        out: dict[str, Thing] = {}
        for number, element in enumerate(self.root.children_with_tag(tag)):
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

    def _without_ground(
        self, bodies: list[Body], joints: list[Connection]
    ) -> tuple[list[Body], list[Connection]]:
        """Return links and joints with another name for a link called like the fixed world."""
        names = {b.name for b in bodies}
        if GROUND not in names:
            return bodies, joints
        name = f"{GROUND}_link"
        while name in names:
            name += "_"
        self.lines[f"body.{name}"] = self.lines[f"body.{GROUND}"]
        expected = "another name: it is the fixed world"
        self.report.doubt(
            "renamed link", f"body.{GROUND}", f"the name '{GROUND}'", expected, f"It is '{name}' now."
        )
        new = {GROUND: name}
        joints = [
            replace(j, parent=new.get(j.parent, j.parent), child=new.get(j.child, j.child)) for j in joints
        ]
        return [replace(b, name=new.get(b.name, b.name)) for b in bodies], joints

    def _base(self, root: str, free: bool, taken: set[str]) -> Connection:
        name = "floating_base" if free else FIXED_BASE
        while name in taken:
            name += "_"
        self.lines[f"joint.{name}"] = self.lines[f"body.{root}"]
        return Connection(name, Free() if free else Fixed(), GROUND, root)

    def _build(
        self,
        bodies: tuple[Body, ...],
        joints: tuple[Connection, ...],
        couplings: tuple[Coupling, ...],
        gravity: Sequence[Any],
        standing: tuple[Visual, ...],
    ) -> Description:
        """Return the mechanism, in which every joint may move nothing."""
        title = self.root.attributes.get("name", "")
        told = {
            "source": f"URDF file {self.report.name}",
            "locate": self.report.locate,
            "couplings": couplings,
        }
        joints = tuple(replace(j, massless=NO_INERTIA) for j in joints)
        try:
            built = Description.build(title, bodies, joints, (), gravity, visuals=standing, **told)  # type: ignore[arg-type]
        except ModelError as error:
            self.report.findings += [_in_urdf(f) for f in error.findings if not _said(f)]
            self.report.raise_if_any()
            raise
        self.report.raise_if_any()
        return built

    def _only_massless(self, d: Description) -> Description:
        """Return the mechanism in which those joints alone may move nothing that do so, each a finding."""
        names = joints_without_inertia(d.bodies, d.connections, d.couplings)
        for name in names:
            self.report.doubt(
                "massless joint",
                f"joint.{name}",
                "motion that moves no mass",
                "inertia behind every degree of freedom",
                "There is no forward dynamics; give the link behind it a mass, or make it fixed.",
            )
        marks = (replace(c, massless=NO_INERTIA if c.name in names else "") for c in d.connections)
        return replace(d, connections=tuple(marks))

    def _couplings(self, joints: list[Connection]) -> tuple[Coupling, ...]:
        """Return a coupling for each joint that mimics another; one that cannot be is dropped, and doubtful."""
        found = {
            j.attributes.get("name", ""): j
            for j in self.root.children_with_tag("joint")
            if j.children_with_tag("mimic")
        }
        moving = {j.name for j in joints if j.joint.nv == 1}
        all_of_them = [self.elements.mimic(found[j.name], j.name) for j in joints if j.name in found]
        for c in all_of_them:
            for name in (c.joint, *c.to):
                if name not in moving:
                    self._drop_mimic(c.joint, name, {j.name for j in joints})
                    break
        return tuple(c for c in all_of_them if {c.joint, *c.to} <= moving)

    def _drop_mimic(self, joint: str, name: str, known: set[str]) -> None:
        hint = "" if name in known else did_you_mean(name, known)
        found = f"'{name}', which does not move" if name in known else f"'{name}'"
        expected = "a joint with one degree of freedom"
        self.report.doubt("dropped mimic", f"coupling.{joint}", found, expected, hint)
