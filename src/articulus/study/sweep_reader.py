"""The [sweep] table of a study."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.errors import did_you_mean
from articulus.model.files.toml.numbers import shown
from articulus.model.mechanism import Description, Varying, values_of
from articulus.study.courses import Courses
from articulus.study.initial import coordinate_units
from articulus.study.sweep import MAX_RUNS, Axis, Sweep

FORMS = "[values], {from = ..., to = ..., count = ...}, {normal = [mean, deviation]} or {uniform = [least, greatest]}"
RANDOM = ("normal", "uniform")


def read_sweep(values: Courses, table: Any, description: Description | None) -> Sweep | None:
    """Return the sweep of a study, None without one."""
    if table is None:
        return None
    report, before = values.report, len(values.report.findings)
    if not isinstance(table, dict) or not isinstance(table.get("values", {}), dict):
        report.add("sweep", shown(table), "tables [sweep] and [sweep.values]")
        return None
    values.unknown_keys(table, ("runs", "seed", "values"), "sweep")
    for key, least in (("runs", 1), ("seed", 0)):
        given = table.get(key, least)
        if not isinstance(given, int) or isinstance(given, bool) or given < least:
            report.add(f"sweep.{key}", shown(given), f"a whole number, at least {least}")
    if isinstance(runs := table.get("runs"), int) and runs > MAX_RUNS:
        report.add("sweep.runs", shown(runs), f"at most {MAX_RUNS}")
    given = table.get("values", {})
    if not given:
        report.add("sweep", "no values", "[sweep.values] with a line for each number to change")
    axes = tuple(_axis(values, name, form, description) for name, form in given.items())
    if len(report.findings) > before:
        return None
    sweep = Sweep(tuple(a for a in axes if a), table.get("runs", 1), table.get("seed", 0))
    if sweep.count > MAX_RUNS:
        report.add("sweep", f"{sweep.count:.6g} runs", f"at most {MAX_RUNS}")
        return None
    return sweep


def _axis(values: Courses, name: str, given: Any, description: Description | None) -> Axis | None:
    path = f"sweep.values.{name}"
    unit = unit_of(values, name, description, path)
    if isinstance(given, dict) and len(given) == 1 and (kind := next(iter(given))) in RANDOM:
        numbers = plain_numbers(values, given[kind], [unit] * 2, f"{path}.{kind}")
        low, high = numbers or (0.0, 1.0)
        if (kind == "normal" and high < 0) or (kind == "uniform" and high < low):
            values.report.add(f"{path}.{kind}", shown(given[kind]), FORMS)
        return Axis(name, kind, (low, high))
    if isinstance(given, dict) and set(given) == {"from", "to", "count"}:
        ends = plain_numbers(values, [given["from"], given["to"]], [unit] * 2, path)
        count = given["count"]
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MAX_RUNS:
            values.report.add(f"{path}.count", shown(count), f"a whole number from 1 to {MAX_RUNS}")
            return None
        return Axis(name, "values", tuple(np.linspace(ends[0], ends[1], count).tolist())) if ends else None
    if not isinstance(given, list) or not given:
        values.report.add(path, shown(given), FORMS)
        return None
    numbers = plain_numbers(values, given, [unit] * len(given), path)
    return Axis(name, "values", numbers) if numbers else None


def unit_of(values: Courses, name: str, description: Description | None, path: str) -> str:
    """Return the unit of a number that is swept; parameters take any, as its SI value."""
    if name[:2] not in ("q.", "v.") or description is None:
        return "any"
    names = [f"{name[0]}.{n}" for n in description.coordinate_names(rates=name[0] == "v")]
    if name not in names:
        values.report.add(
            path, f"no entry '{name}'", "an entry of the initial state", did_you_mean(name, names)
        )
        return "any"
    return coordinate_units(description, name[0])[names.index(name)]


def plain_numbers(values: Courses, given: Any, units: list[str], path: str) -> tuple[float, ...] | None:
    """Return a finite number for each unit, none of them a parameter."""
    found = values.numbers.vector(given, units, path)
    if found is None:
        return None
    if any(isinstance(x, Varying) for x in found) or not np.isfinite(values_of(found)).all():
        values.report.add(path, shown(given), "plain finite numbers")
        return None
    return values_of(found)
