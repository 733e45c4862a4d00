"""Numbers, matrices and functions of time in a study."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from articulus.declared import Field
from articulus.errors import InputError, ModelError, did_you_mean
from articulus.model.files.csv_table import read_columns
from articulus.model.files.report import Report
from articulus.model.files.storage import load_bytes
from articulus.model.files.toml.fields import TIME_FUNCTIONS, table_fields
from articulus.model.files.toml.numbers import short_text
from articulus.model.files.toml.values import Values
from articulus.model.files.units import UnitError, check_dimension, parse_unit
from articulus.model.mechanism import Number, TimeFunction, Varying, value_of, values_of
from articulus.simulation.loop.table import Table
from articulus.simulation.loop.time_functions import TimeFunctions
from articulus.study.numbers import OPEN, StudyNumbers

FORMS = 'numbers, {times = [...], values = [...]}, {csv = "file.csv"} or a function of time such as {type = "harmonic", ...}'


class Courses(Values):
    """Reads what a field of a component may hold; every refusal goes to the report, and None takes the place of the value.

    Parameters
    ----------
    report : Report
    numbers : StudyNumbers
    folder : Path
        Where the files that the study names lie.
    """

    def __init__(self, report: Report, numbers: StudyNumbers, folder: Path):
        super().__init__(report, numbers, lambda filename: load_bytes(folder / filename))
        self.folder = folder

    def numeric(self, given: Any, units: Sequence[str], path: str) -> Any:
        """Return a number, a tuple of numbers, a matrix, a Table or a function of time.

        `units` are those of the entries: one for all, or one each.
        """
        if isinstance(given, dict):
            if "parameter" in given:
                return self._one(given, units, path)
            if "type" in given:
                return self._functions([given], units, path)
            return self._table(given, units, path)
        if not isinstance(given, list):
            return self._one(given, units, path)
        if any(isinstance(item, dict) and "type" in item for item in given):
            return self._functions(given, units, path)
        if any(isinstance(item, list) for item in given):
            return self._all([self.numeric(row, units, f"{path}[{i}]") for i, row in enumerate(given)])
        return self._row(given, units, path)

    def _one(self, given: Any, units: Sequence[str], path: str) -> Number | None:
        """Return one number for all entries: it has to fit the unit of each."""
        found: Number | None = None
        for unit in dict.fromkeys(units):
            found = self.numbers.number(given, unit, path)
            if found is None:
                return None
        return found

    def _row(self, given: Any, units: Sequence[str], path: str) -> tuple[Number, ...] | None:
        items = given if isinstance(given, list) else [given]
        each = [[u] for u in units] if len(items) == len(units) else [units] * len(items)
        return self._all([self._one(x, u, f"{path}[{i}]") for i, (x, u) in enumerate(zip(items, each))])

    @staticmethod
    def _all(items: list[Any]) -> tuple[Any, ...] | None:
        return None if any(item is None for item in items) else tuple(items)

    def read_declared(self, field: Field, given: Any, path: str) -> Any:
        """Return the value of a key as its field declares it: a plain number, a whole one, a word, a text or names; None if it is wrong."""
        match field.kind:
            case "number":
                return self._bounded(field, given, path)
            case "choice":
                return self._word(field, given, path)
            case "integer":
                whole = isinstance(given, int) and not isinstance(given, bool)
                good = whole and (field.least is None or given >= field.least)
                limit = "" if field.least is None else f", not below {field.least}"
                return given if good else self._refuse(path, given, f"a whole number{limit}")
            case "flag":
                return given if isinstance(given, bool) else self._refuse(path, given, "true or false")
            case "names":
                listed = isinstance(given, list) and given and all(isinstance(name, str) for name in given)
                return tuple(given) if listed else self._refuse(path, given, "names in a list")
            case _:
                return given if isinstance(given, str) else self._refuse(path, given, "a text in quotes")

    def _refuse(self, path: str, given: Any, expected: str, hint: str = "") -> None:
        self.report.add(path, short_text(given), expected, hint)

    def _bounded(self, field: Field, given: Any, path: str) -> float | None:
        """Return a plain finite number within the range of its field."""
        number = self.numbers.number(given, field.unit, path)
        if number is None:
            return None
        good = isinstance(number, float) and math.isfinite(number)
        value = value_of(number)
        good = good and (field.above is None or value > field.above)
        if not good or not (field.least is None or value >= field.least):
            limit = f" above {field.above:g}" if field.above is not None else ""
            limit += f", not below {field.least:g}" if field.least is not None else ""
            self.report.add(path, short_text(given), f"a finite number{limit}")
            return None
        return value

    def _word(self, field: Field, given: Any, path: str) -> Any:
        if not isinstance(given, str):
            return self._refuse(path, given, "a text in quotes")
        if given not in field.words:
            meaning = field.meaning.partition(";")[0]
            self.report.add(path, f"'{given}'", f"one of: {meaning}", did_you_mean(given, field.words))
            return None
        return field.words[given]

    def plain_numbers(self, given: Any, units: list[str], path: str) -> tuple[float, ...] | None:
        """Return a finite number for each unit, none of them a parameter."""
        found = self.numbers.vector(given, units, path)
        if found is None:
            return None
        if any(isinstance(x, Varying) for x in found) or not np.isfinite(values_of(found)).all():
            self.report.add(path, short_text(given), "plain finite numbers")
            return None
        return values_of(found)

    # over time

    def _table(self, given: dict[str, Any], units: Sequence[str], path: str) -> Table | None:
        before = len(self.report.findings)
        from_file = "csv" in given
        self.unknown_keys(
            given, ("csv", "columns", "hold") if from_file else ("times", "values", "hold"), path
        )
        if not from_file and not {"times", "values"} <= set(given):
            self.report.add(path, short_text(given), FORMS)
        if not isinstance(hold := given.get("hold", False), bool):
            self.report.add(f"{path}.hold", short_text(hold), "true or false")
        if len(self.report.findings) > before:
            return None
        times, values = self._from_csv(given, units, path) if from_file else self._inline(given, units, path)
        if times is None or values is None:
            return None
        try:
            return Table(times, values, hold)
        except InputError as error:
            self.report.add_error(path, error)
            return None

    def _inline(self, given: dict[str, Any], units: Sequence[str], path: str) -> tuple[Any, Any]:
        rows = given["values"]
        if not isinstance(rows, list) or not isinstance(given["times"], list):
            wrong = "values" if isinstance(given["times"], list) else "times"
            self.report.add(f"{path}.{wrong}", short_text(given[wrong]), "a list")
            return None, None
        times = self._row(given["times"], ["s"], f"{path}.times")
        return times, self._all([self._row(row, units, f"{path}.values[{i}]") for i, row in enumerate(rows)])

    def _from_csv(self, given: dict[str, Any], units: Sequence[str], path: str) -> tuple[Any, Any]:
        name, wanted = self.text(given, "csv", path), given.get("columns", [])
        if not isinstance(wanted, list) or not all(isinstance(w, str) for w in wanted):
            self.report.add(
                f"{path}.columns", short_text(wanted), 'names of columns, such as ["boom", "stick"]'
            )
            return None, None
        if name is None:
            return None, None
        try:
            found = read_columns(self.folder / name, wanted)
        except ModelError as error:
            for f in error.findings:
                self.report.add(f"{path}.csv", f"{f.where}: {f.found}", f.expected, f.hint)
            return None, None
        each = units if len(units) == len(found.names) else [units[0]] * len(found.names)
        factors = self._all(
            [self._column_factor(*c, f"{path}.csv") for c in zip(found.names, found.units, each)]
        )
        if factors is None:
            return None, None
        rows = tuple(tuple(x * f for x, f in zip(row, factors)) for row in found.rows)
        return found.times, rows

    def _column_factor(self, name: str, unit: str, expected: str, path: str) -> float | None:
        """Return what turns the numbers of a column into the expected unit."""
        if not unit or expected == unit:
            return 1.0
        found = parse_unit(unit)
        if expected in OPEN:
            return float(found.factor)
        try:
            check_dimension(found, expected, f"{name} [{unit}]")
            return float(found.factor / parse_unit(expected).factor)
        except UnitError as error:
            self.report.add(path, str(error), f"a column in {expected}")
            return None

    def _functions(self, given: list[Any], units: Sequence[str], path: str) -> TimeFunctions | None:
        """Return functions of time, one per entry."""
        each = units if len(units) == len(given) else [units[0]] * len(given)
        many = len(given) > 1
        found = [
            self._function_of_time(item, unit, f"{path}[{i}]" if many else path)
            for i, (item, unit) in enumerate(zip(given, each))
        ]
        held = tuple(f for f in found if f is not None)
        return TimeFunctions(held) if len(held) == len(found) else None

    def _function_of_time(self, given: Any, unit: str, path: str) -> TimeFunction | None:
        before = len(self.report.findings)
        if not isinstance(given, dict) or "type" not in given:
            number = self.numbers.number(given, unit, path)
            return None if number is None else TimeFunction.of(number)
        named = self.text(given, "type", path)
        if named is not None and named not in TIME_FUNCTIONS:
            self.report.add(
                f"{path}.type", f"'{named}'", "a function of time", did_you_mean(named, TIME_FUNCTIONS)
            )
        if len(self.report.findings) > before:
            return None
        if "csv" in given:
            return self.spline_of_file(given, unit, path)
        kind = TIME_FUNCTIONS[named or ""]
        fields = [
            dataclasses.replace(f, unit=unit) if f.unit == "rad or m" else f for f in table_fields(kind)
        ]
        self.unknown_keys(given, ("type", *(f.name for f in fields)), path)
        fields_read = {f.name: self.value(f, given, path) for f in fields}
        if len(self.report.findings) > before:
            return None
        try:
            return kind(**fields_read)
        except InputError as error:
            self.report.add_error(path, error)
            return None
