"""What the fields of components and events are in a study file, taken from the declarations of those fields."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca

from articulus.model.mechanism import Constraint, Description
from articulus.simulation.loop.component import Actuator, Component, Sensor
from articulus.simulation.loop.components import ALL_COMPONENTS, Observer
from articulus.simulation.loop.contact import Shape

NESTED: tuple[type, ...] = (Sensor, Actuator)


@dataclasses.dataclass(frozen=True)
class ComponentField:
    """One key of a [[component]] or [[event]] table.

    Parameters
    ----------
    name : str
        The key.
    kind : str
        "numbers", "integer", "flag", "text", "names", "component", "shape", "observer" or "model"; of events also "word", "refers"
        and "function". "code" has no form in a file, "function" none in a component.
    unit, size, meaning : str
        As declared.
    required : bool
        Whether the key has to be there.
    base : type or None
        What a nested component has to be.
    words : mapping of str to int
        Numbers that have a word each.
    refers : str
        What the name in it is the name of: "joint", "frame" or "constraint".
    """

    name: str
    kind: str
    unit: str
    size: str
    required: bool
    base: type | None = None
    meaning: str = ""
    words: Mapping[str, int] = dataclasses.field(default_factory=dict)
    refers: str = ""


@functools.cache
def component_fields(cls: type) -> tuple[ComponentField, ...]:
    """Return the keys of the table that describes an object of a component's or event's class."""
    hints = typing.get_type_hints(cls)
    return tuple(_field(f, hints[f.name]) for f in dataclasses.fields(cls) if f.init)


def _field(field: dataclasses.Field[Any], hint: Any) -> ComponentField:
    kind, base = _kind(field, hint)
    meta = field.metadata
    return ComponentField(
        field.name,
        kind,
        meta.get("unit", ""),
        meta.get("size", ""),
        field.default is dataclasses.MISSING,
        base,
        meta.get("meaning", ""),
        meta.get("words", {}),
        meta.get("refers", ""),
    )


def _kind(field: dataclasses.Field[Any], hint: Any) -> tuple[str, type | None]:
    for key, word in (("words", "word"), ("refers", "refers")):
        if key in field.metadata:
            return word, None
    allowed = {*typing.get_args(hint), hint}
    if any(typing.get_origin(a) is Callable for a in allowed):
        return "code", None
    if field.metadata.get("size") == "names" or any(typing.get_args(a)[:1] == (str,) for a in allowed):
        return "names", None
    for base in NESTED:
        if base in allowed:
            return "component", base
    words = {
        Observer: "observer",
        Shape: "shape",
        Description: "model",
        ca.Function: "function",
        Constraint: "function",
        bool: "flag",
        int: "integer",
    }
    for cls, word in words.items():
        if cls in allowed:
            return word, None
    if "unit" in field.metadata:
        return "numbers", None
    return "text", None


TYPES: dict[str, type[Component]] = {
    c.type_name: c
    for c in ALL_COMPONENTS
    if all(f.kind not in ("function", "code") for f in component_fields(c))
}
"""Components that a study file can hold, by the name of their type."""

IN_PYTHON: tuple[str, ...] = tuple(c.type_name for c in ALL_COMPONENTS if c.type_name not in TYPES)
"""Types of components that hold a function of the user's, which no file can."""
