"""Reading SDF: one model, its links where its poses put them; a link with several joints closes loops.

Left out and listed: sensors, plugins, gearboxes' and loops' springs, limits and losses. Refused: nested models and includes,
universal, screw, gearbox and revolute2 joints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from articulus.errors import InputError, ModelError, UnsupportedOperation, did_you_mean
from articulus.model.files.findings import announce
from articulus.model.files.report import Report
from articulus.model.files.sdf.shapes import SdfShapes
from articulus.model.files.sdf.values import MODEL, UNLIMITED, WORLD, SdfValues
from articulus.model.files.storage import StrPath, as_path, load_text
from articulus.model.files.urdf.visuals import UrdfVisuals
from articulus.model.files.xml_tree import XmlElement, parse_xml
from articulus.model.mechanism import (
    GROUND,
    MAX_BODIES,
    STANDARD_GRAVITY,
    Body,
    Connection,
    Description,
    Equipment,
    Fixed,
    Frame,
    Free,
    Joint,
    Limits,
    LoopJoint,
    Pose,
    Prismatic,
    Revolute,
    Spherical,
)
from articulus.model.mechanism.numbers import as_gravity

JOINTS = ("revolute", "continuous", "prismatic", "ball", "fixed")
BEYOND = ("universal", "screw", "gearbox", "revolute2")
NO_INERTIAL = "no inertial in the SDF"


def read_sdf(path: StrPath, **options: Any) -> Description:
    """Return the mechanism of an SDF file, at most 64 MB of UTF-8; `options` are those of `parse_sdf`."""
    place = as_path(path)
    return parse_sdf(load_text(place), place.name, folder=place.parent, **options)


def parse_sdf(
    text: str,
    name: str = "model.sdf",
    *,
    base: Literal["file", "fixed"] = "file",
    gravity: Sequence[Any] | None = None,
    package_roots: Mapping[str, StrPath] | None = None,
    strict: bool = False,
    folder: Path | None = None,
) -> Description:
    """Return the mechanism of an SDF text; raise ModelError with everything that is wrong in it.

    Parameters
    ----------
    text : str
    name : str
        Stands for the file in messages.
    base : "file" or "fixed"
        A link that no joint carries is free, as the format says, or welded to ground where it is.
    gravity : three numbers [m/s^2]
        That of the text's world, else the standard one, if not given.
    package_roots : mapping of str to path
        Folder of each package that mesh names of the form model://name/... may lie in.
    strict : bool
        Whether what is omitted is refused.
    folder : Path
        In which meshes are looked for; without it none is read.
    """
    if base not in ("file", "fixed"):
        raise InputError(f"base: found {base!r}; expected 'file' or 'fixed'")
    roots = {key: as_path(root) for key, root in (package_roots or {}).items()}
    root = parse_xml(text, name)
    model = _Model(root, name, SdfShapes(UrdfVisuals(root, name, folder, roots)))
    description = model.description(base == "fixed", gravity)
    findings = model.report.in_order([*model.report.doubts, *model.shapes.doubts()])
    announce(findings, name, strict)
    return replace(description, findings=tuple(findings))


class _Model:
    """The <model> element on its way to a Description."""

    def __init__(self, root: XmlElement, name: str, shapes: SdfShapes):
        self.lines: dict[str, int] = {"": root.line}
        self.report = Report(name, self.lines, {"body": "link"})
        self.values, self.shapes = SdfValues(self.report, self.lines), shapes
        self.world, self.root = self._find(root)
        self.poses: dict[str, tuple[np.ndarray, str]] = {}
        self.found: dict[str, np.ndarray] = {MODEL: np.eye(4), "": np.eye(4)}

    def _find(self, root: XmlElement) -> tuple[XmlElement | None, XmlElement]:
        if root.tag != "sdf":
            self.report.add("", f"{root}", "<sdf>", "Is it an SDF file?")
        worlds = root.children_with_tag("world")
        models = [m for holder in (root, *worlds) for m in holder.children_with_tag("model")]
        if len(models) != 1:
            self.report.add("", f"{len(models)} models", "one <model>")
        self.report.raise_if_any()
        held = [e for e in models[0].children if e.tag in ("model", "include")]
        if held:
            raise UnsupportedOperation(
                f"{self.report.name}:{held[0].line}: {held[0]} in a model is not read; expected links and joints alone"
            )
        return (worlds[0] if worlds else None), models[0]

    def description(self, fixed: bool, gravity: Sequence[Any] | None) -> Description:
        links = self._named("link", "body")
        if len(links) > MAX_BODIES:
            self.report.add("", f"{len(links)} links", f"at most {MAX_BODIES}")
        joints, frames = self._named("joint", "joint"), self._named("frame", "frame")
        for link, element in links.items():
            X, within = self.values.pose(element, f"body.{link}")
            self.poses[link] = X, within or MODEL
        ends = {joint: self._ends(element, f"joint.{joint}", links) for joint, element in joints.items()}
        for joint, element in joints.items():
            X, within = self.values.pose(element, f"joint.{joint}")
            self.poses[joint] = X, within or ends[joint][1]
        carriers = {}
        for frame, element in frames.items():
            carriers[frame] = element.attributes.get("attached_to", "") or MODEL
            X, within = self.values.pose(element, f"frame.{frame}")
            self.poses[frame] = X, within or carriers[frame]
        self.report.raise_if_any()
        placed = self.values.pose(self.root, "model")[0]
        bodies = tuple(self._body(link, element) for link, element in links.items())
        connections, loops = self._joints(joints, ends, set(links), placed, fixed)
        spots = tuple(self._frame(f, carriers, links, placed) for f in frames)
        self.report.raise_if_any()
        if gravity is None:
            held = None if self.world is None else self.values.only(self.world, "gravity", "world")
            gravity = (
                STANDARD_GRAVITY
                if held is None
                else self.values.numbers(held, 3, "world.gravity", STANDARD_GRAVITY)
            )
        try:
            built = Description.build(
                self.root.attributes.get("name", ""), bodies, tuple(connections), spots, as_gravity(gravity),
                f"SDF file {self.report.name}", tuple(loops), locate=self.report.locate,
            )  # fmt: skip
        except ModelError as error:
            self.report.findings += error.findings
            self.report.raise_if_any()
            raise
        shapes = [s for link, element in links.items() for s in self.shapes.collisions(element, link, link)]
        taken, own = set[str](), []
        for shape in shapes:
            given = shape.name
            while given in taken:
                given += "_"
            taken.add(given)
            own.append(replace(shape, values=(("name", given), *shape.values[1:])))
        return replace(built, equipment=Equipment(collisions=tuple(own)))

    def _named(self, tag: str, kind: str) -> dict[str, XmlElement]:
        out: dict[str, XmlElement] = {}
        for element in self.root.children_with_tag(tag):
            name = element.attributes.get("name", "")
            path = f"{kind}.{name}" if name not in out else f"{kind}.{name} (second)"
            self.lines[path] = element.line
            if not name:
                self.report.add(path, f"<{tag}> without a name", f'<{tag} name="...">')
            elif name in out:
                self.report.add(path, f"a second {tag} '{name}'", "unique names")
            else:
                out[name] = element
        return out

    def _ends(self, element: XmlElement, path: str, links: Mapping[str, XmlElement]) -> tuple[str, str]:
        """Return parent and child of a joint."""
        ends = []
        for role in ("parent", "child"):
            name = self.values.text(element, role, path)
            if name not in links and not (name == WORLD and role == "parent"):
                self.report.add(
                    f"{path}.{role}", f"'{name}'", "the name of a link", did_you_mean(name, links)
                )
            ends.append(name)
        return ends[0], ends[1]

    def _pose(self, name: str) -> np.ndarray:
        """Return where a link, joint or frame is in the model."""
        way: list[str] = []
        while name not in self.found:
            if name not in self.poses or name in way:
                found = "a circle of frames" if name in way else f"'{name}'"
                self.report.add("", found, "the name of a link, joint or frame to be relative to")
                self.found[name] = np.eye(4)
                break
            way.append(name)
            name = self.poses[name][1]
        X = self.found[name]
        for each in reversed(way):
            if each not in self.found:
                X = self.found[each] = X @ self.poses[each][0]
        return X

    def _body(self, name: str, element: XmlElement) -> Body:
        path = f"body.{name}"
        inertial = self.values.only(element, "inertial", path)
        visuals = self.shapes.visuals(element, name)
        if inertial is None:
            return Body(name, massless=NO_INERTIAL, visuals=visuals)
        self.lines[f"{path}.inertia"] = self.lines[f"{path}.mass"] = inertial.line
        mass = self.values.number(inertial, "mass", path, 1.0)
        moments = self.values.only(inertial, "inertia", path)
        six = [
            self.values.number(moments, f"i{a}", path, float(a[0] == a[1]))
            for a in ("xx", "yy", "zz", "xy", "xz", "yz")
        ]
        X = self.values.pose(inertial, f"{path}.inertia")[0]
        I = (
            X[:3, :3]
            @ np.array([[six[0], six[3], six[4]], [six[3], six[1], six[5]], [six[4], six[5], six[2]]])
            @ X[:3, :3].T
        )
        turned = tuple(float(I[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        return Body(name, mass, tuple(map(float, X[:3, 3])), turned, visuals=visuals)

    def _frame(
        self, name: str, carriers: Mapping[str, str], links: Mapping[str, XmlElement], placed: np.ndarray
    ) -> Frame:
        carrier, seen = carriers[name], {name}
        while carrier in carriers and carrier not in seen:
            seen.add(carrier)
            carrier = carriers[carrier]
        if carrier in links:
            return Frame(name, carrier, _pose(np.linalg.inv(self._pose(carrier)) @ self._pose(name)))
        if carrier not in (MODEL, WORLD):
            self.report.add(
                f"frame.{name}",
                f"attached to '{carrier}'",
                "the name of a link or frame",
                did_you_mean(carrier, links),
            )
        return Frame(name, GROUND, _pose(placed @ self._pose(name)))

    # joints

    def _joints(
        self,
        joints: Mapping[str, XmlElement],
        ends: Mapping[str, tuple[str, str]],
        links: set[str],
        placed: np.ndarray,
        fixed: bool,
    ) -> tuple[list[Connection], list[LoopJoint]]:
        connections, loops = list[Connection](), list[LoopJoint]()
        carried: dict[str, str] = {}
        for name, element in joints.items():
            parent, child = ends[name]
            own, of_parent = (self._pose(x) for x in (name, parent if parent != WORLD else MODEL))
            child_at = _pose(np.linalg.inv(self._pose(child)) @ own)
            at = _pose((placed if parent == WORLD else np.eye(4)) @ np.linalg.inv(of_parent) @ own)
            parent = GROUND if parent == WORLD else parent
            held = self._joint(name, element)
            if child in carried or _above(carried, parent, child):
                loops.append(LoopJoint(name, held["joint"], parent, child, at, child_at))
                lost = [key for key in held if key != "joint" and held[key] not in ((), Limits())]
                if lost:
                    self.report.doubt(
                        "loop joint",
                        f"joint.{name}",
                        f"{', '.join(lost)} of a joint that closes a loop",
                        "none: it has no coordinate",
                    )
                continue
            carried[child] = parent
            connections.append(Connection(name, parent=parent, child=child, at=at, child_at=child_at, **held))
        taken = set(joints)
        for link in sorted(links - set(carried), key=list(self.poses).index):
            name = f"{link}_fixed" if fixed or self._still() else f"{link}_free"
            while name in taken:
                name += "_"
            taken.add(name)
            self.lines[f"joint.{name}"] = self.lines[f"body.{link}"]
            joint: Joint = Fixed() if name.startswith(f"{link}_fixed") else Free()
            connections.append(Connection(name, joint, GROUND, link, _pose(placed @ self._pose(link))))
        return connections, loops

    def _still(self) -> bool:
        return self.values.text(self.root, "static", "model") in ("1", "true")

    def _joint(self, name: str, element: XmlElement) -> dict[str, Any]:
        """Return the type of a joint with its limits, losses and spring."""
        kind, path = element.attributes.get("type", ""), f"joint.{name}"
        if kind in BEYOND:
            raise UnsupportedOperation(
                f"{self.report.name}:{element.line}: joint '{name}' of the type '{kind}'; expected one of {', '.join(JOINTS)}"
            )
        if kind not in JOINTS:
            self.report.add(
                path, f"the type '{kind}'", f"one of {', '.join(JOINTS)}", did_you_mean(kind, JOINTS)
            )
            return {"joint": Fixed()}
        if kind in ("ball", "fixed"):
            return {"joint": Spherical() if kind == "ball" else Fixed()}
        axis = self.values.only(element, "axis", path)
        found = None if axis is None else self.values.only(axis, "xyz", path)
        xyz = np.array(self.values.numbers(found, 3, f"{path}.axis", (0.0, 0.0, 1.0)))
        within = "" if found is None else found.attributes.get("expressed_in", "")
        if axis is not None and self.values.text(axis, "use_parent_model_frame", path) in ("1", "true"):
            within = MODEL
        if within:
            xyz = self._pose(name)[:3, :3].T @ self._pose(within)[:3, :3] @ xyz
        length = float(np.linalg.norm(xyz))
        if not length:
            self.report.add(f"{path}.axis", "0 0 0", "a direction", "A zero axis has none.")
            xyz, length = np.array([0.0, 0.0, 1.0]), 1.0
        x, y, z = map(float, xyz if length == 1.0 else xyz / length)
        direction = (x, y, z)
        joint: Joint = Prismatic(direction) if kind == "prismatic" else Revolute(direction)
        return {"joint": joint} | self._numbers(axis, kind, path)

    def _numbers(self, axis: XmlElement | None, kind: str, path: str) -> dict[str, Any]:
        if axis is None:
            return {}
        limit, dynamics = (self.values.only(axis, tag, path) for tag in ("limit", "dynamics"))
        low, high = (
            self.values.number(limit, key, f"{path}.limits", sign * math.inf)
            for key, sign in (("lower", -1), ("upper", 1))
        )
        held = {key: self.values.number(limit, key, f"{path}.limits", -1.0) for key in ("velocity", "effort")}
        most = {key: (x,) for key, x in held.items() if 0 <= x < UNLIMITED}
        if kind != "continuous" and (low > -UNLIMITED or high < UNLIMITED):
            most |= {
                "lower": (low if low > -UNLIMITED else -math.inf,),
                "upper": (high if high < UNLIMITED else math.inf,),
            }
        damping, friction, rest, stiffness = (
            self.values.number(dynamics, key, path, 0.0)
            for key in ("damping", "friction", "spring_reference", "spring_stiffness")
        )
        out: dict[str, Any] = {"limits": Limits(**most)}
        out |= {
            key: (x,)
            for key, x in (("damping", damping), ("coulomb", friction), ("stiffness", stiffness))
            if x
        }
        return out | ({"rest": (rest,)} if stiffness else {})


def _above(carried: Mapping[str, str], link: str, other: str) -> bool:
    """Whether a link is attached to another."""
    while link in carried:
        if link == other:
            return True
        link = carried[link]
    return link == other


def _pose(X: np.ndarray) -> Pose:
    """Return a pose with a rotation that is exactly one."""
    U, _, V = np.linalg.svd(X[:3, :3])
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = U @ V, X[:3, 3]
    out[np.abs(out) < 1e-16] = 0.0
    return Pose.from_matrix(out)
