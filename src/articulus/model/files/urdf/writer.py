"""Writing URDF: what the format carries, with all digits; the rest is refused by name.

Ground is a root link of that name, frames are links behind fixed joints, and a body whose joint frame is not its own is attached to
a link without mass. Reading the file gives the same dynamics and the same poses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from articulus.errors import DoubtfulModel, Finding, ModelError, doubtful
from articulus.model.files.mesh.export import mesh_bytes, mesh_files, meshes_of
from articulus.model.files.storage import StrPath, as_path, write_bytes, write_text
from articulus.model.files.urdf.reader import FIXED_BASE
from articulus.model.mechanism import (
    GROUND,
    STANDARD_GRAVITY,
    Body,
    Box,
    Capsule,
    Connection,
    Coupling,
    Cylinder,
    Description,
    Device,
    Fixed,
    Free,
    Mesh,
    Planar,
    Pose,
    Prismatic,
    Revolute,
    Sphere,
    Visual,
)
from articulus.model.mechanism.numbers import values_of

TYPES = {Fixed: "fixed", Free: "floating", Planar: "planar", Prismatic: "prismatic", Revolute: "revolute"}
SHAPES = (Box, Cylinder, Capsule, Sphere, Mesh)
TOUCHING = ("box", "cylinder", "capsule", "sphere", "mesh")
"""Shapes that may touch and that URDF knows."""
COULOMB_SPEED = Connection.coulomb_speed
"""Speed that the reader gives to dry friction [rad/s, m/s]."""


def write_urdf(description: Description, path: StrPath) -> None:
    """Write a mechanism as a URDF file, or raise ModelError with everything that the format cannot carry.

    Meshes go to files beside it: arm.urdf has arm.mesh0.obj; meshes that may touch keep the files that they came from. Shapes that URDF does
    not know are omitted with a warning, seen ones and those that may touch.
    """
    place = as_path(path)
    files = mesh_files(description, f"{place.stem}.")
    text = urdf_text(description, files)
    for mesh in meshes_of(description):
        write_bytes(place.parent / files[mesh.geometry], mesh_bytes(mesh))
    write_text(path, text)
    left = [v.type_name for v in _all_visuals(description) if not isinstance(v, SHAPES)]
    left += [c.type for c in description.equipment.collisions if c.type not in TOUCHING]
    if left:
        kinds = ", ".join(sorted(set(left)))
        doubtful(
            f"{Path(place).name}: shapes are left out ({len(left)}), which URDF does not know: {kinds}",
            DoubtfulModel,
        )


def urdf_text(description: Description, meshes: Mapping[str, str] | None = None) -> str:
    """Return a mechanism as URDF text; `meshes` has the file of each geometry of meshes, without which none is written."""
    findings = list(_not_carried(description))
    if findings:
        raise ModelError(findings)
    return "\n".join(_Writer(description, meshes or {}).lines()) + "\n"


# what cannot be written


def _not_carried(d: Description) -> Iterator[Finding]:
    """Yield everything that URDF has no words for."""
    for name in (p.name for p in d.parameters):
        yield Finding(f"parameters.{name}", "a named parameter", "plain numbers in a URDF file")
    if values_of(d.gravity) != STANDARD_GRAVITY:
        hint = "Write it with standard gravity, and give `gravity` when reading."
        yield Finding(
            "gravity", str(values_of(d.gravity)), f"{STANDARD_GRAVITY}, which is read without a word", hint
        )
    for constraint in d.constraints:
        yield Finding(f"{constraint.table}.{constraint.name}", type(constraint).__name__, "no constraint")
    for body in d.bodies:
        if body.modes is not None:
            yield Finding(f"body.{body.name}", "a flexible body", "rigid ones")
    for things in (d.equipment.devices, d.equipment.states):
        for thing in things:
            what = f"a component of type '{thing.type}'" if isinstance(thing, Device) else "a named state"
            expected = "no actuators, sensors or named states in a URDF file"
            yield Finding(f"equipment.{thing.name}", what, expected)
    for c in d.connections:
        yield from _not_carried_joint(c, c.name in d.coupled)
    for coupling in d.couplings:
        if coupling.polynomial or len(coupling.to) != 1:
            yield Finding(
                f"coupling.{coupling.joint}", "a law that is no line", "<mimic> with multiplier and offset"
            )


def _not_carried_joint(c: Connection, coupled: bool) -> Iterator[Finding]:
    where = f"joint.{c.name}"
    if type(c.joint) not in TYPES:
        yield Finding(where, f"a {c.joint.type_name} joint", f"one of {', '.join(TYPES.values())}")
        return
    for field in ("armature", "stiffness", "rest"):
        if any(values_of(getattr(c, field))):
            yield Finding(f"{where}.{field}", str(values_of(getattr(c, field))), "none in a URDF file")
    if c.rotor is not None:
        yield Finding(f"{where}.rotor", "a rotor", "none in a URDF file")
    if c.joint.nv > 1 and any(values_of((*c.damping, *c.coulomb))):
        yield Finding(
            f"{where}.damping",
            f"friction in a {c.joint.type_name} joint",
            "none: <dynamics> has one direction",
        )
    if any(values_of(c.coulomb)) and values_of((c.coulomb_speed,)) != (COULOMB_SPEED,):
        expected = f"{COULOMB_SPEED}, which is read without a word"
        yield Finding(f"{where}.coulomb_speed", str(c.coulomb_speed), expected)
    yield from _not_carried_limits(c, where)


def _not_carried_limits(c: Connection, where: str) -> Iterator[Finding]:
    low, high, *others = _limits(c)
    if c.joint.nv > 1 and any(math.isfinite(x) for x in (low, high, *others)):
        yield Finding(
            f"{where}.limits", f"limits of a {c.joint.type_name} joint", "none: <limit> has one direction"
        )
    if c.joint.nv != 1:
        return
    bounded = math.isfinite(low), math.isfinite(high)
    needed = isinstance(c.joint, Prismatic) or any(bounded)
    if needed and not (all(bounded) and all(map(math.isfinite, others))):
        hint = (
            "Give all four."
            if isinstance(c.joint, Prismatic)
            else "Give all four, or neither lower nor upper."
        )
        yield Finding(
            f"{where}.limits",
            "limits of which some are infinite",
            "finite lower, upper, velocity and effort",
            hint,
        )
    elif any(map(math.isfinite, others)) and not all(map(math.isfinite, others)):
        yield Finding(f"{where}.limits", "one of velocity and effort", "both or neither")


def _limits(c: Connection) -> tuple[float, float, float, float]:
    """Return lower, upper, velocity and effort of the first degree of freedom, infinite where there is none."""
    held = (c.limits.lower, c.limits.upper, c.limits.velocity, c.limits.effort)
    low, high, speed, effort = (values_of(x)[0] if x else math.inf for x in held)
    return low if c.limits.lower else -math.inf, high, speed, effort


def _all_visuals(d: Description) -> list[Visual]:
    return [*d.visuals, *(v for b in d.bodies for v in b.visuals)]


# text


@dataclass(frozen=True)
class _Writer:
    d: Description
    meshes: Mapping[str, str]

    def lines(self) -> Iterator[str]:
        yield '<?xml version="1.0"?>'
        yield f"<robot name={quoteattr(self.d.name)}>"
        if not self.has_root:
            yield from self._link(Body(GROUND, massless="the fixed world"), self.d.visuals)
        for c in self.d.connections:
            yield from self._connection(c)
        for body in self.d.bodies:
            yield from self._link(body, body.visuals)
        for frame in self.d.frames:
            yield from self._link(Body(frame.name, massless="a frame"), ())
            yield from self._weld(f"{frame.name}_frame", frame.body, frame.name, frame.at)
        yield "</robot>"

    @property
    def has_root(self) -> bool:
        """Whether the root link is the one body that the reader welds to ground by itself."""
        first = [c for c in self.d.connections if c.parent == GROUND]
        alone = len(first) == 1 and not self.d.visuals and all(f.body != GROUND for f in self.d.frames)
        return alone and self._is_base(first[0])

    def _is_base(self, c: Connection) -> bool:
        plain = c.at.is_identity and c.child_at.is_identity
        return c.name == FIXED_BASE and isinstance(c.joint, Fixed) and plain

    def _link(self, body: Body, visuals: tuple[Visual, ...]) -> Iterator[str]:
        yield f"  <link name={quoteattr(body.name)}>"
        if not body.massless:
            yield "    <inertial>"
            yield f'      <origin xyz="{_numbers(body.com)}"/>'
            yield f'      <mass value="{_numbers((body.mass,))}"/>'
            names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
            terms = (f'{n}="{_numbers((x,))}"' for n, x in zip(names, body.inertia))
            yield f"      <inertia {' '.join(terms)}/>"
            yield "    </inertial>"
        for v in visuals:
            yield from self._visual(v)
        for device in self.d.equipment.collisions:
            values = dict(device.values)
            if values.get("frame") == body.name and device.type in TOUCHING:
                yield from _collision(device.type, values)
        yield "  </link>"

    def _visual(self, v: Visual) -> Iterator[str]:
        shape = self._shape(v)
        if shape:
            yield "    <visual>"
            yield f"      {_origin(v.at)}"
            yield f"      <geometry>{shape}</geometry>"
            if v.color:
                rgba = [int(v.color[i : i + 2], 16) / 255 for i in range(1, len(v.color), 2)]
                numbers = _numbers((*rgba, 1.0)[:4])
                yield f'      <material name="{v.color}"><color rgba="{numbers}"/></material>'
            yield "    </visual>"

    def _shape(self, v: Visual) -> str:
        makers: dict[type, Callable[[], str]] = {
            Box: lambda: f'<box size="{_numbers(v.size)}"/>',  # type: ignore[attr-defined]
            Sphere: lambda: f'<sphere radius="{_numbers((v.radius,))}"/>',  # type: ignore[attr-defined]
            Cylinder: lambda: self._round(v),
            Capsule: lambda: self._round(v),
            Mesh: lambda: self._mesh(v),  # type: ignore[arg-type]
        }
        return makers.get(type(v), lambda: "")()

    def _round(self, v: Visual) -> str:
        sizes = (_numbers((getattr(v, key),)) for key in ("radius", "length"))
        radius, length = sizes
        return f'<{v.type_name} radius="{radius}" length="{length}"/>'

    def _mesh(self, mesh: Mesh) -> str:
        name = self.meshes.get(mesh.geometry)
        return f"<mesh filename={quoteattr(name)}/>" if name else ""

    def _connection(self, c: Connection) -> Iterator[str]:
        """Yield the joint; where its frame is not that of the child, with a link without mass between them."""
        if self.has_root and c.parent == GROUND:
            return
        if c.child_at.is_identity:
            yield from self._joint(c, c.child)
            return
        between = f"{c.name}_frame"
        yield from self._joint(c, between)
        yield from self._link(Body(between, massless="frame of a joint"), ())
        inverse = Pose.from_matrix(np.linalg.inv(c.child_at.matrix()))
        yield from self._weld(f"{between}_weld", between, c.child, inverse)

    def _joint(self, c: Connection, child: str) -> Iterator[str]:
        low, high, speed, effort = _limits(c)
        kind = "continuous" if isinstance(c.joint, Revolute) and math.isinf(low) else TYPES[type(c.joint)]
        yield f'  <joint name={quoteattr(c.name)} type="{kind}">'
        yield f"    {_origin(c.at)}"
        yield f"    <parent link={quoteattr(c.parent)}/>"
        yield f"    <child link={quoteattr(child)}/>"
        if isinstance(c.joint, (Revolute, Prismatic)):
            yield f'    <axis xyz="{_numbers(c.joint.axis)}"/>'
        if isinstance(c.joint, Planar):
            yield '    <axis xyz="0 0 1"/>'
        if math.isfinite(speed) and c.joint.nv == 1:
            bounds = f'lower="{low!r}" upper="{high!r}" ' if math.isfinite(low) else ""
            yield f'    <limit {bounds}velocity="{speed!r}" effort="{effort!r}"/>'
        if any(values_of((*c.damping, *c.coulomb))):
            damping, friction = (_numbers(c.per_dof(field)) for field in ("damping", "coulomb"))
            yield f'    <dynamics damping="{damping}" friction="{friction}"/>'
        if c.name in self.d.coupled:
            yield _mimic(self.d.coupled[c.name])
        yield "  </joint>"

    def _weld(self, name: str, parent: str, child: str, at: Pose) -> Iterator[str]:
        yield f'  <joint name={quoteattr(name)} type="fixed">'
        yield f"    {_origin(at)}"
        yield f"    <parent link={quoteattr(parent)}/>"
        yield f"    <child link={quoteattr(child)}/>"
        yield "  </joint>"


def _collision(kind: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a shape that may touch."""
    place = Pose(
        values.get("xyz", (0.0, 0.0, 0.0)), quaternion=values.get("quaternion", (1.0, 0.0, 0.0, 0.0))
    )
    match kind:
        case "box":
            shape = f'<box size="{_numbers(values["size"])}"/>'
        case "sphere":
            shape = f'<sphere radius="{values["radius"]!r}"/>'
        case "mesh":
            scale = _numbers(values.get("scale", (1.0, 1.0, 1.0)))
            shape = f'<mesh filename={quoteattr(str(values["file"]))} scale="{scale}"/>'
        case _:
            shape = f'<{kind} radius="{values["radius"]!r}" length="{values["length"]!r}"/>'
    yield f"    <collision name={quoteattr(values['name'])}>"
    yield f"      {_origin(place)}"
    yield f"      <geometry>{shape}</geometry>"
    yield "    </collision>"


def _mimic(c: Coupling) -> str:
    law = f'multiplier="{_numbers(c.ratio)}" offset="{_numbers((c.offset,))}"'
    return f"    <mimic joint={quoteattr(c.to[0])} {law}/>"


def _origin(pose: Pose) -> str:
    rpy = pose.rpy if pose.turned_by_rpy() else rpy_of(pose.rotation())
    return f'<origin xyz="{_numbers(pose.xyz)}" rpy="{_numbers(rpy)}"/>'


def rpy_of(R: np.ndarray) -> tuple[float, float, float]:
    """Return roll, pitch and yaw of a rotation, exact but for rounding also where pitch is a right angle."""
    yaw = math.atan2(R[1, 0], R[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    rest = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ R  # Ry Rx
    return math.atan2(-rest[1, 2], rest[1, 1]), math.atan2(-rest[2, 0], rest[0, 0]), yaw


def _numbers(values: tuple) -> str:
    return " ".join(repr(x) for x in values_of(values))
