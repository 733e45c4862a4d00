"""The [[event]] tables of a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError, did_you_mean
from articulus.files.toml.numbers import shown
from articulus.mechanism import Description
from articulus.runs.events import Bounce, Crossing, Event, Switch
from articulus.study.courses import Courses
from articulus.study.initial import coordinate_units

KEYS = {
    "crossing": ("type", "name", "signal", "level", "direction", "stop"),
    "bounce": ("type", "name", "joint", "at", "side", "restitution"),
    "switch": ("type", "name", "signal", "level", "direction", "constraint", "active"),
}
EVENTS: dict[str, Any] = {"crossing": Crossing, "bounce": Bounce, "switch": Switch}
DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}
SIDES = {"upper": 1, "lower": -1}


def read_events(
    values: Courses, tables: Sequence[tuple[str, dict[str, Any]]], description: Description | None
) -> tuple[Event, ...]:
    """Return the events of a study."""
    found = [_Reader(values, description).event(table, path) for path, table in tables]
    return tuple(event for event in found if event is not None)


class _Reader:
    def __init__(self, values: Courses, description: Description | None):
        self.values, self.report, self.description = values, values.report, description

    def event(self, table: dict[str, Any], path: str) -> Event | None:
        before = len(self.report.findings)
        named = self.values.text(table, "type", path)
        if named is not None and named not in KEYS:
            self.report.add(f"{path}.type", f"'{named}'", "the type of an event", did_you_mean(named, KEYS))
        if len(self.report.findings) > before or self.description is None:
            return None
        kind = named or ""
        self.values.unknown_keys(table, KEYS[kind], path)
        name = self.values.text(table, "name", path) if "name" in table else f"{kind} {path[6:-1]}"
        held = self._bounce(table, path) if kind == "bounce" else self._crossing(table, path)
        if kind == "crossing":
            held |= self._flag(table, path, "stop", False)
        elif kind == "switch":
            held |= self._constraint(table, path)
        if len(self.report.findings) > before:
            return None
        try:
            return EVENTS[kind](**held, name=name)
        except InputError as error:
            self.report.add_error(path, error)
            return None

    def _crossing(self, table: dict[str, Any], path: str) -> dict[str, Any]:
        return {
            "function": self._function(table, path),
            "direction": self._word(table, "direction", DIRECTIONS, path, "both"),
        }

    def _function(self, table: dict[str, Any], path: str) -> ca.Function | None:
        """Return signal less level as a function of t, q and v."""
        assert self.description is not None
        signal = self.values.text(table, "signal", path)
        d = self.description
        t, q, v = SX.sym("t"), SX.sym("q", d.nq), SX.sym("v", d.nv)
        known: dict[str, tuple[SX, str]] = {"t": (t, "s")}
        for key, symbol in (("q", q), ("v", v)):
            names = d.coordinate_names(rates=key == "v")
            known |= {
                f"{key}.{n}": (symbol[i], u) for i, (n, u) in enumerate(zip(names, coordinate_units(d, key)))
            }
        if signal is None:
            return None
        if signal not in known:
            self.report.add(
                f"{path}.signal", f"'{signal}'", "t or an entry of q or v", did_you_mean(signal, known)
            )
            return None
        expression, unit = known[signal]
        level = self._number(table, "level", unit, path, 0.0)
        return ca.Function("event", [t, q, v], [expression - level], ["t", "q", "v"], ["value"])

    def _bounce(self, table: dict[str, Any], path: str) -> dict[str, Any]:
        assert self.description is not None
        d, joint = self.description, self.values.text(table, "joint", path)
        if joint is not None and joint not in d.q_slices:
            hint = did_you_mean(joint, d.q_slices)
            self.report.add(f"{path}.joint", f"no joint '{joint}'", "the name of a joint", hint)
        unit = coordinate_units(d, "q")[d.q_slices[joint]][0] if joint in d.q_slices else "any"
        if "at" not in table:
            self.report.add(path, "no at", f"at [{unit}], the position of the stop")
        return {
            "joint": joint,
            "at": self._number(table, "at", unit, path, 0.0),
            "side": self._word(table, "side", SIDES, path, "upper"),
            "restitution": self._number(table, "restitution", "-", path, 0.0),
        }

    def _constraint(self, table: dict[str, Any], path: str) -> dict[str, Any]:
        assert self.description is not None
        named = self.values.text(table, "constraint", path)
        known = [c.name for c in self.description.constraints]
        if named is not None and named not in known:
            self.report.add(
                f"{path}.constraint", f"'{named}'", "a constraint of the model", did_you_mean(named, known)
            )
        return {"constraint": named} | self._flag(table, path, "active", True)

    def _word(self, table: dict[str, Any], key: str, words: dict[str, int], path: str, default: str) -> int:
        given = table.get(key, default)
        if not isinstance(given, str) or given not in words:
            options = ", ".join(f'"{w}"' for w in words)
            self.report.add(
                f"{path}.{key}", shown(given), f"one of {options}", did_you_mean(str(given), words)
            )
            return 0
        return words[given]

    def _flag(self, table: dict[str, Any], path: str, key: str, default: bool) -> dict[str, bool]:
        given = table.get(key, default)
        if not isinstance(given, bool):
            self.report.add(f"{path}.{key}", shown(given), "true or false")
        return {key: bool(given)}

    def _number(self, table: dict[str, Any], key: str, unit: str, path: str, default: float) -> float:
        if key not in table:
            return default
        number = self.values.numbers.number(table[key], unit, f"{path}.{key}")
        if number is not None and not (isinstance(number, float) and np.isfinite(number)):
            self.report.add(f"{path}.{key}", shown(table[key]), "a plain finite number")
        return number if isinstance(number, float) else default
