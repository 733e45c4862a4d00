"""`Field`: one declaration of a field of a dataclass, from which everything that knows the field is made.

A class declares its fields with `quantity` (numbers with a unit), `text`, `choice`, `name_of`, `names` and `whole`; fields of other
classes, such as a pose or a component, need no declaration: those classes say by `in_file` what they are in a file. `fields_of` returns
the declarations of a class. Readers and writers of TOML, their messages, the tables of the pages and JSON Schema all stand on it.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

NO_FORM = ("code",)
"""Kinds that no file can hold."""


@dataclasses.dataclass(frozen=True)
class Field:
    """One field of a declared class, and one key of its table in a file.

    Parameters
    ----------
    name : str
        The key.
    kind : str
        "number", "vector", "integer", "flag", "text", "choice" (one of some words), "refers" (the name of a joint, frame or constraint),
        "names" (a name or a list of them), "moment" (a time, or a word for one), "signal" (something to watch), "code" (no form in a file); or what the class of the value says
        by `in_file`: "pose", "record" (a nested table), "function" (a function of time), "visual", "component", "shape" or "model".
    record : type or None
        Class of the value, where that has an `in_file`.
    unit, size, meaning : str
        As declared. `unit` may be "A or B", A for a degree of freedom that turns and B for one that slides, or list that of each part,
        "rad, m". `size` is "1" for a number, "3" for a vector, "nv" for one number per degree of freedom, "n x m" for a matrix.
    required : bool
        Whether the key has to be there.
    default : object
        Value without the key.
    words : mapping of str to object
        Words of a choice: the value of each word.
    refers : str
        What the name in it is the name of: "joint", "frame" or "constraint".
    least, above : float or None
        Least number that is allowed; number that has to be exceeded.
    many : bool
        Whether the value is a list of what `kind` says.
    in_time : bool
        Whether the numbers may be a table or function over time.
    """

    name: str
    kind: str
    record: type | None = None
    unit: str = ""
    size: str = ""
    meaning: str = ""
    required: bool = False
    default: Any = None
    words: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    refers: str = ""
    least: float | None = None
    above: float | None = None
    many: bool = False
    in_time: bool = False

    @property
    def numeric(self) -> bool:
        """Whether the field holds numbers with a unit."""
        return self.kind in ("number", "vector")

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


# declarations


def quantity(
    unit: str,
    meaning: str,
    *,
    size: str = "1",
    default: Any = dataclasses.MISSING,
    least: float | None = None,
    above: float | None = None,
) -> Any:
    """Return a dataclass field that knows its unit, its meaning, its size and its range.

    `size` is "1" for a number, "3" for a vector, "nv" for one number per degree of freedom of a joint, "nq" for one per joint
    coordinate. The TOML reader, the messages, the documentation and JSON Schema all read this one declaration.
    """
    limits = {k: x for k, x in (("least", least), ("above", above)) if x is not None}
    return dataclasses.field(
        default=default, metadata={"unit": unit, "meaning": meaning, "size": size} | limits
    )


def whole(meaning: str, *, least: int = 0, default: Any = dataclasses.MISSING) -> Any:
    """Return a dataclass field that holds a whole number."""
    return dataclasses.field(
        default=default, metadata={"meaning": meaning, "kind": "integer", "least": least}
    )


def text(meaning: str, *, default: Any = dataclasses.MISSING, **more: Any) -> Any:
    """Return a dataclass field that holds a text, or something else that is no number; `more` goes to `dataclasses.field`."""
    return dataclasses.field(default=default, metadata={"meaning": meaning}, **more)


def choice(
    meaning: str, words: Mapping[str, Any] | Sequence[str], *, default: Any = dataclasses.MISSING
) -> Any:
    """Return a dataclass field that holds one of some words, or the value for which a file has a word."""
    held = dict(words) if isinstance(words, Mapping) else {word: word for word in words}
    return dataclasses.field(default=default, metadata={"meaning": meaning, "words": held})


def name_of(kind: str, meaning: str, *, default: Any = dataclasses.MISSING) -> Any:
    """Return a dataclass field that holds the name of a "joint", "frame", "body" or "constraint" of the mechanism."""
    return dataclasses.field(default=default, metadata={"refers": kind, "meaning": meaning})


def names(meaning: str, *, default: Any = dataclasses.MISSING) -> Any:
    """Return a dataclass field that holds a name or several."""
    return dataclasses.field(default=default, metadata={"meaning": meaning, "kind": "names"})


def elsewhere(meaning: str, *, default: Any = dataclasses.MISSING) -> Any:
    """Return a dataclass field that the table of its object does not hold: it is given in another table, or by the program."""
    return dataclasses.field(default=default, metadata={"meaning": meaning, "kind": "code"})


# reading them


@functools.cache
def fields_of(cls: type) -> tuple[Field, ...]:
    """Return the fields of a dataclass that its constructor takes, as they are declared."""
    hints = typing.get_type_hints(cls)
    return tuple(_field(f, hints[f.name]) for f in dataclasses.fields(cls) if f.init)


def parameters_text(cls: type, indent: str = "    ") -> str:
    """Return the lines that document the fields of a class as parameters, from their declarations."""
    lines = []
    for f in fields_of(cls):
        unit = f" [{f.unit}]" if f.unit not in ("", "-") else ""
        default = "" if f.required or f.default is None else f", default {f.default!r}"
        lines += [f"{indent}{f.name}{default}{unit}", f"{indent}    {f.meaning[:1].upper()}{f.meaning[1:]}."]
    return "\n".join(lines).strip()


def _field(field: dataclasses.Field[Any], hint: Any) -> Field:
    meta = field.metadata
    kind, record, many = _kind(field, hint)
    has_default = field.default is not dataclasses.MISSING
    has_factory = field.default_factory is not dataclasses.MISSING
    return Field(
        field.name,
        kind,
        record,
        meta.get("unit", ""),
        meta.get("size", ""),
        meta.get("meaning", ""),
        not has_default and not has_factory,
        field.default if has_default else None,
        meta.get("words", {}),
        meta.get("refers", ""),
        meta.get("least"),
        meta.get("above"),
        many,
        hint is Any,
    )


def _kind(field: dataclasses.Field[Any], hint: Any) -> tuple[str, type | None, bool]:
    """Return kind, class and whether there are several, by the declaration or else by the annotation."""
    meta = field.metadata
    if "kind" in meta:
        return meta["kind"], None, False
    for key, kind in (("words", "choice"), ("refers", "refers")):
        if key in meta:
            return kind, None, False
    allowed = (hint, *typing.get_args(hint))
    if any(typing.get_origin(a) is Callable for a in allowed):
        return "code", None, False
    if meta.get("size") == "names" or any(typing.get_args(a)[:1] == (str,) for a in allowed):
        return "names", None, False
    if found := _record(hint):
        return found
    for cls, kind in ((bool, "flag"), (int, "integer")):
        if cls in allowed:
            return kind, None, False
    if "unit" in meta:
        return ("number" if meta["size"] == "1" else "vector"), None, False
    if any(getattr(a, "__module__", "").startswith("casadi") for a in allowed):
        return "signal", None, False
    return ("text" if str in allowed else "code"), None, False


def _record(hint: Any) -> tuple[str, type, bool] | None:
    """Return kind and class of a value whose class says by `in_file` what it is, and whether there are several of it."""
    for a in (hint, *typing.get_args(hint)):
        if kind := getattr(a, "in_file", ""):
            return kind, a, False
        for inner in typing.get_args(a) if typing.get_origin(a) is tuple else ():
            if kind := getattr(inner, "in_file", ""):
                return kind, inner, True
    return None
