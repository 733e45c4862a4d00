"""A compiled MuJoCo model as a Description."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from articulus.model.files.mjcf.collisions import collisions_of
from articulus.model.files.mjcf.devices import Devices, Names, compensated_bodies
from articulus.model.files.mjcf.equalities import Equalities
from articulus.model.files.mjcf.unsupported import Omission
from articulus.model.files.mjcf.visuals import body_visuals
from articulus.model.mechanism import (
    GROUND,
    Body,
    Connection,
    Constraint,
    Coupling,
    Description,
    Device,
    Fixed,
    Frame,
    Free,
    Joint,
    Limits,
    Pose,
    Prismatic,
    Revolute,
    Spherical,
    values_of,
)
from articulus.model.mechanism.pose import quaternion_of
from articulus.spatial import exact

FREE, BALL, SLIDE, HINGE = range(4)
SPRING, DAMPER, GRAVITY, FRICTIONLOSS, EQUALITY = "SPRING", "DAMPER", "GRAVITY", "FRICTIONLOSS", "EQUALITY"
CONTACT, FILTER = "CONTACT", "FILTERPARENT"

Numbers = tuple[float, ...]


def convert(
    model: Any, disabled: set[str], title: str, source: str, locate: Callable[[str], str]
) -> tuple[Description, list[Omission], list[Omission]]:
    """Return the Description of a compiled model, what is omitted of it, and what is omitted of its shapes that touch.

    `disabled` are the names of switched-off forces.
    """
    converter = _Converter(model, disabled)
    return converter.description(title, source, locate), converter.omissions, converter.lost_shapes


class _Converter:
    def __init__(self, model: Any, disabled: set[str]):
        self.model = model
        self.disabled = disabled
        self.points: set[str] = {GROUND}
        self.omissions: list[Omission] = []
        self.lost_shapes: list[Omission] = []
        self.joint_names: set[str] = {model.jnt(j).name for j in range(model.njnt)}
        self.joints: list[str] = []
        self.numbers, self.texts = _custom(model)
        self.bodies = [
            GROUND,
            *(self._point(model.body(i).name, f"body{i}", "_body") for i in range(1, model.nbody)),
        ]

    def description(self, title: str, source: str, locate: Callable[[str], str]) -> Description:
        m = self.model
        bodies: list[Body] = []
        joints: list[Connection] = []
        for i in range(1, m.nbody):
            chain = list(self._chain(i))
            bodies += [Body(c.child, massless=f"between the joints of {self.bodies[i]}") for c in chain[:-1]]
            bodies.append(replace(self._body(i), visuals=body_visuals(m, i)))
            joints += chain
        sites = tuple(self._site(i) for i in range(m.nsite))
        centers = tuple(
            Frame(frame, self.bodies[i], Pose(_floats(m.body_ipos[i])))
            for i, frame in compensated_bodies(m, self.disabled, self.bodies)
        )
        frames = sites + centers
        gravity = (0.0, 0.0, 0.0) if GRAVITY in self.disabled else _floats(m.opt.gravity)
        standing = body_visuals(m, 0)
        names = Names(self.bodies, [f.name for f in sites], self.joints)
        constraints, couplings = self._constraints(names)
        parts = (tuple(bodies), tuple(joints), frames, gravity, source, constraints)
        built = Description.build(title, *parts, visuals=standing, locate=locate, couplings=couplings)
        devices = Devices(m, self.disabled, built, names)
        self.omissions += devices.omissions
        shapes = () if CONTACT in self.disabled else self._collisions()
        return replace(built, equipment=replace(devices.equipment, collisions=shapes))

    def _collisions(self) -> tuple[Device, ...]:
        shapes, self.lost_shapes = collisions_of(self.model, self.bodies, FILTER not in self.disabled)
        return tuple(shapes)

    def _constraints(self, names: Names) -> tuple[tuple[Constraint, ...], tuple[Coupling, ...]]:
        if EQUALITY in self.disabled:
            return (), ()
        held = Equalities(self.model, *names)
        self.omissions += held.omissions
        return tuple(held.constraints), tuple(held.couplings)

    def _point(self, name: str, stand_in: str, suffix: str) -> str:
        """Return a name that no body or frame has yet."""
        return _free_name(name or stand_in, suffix, self.points)

    def _body(self, i: int) -> Body:
        m, name = self.model, self.bodies[i]
        if m.body_mass[i] == 0:
            return Body(name, massless="no mass in the MJCF model")
        inertia = (*_floats(m.body_inertia[i]), 0.0, 0.0, 0.0)
        turn = _floats(m.body_iquat[i])
        if turn != (1.0, 0.0, 0.0, 0.0) and all(np.isfinite(turn)):
            R = Pose(quaternion=turn).rotation()
            I = R @ np.diag(m.body_inertia[i]) @ R.T
            inertia = _floats((I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]))
        return self._mark_massless(Body(name, float(m.body_mass[i]), _floats(m.body_ipos[i]), inertia))

    def _mark_massless(self, body: Body) -> Body:
        """Return a body that MuJoCo accepts; one without inertia, which has to be welded to another, is marked."""
        if not np.isfinite(values_of(body.inertia)).all():
            return body  # refused with all other numbers
        found = list(body.findings(f"body.{body.name}"))
        if not found:
            return body
        doubts = [Omission(f.where, f.found, "doubtful inertia", f.expected) for f in found]
        self.omissions += doubts
        return replace(body, doubtful="inertia of the MJCF file, as it is")

    def _chain(self, i: int) -> Iterator[Connection]:
        """Yield the joints from a body's parent to the body, one body without mass after each but the last."""
        m, name = self.model, self.bodies[i]
        parent = self.bodies[m.body_parentid[i]]
        placed = Pose(_floats(m.body_pos[i]), quaternion=_floats(m.body_quat[i]))
        first, count = m.body_jntadr[i], m.body_jntnum[i]
        if count == 0:
            given = self.texts.get(f"articulus.fixed.{name}", f"{name}_fixed")
            yield Connection(_free_name(given, "_", self.joint_names), Fixed(), parent, name, placed)
        for j in range(first, first + count):
            last = j == first + count - 1
            joint = m.jnt(j).name or _free_name(f"{name}_joint{j - first}", "_", self.joint_names)
            self.joints.append(joint)
            child = name if last else self._point(f"{name}.{joint}", "", "_")
            yield self._connection(j, joint, parent, child, placed)
            parent, placed = child, Pose()

    def _connection(self, j: int, name: str, parent: str, child: str, placed: Pose) -> Connection:
        """Return one joint; `placed` is the pose of the body's frame in the parent before this joint moves."""
        m = self.model
        kind, anchor = m.jnt_type[j], Pose(_floats(m.jnt_pos[j]))
        if kind == FREE:
            return Connection(name, Free(), parent, child, **self._acting(j, 6))
        at = _then(placed, anchor)
        if kind == BALL:
            return Connection(name, Spherical(), parent, child, at, anchor, **self._acting(j, 3))
        axis = _unit(m.jnt_axis[j])
        joint: Joint = Revolute(axis) if kind == HINGE else Prismatic(axis)
        at = _shift_reference(at, kind, axis, -float(m.qpos0[m.jnt_qposadr[j]]))
        return Connection(
            name,
            joint,
            parent,
            child,
            at,
            anchor,
            limits=self._limits(j),
            **self._acting(j, 1),
            **self._spring(j),
        )

    def _acting(self, j: int, nv: int) -> dict[str, Any]:
        m, at = self.model, self.model.jnt_dofadr[j]
        speed = self.numbers.get(f"articulus.coulomb_speed.{m.jnt(j).name}")
        held = {"armature": m.dof_armature}
        if DAMPER not in self.disabled:
            held["damping"] = m.dof_damping
        if FRICTIONLOSS not in self.disabled:
            held["coulomb"] = m.dof_frictionloss
        out: dict[str, Any] = {
            key: _floats(v[at : at + nv]) for key, v in held.items() if np.any(v[at : at + nv])
        }
        return out | ({"coulomb_speed": speed[0]} if speed else {})

    def _spring(self, j: int) -> dict[str, Any]:
        m = self.model
        if not m.jnt_stiffness[j] or SPRING in self.disabled:
            return {}
        return {"stiffness": (float(m.jnt_stiffness[j]),), "rest": (float(m.qpos_spring[m.jnt_qposadr[j]]),)}

    def _limits(self, j: int) -> Limits:
        m = self.model
        held: dict[str, Numbers] = {}
        if m.jnt_limited[j]:
            low, high = _floats(m.jnt_range[j])
            held = {"lower": (low,), "upper": (high,)}
        if m.jnt_actfrclimited[j]:
            held["effort"] = (float(np.max(np.abs(m.jnt_actfrcrange[j]))),)
        velocity = self.numbers.get(f"articulus.velocity.{m.jnt(j).name}", ())
        return Limits(**held, velocity=velocity)

    def _site(self, i: int) -> Frame:
        m = self.model
        name = self._point(m.site(i).name, f"site{i}", "_site")
        pose = Pose(_floats(m.site_pos[i]), quaternion=_floats(m.site_quat[i]))
        return Frame(name, self.bodies[m.site_bodyid[i]], pose)


def _custom(model: Any) -> tuple[dict[str, Numbers], dict[str, str]]:
    """Return the numbers and texts of <custom> by their names."""
    import mujoco

    numbers = {model.numeric(i).name: _floats(model.numeric(i).data) for i in range(model.nnumeric)}
    held, texts = bytes(model.text_data), {}
    for i in range(model.ntext):
        first = int(model.text_adr[i])
        text = held[first : first + int(model.text_size[i])].rstrip(b"\0")
        texts[mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TEXT, i)] = text.decode(errors="replace")
    return numbers, texts


def _free_name(name: str, suffix: str, taken: set[str]) -> str:
    while name in taken:
        name += suffix
    taken.add(name)
    return name


def _floats(numbers: Any) -> Numbers:
    return tuple(float(x) for x in numbers)


def _unit(axis: Any) -> tuple[float, float, float]:
    """Return an axis with exact zeros and ones where rounding alone keeps it from them."""
    x, y, z = exact(np.asarray(axis, dtype=float))
    return (float(x), float(y), float(z))


def _then(first: Pose, second: Pose) -> Pose:
    """Return the pose of a frame `second` in a frame that has the pose `first`; both turned by quaternions."""
    if second.is_identity:
        return first
    offset = first.rotation() @ np.array(second.xyz)
    return Pose(_floats(np.array(first.xyz) + offset), quaternion=first.quaternion)


def _shift_reference(pose: Pose, kind: int, axis: tuple[float, float, float], amount: float) -> Pose:
    """Return a joint frame turned about, or moved along, its axis by the reference position of the joint."""
    if amount == 0:
        return pose
    R = pose.rotation()
    if kind == SLIDE:
        return Pose(_floats(np.array(pose.xyz) + R @ np.array(axis) * amount), quaternion=pose.quaternion)
    turn = Pose(
        quaternion=(float(np.cos(amount / 2)), *_floats(np.array(axis) * np.sin(amount / 2)))
    ).rotation()
    return Pose(pose.xyz, quaternion=quaternion_of(R @ turn))
