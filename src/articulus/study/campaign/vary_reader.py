"""What varies, in TOML: the tables [campaign.vary] and [[campaign.group]]."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from articulus.errors import InputError, ModelError, did_you_mean
from articulus.model.files.csv_table import read_samples
from articulus.model.files.toml.numbers import shown
from articulus.model.files.units import base_text
from articulus.model.mechanism import Description
from articulus.study.campaign.distributions import (
    Attitude,
    Axis,
    Correlated,
    Direction,
    Distribution,
    Inertia,
    LogNormal,
    Normal,
    Rows,
    Stats,
    Uniform,
)
from articulus.study.courses import Courses
from articulus.study.sweep_reader import plain_numbers, unit_of

FORMS = (
    "[values], {from = ..., to = ..., count = ...}, {values = [...], weights = [...]}, {uniform = [least, greatest]}, "
    '{normal = [mean, deviation]}, {lognormal = [median, spread]}, {table = "file.csv", column = "..."} or {stats = "name", ...}'
)
GROUPS = ("correlation", "direction", "attitude", "inertia", "table", "rows")
QUATERNION = ("qw", "qx", "qy", "qz")


def read_axes(
    values: Courses,
    table: dict[str, Any],
    description: Description | None,
    units: Mapping[str, str] | None = None,
) -> tuple[Axis, ...]:
    """Return what varies of the table [campaign]: its keys `vary` and `group`; what is wrong goes to the report.

    `units` are those of numbers that are neither parameters nor entries of the initial state.
    """
    return _Reader(values, description, units or {}).axes(table)


class _Reader:
    def __init__(self, values: Courses, description: Description | None, units: Mapping[str, str]):
        self.values, self.description, self.units = values, description, units
        self.report = values.report

    def axes(self, table: dict[str, Any]) -> tuple[Axis, ...]:
        vary, groups = table.get("vary", {}), table.get("group", [])
        if not isinstance(vary, dict):
            self.report.add("campaign.vary", shown(vary), "a table with a line for each number that varies")
            vary = {}
        if not isinstance(groups, list) or not all(isinstance(g, dict) for g in groups):
            self.report.add("campaign.group", shown(groups), "tables [[campaign.group]]")
            groups = []
        found = [self._single(name, given) for name, given in vary.items()]
        found += [self._group(g, f"campaign.group[{i}]") for i, g in enumerate(groups)]
        axes = tuple(axis for axis in found if axis is not None)
        names = [n for axis in axes for n in axis.names]
        for name in sorted({n for n in names if names.count(n) > 1}):
            self.report.add("campaign.group", f"'{name}' more than once", "every name once")
        return axes

    def _single(self, name: str, given: Any) -> Axis | None:
        path = f"campaign.vary.{name}"
        if self._quaternion(name):
            hint = f'Write [[campaign.group]] with names = ["{name.rpartition(".")[0]}"] and attitude = {{within = "10 deg"}}.'
            self.report.add(path, "one number of a quaternion", "an attitude as a whole", hint)
            return None
        distribution = self._scalar(name, given, path)
        return None if distribution is None else Axis((name,), distribution)

    def _quaternion(self, name: str) -> bool:
        joint, _, part = name.rpartition(".")
        turning = {f"q.{n}" for n, _ in self.description.quaternions} if self.description else set()
        return joint in turning and part in QUATERNION

    # one number

    def _scalar(self, name: str, given: Any, path: str) -> Distribution | None:
        unit = self._unit(name, path)
        if isinstance(given, list):
            return self._made(path, Rows.of, self._numbers(given, unit, path, max(len(given), 1)))
        kinds: dict[str, Callable[[dict[str, Any], str, str], Distribution | None]] = {
            "uniform": self._uniform,
            "normal": self._normal,
            "lognormal": self._lognormal,
            "values": self._weighted,
            "table": self._column,
            "stats": self._stats,
            "from": self._spaced,
        }
        kind = next((k for k in kinds if isinstance(given, dict) and k in given), None)
        if kind is None:
            near = next(iter(given), "") if isinstance(given, dict) else ""
            self.report.add(path, shown(given), FORMS, did_you_mean(str(near), kinds) if near else "")
            return None
        return kinds[kind](given, unit, path)

    def _unit(self, name: str, path: str) -> str:
        """Return the unit of a number that varies: that of the coordinate or field, that with which the study gives it, or any."""
        if name in self.units:
            return self.units[name]
        held = self.values.numbers.declared.get(name)
        if held is not None and held.unit is not None:
            return base_text(held.unit)
        return unit_of(self.values, name, self.description, path)

    def _uniform(self, given: dict[str, Any], unit: str, path: str) -> Distribution | None:
        self.values.unknown_keys(given, ("uniform",), path)
        return self._made(
            path, lambda x: Uniform(*x), self._numbers(given["uniform"], unit, f"{path}.uniform", 2)
        )

    def _normal(self, given: dict[str, Any], unit: str, path: str) -> Distribution | None:
        self.values.unknown_keys(given, ("normal", "truncated"), path)
        numbers = self._numbers(given["normal"], unit, f"{path}.normal", 2)
        if "truncated" not in given:
            return self._made(path, lambda x: Normal(*x), numbers)
        limits = self._numbers(given["truncated"], unit, f"{path}.truncated", 2)
        return self._made(path, lambda x: Normal(*x), numbers and limits and (*numbers, *limits))

    def _lognormal(self, given: dict[str, Any], unit: str, path: str) -> Distribution | None:
        self.values.unknown_keys(given, ("lognormal",), path)
        pair = given["lognormal"]
        if not isinstance(pair, list) or len(pair) != 2:
            self.report.add(f"{path}.lognormal", shown(pair), "[median, spread of the logarithm]")
            return None
        median = self._numbers(pair[:1], unit, f"{path}.lognormal", 1)
        spread = self._numbers(pair[1:], "-", f"{path}.lognormal", 1)
        return self._made(path, lambda x: LogNormal(*x), median and spread and (*median, *spread))

    def _weighted(self, given: dict[str, Any], unit: str, path: str) -> Distribution | None:
        self.values.unknown_keys(given, ("values", "weights"), path)
        listed = given["values"]
        numbers = self._numbers(
            listed, unit, f"{path}.values", max(len(listed), 1) if isinstance(listed, list) else 1
        )
        if "weights" not in given:
            return self._made(path, Rows.of, numbers)
        weights = self._numbers(given["weights"], "-", f"{path}.weights", len(numbers or ()) or 1)
        return self._made(path, lambda x: Rows.of(*x), numbers and weights and (numbers, weights))

    def _spaced(self, given: dict[str, Any], unit: str, path: str) -> Distribution | None:
        self.values.unknown_keys(given, ("from", "to", "count"), path)
        count = given.get("count")
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 1_000_000:
            self.report.add(f"{path}.count", shown(count), "a whole number from 1 to 1000000")
            return None
        ends = self._numbers([given["from"], given.get("to")], unit, path, 2)
        return self._made(path, lambda x: Rows.of(np.linspace(x[0], x[1], count).tolist()), ends)

    def _column(self, given: dict[str, Any], unit: str, path: str) -> Distribution | None:
        self.values.unknown_keys(given, ("table", "column", "weights"), path)
        column = self.values.text(given, "column", path)
        return None if column is None else self._rows(given, [column], [unit], path)

    def _rows(
        self, given: dict[str, Any], columns: list[str], units: list[str], path: str
    ) -> Distribution | None:
        name = self.values.text(given, "table", path)
        weights = self.values.text(given, "weights", path) if "weights" in given else None
        if name is None:
            return None
        try:
            written, found = read_samples(
                self.values.folder / name, [*columns, *([weights] if weights else [])]
            )
        except ModelError as error:
            for f in error.findings:
                self.report.add(f"{path}.table", f"{f.where}: {f.found}", f.expected, f.hint)
            return None
        wanted = [*units, *(["-"] if weights else [])]
        sizes = [
            self._numbers([f"1 {u}"] if u else [1.0], v, f"{path}.table", 1) for u, v in zip(written, wanted)
        ]
        if None in sizes:
            return None
        found = found * [size[0] for size in sizes if size is not None]
        last = tuple(found[:, -1].tolist()) if weights else ()
        return self._made(path, lambda x: Rows(x, last), tuple(map(tuple, found[:, : len(columns)].tolist())))

    def _stats(self, given: dict[str, Any], unit: str, path: str) -> Distribution | None:
        name = self.values.text(given, "stats", path)
        found: dict[str, float] = {}
        for key, value in given.items():
            if key != "stats":
                one = self._numbers([value], unit if key in ("loc", "scale") else "-", f"{path}.{key}", 1)
                if one is None:
                    return None
                found[key] = one[0]
        return None if name is None else self._made(path, lambda x: Stats(*x), (name, found))

    # several together

    def _group(self, given: dict[str, Any], path: str) -> Axis | None:
        kinds = [k for k in GROUPS if k in given]
        if len(kinds) != 1:
            self.report.add(path, f"{', '.join(given) or 'nothing'}", f"one of {', '.join(GROUPS)}")
            return None
        if kinds[0] == "correlation":
            return self._correlated(given, path)
        names = given.get("names")
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            self.report.add(f"{path}.names", shown(names), 'names of what varies, such as ["a", "b"]')
            return None
        make = {
            "direction": self._direction,
            "attitude": self._attitude,
            "inertia": self._inertia,
            "table": self._table,
            "rows": self._listed,
        }[kinds[0]]
        if kinds[0] == "attitude" and len(names) == 1:
            names = [f"{names[0]}.{part}" for part in QUATERNION]
        for name in names:
            unit_of(self.values, name, self.description, f"{path}.names")
        distribution = make(given, tuple(names), path)
        return (
            None if distribution is None else self._made(path, lambda d: Axis(tuple(names), d), distribution)
        )

    def _correlated(self, given: dict[str, Any], path: str) -> Axis | None:
        self.values.unknown_keys(given, ("vary", "correlation"), path)
        vary, matrix = given.get("vary"), given["correlation"]
        if not isinstance(vary, dict) or len(vary) < 2:
            self.report.add(f"{path}.vary", shown(vary), "a table with two or more numbers that vary")
            return None
        members = [self._scalar(name, form, f"{path}.vary.{name}") for name, form in vary.items()]
        n = len(members)
        if not isinstance(matrix, list) or len(matrix) != n:
            self.report.add(f"{path}.correlation", shown(matrix), f"a matrix of {n} rows")
            return None
        rows = [self._numbers(row, "-", f"{path}.correlation[{i}]", n) for i, row in enumerate(matrix)]
        good = tuple(m for m in members if m is not None)
        if len(good) < n or None in rows:
            return None
        made = self._made(path, lambda x: Correlated(good, x), tuple(r for r in rows if r is not None))
        return None if made is None else Axis(tuple(vary), made)

    def _direction(self, given: dict[str, Any], names: tuple[str, ...], path: str) -> Distribution | None:
        return self._fields(given, "direction", {"about": ("-", 3), "within": ("rad", 1)}, Direction, path)

    def _attitude(self, given: dict[str, Any], names: tuple[str, ...], path: str) -> Distribution | None:
        fields = {"about": ("-", 4), "within": ("rad", 1), "deviation": ("rad", 1)}
        return self._fields(given, "attitude", fields, Attitude, path)

    def _inertia(self, given: dict[str, Any], names: tuple[str, ...], path: str) -> Distribution | None:
        listed = given["inertia"].get("nominal", []) if isinstance(given["inertia"], dict) else []
        count = len(listed) if isinstance(listed, list) and len(listed) == 3 else 6
        fields = {"nominal": ("kg m^2", count), "spread": ("-", 1), "tilt": ("rad", 1)}
        return self._fields(given, "inertia", fields, Inertia, path)

    def _fields(
        self, given: dict[str, Any], key: str, fields: dict[str, tuple[str, int]], kind: Any, path: str
    ) -> Distribution | None:
        self.values.unknown_keys(given, ("names", key), path)
        table = given[key]
        if not isinstance(table, dict):
            self.report.add(f"{path}.{key}", shown(table), f"a table, such as {{{', '.join(fields)}}}")
            return None
        self.values.unknown_keys(table, tuple(fields), f"{path}.{key}")
        needed = [f.name for f in dataclasses.fields(kind) if f.init and f.default is dataclasses.MISSING]
        for name in needed:
            if name not in table:
                self.report.add(f"{path}.{key}", f"no {name}", f"{name} = ...")
                return None
        found: dict[str, Any] = {}
        for name, (unit, count) in fields.items():
            if name in table:
                listed = [table[name]] if count == 1 else table[name]
                numbers = self._numbers(listed, unit, f"{path}.{key}.{name}", count)
                if numbers is None:
                    return None
                found[name] = numbers[0] if count == 1 else numbers
        return self._made(f"{path}.{key}", lambda x: kind(**x), found)

    def _table(self, given: dict[str, Any], names: tuple[str, ...], path: str) -> Distribution | None:
        self.values.unknown_keys(given, ("names", "table", "columns", "weights"), path)
        columns = given.get("columns", list(names))
        if not isinstance(columns, list) or not all(isinstance(c, str) for c in columns):
            self.report.add(f"{path}.columns", shown(columns), "names of columns")
            return None
        if len(columns) != len(names):
            self.report.add(f"{path}.columns", shown(columns), f"{len(names)} names of columns")
            return None
        return self._rows(given, columns, [self._unit(n, f"{path}.names") for n in names], path)

    def _listed(self, given: dict[str, Any], names: tuple[str, ...], path: str) -> Distribution | None:
        self.values.unknown_keys(given, ("names", "rows", "weights"), path)
        if not isinstance(given["rows"], list) or not given["rows"]:
            self.report.add(f"{path}.rows", shown(given["rows"]), "a list of rows")
            return None
        units = [self._unit(n, f"{path}.names") for n in names]
        rows = []
        for i, row in enumerate(given["rows"]):
            at = f"{path}.rows[{i}]"
            if not isinstance(row, list) or len(row) != len(names):
                self.report.add(at, shown(row), f"{len(names)} numbers")
                return None
            rows.append(tuple(self._numbers([x], unit, at, 1) for x, unit in zip(row, units)))
        if any(x is None for row in rows for x in row):
            return None
        weights = given.get("weights")
        shares = () if weights is None else self._numbers(weights, "-", f"{path}.weights", len(rows))
        plain = tuple(tuple(x[0] for x in row if x is not None) for row in rows)
        return None if shares is None else self._made(path, lambda x: Rows(x, shares), plain)

    # helpers

    def _numbers(self, given: Any, unit: str, path: str, count: int) -> tuple[float, ...] | None:
        return plain_numbers(self.values, given, unit, path, count)

    def _made(self, path: str, make: Callable[[Any], Any], given: Any) -> Any:
        """Return what `make` makes of something, None where that is missing or refused."""
        if given is None:
            return None
        try:
            return make(given)
        except InputError as error:
            self.report.add_error(path, error)
            return None
