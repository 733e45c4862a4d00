"""What varies, in TOML: the tables [campaign.vary] and [[campaign.group]]."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from articulus.errors import InputError, ModelError, did_you_mean
from articulus.model.files.csv_table import read_samples
from articulus.model.files.toml.numbers import short_text
from articulus.model.files.units import base_text
from articulus.model.mechanism import Description
from articulus.study.campaign import distributions
from articulus.study.campaign.distributions import OWN, Axis, Correlated, Distribution, Rows, Stats
from articulus.study.courses import Courses
from articulus.study.initial import coordinate_unit

QUATERNION = ("qw", "qx", "qy", "qz")


def scalar_kinds() -> dict[str, Any]:
    """Return the declared distributions of one number, by the key that writes them."""
    return {next(iter(c.lists)): c for c in distributions.ALL_DISTRIBUTIONS if getattr(c, "lists", {})}


def group_kinds() -> dict[str, Any]:
    """Return the declared distributions of several numbers, by the key that writes them."""
    return {c.key: c for c in distributions.ALL_DISTRIBUTIONS if hasattr(c, "key")}


def forms() -> str:
    """Return how a distribution of one number is written."""
    declared = ", ".join(
        f"{{{key} = [{', '.join(kind.lists[key])}]}}" for key, kind in scalar_kinds().items()
    )
    return (
        f"[values], {{from = ..., to = ..., count = ...}}, {{values = [...], weights = [...]}}, {declared}, "
        '{table = "file.csv", column = "..."} or {stats = "name", ...}'
    )


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
            self.report.add(
                "campaign.vary", short_text(vary), "a table with a line for each number that varies"
            )
            vary = {}
        if not isinstance(groups, list) or not all(isinstance(g, dict) for g in groups):
            self.report.add("campaign.group", short_text(groups), "tables [[campaign.group]]")
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
            return self._make(path, Rows.of, self._numbers(given, unit, path, max(len(given), 1)))
        kinds: dict[str, Callable[[dict[str, Any], str, str], Distribution | None]] = {
            "values": self._weighted,
            "table": self._column,
            "stats": self._stats,
            "from": self._read_range,
        }
        declared = scalar_kinds()
        known = [*declared, *kinds]
        key = next((k for k in known if isinstance(given, dict) and k in given), None)
        if key is None:
            near = next(iter(given), "") if isinstance(given, dict) else ""
            self.report.add(path, short_text(given), forms(), did_you_mean(str(near), known) if near else "")
            return None
        return (
            self._read_declared(declared[key], given, unit, path)
            if key in declared
            else kinds[key](given, unit, path)
        )

    def _unit(self, name: str, path: str) -> str:
        """Return the unit of a number that varies: that of the coordinate or field, that with which the study gives it, or any."""
        if name in self.units:
            return self.units[name]
        held = self.values.numbers.declared.get(name)
        if held is not None and held.unit is not None:
            return base_text(held.unit)
        return coordinate_unit(self.values, name, self.description, path)

    def _read_declared(self, kind: Any, given: dict[str, Any], unit: str, path: str) -> Distribution | None:
        """Return a distribution of one number, read as its class declares it."""
        self.values.unknown_keys(given, tuple(kind.lists), path)
        units: dict[str, str] = {f.name: f.metadata.get("unit", OWN) for f in dataclasses.fields(kind)}
        found: dict[str, float] = {}
        for key, names in kind.lists.items():
            if key in given:
                own = [unit if units[n] == OWN else units[n] for n in names]
                numbers = self.values.plain_numbers(given[key], own, f"{path}.{key}")
                if numbers is None:
                    return None
                found |= zip(names, numbers)
        return self._make(path, lambda x: kind(**x), found)

    def _weighted(self, given: dict[str, Any], unit: str, path: str) -> Distribution | None:
        self.values.unknown_keys(given, ("values", "weights"), path)
        listed = given["values"]
        numbers = self._numbers(
            listed, unit, f"{path}.values", max(len(listed), 1) if isinstance(listed, list) else 1
        )
        if "weights" not in given:
            return self._make(path, Rows.of, numbers)
        weights = self._numbers(given["weights"], "-", f"{path}.weights", len(numbers or ()) or 1)
        return self._make(path, lambda x: Rows.of(*x), numbers and weights and (numbers, weights))

    def _read_range(self, given: dict[str, Any], unit: str, path: str) -> Distribution | None:
        self.values.unknown_keys(given, ("from", "to", "count"), path)
        count = given.get("count")
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 1_000_000:
            self.report.add(f"{path}.count", short_text(count), "a whole number from 1 to 1000000")
            return None
        ends = self._numbers([given["from"], given.get("to")], unit, path, 2)
        return self._make(path, lambda x: Rows.of(np.linspace(x[0], x[1], count).tolist()), ends)

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
        return self._make(path, lambda x: Rows(x, last), tuple(map(tuple, found[:, : len(columns)].tolist())))

    def _stats(self, given: dict[str, Any], unit: str, path: str) -> Distribution | None:
        name = self.values.text(given, "stats", path)
        found: dict[str, float] = {}
        for key, value in given.items():
            if key != "stats":
                one = self._numbers([value], unit if key in ("loc", "scale") else "-", f"{path}.{key}", 1)
                if one is None:
                    return None
                found[key] = one[0]
        return None if name is None else self._make(path, lambda x: Stats(*x), (name, found))

    # several together

    def _group(self, given: dict[str, Any], path: str) -> Axis | None:
        declared = group_kinds()
        known = ("correlation", *declared, "table", "rows")
        kinds = [k for k in known if k in given]
        if len(kinds) != 1:
            self.report.add(path, f"{', '.join(given) or 'nothing'}", f"one of {', '.join(known)}")
            return None
        if kinds[0] == "correlation":
            return self._read_correlated(given, path)
        names = given.get("names")
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            self.report.add(f"{path}.names", short_text(names), 'names of what varies, such as ["a", "b"]')
            return None
        if kinds[0] == "attitude" and len(names) == 1:
            names = [f"{names[0]}.{part}" for part in QUATERNION]
        for name in names:
            coordinate_unit(self.values, name, self.description, f"{path}.names")
        if kinds[0] in declared:
            distribution = self._fields(given, declared[kinds[0]], path)
        else:
            distribution = (self._table if kinds[0] == "table" else self._read_rows)(
                given, tuple(names), path
            )
        return (
            None if distribution is None else self._make(path, lambda d: Axis(tuple(names), d), distribution)
        )

    def _read_correlated(self, given: dict[str, Any], path: str) -> Axis | None:
        self.values.unknown_keys(given, ("vary", "correlation"), path)
        vary, matrix = given.get("vary"), given["correlation"]
        if not isinstance(vary, dict) or len(vary) < 2:
            self.report.add(f"{path}.vary", short_text(vary), "a table with two or more numbers that vary")
            return None
        members = [self._scalar(name, form, f"{path}.vary.{name}") for name, form in vary.items()]
        n = len(members)
        if not isinstance(matrix, list) or len(matrix) != n:
            self.report.add(f"{path}.correlation", short_text(matrix), f"a matrix of {n} rows")
            return None
        rows = [self._numbers(row, "-", f"{path}.correlation[{i}]", n) for i, row in enumerate(matrix)]
        good = tuple(m for m in members if m is not None)
        if len(good) < n or None in rows:
            return None
        made = self._make(path, lambda x: Correlated(good, x), tuple(r for r in rows if r is not None))
        return None if made is None else Axis(tuple(vary), made)

    def _fields(self, given: dict[str, Any], kind: Any, path: str) -> Distribution | None:
        """Return a distribution of several numbers, read as the fields of its class declare it."""
        self.values.unknown_keys(given, ("names", kind.key), path)
        table, path = given[kind.key], f"{path}.{kind.key}"
        fields = {f.name: f for f in dataclasses.fields(kind) if "unit" in f.metadata}
        if not isinstance(table, dict):
            self.report.add(path, short_text(table), f"a table, such as {{{', '.join(fields)}}}")
            return None
        self.values.unknown_keys(table, tuple(fields), path)
        for name, field in fields.items():
            if name not in table and field.default is dataclasses.MISSING:
                self.report.add(path, f"no {name}", f"{name} = ...")
                return None
        found: dict[str, Any] = {}
        for name in (n for n in fields if n in table):
            unit, size = fields[name].metadata["unit"], fields[name].metadata["size"]
            listed = [table[name]] if size == "1" else table[name]
            sizes = [int(s) for s in size.split(" or ")]
            count = next((s for s in sizes if isinstance(listed, list) and len(listed) == s), sizes[-1])
            numbers = self._numbers(listed, unit, f"{path}.{name}", count)
            if numbers is None:
                return None
            found[name] = numbers[0] if size == "1" else numbers
        return self._make(path, lambda x: kind(**x), found)

    def _table(self, given: dict[str, Any], names: tuple[str, ...], path: str) -> Distribution | None:
        self.values.unknown_keys(given, ("names", "table", "columns", "weights"), path)
        columns = given.get("columns", list(names))
        if not isinstance(columns, list) or not all(isinstance(c, str) for c in columns):
            self.report.add(f"{path}.columns", short_text(columns), "names of columns")
            return None
        if len(columns) != len(names):
            self.report.add(f"{path}.columns", short_text(columns), f"{len(names)} names of columns")
            return None
        return self._rows(given, columns, [self._unit(n, f"{path}.names") for n in names], path)

    def _read_rows(self, given: dict[str, Any], names: tuple[str, ...], path: str) -> Distribution | None:
        self.values.unknown_keys(given, ("names", "rows", "weights"), path)
        if not isinstance(given["rows"], list) or not given["rows"]:
            self.report.add(f"{path}.rows", short_text(given["rows"]), "a list of rows")
            return None
        units = [self._unit(n, f"{path}.names") for n in names]
        rows = []
        for i, row in enumerate(given["rows"]):
            at = f"{path}.rows[{i}]"
            if not isinstance(row, list) or len(row) != len(names):
                self.report.add(at, short_text(row), f"{len(names)} numbers")
                return None
            rows.append(tuple(self._numbers([x], unit, at, 1) for x, unit in zip(row, units)))
        if any(x is None for row in rows for x in row):
            return None
        weights = given.get("weights")
        shares = () if weights is None else self._numbers(weights, "-", f"{path}.weights", len(rows))
        plain = tuple(tuple(x[0] for x in row if x is not None) for row in rows)
        return None if shares is None else self._make(path, lambda x: Rows(x, shares), plain)

    # helpers

    def _numbers(self, given: Any, unit: str, path: str, count: int) -> tuple[float, ...] | None:
        return self.values.plain_numbers(given, [unit] * count, path)

    def _make(self, path: str, make: Callable[[Any], Any], given: Any) -> Any:
        """Return what `make` makes of something, None where that is missing or refused."""
        if given is None:
            return None
        try:
            return make(given)
        except InputError as error:
            self.report.add_error(path, error)
            return None
