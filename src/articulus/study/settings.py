"""The [run] table of a study."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from articulus.dynamics.loops.forms import AUTO, FORMS
from articulus.errors import did_you_mean
from articulus.model.files.toml.numbers import shown
from articulus.simulation.integrate import ALL_METHODS
from articulus.simulation.loop.steps import MOST, steps_in
from articulus.study.courses import Courses
from articulus.study.study import Settings

TIMES = ("t_end", "step", "sample", "max_step", "t0", "checkpoint_interval")
KEYS = (
    "t_end",
    "method",
    "loops",
    "step",
    "sample",
    "seed",
    "t0",
    "rtol",
    "atol",
    "max_step",
    "checkpoint_interval",
    "fixed",
    "limits",
)
CHOICES = (
    ("method", [m.name for m in ALL_METHODS], "an integration method"),
    ("loops", [AUTO, *(f.name for f in FORMS)], "a form of closed loops"),
)


def read_settings(values: Courses, table: dict[str, Any], ends: bool = True) -> Settings | None:
    """Return how to run a study; None when anything is wrong. Without `ends` its length may be left out: it is one step then."""
    report, before = values.report, len(values.report.findings)
    values.unknown_keys(table, KEYS, "run")
    held: dict[str, Any] = {}
    for key in TIMES:
        if key in table:
            held[key] = _plain(
                values,
                table[key],
                "s",
                f"run.{key}",
                positive=key not in ("t0", "t_end", "checkpoint_interval"),
            )
    if (held.get("checkpoint_interval") or 0.0) < 0:
        report.add("run.checkpoint_interval", shown(table["checkpoint_interval"]), "a time, not below 0")
    for key in ("rtol", "atol"):
        if key in table:
            held[key] = _plain(values, table[key], "-", f"run.{key}", positive=True)
    if "t_end" not in table and ends:
        report.add("run", "no t_end", "t_end [s]")
    elif "t_end" not in table:
        held["t_end"] = held.get("t0", 0.0) + held.get("step", Settings.step)
    for key, names, expected in CHOICES:
        if key in table:
            held[key] = values.text(table, key, "run")
            if held[key] is not None and held[key] not in names:
                report.add(f"run.{key}", f"'{held[key]}'", expected, did_you_mean(held[key], names))
    if "fixed" in table:
        held["fixed"] = tuple(table["fixed"]) if isinstance(table["fixed"], list) else ()
        if not held["fixed"] or not all(isinstance(name, str) for name in held["fixed"]):
            report.add("run.fixed", shown(table["fixed"]), "names of joints or flexible bodies in a list")
    if "limits" in table:
        held["limits"] = table["limits"]
        if not isinstance(held["limits"], bool):
            report.add("run.limits", shown(held["limits"]), "true or false")
    if "seed" in table:
        held["seed"] = table["seed"]
        if not isinstance(held["seed"], int) or isinstance(held["seed"], bool) or held["seed"] < 0:
            report.add("run.seed", shown(held["seed"]), "a whole number, not below 0")
    if len(report.findings) > before:
        return None
    settings = Settings(**held)
    _check_spans(values, settings)
    return settings if len(report.findings) == before else None


def _check_spans(values: Courses, s: Settings) -> None:
    span = s.t_end - s.t0
    if span <= 0:
        values.report.add("run.t_end", f"{s.t_end:g} s", f"a time after t0 = {s.t0:g} s")
        return
    spans = {"t_end": span} | ({} if s.sample is None else {"sample": s.sample})
    for key, length in spans.items():
        if steps_in(length, s.step) is None:
            near = max(1.0, np.round(length / s.step)) * s.step + (s.t0 if key == "t_end" else 0.0)
            found = f"{length:.9g} s, which is {length / s.step:.6g} steps of {s.step:g} s"
            hint = f"{near:.9g} s would be one." if length / s.step < MOST else ""
            values.report.add(f"run.{key}", found, "a whole number of steps", hint)


def _plain(values: Courses, given: Any, unit: str, path: str, positive: bool) -> float | None:
    number = values.numbers.number(given, unit, path)
    if number is None:
        return None
    if not isinstance(number, float) or not math.isfinite(number) or (positive and number <= 0):
        values.report.add(path, shown(given), f"a finite number{' above 0' if positive else ''}")
        return None
    return number
