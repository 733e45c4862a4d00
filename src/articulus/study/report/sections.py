"""The sections of a report, each from the outcome of a study."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from articulus.model.mechanism.expression import Varying, text_of
from articulus.model.mechanism.inertias import body_mass
from articulus.model.mechanism.numbers import value_of
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.table import Table
from articulus.simulation.results.diagnostics import energy_error, momentum_change
from articulus.study.numbers import OPEN
from articulus.study.report.charts import chart
from articulus.study.report.markup import Markup, element, join, number, ratio, readable, section, table

if TYPE_CHECKING:
    from articulus.simulation.results.run import Run
    from articulus.study.runner import Outcome

ANCHORS = {
    "Checks": "checks",
    "Failures": "failures",
    "Run diagnostics": "trust",
    "Tip motion": "tip",
    "Plots": "plots",
    "Key values": "values",
    "Stability margins": "margins",
    "Events": "events",
    "Components": "components",
    "Model": "model",
    "How to reproduce": "reproduce",
}
MANY = 40
"""Rows from which a table is folded."""


def _section(title: str, *parts: Any) -> Markup:
    return section(title, *parts, anchor=ANCHORS[title])


def _fold(rows: int, content: Markup, what: str) -> Markup:
    """Return a long table behind a line that opens it."""
    if rows <= MANY:
        return content
    return element("details", join([element("summary", f"Show {what} ({rows} rows)"), content]))


def checks(outcome: Outcome) -> Markup:
    """Return the table of checks."""
    rows = []
    for k, v in enumerate(outcome.verdicts):
        mark = element("span", "PASS" if v.passed else "FAIL", class_=f"mark {'good' if v.passed else 'bad'}")
        rows.append((v.check.name or f"check {k + 1}", v.check.place, v.check.demand, v.text, mark))
    columns = ("check", "looks at", "expected", "found", "verdict")
    return _section("Checks", table("What the study demands, and what the run gave", columns, rows))


def failures(outcome: Outcome) -> Markup:
    """Return what failed, when, and why."""
    found = outcome.run.failures
    rows = [(f"run {f.run}", f"{f.time:.9g}", str(f.code), f.reason) for f in found]
    columns = ("run", "time [s]", "what", "likely cause")
    made = table("Runs that could not go on", columns, rows, numbers=(1,))
    return _section("Failures", _fold(len(rows), made, "failures"), _last_state(outcome))


def _last_state(outcome: Outcome) -> Markup:
    """Return the last good state of a single run that failed."""
    run = outcome.run
    if run.batch is not None or not run.failures:
        return Markup()
    failure = run.failures[0]
    rows = [
        (column, number(x), unit)
        for name, values in (("q", failure.q), ("v", failure.v))
        for column, x, unit in zip(run.signals[name].columns, values, run.signals[name].units)
    ]
    return table("The last good state", ("entry", "value", "unit"), rows, numbers=(1,))


# run diagnostics


def trust(outcome: Outcome) -> Markup:
    """Return the run diagnostics."""
    run = outcome.run
    tiles = element("dl", join(_tile(*tile) for tile in _tiles(run)), class_="tiles")
    rows = [(name, readable(text)) for name, text in run.figures() if name != "failure"]
    return _section("Run diagnostics", tiles, table("In full", ("figure", "value"), rows))


def _tile(name: str, value: str, note: str) -> Markup:
    texts = [readable(value), element("small", readable(note))]
    content = join([element("dt", name), element("dd", join(texts))])
    return element("div", content, class_="tile")


def _tiles(run: Run) -> Iterator[tuple[str, str, str]]:
    if "energy" in run.signals:
        error, moved = energy_error(run)
        share = f"{error / moved:.1g} of the {moved:.3g} J at play" if moved > 0 else "nothing moved"
        yield "energy unaccounted for", f"{error:.2g} J", share
    if "constraint" in run.signals:
        residual = np.nanmax(np.abs(run["constraint.position"]), initial=0.0)
        yield "constraint residual", f"{residual:.2g}", "largest, in positions"
    elif "momentum" in run.signals:
        changes = [f"{x:.2g} {unit}" for unit, x in momentum_change(run).items()]
        yield "momentum change", changes[0], f"and {changes[1]}; gravity and the ground may cause it"
    if "steps" in run.statistics:
        evaluations = run.statistics.get("evaluations", 0)
        yield (
            "steps",
            f"{run.statistics['steps']:,}",
            f"{run.meta.get('method', '')}, {evaluations:,} evaluations",
        )
    if "wall_seconds" in run.statistics:
        speed = run.statistics.get("real_time_ratio", float("nan"))
        yield (
            "wall-clock time",
            f"{run.statistics['wall_seconds']:.3g} s",
            f"{ratio(speed)} times real time",
        )


# signals


def plots(outcome: Outcome) -> Markup:
    """Return the figures that were asked for, else positions, velocities and forces."""
    run = outcome.run
    if run.t.size < 2:
        return Markup()
    figures = []
    for k, names in enumerate(outcome.study.plots or ((),)):
        title = f"{', '.join(names) or 'positions, velocities and joint forces'} over time"
        figures.append(
            element("figure", join([element("figcaption", title), chart(run, names, title, f"plot{k}")]))
        )
    return _section("Plots", *figures)


def key_values(outcome: Outcome) -> Markup:
    """Return start, end, least and greatest value of every entry of every signal."""
    run = outcome.run
    rows = [
        (column, readable(unit), *map(number, _extent(values)))
        for s in run.signals.values()
        for column, unit, values in zip(s.columns, s.units, np.moveaxis(s.values, -1, 0))
    ]
    middle = "" if run.batch is None else " (median of all runs)"
    columns = ("signal", "unit", f"start{middle}", f"end{middle}", "least", "greatest")
    made = table("Each signal at the start, at the end, and its range", columns, rows, numbers=(2, 3, 4, 5))
    return _section("Key values", _fold(len(rows), made, "all signals"))


def _extent(values: np.ndarray) -> tuple[float, float, float, float]:
    """Return start, end, least and greatest of (time,) or (batch, time); NaN where there is no number."""
    rows = np.atleast_2d(values)
    kept = [row[~np.isnan(row)] for row in rows]
    kept = [row for row in kept if row.size]
    if not kept:
        return (np.nan,) * 4
    start, end = (float(np.median([row[k] for row in kept])) for k in (0, -1))
    return start, end, min(float(row.min()) for row in kept), max(float(row.max()) for row in kept)


def events(outcome: Outcome) -> Markup:
    """Return what happened, in order."""
    rows = [(f"{e.time:.9g}", e.name, "ends the run" if e.stop else "") for e in outcome.run.events]
    made = table("What happened, in order", ("time [s]", "event", ""), rows)
    return _section("Events", _fold(len(rows), made, "events"))


# what was run


def components(outcome: Outcome) -> Markup:
    """Return the components with their numbers."""
    rows = [
        (c.name, c.type_name, _kind(c), readable(", ".join(_fields(c)))) for c in outcome.study.components
    ]
    columns = ("name", "type", "kind", "numbers")
    return _section("Components", table("What surrounds the mechanism", columns, rows))


def _kind(component: Component) -> str:
    kinds = ("Sensor", "Controller", "Actuator", "Disturbance")
    return next((cls.__name__.lower() for cls in type(component).__mro__ if cls.__name__ in kinds), "")


def _fields(thing: Any) -> Iterator[str]:
    """Yield every field that is not as without saying."""
    for f in dataclasses.fields(thing):
        value = getattr(thing, f.name)
        same = not isinstance(value, ca.Function) and value in (f.default, (f.default,))
        if f.init and f.name != "name" and not same:
            unit = f.metadata.get("unit", "-")
            yield f"{f.name} = {_value_text(value)}" + (f" [{unit}]" if unit not in ("-", *OPEN) else "")


def _value_text(value: Any) -> str:
    match value:
        case Table():
            return f"table of {len(value.times)} times, {value.times[0]:g} to {value.times[-1]:g} s"
        case ca.Function():
            return "function of time"
        case Varying():
            return f"{text_of(value)} ({value.value:g})"
        case Component():
            return f"{value.type_name} ({', '.join(_fields(value))})"
        case tuple():
            inner = ", ".join(map(_value_text, value))
            return _short(inner if len(value) == 1 else f"({inner})")
        case float():
            return number(value)
        case str():
            return value
        case _ if dataclasses.is_dataclass(value):
            return type(value).__name__.lower()
    return str(value)


def _short(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:157]}..."


def model(outcome: Outcome) -> Markup:
    """Return joints, bodies, constraints and parameters of the mechanism."""
    d = outcome.run.mechanism.description
    masses = [body_mass(b) for b in d.bodies]
    gravity = ", ".join(number(value_of(x)) for x in d.gravity)
    text = f"{d.name}: {len(d.bodies)} bodies, {number(sum(mass for mass, _ in masses))} kg, nq = {d.nq}, nv = {d.nv}, gravity ({gravity}) m/s²."
    joints = [
        (
            c.name,
            c.joint.type_name,
            c.parent,
            c.child,
            d.coupled[c.name].formula() if c.name in d.coupled else str(c.joint.nv),
        )
        for c in d.connections
    ]
    bodies = [
        (b.name, number(mass), ", ".join(map(number, center.tolist())))
        for b, (mass, center) in zip(d.bodies, masses)
    ]
    rows = [(c.name, c.type_name) for c in d.constraints]
    parameters = [(name, number(value)) for name, value in outcome.run.mechanism.parameters.items()]
    parts = [
        element("p", text),
        element("p", d.source) if d.source else "",
        _fold(
            len(joints),
            table("Joints", ("joint", "type", "parent", "child", "dof"), joints),
            "joints",
        ),
        _fold(
            len(bodies),
            table("Bodies", ("body", "mass [kg]", "center of mass [m]"), bodies, (1,)),
            "bodies",
        ),
        _fold(len(rows), table("Constraints", ("constraint", "type"), rows), "constraints"),
        table("Parameters of the model", ("parameter", "value"), parameters, (1,)),
    ]
    return _section("Model", *parts)


def reproduce(outcome: Outcome) -> Markup:
    """Return the command and the study."""
    study, s = outcome.study, outcome.study.settings
    sample = "every step" if s.sample is None else f"{s.sample:g} s"
    rows = [
        ("method", f"{s.method}, step {s.step:g} s, from {s.t0:g} to {s.t_end:g} s"),
        ("samples", sample),
        ("seed", str(s.seed)),
        ("model hash", outcome.run.meta.get("fingerprint", "")),
        (
            "parameters",
            _short(", ".join(f"{n} = {number(x)}" for n, x in study.params.items())) or "as in the model",
        ),
    ]
    return _section(
        "How to reproduce",
        element("pre", element("code", f"articulus run {shlex.quote(study.file)}")),
        table("Settings", ("what", "value"), rows),
        element(
            "details",
            join([element("summary", f"{study.file}, in full"), element("pre", element("code", study.text))]),
        ),
    )


def origin_line(outcome: Outcome) -> str:
    """Return versions and date."""
    meta = outcome.run.meta
    versions = ", ".join(f"{name} {v}" for name, v in meta.get("versions", {}).items())
    return f"{versions}. {meta.get('date', '')}"
