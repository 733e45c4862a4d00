"""The [[event]] tables of a study, read as the events declare their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from articulus.declared import Field, fields_of
from articulus.declared.field import pick
from articulus.errors import InputError, did_you_mean
from articulus.model.files.toml.numbers import short_text
from articulus.model.mechanism import GROUND, Description
from articulus.simulation.loop.events import ALL_EVENTS, Event
from articulus.simulation.results.signal import Signal
from articulus.study.courses import Courses
from articulus.study.initial import coordinate_units

EVENTS: dict[str, type[Event]] = {kind.type_name: kind for kind in ALL_EVENTS}
"""Events by the name of their type."""


def event_fields(kind: type[Event]) -> list[Field]:
    """Return the fields of an event that a file can hold; the inputs of a function are none of them."""
    return [f for f in fields_of(kind) if f.kind != "code" and f.name != "inputs"]


def keys(kind: type[Event]) -> tuple[str, ...]:
    """Return the keys of the table of an event; a function is the name of a signal."""
    return ("type", *("signal" if f.kind == "signal" else f.name for f in event_fields(kind)))


def read_events(
    values: Courses,
    tables: Sequence[tuple[str, dict[str, Any]]],
    description: Description | None,
    signals: Mapping[str, Signal] | None = None,
) -> tuple[Event, ...]:
    """Return the events of a study; the names of what they watch are checked where the signals of the loop are given."""
    found = [_Reader(values, description, signals).event(table, path) for path, table in tables]
    return tuple(event for event in found if event is not None)


class _Reader:
    def __init__(
        self, values: Courses, description: Description | None, signals: Mapping[str, Signal] | None
    ):
        self.values, self.report, self.description = values, values.report, description
        self.signals = signals

    def event(self, table: dict[str, Any], path: str) -> Event | None:
        before = len(self.report.findings)
        named = self.values.text(table, "type", path)
        if named is not None and named not in EVENTS:
            self.report.add(f"{path}.type", f"'{named}'", "the type of an event", did_you_mean(named, EVENTS))
        if len(self.report.findings) > before or self.description is None:
            return None
        kind = EVENTS[named or ""]
        self.values.unknown_keys(table, keys(kind), path)
        held: dict[str, Any] = {"name": f"{named} {path[6:-1]}"}
        for field in event_fields(kind):
            if field.kind == "signal" or field.name in table:
                held[field.name] = self._value(field, table, path, self.description)
            elif field.required:
                unit = f" [{self._unit(field, table, self.description)}]" if field.unit else ""
                self.report.add(path, f"no {field.name}", f"{field.name}{unit}, {field.meaning}")
        if len(self.report.findings) > before:
            return None
        try:
            return kind(**held)
        except InputError as error:
            self.report.add_error(path, error)
            return None

    def _value(self, field: Field, table: dict[str, Any], path: str, d: Description) -> Any:
        at = f"{path}.{field.name}"
        match field.kind:
            case "signal":
                return self._function(table, path, d)
            case "choice":
                return self._word(field, table[field.name], at)
            case "refers":
                return self._name(field, table, path, d)
            case "number" if field.name == "level":
                unit = self._watchable(d).get(str(table.get("signal")), "any")
                return self.values.numbers.number(table["level"], "any" if unit == "-" else unit, at)
            case "number" | "vector":
                return self._number(table, field.name, self._unit(field, table, d), path)
            case "flag":
                return self._of_type(bool, table[field.name], at, "true or false")
            case "integer":
                return self._of_type(int, table[field.name], at, "a whole number")
            case _:
                return self.values.text(table, field.name, path)

    def _function(self, table: dict[str, Any], path: str, d: Description) -> str | None:
        """Return the name of one entry of a signal."""
        signal = self.values.text(table, "signal", path)
        known = self._watchable(d)
        if signal is not None and signal not in known and (self.signals is not None or "." not in signal):
            self.report.add(
                f"{path}.signal",
                f"'{signal}'",
                "t or one entry of a signal, such as q.joint",
                did_you_mean(signal, known),
            )
        return signal

    def _watchable(self, d: Description) -> dict[str, str]:
        """Return the unit of everything that is known to be one number."""
        known = {"t": "s"}
        for key in "qv":
            names = d.coordinate_names(rates=key == "v")
            known |= {f"{key}.{n}": u for n, u in zip(names, coordinate_units(d, key))}
        for signal in (self.signals or {}).values():
            known |= dict(zip(signal.columns, signal.units))
        return known

    def _of_type(self, kind: type, given: Any, at: str, expected: str) -> Any:
        if type(given) is not kind:
            self.report.add(at, short_text(given), expected)
        return given

    def _word(self, field: Field, given: Any, at: str) -> int:
        if not isinstance(given, str) or given not in field.words:
            options = ", ".join(f'"{w}"' for w in field.words)
            self.report.add(at, short_text(given), f"one of {options}", did_you_mean(str(given), field.words))
            return 0
        return field.words[given]

    def _name(self, field: Field, table: dict[str, Any], path: str, d: Description) -> str | None:
        """Return the name of a joint, frame or constraint that the mechanism has."""
        known = {
            "joint": list(d.q_slices),
            "constraint": [c.name for c in d.constraints],
            "frame": [GROUND, *(b.name for b in d.bodies), *(f.name for f in d.frames)],
        }[field.refers]
        named = self.values.text(table, field.name, path)
        if named is not None and named not in known:
            found, expected = f"no {field.refers} '{named}'", f"the name of a {field.refers}"
            self.report.add(f"{path}.{field.name}", found, expected, did_you_mean(named, known))
        return named

    def _unit(self, field: Field, table: dict[str, Any], d: Description) -> str:
        """Return the unit of a field: that of the joint's coordinate where it depends on a joint."""
        joint = table.get("joint")
        if " or " not in field.unit:
            return field.unit
        turning = d.joint_type(joint).rotational if isinstance(joint, str) and joint in d.q_slices else ()
        return pick(field.unit, turning[0]) if turning else "any"

    def _number(self, table: dict[str, Any], key: str, unit: str, path: str) -> float:
        number = self.values.numbers.number(table[key], unit, f"{path}.{key}")
        if number is not None and not (isinstance(number, float) and np.isfinite(number)):
            self.report.add(f"{path}.{key}", short_text(table[key]), "a plain finite number")
        return number if isinstance(number, float) else 0.0
