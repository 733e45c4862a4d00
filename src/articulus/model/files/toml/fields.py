"""What the fields of the mechanism's classes are in a TOML file, taken from the declarations of those fields."""

from __future__ import annotations

import dataclasses
import functools

from articulus.declared import Field, fields_of
from articulus.declared.field import NO_FORM
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
    LoopJoint,
    Mesh,
    TimeFunction,
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


@functools.cache
def table_fields(cls: type) -> tuple[Field, ...]:
    """Return the keys of the table of an object of a class of `articulus.model.mechanism`; its name is that of the table."""
    named = {f.name for f in dataclasses.fields(cls) if "names_table" in f.metadata} | {"name"}
    return tuple(f for f in fields_of(cls) if f.kind not in NO_FORM and f.name not in named)
