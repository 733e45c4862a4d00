"""The [[check]] tables of a study."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from articulus.declared import Field
from articulus.errors import did_you_mean
from articulus.model.files.toml.numbers import short_text
from articulus.simulation.results.signal import Signal
from articulus.simulation.running.settings import RunSettings
from articulus.study.check import BOUNDS, FIGURES, MOMENTS, RunCheck
from articulus.study.courses import Courses

OWN = "any"
"""Unit of what is checked."""
CHECK = (
    Field("name", "text", meaning="what the report calls it"),
    Field("signal", "signal", meaning="entry of a signal that is checked, such as q.lift"),
    Field(
        "figure",
        "choice",
        meaning="diagnostic of the run that is checked",
        words={name: name for name in FIGURES},
    ),
    Field(
        "at",
        "moment",
        meaning="a time, or one of these words",
        words={m: m for m in MOMENTS},
        unit="s",
        default="end",
    ),
    *(Field(bound, "number", unit=OWN, size="1", meaning=f"the number is {bound} this") for bound in BOUNDS),
    Field("tolerance", "number", unit=OWN, size="1", meaning="with equals: largest distance from it"),
)
"""Keys of the table of a check."""


def read_checks(
    values: Courses,
    tables: Sequence[tuple[str, dict[str, Any]]],
    signals: Mapping[str, Signal] | None,
    settings: RunSettings | None,
) -> tuple[RunCheck, ...]:
    """Return the checks of a study; without `signals` names and units are not checked."""
    units = {c: u for s in (signals or {}).values() for c, u in zip(s.columns, s.units)}
    reader = _Reader(values, units, signals, settings)
    found = [reader.check(table, path) for path, table in tables]
    return tuple(c for c in found if c is not None)


class _Reader:
    def __init__(
        self,
        values: Courses,
        units: dict[str, str],
        signals: Mapping[str, Signal] | None,
        settings: RunSettings | None,
    ):
        self.values, self.report = values, values.report
        self.units, self.signals, self.settings = units, signals, settings

    def check(self, table: dict[str, Any], path: str) -> RunCheck | None:
        before = len(self.report.findings)
        self.values.unknown_keys(table, [f.name for f in CHECK], path)
        if ("signal" in table) == ("figure" in table):
            self.report.add(
                path, "no signal" if "signal" not in table else "a signal and a figure", "signal or figure"
            )
            return None
        figure = "figure" in table
        what, unit = self._figure(table, path) if figure else self._signal(table, path)
        at = self._moment(table, path, figure)
        bound, value = self._bound(table, path, unit)
        tolerance = self._number(table, "tolerance", unit, path)
        if bound == "equals" and tolerance is None and "tolerance" not in table:
            self.report.add(path, "equals without tolerance", f"tolerance [{unit}]")
        if bound != "equals" and "tolerance" in table:
            self.report.add(f"{path}.tolerance", "a tolerance", "equals with it, or less or greater without")
        name = self.values.text(table, "name", path) if "name" in table else ""
        if len(self.report.findings) > before:
            return None
        assert what is not None
        assert value is not None
        return RunCheck(name or "", what, at, bound, value, tolerance or 0.0, unit)

    def _figure(self, table: dict[str, Any], path: str) -> tuple[str | None, str]:
        named = self.values.text(table, "figure", path)
        if named is None or named not in FIGURES:
            if named is not None:
                self.report.add(
                    f"{path}.figure", f"'{named}'", "a figure of trust", did_you_mean(named, FIGURES)
                )
            return None, "any"
        signal, unit, _ = FIGURES[named]
        if self.signals is not None and signal not in self.signals:
            self.report.add(
                f"{path}.figure", f"'{named}'", "a figure that the run has", "The model has no constraints."
            )
        return named, unit

    def _signal(self, table: dict[str, Any], path: str) -> tuple[str | None, str]:
        named = self.values.text(table, "signal", path)
        if named is None or self.signals is None:
            return named, "any"
        if named in self.units:
            return named, self.units[named]
        if named in self.signals:
            hint = f"One of {', '.join(self.signals[named].columns)}."
            self.report.add(f"{path}.signal", f"'{named}', which has several entries", "one entry", hint)
        else:
            hint = did_you_mean(named, self.units)
            self.report.add(f"{path}.signal", f"no signal '{named}'", "an entry of a signal of the run", hint)
        return None, "any"

    def _moment(self, table: dict[str, Any], path: str, figure: bool) -> str | float:
        if figure:
            if "at" in table:
                self.report.add(f"{path}.at", short_text(table["at"]), "none: a figure is of the whole run")
            return ""
        given = table.get("at", "end")
        words = ", ".join(f'"{m}"' for m in MOMENTS)
        if isinstance(given, str) and given in MOMENTS:
            return given
        if isinstance(given, str) and not any(c.isdigit() for c in given):
            hint = did_you_mean(given, MOMENTS)
            self.report.add(f"{path}.at", f"'{given}'", f"a time, or one of {words}", hint)
            return "end"
        at = self.values.numbers.number(given, "s", f"{path}.at")
        s = self.settings
        if isinstance(at, float) and s and not s.t0 <= at <= s.t_end:
            self.report.add(f"{path}.at", f"{at:g} s", f"a time of the run, {s.t0:g} to {s.t_end:g} s")
        return at if isinstance(at, float) else "end"

    def _bound(self, table: dict[str, Any], path: str, unit: str) -> tuple[str, float | None]:
        given = [b for b in BOUNDS if b in table]
        if len(given) != 1:
            found = " and ".join(given) or "no bound"
            self.report.add(path, found, "one of equals, less and greater")
            return "less", None
        return given[0], self._number(table, given[0], unit, path)

    def _number(self, table: dict[str, Any], key: str, unit: str, path: str) -> float | None:
        if key not in table:
            return None
        number = self.values.numbers.number(table[key], unit, f"{path}.{key}")
        if number is not None and not (isinstance(number, float) and math.isfinite(number)):
            self.report.add(f"{path}.{key}", short_text(table[key]), "a plain finite number")
            return None
        return number if isinstance(number, float) else None
