"""What the fields of the mechanism's classes are in a TOML file, taken from the declarations of those fields."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Sequence
from typing import Any

from articulus.model.files.toml.mesh import MeshFile
from articulus.model.mechanism import (
    ALL_CONSTRAINTS,
    ALL_JOINTS,
    ALL_TIME_FUNCTIONS,
    ALL_VISUALS,
    Constraint,
    CustomConstraint,
    CustomTimeFunction,
    CustomVelocityConstraint,
    Joint,
    Limits,
    LoopJoint,
    Mesh,
    Pose,
    Rotor,
    TimeFunction,
    Visual,
)

JOINTS: dict[str, type[Joint]] = {kind.type_name: kind for kind in ALL_JOINTS}
CONSTRAINTS: dict[str, type[Constraint]] = {
    kind.type_name: kind
    for kind in ALL_CONSTRAINTS
    if kind not in (LoopJoint, CustomConstraint, CustomVelocityConstraint)
}
"""Types of [constraint.name] tables; loop joints have [loop.name] tables, functions of the user's no form in a file."""
TIME_FUNCTIONS: dict[str, type[TimeFunction]] = {
    kind.type_name: kind for kind in ALL_TIME_FUNCTIONS if kind is not CustomTimeFunction
}

VISUALS: dict[str, type] = {kind.type_name: MeshFile if kind is Mesh else kind for kind in ALL_VISUALS}
"""Types of the tables under `visuals`; the triangles of a mesh stand in a file."""


@dataclasses.dataclass(frozen=True)
class Field:
    """One key of a TOML table.

    Parameters
    ----------
    name : str
        The key.
    kind : str
        "number", "vector", "text", "pose", "record" (a nested table), "function" (one with a type), "visuals" (a list of
        such) or "names" (a name or a list of them).
    record : type or None
        Class of a nested table.
    unit, meaning, size : str
        As declared; `unit` may be "A or B", A for a degree of freedom that turns and B for one that slides.
    required : bool
        Whether the key has to be there.
    default : object
        Value without the key.
    """

    name: str
    kind: str
    record: type | None
    unit: str
    meaning: str
    size: str
    required: bool
    default: Any

    def units(self, rotational: Sequence[bool | None] = ()) -> list[str]:
        """Return the unit of each number, for a joint with the given degrees of freedom (None: part of a quaternion)."""
        if self.size in ("nv", "nq"):
            return [pick(self.unit, turns) for turns in rotational]
        return [pick(self.unit, all(rotational))] * int(self.size)


def pick(unit: str, turns: bool | None) -> str:
    """Return the one of "A or B" that holds for a degree of freedom that turns (A) or slides (B); None has no unit."""
    if turns is None:
        return "-"
    first, _, second = unit.partition(" or ")
    return first if turns or not second else second


@functools.cache
def fields_of(cls: type) -> tuple[Field, ...]:
    """Return the keys of the table that describes an object of a class of `articulus.model.mechanism`."""
    hints = typing.get_type_hints(cls)
    found = (_field(f, hints[f.name]) for f in dataclasses.fields(cls))
    return tuple(f for f in found if f is not None)


def _field(field: dataclasses.Field[Any], hint: Any) -> Field | None:
    kind, record = _kind(field, hint)
    if not kind or field.name == "name" or "names_table" in field.metadata:
        return None
    meta = field.metadata
    return Field(
        field.name,
        kind,
        record,
        meta.get("unit", ""),
        meta.get("meaning", ""),
        meta.get("size", ""),
        field.default is dataclasses.MISSING,
        field.default,
    )


def _kind(field: dataclasses.Field[Any], hint: Any) -> tuple[str, type | None]:
    if "unit" in field.metadata:
        return ("number" if field.metadata["size"] == "1" else "vector"), None
    if hint is str:
        return "text", None
    if hint is Pose:
        return "pose", Pose
    if hint in (TimeFunction, TimeFunction | None):
        return "function", TimeFunction
    if hint == tuple[str, ...]:
        return "names", None
    if hint == tuple[Visual, ...]:
        return "visuals", None
    for record in (Rotor, Limits):
        if hint in (record, record | None):
            return "record", record
    return "", None
