"""Numbers of components and events that can vary: their names, such as "servo.kp", "servo.kp[0]" or "latch.level", and their units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from articulus.declared import fields_of
from articulus.errors import InputError
from articulus.model.files.report import Report
from articulus.model.mechanism import Description
from articulus.simulation.results.signal import Signal
from articulus.study.components import Components
from articulus.study.fields import TYPES
from articulus.study.numbers import StudyNumbers, factor_of

_PLACE = re.compile(r"(.+)\.(\w+)(?:\[(\d+)\])?")
EVENT_NUMBERS = ("level",)
"""Numbers of events that can be parameters."""
FIXED = ("period",)
"""Numbers of components that cannot: they decide at which steps a component acts."""


def inner_name(name: str) -> str:
    """Return the name of the parameter that a number of a component or event becomes."""
    return re.sub(r"\W+", "_", name).strip("_")


def number_names(data: Mapping[str, Any]) -> list[str]:
    """Return the name of every number of the tables of a study that can become a parameter."""
    out = []
    for kind, table in _tables(data):
        for key in (k for k in table if k in _numeric(kind, table)):
            held, name = table[key], f"{_owner(table)}.{key}"
            if _is_number(held):
                out.append(name)
            elif isinstance(held, list):
                out += [f"{name}[{i}]" for i, x in enumerate(held) if _is_number(x)]
    return out


def make_parameter(data: dict[str, Any], name: str) -> str | None:
    """Make a number of a component or event of a study's tables a parameter.

    Returns the name of the parameter; None for a name of another kind.
    """
    found = _place(data, name)
    if found is None:
        return None
    kind, table, key, entry = found
    inner, held = inner_name(name), table[key]
    if inner in data.setdefault("parameters", {}):
        raise InputError(
            f"vary '{name}': found a parameter '{inner}' in the study; expected none of that name"
        )
    if entry is not None and isinstance(held, list) and entry < len(held):
        data["parameters"][inner] = _as_declared(kind, table, key, held[entry])
        held[entry] = {"parameter": inner}
    elif entry is None and _is_number(held):
        data["parameters"][inner] = _as_declared(kind, table, key, held)
        table[key] = {"parameter": inner}
    else:
        expected = f"one number, such as '{_owner(table)}.{key}[0]' for an entry of a list"
        raise InputError(f"vary '{name}': found {held!r}; expected {expected}")
    return inner


def number_unit(
    data: Mapping[str, Any], name: str, description: Description, signals: Mapping[str, Signal]
) -> str:
    """Return the unit in which a number of a component or event is read; "any" where it is not known.

    Parameters
    ----------
    data : mapping
        Tables of the study, as they were written.
    name : str
    description : Description
        The mechanism: whether its joints turn or slide decides units.
    signals : mapping of str to Signal
        What events watch.
    """
    found = _place(data, name)
    if found is None:
        return "any"
    kind, table, key, entry = found
    if kind == "component":
        return _reader(description).unit_of(table, key, entry)
    known = {"t": "s"} | {c: u for s in signals.values() for c, u in zip(s.columns, s.units)}
    unit = known.get(str(table.get("signal")), "any")
    return "any" if unit == "-" else unit


def _tables(data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in ("component", "event"):
        held = data.get(kind, [])
        for table in held if isinstance(held, list) else []:
            if isinstance(table, dict):
                yield kind, table


def _owner(table: Mapping[str, Any]) -> Any:
    return table.get("name", table.get("type"))


def _place(data: Mapping[str, Any], name: str) -> tuple[str, dict[str, Any], str, int | None] | None:
    """Return kind, table, key and entry of a number; None for a name that no table has."""
    match = _PLACE.fullmatch(name)
    if match is None or name[:2] in ("q.", "v."):
        return None
    owner, key, entry = match.groups()
    found = [(kind, t) for kind, t in _tables(data) if _owner(t) == owner and key in t]
    if len(found) > 1:
        raise InputError(
            f"vary '{name}': found {len(found)} components or events '{owner}'; expected one: give each a name"
        )
    return (*found[0], key, None if entry is None else int(entry)) if found else None


def _numeric(kind: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys of a table that may hold numbers that can vary."""
    if kind == "event":
        return EVENT_NUMBERS
    known = TYPES.get(str(table.get("type")))
    fields = fields_of(known) if known else ()
    return tuple(f.name for f in fields if f.numeric and f.name not in FIXED)


def _is_number(held: Any) -> bool:
    """Whether something can be a number: plain, or a text with a unit."""
    return isinstance(held, (int, float, str)) and not isinstance(held, bool)


def _as_declared(kind: str, table: dict[str, Any], key: str, held: Any) -> Any:
    """Return a number in the unit of its field where that is no SI unit: parameters of such fields are plain numbers."""
    unit = _reader(None).unit_of(table, key) if kind == "component" else "any"
    if not isinstance(held, str) or factor_of(unit) in (None, 1.0):
        return held
    found = StudyNumbers(Report("", {}), {}).number(held, unit, key)
    return held if found is None else found  # what is wrong with it, the reader of the study tells


def _reader(description: Description | None) -> Components:
    report = Report("", {})
    return Components(report, StudyNumbers(report, {}), Path(), description)
