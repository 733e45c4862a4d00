"""One mechanism on another."""

from __future__ import annotations

import dataclasses
from typing import Any

from articulus.errors import Finding, InputError
from articulus.model.mechanism.body import GROUND, Body
from articulus.model.mechanism.connection import Connection
from articulus.model.mechanism.constraint import Constraint, NoSlip, Touching, references
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.edit.couplings import rename_couplings
from articulus.model.mechanism.edit.equipment import with_prefix
from articulus.model.mechanism.edit.rebuild import compose, rebuilt, taken_over
from articulus.model.mechanism.equipment import Equipment
from articulus.model.mechanism.joint import Fixed, Free, Joint
from articulus.model.mechanism.pose import Pose
from articulus.model.mechanism.visual import Visual

ON_THE_GROUND = (Touching, NoSlip)
"""Constraints that are about the ground without naming it."""


def attach(
    d: Description,
    other: Description,
    at: str,
    joint: Joint | None = None,
    pose: Pose = Pose(),
    prefix: str = "",
    base: str = "base",
) -> Description:
    """Return a mechanism with another one on it.

    The ground of the other becomes a massless body, named prefix + base, that hangs by a joint of the same name at a body or
    frame. The coordinates are those of the first mechanism, then the new joint's, then those of the other. Gravity is that of
    the first. A root of the other that floats on its free joint is welded to the new body, unless that is fixed to the ground.

    Parameters
    ----------
    d, other : Description
    at : str
        Body or frame of `d`, or "ground".
    joint : Joint
        How the other hangs there; fixed if not given.
    pose : Pose
        Pose of the joint's frame in the frame `at`.
    prefix : str
        Before every name of the other. Named parameters keep theirs: one name is one number.
    base : str
    """
    body, frame = d.carrier(at)
    _require_new_names(d, other, prefix, base)

    def rename_visuals(visuals: tuple[Visual, ...]) -> tuple[Visual, ...]:
        return tuple(v.rename(lambda name: _new_name(name, prefix, prefix + base)) for v in visuals)

    mount = Body(
        prefix + base, massless=f"the ground of '{other.name}'", visuals=rename_visuals(other.visuals)
    )
    here = Connection(
        mount.name, joint or Fixed(), body, mount.name, _joint_pose(frame.at, pose), node=frame.node
    )
    resting = body == GROUND and joint is None
    moved = [_rename_connection(c, prefix, mount.name, resting) for c in other.connections]
    bodies = [
        dataclasses.replace(b, name=prefix + b.name, visuals=rename_visuals(b.visuals)) for b in other.bodies
    ]
    frames = [
        dataclasses.replace(f, name=prefix + f.name, body=_new_name(f.body, prefix, mount.name))
        for f in other.frames
    ]
    theirs = with_prefix(other.equipment, prefix, lambda name: _new_name(name, prefix, mount.name))
    bare = rebuilt(
        d,
        bodies=(*d.bodies, mount, *bodies),
        connections=(*d.connections, here, *moved),
        frames=(*d.frames, *frames),
        constraints=(),
        findings=d.findings + other.findings,
        couplings=d.couplings + rename_couplings(other.couplings, prefix),
        equipment=Equipment(
            d.equipment.devices + theirs.devices,
            d.equipment.states + theirs.states,
            d.equipment.collisions + theirs.collisions,
        ),
    )
    in_place = resting and here.at.is_identity
    added = [_constraint(c, prefix, mount.name, in_place) for c in other.constraints]
    constraints = taken_over("with_attached", d.constraints, d, bare)
    return rebuilt(
        bare, constraints=constraints + taken_over("with_attached", added, other, bare, prefix=prefix)
    )


def _joint_pose(frame: Pose, pose: Pose) -> Pose:
    """Return the pose of the joint in the body."""
    found = compose(frame, pose)
    if found is None:
        raise InputError(
            Finding(
                "with_attached",
                "parameters in the rotation of the frame, or of `pose` on a frame that is turned",
                "plain numbers there",
                "Add a frame at the right place, and attach without `pose`",
            )
        )
    return found


def _new_name(name: str, prefix: str, mount: str) -> str:
    return mount if name == GROUND else prefix + name


def _rename_connection(c: Connection, prefix: str, mount: str, resting: bool) -> Connection:
    names: dict[str, Any] = {
        "name": prefix + c.name,
        "parent": _new_name(c.parent, prefix, mount),
        "child": prefix + c.child,
    }
    if c.parent == GROUND and isinstance(c.joint, Free) and not resting:
        return Connection(joint=Fixed(), at=c.at, child_at=c.child_at, **names)
    return dataclasses.replace(c, **names)


def _constraint(c: Constraint, prefix: str, mount: str, in_place: bool) -> Constraint:
    if isinstance(c, ON_THE_GROUND) and not in_place:
        raise InputError(
            f"attached: constraint '{c.name}' of the other mechanism is about the ground, which is elsewhere now; expected it to be "
            'attached at "ground" without a pose or joint'
        )
    names: dict[str, Any] = {
        field: _new_name(name, prefix, mount) if kind == "frame" else prefix + name
        for field, kind, name in references(c)
    }
    return dataclasses.replace(c, name=prefix + c.name, **names)  # type: ignore[type-var]


def _require_new_names(d: Description, other: Description, prefix: str, base: str) -> None:
    """Raise InputError for names that both mechanisms have."""
    mine = {
        "body or frame": _points(d),
        "joint": [c.name for c in d.connections],
        "constraint": [c.name for c in d.constraints],
        "component": [x.name for x in d.equipment.devices],
        "state": [x.name for x in d.equipment.states],
        "collision": [x.name for x in d.equipment.collisions],
    }
    theirs = {
        "body or frame": [base, *_points(other)],
        "joint": [base, *(c.name for c in other.connections)],
        "constraint": [c.name for c in other.constraints],
        "component": [x.name for x in other.equipment.devices],
        "state": [x.name for x in other.equipment.states],
        "collision": [x.name for x in other.equipment.collisions],
    }
    for kind, names in theirs.items():
        seen = set(mine[kind])
        for name in names:
            if prefix + name in seen:
                raise InputError(
                    f"attached: two of the name '{prefix + name}' ({kind}) in '{d.name}' and '{other.name}'; expected names of "
                    'its own for each. Give a prefix such as prefix="left_"'
                )
            seen.add(prefix + name)


def _points(d: Description) -> list[str]:
    return [b.name for b in d.bodies] + [f.name for f in d.frames]
