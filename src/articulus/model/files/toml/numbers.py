"""Numbers of a TOML model: plain, with a unit, a named parameter or an expression of some; checked against what the field declares."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from articulus.errors import InputError, did_you_mean
from articulus.model.files.expression_units import dimension_of
from articulus.model.files.report import Report
from articulus.model.files.units import Unit, UnitError, check_dimension, convert, parse_quantity
from articulus.model.mechanism import Number, Parameter, Vector
from articulus.model.mechanism.expression import parse


@dataclass(frozen=True)
class Declared:
    """A parameter of the [parameters] table, with the unit it was given in, if any."""

    parameter: Parameter
    unit: Unit | None
    text: str


class Numbers:
    """Reads the numbers of one file; every refusal goes to the report, and None stands in for the number."""

    def __init__(self, report: Report, parameters: Any):
        self.report = report
        self.declared: dict[str, Declared] = {}
        self.used: set[str] = set()
        self._declare(parameters)

    def _declare(self, table: Any) -> None:
        if not isinstance(table, dict):
            self.report.add("parameters", short_text(table), "a table of numbers", "Write [parameters].")
            return
        for name, value in table.items():
            self._declare_one(name, value)

    def _declare_one(self, name: str, value: Any) -> None:
        path, ends = f"parameters.{name}", None
        self.declared[name] = Declared(Parameter("_", 0.0), None, "")  # known, whatever is wrong with it
        if isinstance(value, dict):
            if value.keys() != {"value", "range"} or not isinstance(value["range"], list):
                self.report.add(path, short_text(value), "a number, or {value = ..., range = [low, high]}")
                return
            ends, value = value["range"], value["value"]
        found = self._si_value(value, path)
        limits = [self._si_value(x, f"{path}.range[{i}]") for i, x in enumerate(ends or ())]
        if found is None or None in limits:
            return
        number, unit = found
        for end in limits:
            if end is not None and (end[1] and end[1].dimension) != (unit and unit.dimension):
                self.report.add(f"{path}.range", short_text(ends), "numbers with the unit of the value")
                return
        held = None if ends is None else tuple(end[0] for end in limits if end is not None)
        try:
            parameter = Parameter(name, number, held)  # type: ignore[arg-type]
            self.declared[name] = Declared(parameter, unit, short_text(value))
        except InputError as error:
            self.report.add(path, str(error), "a name of letters, digits and underscores with a finite value")

    def _si_value(self, value: Any, path: str) -> tuple[float, Unit | None] | None:
        """Return the SI value and the unit, if any, of a number of [parameters]."""
        if isinstance(value, str):
            try:
                return parse_quantity(value)
            except UnitError as error:
                self.report.add(path, str(error), "a number, or one with its unit")
                return None
        plain = self._plain(value, path, "a number, or one with its unit")
        return None if plain is None else (plain, None)

    def number(self, value: Any, unit: str, path: str) -> Number | None:
        """Return one number in the SI unit `unit`."""
        if isinstance(value, dict):
            return self._varying(value, unit, path)
        if isinstance(value, str):
            try:
                return convert(value, unit)
            except UnitError as error:
                self.report.add(path, str(error), expected_number(unit))
                return None
        return self._plain(value, path, expected_number(unit))

    def _plain(self, value: Any, path: str, expected: str) -> float | None:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.report.add(path, short_text(value), expected)
            return None
        try:
            number = float(value)
        except OverflowError:
            number = math.nan
        if math.isnan(number):
            self.report.add(path, short_text(value), expected)
            return None
        return number

    def _varying(self, table: dict[str, Any], unit: str, path: str) -> Number | None:
        key, given = next(iter(table.items())) if len(table) == 1 else ("", None)
        if not isinstance(given, str) or key not in ("parameter", "expression"):
            self.report.add(
                path,
                short_text(table),
                f'{expected_number(unit)}, {{parameter = "name"}}, or {{expression = "name/2"}}',
            )
            return None
        return (
            self._parameter(given, unit, path) if key == "parameter" else self._expression(given, unit, path)
        )

    def _expression(self, text: str, unit: str, path: str) -> Number | None:
        try:
            found: Number = parse(text, self._declared_parameter)
            dimension = dimension_of(found, {n: d.unit for n, d in self.declared.items()})
            if dimension is not None:
                check_dimension(dimension, unit, text)
        except (InputError, UnitError) as error:
            self.used.update(re.findall(r"[^\W\d]\w*", text))
            self.report.add(
                path, str(error), f"{expected_number(unit)}: an expression of [parameters] in SI units"
            )
            return None
        return found

    def _declared_parameter(self, name: str) -> Parameter:
        if name not in self.declared:
            raise InputError(
                f"the parameter '{name}' is not one of [parameters]; {did_you_mean(name, self.declared)}"
            )
        self.used.add(name)
        return self.declared[name].parameter

    def _parameter(self, name: str, unit: str, path: str) -> Number | None:
        self.used.add(name)
        if name not in self.declared:
            self.report.add(
                path, f"the parameter '{name}'", "one of [parameters]", did_you_mean(name, self.declared)
            )
            return None
        declared = self.declared[name]
        if declared.unit is not None:
            try:
                check_dimension(declared.unit, unit, declared.text)
            except UnitError as error:
                self.report.add(path, f"the parameter '{name}': {error}", expected_number(unit))
                return None
        return declared.parameter

    def vector(self, value: Any, units: list[str], path: str) -> Vector | None:
        """Return as many numbers as there are units."""
        if not isinstance(value, list) or len(value) != len(units):
            found = f"{len(value)} entries" if isinstance(value, list) else short_text(value)
            same = units and all(u == units[0] for u in units)
            unit = f" in {units[0]}" if same and units[0] != "-" else ""
            self.report.add(path, found, f"a list of {len(units)} numbers{unit}")
            return None
        entries = [self.number(v, u, f"{path}[{i}]") for i, (v, u) in enumerate(zip(value, units))]
        numbers = [e for e in entries if e is not None]
        return tuple(numbers) if len(numbers) == len(entries) else None

    def note_used(self, unread: Any) -> None:
        """Count the parameters in a table that cannot be read as used, lest that be reported as well."""
        if isinstance(unread, dict):
            if isinstance(unread.get("parameter"), str):
                self.used.add(unread["parameter"])
            if isinstance(unread.get("expression"), str):
                self.used.update(re.findall(r"[^\W\d]\w*", unread["expression"]))
            for held in unread.values():
                self.note_used(held)
        elif isinstance(unread, list):
            for held in unread:
                self.note_used(held)

    def note_unused(self) -> None:
        """Report parameters that no number of the model uses: they would silently be lost."""
        for name in self.declared:
            if name not in self.used:
                self.report.add(
                    f"parameters.{name}",
                    "a parameter that nothing uses",
                    f'a number of the model that is {{parameter = "{name}"}}',
                    "Use it or delete it.",
                )


def parameter_text(p: Parameter) -> str:
    """Return the line of a parameter in [parameters]."""
    if p.range is None:
        return f"{p.name} = {p.value!r}"
    return f"{p.name} = {{value = {p.value!r}, range = [{p.range[0]!r}, {p.range[1]!r}]}}"


def expected_number(unit: str) -> str:
    """Return what a number of this unit is called in messages."""
    return "a number" if unit == "-" else f"a number in {unit}"


def short_text(value: Any) -> str:
    """Return a value as messages show it, shortened."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, a very deep list
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."
