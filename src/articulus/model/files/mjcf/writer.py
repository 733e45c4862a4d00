"""Writing MJCF: the mechanism as MuJoCo models it, or a refusal that names what the format cannot carry.

Every joint is at its reference position (`ref`) at q = 0. Bodies without mass between joints become several joints of one body.
What the format has no place for but may keep goes to <custom>: largest speeds, the speed of dry friction, names of fixed joints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from articulus.errors import DoubtfulModel, Finding, ModelError, doubtful
from articulus.model.files.mesh.obj import obj_text
from articulus.model.files.mjcf.equipment_writer import EquipmentWriter
from articulus.model.files.mjcf.visual_writer import geom_of
from articulus.model.files.storage import StrPath, as_path, write_bytes, write_text
from articulus.model.mechanism import (
    GROUND,
    Body,
    Connection,
    Constraint,
    Coupling,
    Description,
    Fixed,
    Frame,
    Free,
    Joint,
    Lock,
    LoopJoint,
    Mesh,
    PointOnPoint,
    Pose,
    Prismatic,
    Revolute,
    Spherical,
    Visual,
    value_of,
    values_of,
)
from articulus.model.mechanism.body import TRIANGLE_SLACK

CARRIED = "only what an MJCF file can carry; .toml carries everything"
TURNED = 1e-12
"""Rotation from which on a ball joint's frame differs from that of its body [rad]."""
COULOMB_SPEED = 1e-3
"""Speed of dry friction that needs no word [rad/s or m/s]."""


def write_mjcf(description: Description, path: StrPath) -> None:
    """Write a mechanism as an MJCF file, its meshes as OBJ files beside it; raise ModelError with all that it cannot carry."""
    place = as_path(path)
    writer = _Writer(description, place.stem)
    root = writer.root()
    if writer.refused:
        raise ModelError(Finding(place.name, thing, CARRIED) for thing in writer.refused)
    for filename, mesh in writer.meshes.values():
        write_bytes(place.parent / filename, obj_text(mesh).encode())
    ET.indent(root)
    write_text(path, ET.tostring(root, encoding="unicode") + "\n")
    if writer.dropped:
        doubtful(f"{place.name}: left out: {', '.join(writer.dropped)}", DoubtfulModel)


@dataclass(frozen=True)
class _Axis:
    """One joint of MJCF: its name, what it allows, and where it is in the body that carries it, at q = 0."""

    name: str
    joint: Joint
    connection: Connection
    dofs: slice
    pose: np.ndarray


class _Writer:
    """Makes the elements of one file.

    Attributes
    ----------
    refused, dropped : list of str
        What cannot be carried: to be refused, and pictures and names of numbers that no motion rests on.
    meshes : dict
        File and mesh of each geometry.
    axes : list of _Axis
        Joints in the order of MuJoCo's coordinates.
    """

    def __init__(self, description: Description, stem: str):
        self.d, self.stem = description, stem
        self.refused: list[str] = []
        self.dropped: list[str] = []
        self.meshes: dict[str, tuple[str, Mesh]] = {}
        self.axes: list[_Axis] = []
        self.custom: list[tuple[str, str, str]] = []
        self.sites: dict[str, list[tuple[str, Pose]]] = {}
        self.children: dict[str, list[Connection]] = {}
        self.bodies = {b.name: b for b in description.bodies}
        for c in description.connections:
            self.children.setdefault(c.parent, []).append(c)
        self.equipment = EquipmentWriter(description, self.site_at, self.refused)
        self.needed = {f.body for f in description.frames} | {*self.equipment.places(), *self._ends()}

    def root(self) -> ET.Element:
        d = self.d
        root = ET.Element("mujoco", model=d.name)
        ET.SubElement(root, "compiler", angle="radian", autolimits="false", inertiafromgeom="false")
        ET.SubElement(root, "option", gravity=numbers(values_of(d.gravity)))
        if d.parameters:
            self.dropped.append(f"names of parameters ({', '.join(p.name for p in d.parameters)})")
        for frame in d.frames:
            self._frame(frame)
        equality, tendon = ET.Element("equality"), ET.Element("tendon")
        for constraint in d.constraints:
            self._constraint(constraint, equality)
        for coupling in d.couplings:
            self._coupling(coupling, equality, tendon)
        sections = self.equipment.sections(tendon)
        world = ET.Element("worldbody")
        self._contents(world, GROUND, d.visuals)
        for c in self.children.get(GROUND, ()):
            self._body(world, c)
        keys = self.equipment.keyframes([(a.name, a.joint, a.connection, a.dofs) for a in self.axes])
        root.extend(
            e for e in (self._assets(), world, tendon, equality, *sections, keys, self._custom()) if len(e)
        )
        return root

    def _assets(self) -> ET.Element:
        out = ET.Element("asset")
        for filename, _ in self.meshes.values():
            ET.SubElement(out, "mesh", name=filename, file=filename, inertia="shell")
        return out

    def _custom(self) -> ET.Element:
        out = ET.Element("custom")
        for tag, name, data in self.custom:
            ET.SubElement(out, tag, name=name, data=data)
        return out

    # bodies and joints

    def _body(self, parent: ET.Element, first: Connection) -> None:
        """Add the body that a joint carries, together with those without mass on the way to it, and all behind it."""
        chain = list(self._chain(first))
        last = chain[-1]
        body = self.bodies[last.child]
        if body.name == "world":
            self.refused.append("a body called 'world': MuJoCo's name for ground")
        X = np.eye(4)
        frames = []
        for c in chain:
            frames.append(X @ c.at.matrix())
            X = frames[-1] @ np.linalg.inv(c.child_at.matrix())
        element = ET.SubElement(parent, "body", {"name": body.name, **pose_attributes(Pose.from_matrix(X))})
        if share := self.equipment.compensation(body.name):
            element.set("gravcomp", repr(share))
        for c, frame in zip(chain, frames):
            self._joint(element, c, np.linalg.inv(X) @ frame)
        self._inertial(element, body)
        self._contents(element, body.name, body.visuals)
        for c in self.children.get(body.name, ()):
            self._body(element, c)

    def _chain(self, first: Connection) -> Iterator[Connection]:
        """Yield the joints in a row that one body of MJCF has."""
        yield first
        while not isinstance(first.joint, Fixed):
            body, behind = self.bodies[first.child], self.children.get(first.child, [])
            plain = body.massless and not body.visuals and body.name not in self.needed
            if not plain or len(behind) != 1 or isinstance(behind[0].joint, Fixed | Free):
                return
            first = behind[0]
            yield first

    def _joint(self, element: ET.Element, c: Connection, pose: np.ndarray) -> None:
        if c.node:
            self.refused.append(f"joint '{c.name}' on a station of a flexible body")
        if c.rotor is not None:
            self.refused.append(f"the rotor of joint '{c.name}'")
        if isinstance(c.joint, Fixed):
            self.custom.append(("text", f"articulus.fixed.{c.child}", c.name))
        parts = c.joint.elementary()
        names = [c.name] if len(parts) == 1 else [f"{c.name}.{n}" for n in c.joint.coordinate_names]
        at = 0
        for name, part in zip(names, parts):
            if part.nv:
                axis = _Axis(name, part, c, slice(at, at + part.nv), pose)
                self._axis(element, axis)
                self.axes.append(axis)
            at += part.nv

    def _axis(self, element: ET.Element, a: _Axis) -> None:
        kinds = {Revolute: "hinge", Prismatic: "slide", Spherical: "ball", Free: "free"}
        kind = kinds.get(type(a.joint))
        turned = np.abs(a.pose[:3, :3] - np.eye(3)).max() > TURNED
        moved = turned or np.abs(a.pose[:3, 3]).max() > 0
        what = f"the {a.connection.joint.type_name} joint '{a.connection.name}'"
        if kind is None:
            self.refused.append(what)
            return
        if kind == "ball" and turned:
            self.refused.append(f"{what}, whose frame is turned in its child")
        if kind == "free" and (moved or a.connection.parent != GROUND or not a.connection.at.is_identity):
            self.refused.append(f"{what}, which does not start at the origin of ground")
        out = ET.SubElement(element, "joint", name=a.name, type=kind)
        if kind in ("hinge", "slide"):
            out.set("axis", numbers(a.pose[:3, :3] @ np.array(a.joint.axis)))  # type: ignore[attr-defined]
        if kind != "free":
            out.set("pos", numbers(a.pose[:3, 3]))
        self._acting(out, a, what)
        self._limits(out, a)

    def _acting(self, out: ET.Element, a: _Axis, what: str) -> None:
        words = {
            "armature": "armature",
            "damping": "damping",
            "coulomb": "frictionloss",
            "stiffness": "stiffness",
        }
        for field, word in words.items():
            held = values_of(a.connection.per_dof(field))[a.dofs]
            if len(set(held)) > 1:
                self.refused.append(f"{field} {held} of {what}, different in its degrees of freedom")
            if any(held):
                out.set(word, repr(held[0]))
        if out.get("type") == "free" and (out.get("armature") or out.get("frictionloss")):
            self.refused.append(f"armature or dry friction of {what}")
        if out.get("stiffness"):
            out.set("springref", repr(values_of(a.connection.per_dof("rest"))[a.dofs][0]))
        speed = value_of(a.connection.coulomb_speed)
        if out.get("frictionloss") and speed != COULOMB_SPEED:
            self.custom.append(("numeric", f"articulus.coulomb_speed.{a.name}", repr(speed)))

    def _limits(self, out: ET.Element, a: _Axis) -> None:
        limits = a.connection.limits
        lower, upper, velocity, effort = (
            values_of(held)[a.dofs] for held in (limits.lower, limits.upper, limits.velocity, limits.effort)
        )
        if np.isfinite([*lower, *upper]).any() and out.get("type") in ("hinge", "slide"):
            ends = (*(lower or (-np.inf,)), *(upper or (np.inf,)))
            if not np.isfinite(ends).all():
                self.refused.append(f"a limit on one side only of joint '{a.connection.name}'")
            out.set("limited", "true")
            out.set("range", numbers(ends))
        if np.isfinite(effort).any() and out.get("type") in ("hinge", "slide"):
            out.set("actuatorfrclimited", "true")
            out.set("actuatorfrcrange", numbers((-effort[0], effort[0])))
        if np.isfinite(velocity).any() and out.get("type") not in ("hinge", "slide"):
            self.refused.append(f"largest speeds of joint '{a.connection.name}'")
        elif np.isfinite(velocity).any():
            self.custom.append(("numeric", f"articulus.velocity.{a.name}", numbers(velocity)))

    def _inertial(self, element: ET.Element, body: Body) -> None:
        if body.modes is not None:
            self.refused.append(f"the flexible body '{body.name}'")
            return
        if body.massless:
            if element.find("joint") is not None and not self._carries_mass(body.name):
                self.refused.append(f"body '{body.name}' without mass behind a joint that moves")
            return
        moments = np.linalg.eigvalsh(body.inertia_matrix())
        if moments[2] > moments[0] + moments[1] + 1e-14 * moments[2] or moments[0] < 0:
            share = moments[2] / max(moments[0] + moments[1], 1e-300) - 1
            slack = f", within the {TRIANGLE_SLACK:g} of rounded digits" if share < TRIANGLE_SLACK else ""
            self.refused.append(
                f"the inertia of body '{body.name}', whose largest moment exceeds the sum of the others by {share:.2g} "
                f"of it{slack}: MuJoCo refuses it"
            )
        out = ET.SubElement(
            element, "inertial", pos=numbers(values_of(body.com)), mass=repr(value_of(body.mass))
        )
        six = values_of(body.inertia)
        plain = not any(six[3:])
        out.set("diaginertia" if plain else "fullinertia", numbers(six[:3] if plain else six))

    def _carries_mass(self, body: str) -> bool:
        """Return whether something with mass is welded to a body."""
        welded = (c.child for c in self.children.get(body, ()) if isinstance(c.joint, Fixed))
        return any(not self.bodies[name].massless or self._carries_mass(name) for name in welded)

    # what sits on bodies

    def _contents(self, element: ET.Element, body: str, visuals: Iterable[Visual]) -> None:
        for visual in visuals:
            geom = geom_of(visual, self._mesh)
            if geom is None:
                self.dropped.append(f"a {visual.type_name} of '{body}'")
                continue
            element.append(geom)
            if isinstance(visual, Mesh) and visual.colors is not None:
                self.dropped.append(f"colors of the triangles of a mesh of '{body}'")
        for name, pose in self.sites.get(body, ()):
            ET.SubElement(element, "site", {"name": name, **pose_attributes(pose)})

    def _mesh(self, mesh: Mesh) -> str:
        """Return the file of a mesh."""
        found = self.meshes.setdefault(mesh.geometry, (f"{self.stem}.mesh{len(self.meshes)}.obj", mesh))
        return found[0]

    def _frame(self, frame: Frame) -> None:
        if frame.node:
            self.refused.append(f"frame '{frame.name}' on a station of a flexible body")
        if frame.name not in self.equipment.centers:
            self.sites.setdefault(frame.body, []).append((frame.name, frame.at))

    def site_at(self, place: str, name: str, pose: Pose | None = None) -> str:
        """Return the site of a frame, or a new one on a body (or on a frame's body, further on by a pose)."""
        body, frame = self.d.carrier(place)
        if pose is None and any(f.name == place for f in self.d.frames):
            return place
        whole = frame.at.matrix() @ (pose or Pose()).matrix()
        self.sites.setdefault(body, []).append((name, Pose.from_matrix(whole)))
        return name

    # constraints

    def _ends(self) -> Iterator[str]:
        """Yield the bodies that constraints end on."""
        for c in self.d.constraints:
            for place in (getattr(c, key, "") for key in ("parent", "child", "first", "second")):
                if place:
                    yield self.d.carrier(place)[0]

    def _constraint(self, c: Constraint, equality: ET.Element) -> None:
        if isinstance(c, LoopJoint) and isinstance(c.joint, Fixed) and self._between_bodies(c):
            data = {"anchor": numbers(values_of(c.child_at.xyz)), "relpose": _pose_text(c.at)}
            ends = {"body1": _body(c.parent), "body2": _body(c.child)}
            ET.SubElement(equality, "weld", {"name": c.name, **ends, **data})
        elif isinstance(c, LoopJoint) and isinstance(c.joint, Fixed | Spherical):
            tag = "weld" if isinstance(c.joint, Fixed) else "connect"
            first = self.site_at(c.parent, f"{c.name}.parent", c.at)
            second = self.site_at(c.child, f"{c.name}.child", c.child_at)
            ET.SubElement(equality, tag, name=c.name, site1=first, site2=second)
        elif isinstance(c, PointOnPoint):
            first, second = (
                self.site_at(c.first, f"{c.name}.first"),
                self.site_at(c.second, f"{c.name}.second"),
            )
            ET.SubElement(equality, "connect", name=c.name, site1=first, site2=second)
        elif isinstance(c, Lock) and len(c.values) == 1:
            held = numbers((*values_of(c.values), 0, 0, 0, 0))
            ET.SubElement(equality, "joint", name=c.name, joint1=c.joint, polycoef=held)
        else:
            what = f"{c.joint.type_name} " if isinstance(c, LoopJoint) else ""
            self.refused.append(f"the {what}{c.type_name} '{c.name}'")

    def _between_bodies(self, c: LoopJoint) -> bool:
        """Return whether a loop can be said by bodies alone, without sites."""
        frames = {f.name for f in self.d.frames}
        turned = np.abs(c.child_at.rotation() - np.eye(3)).max() > 0
        return not turned and c.parent not in frames and c.child not in frames

    def _coupling(self, c: Coupling, equality: ET.Element, tendon: ET.Element) -> None:
        if len(c.to) == 1:
            series = values_of(c.polynomial) or (value_of(c.offset), values_of(c.ratio)[0])
            if len(series) > 5:
                self.refused.append(f"the coupling of joint '{c.joint}', a polynomial of more than degree 4")
                return
            held = numbers((*series, *(0.0,) * (5 - len(series))))
            ET.SubElement(equality, "joint", joint1=c.joint, joint2=c.to[0], polycoef=held)
            return
        name = f"{c.joint}.coupling"
        fixed = ET.SubElement(tendon, "fixed", name=name)
        for joint, ratio in reversed(list(zip(c.to, values_of(c.ratio)))):  # the reader starts from the last
            ET.SubElement(fixed, "joint", joint=joint, coef=repr(-ratio))
        ET.SubElement(fixed, "joint", joint=c.joint, coef="1")
        held = numbers((value_of(c.offset), 0, 0, 0, 0))
        ET.SubElement(equality, "tendon", tendon1=name, polycoef=held)


def _body(name: str) -> str:
    return "world" if name == GROUND else name


def _pose_text(pose: Pose) -> str:
    X = Pose.from_matrix(pose.matrix())
    return numbers((*values_of(X.xyz), *values_of(X.quaternion)))


def pose_attributes(pose: Pose) -> dict[str, str]:
    """Return the attributes of a pose; nothing where it is the identity."""
    out: dict[str, str] = {}
    X = Pose.from_matrix(pose.matrix())
    if any(X.xyz):
        out["pos"] = numbers(values_of(X.xyz))
    if values_of(X.quaternion) != (1.0, 0.0, 0.0, 0.0):
        out["quat"] = numbers(values_of(X.quaternion))
    return out


def numbers(held: Any) -> str:
    """Return numbers with all their digits."""
    return " ".join(repr(float(x)) for x in held)
