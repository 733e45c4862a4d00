"""Changed numbers into a TOML text."""

from __future__ import annotations

import tomllib
from typing import Any

from articulus.model.files.toml.edit import set_value
from articulus.model.files.toml.fields import table_fields
from articulus.model.files.toml.lines import places
from articulus.model.files.toml.texts import quote
from articulus.model.files.toml.writer import value_text
from articulus.model.files.units import parse_unit
from articulus.model.files.write_back.changes import BODY, Changes
from articulus.model.mechanism.body import Body
from articulus.model.mechanism.connection import Connection
from articulus.model.mechanism.numbers import values_of
from articulus.model.mechanism.pose import Pose, quaternion_of


def toml_with(text: str, name: str, found: Changes) -> str:
    """Return the text with the changes."""
    for parameter, value in found.parameters.items():
        held = tomllib.loads(text)["parameters"][parameter]
        inline = isinstance(held, dict)
        word = _like(held["value"] if inline else held, value)
        text = set_value(text, "parameters", f"{parameter}.value" if inline else parameter, word)
    for body, (old, new) in found.bodies.items():
        for f in BODY:
            if repr(getattr(old, f)) != repr(getattr(new, f)):
                text = set_value(text, f"body.{body}", f, _text(Body, f, getattr(new, f)))
    for joint, fields in found.fields.items():
        for f in fields:
            text = set_value(text, f"joint.{joint}", f, _text(Connection, f, getattr(found.new[joint], f)))
    for joint in found.frames:
        text = _place(text, f"joint.{joint}", found.new[joint].at)
    return text


def _like(held: Any, value: float) -> str:
    """Return a value as TOML, in the unit in which another one is given."""
    if not isinstance(held, str):
        return repr(value)
    _, _, unit = held.strip().partition(" ")
    return quote(f"{value / float(parse_unit(unit).factor)!r} {unit}")


def _text(kind: type, name: str, held: Any) -> str:
    return value_text(next(f for f in table_fields(kind) if f.name == name), held)


def _place(text: str, table: str, at: Pose) -> str:
    """Set the pose of a joint, which may be a value or a table of its own."""
    xyz = "[" + ", ".join(repr(float(x)) for x in values_of(at.xyz)) + "]"
    turn = "[" + ", ".join(repr(float(x)) for x in quaternion_of(at.rotation())) + "]"
    found = places(text)
    if f"{table}.at" in found.headings:
        text = set_value(text, f"{table}.at", "xyz", xyz)
        if f"{table}.at.rpy" in found.values:
            text = set_value(text, f"{table}.at", "rpy", "[0, 0, 0]")
        return set_value(text, f"{table}.at", "quaternion", turn)
    plain = at.rotation().trace() > 3 - 1e-15
    return set_value(text, table, "at", xyz if plain else f"{{xyz = {xyz}, quaternion = {turn}}}")
