"""The [run] table of a study, read as `RunSettings` declares its fields."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from articulus.declared import Field, fields_of
from articulus.dynamics.loops.forms import AUTO, FORMS
from articulus.simulation.loop.steps import MOST, steps_in
from articulus.simulation.running.settings import RunSettings
from articulus.study.courses import Courses

SETTINGS: tuple[Field, ...] = tuple(f for f in fields_of(RunSettings) if f.kind != "code")
"""Keys of the table that are run settings."""
LOOPS = Field(
    "loops", "choice", meaning="form in which loops are closed", default=AUTO,
    words={name: name for name in (AUTO, *(f.name for f in FORMS))},
)  # fmt: skip
LIMITS = Field("limits", "flag", meaning="whether joints have stops at their limits", default=False)
CONTACTS = Field("contacts", "flag", meaning="whether the shapes of the model's file touch", default=False)
INTERVAL = Field(
    "checkpoint_interval", "number", unit="s", size="1", meaning="time of the clock between checkpoints", default=30.0,
    least=0,
)  # fmt: skip
RUN = (*SETTINGS, LOOPS, LIMITS, CONTACTS, INTERVAL)
"""Keys of the table: run settings, and what is said of the loop and of where a run is kept."""


@dataclasses.dataclass(frozen=True)
class RunTable:
    """What the table says.

    Parameters
    ----------
    settings : RunSettings
        Without the events and outputs, which other tables give.
    loops : str
    limits, contacts : bool
    checkpoint_interval : float [s]
    """

    settings: RunSettings
    loops: str
    limits: bool
    contacts: bool
    checkpoint_interval: float


def read_run(values: Courses, table: dict[str, Any], ends: bool = True) -> RunTable | None:
    """Return how to run a study; None when anything is wrong. Without `ends` its length may be omitted: it is one step then."""
    report, before = values.report, len(values.report.findings)
    values.unknown_keys(table, [f.name for f in RUN], "run")
    held = {f.name: values.read_declared(f, table[f.name], f"run.{f.name}") for f in RUN if f.name in table}
    if "t_end" not in table and ends:
        report.add("run", "no t_end", "t_end [s]")
    if len(report.findings) > before:
        return None
    others = {f.name: held.pop(f.name, f.default) for f in (LOOPS, LIMITS, CONTACTS, INTERVAL)}
    held.setdefault("t_end", held.get("t0", 0.0) + held.get("step", RunSettings.step))
    spans: dict[str, Any] = {name: held.get(name, getattr(RunSettings, name, None)) for name in SPANS}
    _check_spans(values, **spans)
    return RunTable(RunSettings(**held), **others) if len(report.findings) == before else None


SPANS = ("t_end", "t0", "step", "sample")


def _check_spans(values: Courses, t_end: float, t0: float, step: float, sample: float | None) -> None:
    span = t_end - t0
    if span <= 0:
        values.report.add("run.t_end", f"{t_end:g} s", f"a time after t0 = {t0:g} s")
        return
    spans = {"t_end": span} | ({} if sample is None else {"sample": sample})
    for key, length in spans.items():
        if steps_in(length, step) is None:
            near = max(1.0, np.round(length / step)) * step + (t0 if key == "t_end" else 0.0)
            found = f"{length:.9g} s, which is {length / step:.6g} steps of {step:g} s"
            hint = f"{near:.9g} s would be one." if length / step < MOST else ""
            values.report.add(f"run.{key}", found, "a whole number of steps", hint)
