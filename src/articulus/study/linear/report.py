"""Reports of linear models, their reductions, designs and inversions: one HTML file each that loads nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import singledispatch
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.control import Check, Design, damp
from articulus.control.analysis.margins import Margins
from articulus.control.reduction import ReducedModel
from articulus.errors import ArticulusError
from articulus.linear import LinearModel
from articulus.motion.inversion import Inversion
from articulus.study.linear.model_file import OperatingModel
from articulus.study.report.charts import drawing
from articulus.study.report.markup import (
    Markup,
    element,
    join,
    number,
    readable,
    section,
    table,
    written_or_told,
)
from articulus.study.report.page import page_text

if TYPE_CHECKING:
    from articulus.study.linear.runner import LinearOutcome

MOST = 60
"""Rows of a table of poles, ports or values."""
DRAWN = 300
"""States up to which responses over frequency are drawn."""
Writers = dict[str, Callable[[], Markup]]


def linear_report(outcome: LinearOutcome) -> str:
    """Return the report as one HTML text that loads nothing."""
    writers: Writers = {"Doubts": lambda: _doubts(outcome)}
    writers |= sections_of(outcome.found)
    writers["Operating point"] = lambda: _ports(outcome.plant)
    writers["Task"] = lambda: _section("Task", element("pre", outcome.text)) if outcome.text else Markup()
    anchors = {title: title.lower().replace(" ", "-") for title in writers}
    parts = {title: written_or_told(title, anchors, write) for title, write in writers.items()}
    return page_text(
        parts,
        anchors,
        kicker="articulus linear",
        title=outcome.name,
        purpose=outcome.purpose,
        banner=_banner(outcome),
        footer=element(
            "p", f"articulus {version('articulus')}; model {outcome.plant.model.name or outcome.name}"
        ),
    )


def _section(title: str, *parts: Any) -> Markup:
    return section(title, *parts, anchor=title.lower().replace(" ", "-"))


@singledispatch
def sections_of(found: Any) -> Writers:
    """Return the sections on a result, by its kind; none where there is no result."""
    return {}


@sections_of.register
def _(found: OperatingModel) -> Writers:
    model = found.model
    return {
        "Modes": lambda: _section("Modes", _modes(model), _poles(model, "poles")),
        "Response": lambda: _response(model, "response"),
    }


@sections_of.register
def _(found: ReducedModel) -> Writers:
    values = [(str(k + 1), number(float(x))) for k, x in enumerate(found.values[:MOST])]
    rows = [
        ("states", f"{len(found.full.A)} before, {found.order} now"),
        ("states that were not up for reduction", str(found.kept)),
        (f"{found.kind} error", readable(str(found.error))),
        ("bound of the error", "none known" if np.isnan(found.bound) else number(found.bound)),
    ]
    return {
        "Reduction": lambda: _section("Reduction", table(found.method, ("figure", "value"), rows)),
        "Error": lambda: _section(
            "Error", drawing(found.plot, "gains of both models, and the error over frequency", "error")
        ),
        "Singular values": lambda: _section(
            "Singular values", table("By falling size", ("number", "value"), values, numbers=(1,))
        ),
        "Modes": lambda: _section("Modes", _modes(found.model)),
    }


@sections_of.register
def _(found: Design) -> Writers:
    controller = found.controller
    sizes = f"{len(controller.A)} states" + (
        "" if controller.period is None else f", every {controller.period:g} s"
    )
    rows = [
        ("controller", f"{sizes}, {', '.join(controller.inputs[:8])} to {', '.join(controller.outputs[:8])}")
    ]
    rows += _figures(found.figures)
    return {
        "Design": lambda: _section("Design", table(found.method, ("figure", "value"), rows), _gain(found)),
        "Checks": lambda: _section("Checks", checks_table(found.checks)),
        "Margins": lambda: _margins(found),
        "Closed loop": lambda: _section("Closed loop", _modes(found.closed), _poles(found.closed, "closed")),
        "Controller": lambda: _response(controller, "controller"),
    }


@sections_of.register
def _(found: Inversion) -> Writers:
    first, last = found.support
    rows = [
        ("motion", f"{found.t0:.6g} to {found.t_end:.6g} s"),
        ("inputs act", f"{first:.6g} to {last:.6g} s"),
        *_figures(found.figures),
    ]
    peaks = [
        (name, number(float(np.abs(x).max())), unit)
        for name, x, unit in zip(found.input_names, found.inputs.T, found.input_units)
    ]
    return {
        "Inputs": lambda: _section(
            "Inputs",
            table(found.method, ("figure", "value"), rows),
            table(
                "Largest change of each input from the operating point",
                ("input", "peak", "unit"),
                peaks,
                numbers=(1,),
            ),
            drawing(found.plot, "outputs and inputs over time", "inputs"),
        ),
        "Checks": lambda: _section("Checks", checks_table(found.checks)),
    }


# parts


def _banner(outcome: LinearOutcome) -> Markup:
    kind, headline = "good", "Done"
    if outcome.failure:
        kind, headline = "bad", "No result that could be used"
    elif outcome.notes:
        count = len(outcome.notes)
        kind, headline = "warn", f"Done, with {count} doubt{'s' if count > 1 else ''}"
    parts = [element("strong", headline), element("span", readable(outcome.failure))]
    return element("div", join(parts), class_=f"banner {kind}", role="status")


def _doubts(outcome: LinearOutcome) -> Markup:
    if not outcome.notes:
        return Markup()
    return _section("Doubts", element("ul", join(element("li", readable(text)) for text in outcome.notes)))


def _ports(plant: OperatingModel) -> Markup:
    model = plant.model
    rows = [
        (kind, name, number(float(value)), unit)
        for kind, names, values, units in (
            ("input", model.inputs, plant.inputs, model.input_units),
            ("output", model.outputs, plant.outputs, model.output_units),
        )
        for name, value, unit in zip(names, values, units)
    ]
    kind = "continuous" if model.period is None else f"sampled every {model.period:g} s"
    text = f"{len(model.A)} states, {kind}, about t = {model.t:g} s. Inputs and outputs of the linear model are changes from these values."
    made = table("Values there", ("kind", "signal", "value", "unit"), rows[:MOST], numbers=(2,))
    return _section("Operating point", element("p", text), made)


def _modes(model: LinearModel) -> Markup:
    rows = [(p.replace("-", "−"), f, d.replace("-", "−"), s) for p, f, d, s in damp(model).rows()[:MOST]]
    columns = ("pole [rad/s]", "frequency [Hz]", "damping ratio", "states that take part")
    return table("Modes, by rising frequency", columns, rows, numbers=(1, 2))


def _poles(model: LinearModel, prefix: str) -> Markup:
    if not len(model.A) or not np.isfinite(model.C).all():
        return Markup()
    return drawing(model.plot, "poles and zeros in the complex plane", prefix)


def _response(model: LinearModel, prefix: str) -> Markup:
    title = "Controller" if prefix == "controller" else "Response"
    if not (len(model.inputs) and len(model.outputs)) or not 0 < len(model.A) <= DRAWN:
        return Markup()
    good = np.isfinite(np.hstack([model.C, model.D])).all(1)
    if not good.any():
        return Markup()
    shown = model.select(None, [name for name, fine in zip(model.outputs, good) if fine])
    return _section(title, drawing(shown.bode, "gain and phase over frequency", prefix))


def checks_table(checks: tuple[Check, ...]) -> Markup:
    """Return what was checked as a table."""
    rows = [(c.what, number(c.found), number(c.bound), Markup(c.verdict_html)) for c in checks]
    return table("What was checked", ("check", "found", "bound", "verdict"), rows, numbers=(1, 2))


def _figures(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return figures that are one number, a text or a few numbers."""
    rows = []
    for name, value in figures.items():
        label = name.replace("_", " ")
        if isinstance(value, bool | str | np.bool_):
            rows.append((label, str(value)))
        elif isinstance(value, int | float | np.number) and not np.iscomplexobj(value):
            rows.append((label, number(float(value))))
        elif isinstance(value, np.ndarray) and value.ndim == 1 and 0 < value.size <= MOST:
            shown = ", ".join(f"{x:.5g}" for x in value[:12])
            rows.append((label, f"{shown}{', ...' if value.size > 12 else ''}"))
    return rows


def _gain(design: Design) -> Markup:
    controller = design.controller
    if len(controller.A) or controller.D.size > MOST:
        return Markup()
    rows = [(name, *(number(float(x)) for x in row)) for name, row in zip(controller.outputs, controller.D)]
    numbers = range(1, 1 + len(controller.inputs))
    return table("Gains, sign included", ("command", *controller.inputs), rows, numbers=numbers)


def _margins(design: Design) -> Markup:
    """Return the margins at the commands; of a generalized plant, which has no loop of its own, nothing."""
    from articulus.control import margins, open_loop

    try:
        found: Margins = margins(open_loop(design.plant, design.controller))
    except ArticulusError as error:
        return _section("Margins", element("p", f"Not defined: {error}."))
    rows = [
        (
            c.channel,
            f"{number(c.gain_down)} to {_limit(c.gain_up)}",
            _limit(float(np.degrees(c.phase))),
            _limit(c.delay),
            number(c.disk.size),
            number(c.sensitivity.value),
        )
        for c in found.channels
    ]
    columns = ("command", "gain may change by", "phase [deg]", "delay [s]", "disk margin", "peak of S")
    made = table("The loop cut open at one command at a time", columns, rows, numbers=range(1, 6))
    return _section(
        "Margins", made, drawing(found.plot, "loop gain and sensitivities over frequency", "margins")
    )


def _limit(x: float) -> str:
    return number(x) if np.isfinite(x) else "no limit"
