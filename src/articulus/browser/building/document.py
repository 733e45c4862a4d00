"""The text of a model while it is built: edits of its lines, each of which can be undone."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from articulus.errors import Finding, ModelError
from articulus.model.files.toml.edit import (
    add_table,
    remove_table,
    remove_value,
    rename_part,
    set_numbers,
    set_value,
)
from articulus.model.files.toml.lines import places
from articulus.model.files.toml.reader import load_tables
from articulus.model.files.toml.texts import key, quote

MOST_STEPS = 500
"""Steps that can be undone."""
TYPED = "typing"
"""What is said of changes typed into the text; those in a row are undone together."""
KINDS = ("body", "joint", "frame", "loop", "constraint", "coupling", "component", "collision", "state")
"""Kinds of named tables of a model."""
EXPECTED = 'a value: a number, a "text", a [list] or a {table}'
NEW = """schema = 1
name = {name}

[body.arm]
mass = 1.0
com = [0, 0, 0.25]
inertia = [0.02, 0.02, 0.002]

[joint.hinge]
type = "revolute"
parent = "ground"
child = "arm"
axis = [0, 1, 0]

[frame.tip]
body = "arm"
at = [0, 0, 0.5]
"""
"""What a new file begins with."""


def new_text(name: str) -> str:
    """Return the text of a new model: one body that swings on a hinge."""
    return NEW.format(name=quote(name))


@dataclass(frozen=True)
class Step:
    """A text, and what was done to arrive at it."""

    text: str
    what: str


class Document:
    """The text of a model, with all that it was before.

    Parameters
    ----------
    text : str
    name : str
        Name of the file.

    Attributes
    ----------
    number : int
        Grows with every change.
    saved : str or None
        Text that the file holds; None where there is no file.
    """

    def __init__(self, text: str, name: str = "model.toml", saved: str | None = None):
        self.name, self.saved, self.number = name, saved, 0
        self._steps, self._at = [Step(text, "")], 0

    @property
    def text(self) -> str:
        return self._steps[self._at].text

    @property
    def undo_name(self) -> str:
        """What `undo` takes back; empty if there is nothing."""
        return self._steps[self._at].what

    @property
    def redo_name(self) -> str:
        """What `redo` does again; empty if there is nothing."""
        return self._steps[self._at + 1].what if self._at + 1 < len(self._steps) else ""

    @property
    def is_saved(self) -> bool:
        return self.text == self.saved

    def replace(self, text: str, what: str) -> None:
        """Take another text as the newest step; the same text is none."""
        if text == self.text:
            return
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ModelError(Finding(self.name, f"half a character at place {error.start}", "text")) from None
        kept = self._steps[: self._at + 1]
        if what == TYPED == self.undo_name:
            kept = kept[:-1]
        self._steps = [*kept, Step(text, what)][-MOST_STEPS:]
        self._at = len(self._steps) - 1
        self.number += 1

    def edit(self, edits: Sequence[Mapping[str, Any]], what: str) -> None:
        """Change the lines; all edits are one step, and if one of them cannot be done there is none.

        Raises
        ------
        ModelError
            The text is no TOML, something is not there, or a value is none.
        """
        load_tables(self.text, self.name)
        text = self.text
        for each in edits:
            text = edited(text, each)
            load_tables(text, self.name)
        self.replace(text, what)

    def undo(self) -> None:
        self._go(-1)

    def redo(self) -> None:
        self._go(1)

    def _go(self, by: int) -> None:
        if 0 <= self._at + by < len(self._steps):
            self._at += by
            self.number += 1


def edited(text: str, edit: Mapping[str, Any]) -> str:
    """Return a text after one edit that a page asks for.

    Parameters
    ----------
    text : str
    edit : mapping
        With the key "op": "set" (table, key, value: TOML), "clear" (table, key), "numbers" (table, key, value: list of numbers), "add"
        (table, entries: TOML by key), "remove" (table), or "rename" (kind, old, new).
    """
    match edit:
        case {"op": "set", "table": str(table), "key": str(name), "value": str(value)}:
            if table == "parameters" and not tomllib.loads(text).get(table):
                text = f"{text.rstrip()}\n\n[parameters]\n"
            return set_value(text, table, _known_key(text, table, name), _value(name, value))
        case {"op": "clear", "table": str(table), "key": str(name)}:
            return remove_value(text, table, name)
        case {"op": "numbers", "table": str(table), "key": str(name), "value": list(value)} if all(
            type(x) in (int, float) and abs(x) < 1e300 for x in value
        ):
            return set_numbers(text, table, name, value)
        case {"op": "add", "table": str(table), "entries": dict(entries)}:
            _require_new(text, table)
            return add_table(text, table, {_written_key(k): _value(k, str(v)) for k, v in entries.items()})
        case {"op": "remove", "table": str(table)}:
            return _remove(text, table)
        case {"op": "rename", "kind": str(kind), "old": str(old), "new": str(new)}:
            if new == old:
                return text
            _require_new(text, f"{kind}.{new}")
            return rename_part(text, kind, old, new)
    raise ModelError(Finding("", f"an edit with {sorted(map(str, edit))[:8]}", "a known edit"))


def _known_key(text: str, table: str, name: str) -> str:
    """Return a key as `set_value` takes it: as it is where it is known, else written for the file."""
    if f"{table}.{name}" in places(text).values:
        return name
    return key(name) if table == "parameters" else _written_key(name)


def _written_key(name: str) -> str:
    return ".".join(map(key, name.split(".")))


def _value(name: str, value: str) -> str:
    """Return a value written as TOML; refuse what would be more or less than one value where it is put."""
    for frame in ("k = {}", "k = [{}]"):
        try:
            good = list(tomllib.loads(frame.format(value))) == ["k"]
        except (ValueError, RecursionError):
            good = False
        if not good:
            raise ModelError(Finding(name, f"'{value}'" if value else "nothing", EXPECTED))
    return value


def _require_new(text: str, table: str) -> None:
    kind, _, name = table.partition(".")
    if kind not in (*KINDS, "parameters") or not name.strip():
        raise ModelError(Finding(kind, "no name", "a name"))
    if name in tomllib.loads(text).get(kind, {}):
        raise ModelError(Finding(f"{kind}.{name}", "a name that is taken", "another name"))


def _remove(text: str, table: str) -> str:
    """Return a text without a part; a body takes the joints that carry it along, and a joint its coupling."""
    kind, _, name = table.partition(".")
    data = tomllib.loads(text)
    gone = [table]
    if kind == "body":
        joints = data.get("joint", {})
        gone += [f"joint.{j}" for j, t in joints.items() if isinstance(t, dict) and t.get("child") == name]
    gone += [f"coupling.{j.partition('.')[2]}" for j in gone if j.startswith("joint.")]
    for path in gone:
        text = remove_table(text, path)
    return text
