"""What differs between a mechanism and the one that a file holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulus.errors import InputError, ModelError
from articulus.model.mechanism import Description
from articulus.model.mechanism.body import Body
from articulus.model.mechanism.connection import Connection
from articulus.model.mechanism.numbers import values_of
from articulus.model.mechanism.pose import Pose

SAME = 1e-12
"""Difference of numbers, over the largest of their kind in the field, that is rounding."""
BODY = ("mass", "com", "inertia")
JOINT = ("armature", "damping", "coulomb", "stiffness", "rest")
LIMITS = ("lower", "upper", "velocity", "effort")


@dataclass(frozen=True)
class Changes:
    """Numbers that are others.

    Parameters
    ----------
    parameters : dict of name to value
    bodies : dict of name to (old, new)
    fields : dict of joint to names of fields
        Of `JOINT`.
    frames : tuple of joints
        Whose frame on the parent is elsewhere.
    old, new : dict of joint to Connection
    """

    parameters: dict[str, float] = field(default_factory=dict)
    bodies: dict[str, tuple[Body, Body]] = field(default_factory=dict)
    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)
    frames: tuple[str, ...] = ()
    old: dict[str, Connection] = field(default_factory=dict)
    new: dict[str, Connection] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.parameters or self.bodies or self.fields or self.frames)

    def __str__(self) -> str:
        parts = [f"parameter {n}" for n in self.parameters] + [f"body {n}" for n in self.bodies]
        parts += [f"joint {n} ({', '.join(f)})" for n, f in self.fields.items()] + [
            f"frame of joint {n}" for n in self.frames
        ]
        return ", ".join(parts)


def changes(old: Description, new: Description, tolerance: float = SAME) -> Changes:
    """Return what differs; raise InputError for mechanisms of other bodies or joints."""
    for kind in ("bodies", "connections"):
        names = [tuple(x.name for x in getattr(d, kind)) for d in (old, new)]
        if sorted(names[0]) != sorted(names[1]):
            odd = sorted(set(names[0]) ^ set(names[1]))
            raise InputError(
                f"write_back: {kind} {', '.join(odd)} are in one of the two mechanisms only; expected the file's mechanism with other numbers"
            )
    before = {p.name: p.value for p in old.parameters}
    parameters = {
        p.name: float(p.value)
        for p in new.parameters
        if p.name in before and not _same(before[p.name], p.value, tolerance)
    }
    now = {b.name: b for b in new.bodies}
    bodies = {
        b.name: (b, now[b.name])
        for b in old.bodies
        if b.modes is None
        and not all(_alike(getattr(b, f), getattr(now[b.name], f), parameters, tolerance) for f in BODY)
    }
    was, joints = {c.name: c for c in old.connections}, {c.name: c for c in new.connections}
    fields: dict[str, tuple[str, ...]] = {}
    for n, c in joints.items():
        differ = tuple(
            f for f in JOINT if not _alike(getattr(was[n], f), getattr(c, f), parameters, tolerance)
        )
        if differ:
            fields[n] = differ
    frames = tuple(n for n, c in joints.items() if not same_pose(was[n].at, c.at, tolerance))
    return Changes(parameters, bodies, fields, frames, was, joints)


def others(old: Description, new: Description, parameters: dict[str, float]) -> list[str]:
    """Return what differs and is not written, in words; what follows changed parameters does not count."""

    def same(a: Any, b: Any) -> bool:
        return bool(parameters) or repr(a) == repr(b)

    out = [] if _alike(old.gravity, new.gravity, parameters, SAME) else ["gravity"]
    now = {b.name: b for b in new.bodies}
    for b in old.bodies:
        if b.modes is not None and not all(
            _alike(getattr(b, f), getattr(now[b.name], f), parameters, SAME) for f in BODY
        ):
            out.append(f"mass of the flexible body {b.name}")
    joints = {c.name: c for c in new.connections}
    for c in old.connections:
        d = joints[c.name]
        if (c.parent, c.child) != (d.parent, d.child):
            out.append(f"bodies of joint {c.name}")
        if not same(c.joint, d.joint):
            out.append(f"axis or type of joint {c.name}")
        if not same_pose(c.child_at, d.child_at):
            out.append(f"place of joint {c.name} on {c.child}")
        if not (same(c.rotor, d.rotor) and _alike(c.coulomb_speed, d.coulomb_speed, parameters, SAME)):
            out.append(f"rotor or speed of friction of joint {c.name}")
        if not all(_alike(getattr(c.limits, f), getattr(d.limits, f), parameters, SAME) for f in LIMITS):
            out.append(f"limits of joint {c.name}")
    frames = {f.name: f for f in new.frames}
    for f in old.frames:
        if f.name not in frames or frames[f.name].body != f.body or not same_pose(f.at, frames[f.name].at):
            out.append(f"frame {f.name}")
    out += [f"frame {name}" for name in frames if name not in {f.name for f in old.frames}]
    for kind in ("constraints", "couplings"):
        if not same(getattr(old, kind), getattr(new, kind)):
            out.append(kind)
    return out


def require_possible(found: Changes) -> None:
    """Raise ModelError for bodies that no distribution of mass has."""
    findings = [f for _, body in found.bodies.values() for f in body.findings(f"body.{body.name}")]
    if findings:
        raise ModelError(findings)


def same_pose(a: Pose, b: Pose, tolerance: float = SAME) -> bool:
    """Whether two poses are one."""
    if a == b:
        return True
    length = max(abs(x) for x in (*values_of(a.xyz), *values_of(b.xyz)))
    near = np.allclose(values_of(a.xyz), values_of(b.xyz), rtol=0, atol=tolerance * length * 10)
    return bool(near and np.allclose(a.rotation(), b.rotation(), rtol=0, atol=tolerance * 10))


def _alike(a: Any, b: Any, changed: dict[str, float], tolerance: float) -> bool:
    """Whether a field is the same; one that follows the same parameters is, whatever their values."""
    if repr(a) == repr(b):
        return True
    x, y = (np.atleast_1d(values_of(v if isinstance(v, tuple) else (v,))) for v in (a, b))
    x, y = (v if v.size else np.zeros(max(x.size, y.size)) for v in (x, y))
    if _varying(a) and _varying(b) and changed:
        return True
    return x.shape == y.shape and _same(x, y, tolerance)


def _varying(value: Any) -> bool:
    return any(not isinstance(v, (float, int)) for v in (value if isinstance(value, tuple) else (value,)))


def _same(a: Any, b: Any, tolerance: float) -> bool:
    size = max(float(np.max(np.abs(a), initial=0.0)), float(np.max(np.abs(b), initial=0.0)))
    return bool(np.max(np.abs(np.subtract(a, b)), initial=0.0) <= tolerance * size)
