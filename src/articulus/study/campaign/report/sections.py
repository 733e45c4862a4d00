"""Sections of the report of a campaign."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError
from articulus.study.campaign import statistics
from articulus.study.campaign.distributions import Axis, Correlated, Rows
from articulus.study.campaign.failure_causes import SuspectInput, drivers, group_causes
from articulus.study.campaign.report import charts
from articulus.study.campaign.sensitivity import sobol_indices, tornado
from articulus.study.campaign.statistics import NOTES, Rate, joint_rate, judge, passing, summary
from articulus.study.report.markup import Markup, element, join, readable, section, table

if TYPE_CHECKING:
    from articulus.study.campaign.report.page import Content

ANCHORS = {
    "Requirements": "requirements",
    "Single runs": "worst",
    "Figures": "figures",
    "Over time": "time",
    "What matters": "effects",
    "Failed runs": "failures",
    "Scatter matrix": "scatter",
    "What varies": "varies",
    "How to reproduce": "reproduce",
}
MOST_EFFECTS, MOST_PANELS, MOST_BANDS = 8, 6, 8


def short(x: float, digits: int = 4) -> str:
    """Return a number of a table with few digits."""
    if x != x:
        return "–"
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    return f"{x + 0.0:.{digits}g}".replace("-", "−")


def percent(share: float) -> str:
    """Return a share as a percentage, with digits that still tell it from 0 and 100 %."""
    if share != share:
        return "–"
    rest = min(share, 1 - share)
    digits = 1 if rest >= 0.01 or rest <= 0 else min(8, math.ceil(-math.log10(100 * rest)) + 1)
    return f"{100 * share:.{digits}f} %" if rest > 0 else f"{100 * share:.0f} %"


def bounded(rate: Rate) -> str:
    """Return the interval of a rate."""
    return "–" if rate.low != rate.low else f"{percent(rate.low)} to {percent(rate.high)}"


def _section(title: str, *parts: Any) -> Markup:
    return section(title, *parts, anchor=ANCHORS[title])


# requirements


def requirements(content: Content) -> Markup:
    """Return how the runs keep the requirements."""
    c, t = content.campaign, content.table
    found = judge(c.requirements, t.figures, c.sampler)
    if not found or not len(t):
        return Markup()
    rows = [_requirement(content, j) for j in found]
    if len(found) > 1:
        every = joint_rate(c.requirements, t.figures, len(t), c.sampler)
        rows.append(
            (
                "all of them",
                _mark(every),
                percent(every.rate),
                bounded(every),
                f"{every.runs - every.passed:,}",
                "",
                "",
            )
        )
    columns = ("requirement", "verdict", "pass rate", "95 % bounds", "runs that miss it", "worst", "in run")
    failed = int(t.failed.sum())
    told = [
        f"Of {len(t):,} runs." + (f" The {failed:,} that failed miss every requirement." if failed else "")
    ]
    if c.sampler not in statistics.NO_SAMPLE:
        told.append("The bounds of the pass rate of all possible runs are exact (Clopper and Pearson).")
    return _section(
        "Requirements",
        table("Pass rates", columns, rows, numbers=(2, 3, 4, 5, 6)),
        element("p", " ".join([*told, NOTES[c.sampler]]).strip()),
    )


def _requirement(content: Content, judgement: Any) -> tuple[Any, ...]:
    r, rate, t = judgement.requirement, judgement.rate, content.table
    values = np.asarray(t.figures[r.figure], dtype=float)
    worst, run = "none has it", Markup()
    if not np.isnan(values).all():
        k = int(np.argmax(np.where(np.isnan(values), -np.inf, r.badness(values))))
        index = int(t.index[k])
        unit, size = r.bound_unit
        worst = readable(f"{short(float(values[k]) / size)} {unit}".removesuffix(" -"))
        run = element("a", f"{index}", href=f"#run-{index}") if index in content.worst else Markup(index)
    return (
        readable(r.text),
        _mark(rate),
        percent(rate.rate),
        bounded(rate),
        f"{rate.runs - rate.passed:,}",
        worst,
        run,
    )


def _mark(rate: Rate) -> Markup:
    good = rate.passed == rate.runs
    return element("span", "kept" if good else "missed", class_=f"mark {'good' if good else 'bad'}")


# single runs


def worst(content: Content, replay: Markup) -> Markup:
    """Return the worst runs: a replay, the command that repeats each, and their inputs."""
    t = content.table
    if not content.worst:
        return Markup()
    rows = [int(np.flatnonzero(t.index == index)[0]) for index in content.worst]
    parts = []
    for k, (index, why) in zip(rows, content.worst.items()):
        held = {name: float(x[k]) for name, x in content.figures.items()}
        values = ", ".join(
            readable(f"{name} {short(x)} {content.units[name]}".removesuffix(" -"))
            for name, x in held.items()
            if x == x
        )
        text = f"Failed {t.texts.get(index, '')}".strip() if t.failed[k] else values
        parts += [
            element("h3", f"Run {index}: {why}", id=f"run-{index}"),
            element("p", f"{text}."),
            element("pre", element("code", content.command(index))),
        ]
    cells = [
        (name, *(f"{short(float(x[k]))} ({_place(x, float(x[k]))})" for k in rows))
        for name, x in t.inputs.items()
    ]
    caption = "Inputs of these runs [SI], and the share of all runs with a smaller value"
    columns = ("input", *(f"run {index}" for index in content.worst))
    return _section(
        "Single runs",
        element(
            "p",
            "The worst of each requirement, and an ordinary one beside them. Each is computed again, to the last bit, by its command.",
        ),
        replay,
        *parts,
        table(caption, columns, cells, numbers=range(1, len(columns))),
    )


def _place(values: np.ndarray, x: float) -> str:
    """Return where a value lies among all: the share of runs below it."""
    return "always" if np.ptp(values) == 0 else f"{100 * float((values < x).mean()):.1f} %"


# figures


def figures(content: Content) -> Markup:
    """Return distributions and quantiles of all figures."""
    c, t = content.campaign, content.table
    if not len(t.figures) or not len(t):
        return Markup()
    rows = []
    for name in t.figures:
        s = summary(name, content.figures[name], content.units[name])
        middle = [short(q.value) for q in s.quantiles]
        rows.append(
            (
                name,
                readable(s.unit),
                short(s.mean),
                short(s.deviation),
                short(s.least),
                *middle,
                short(s.greatest),
            )
        )
    shares = [f"{100 * s:g} %" for s in statistics.SHARES]
    columns = ("figure", "unit", "mean", "deviation", "least", *shares, "greatest")
    bounds: dict[str, list[float]] = {}
    for r in c.requirements:
        bounds.setdefault(r.figure, []).extend(x / content.scales[r.figure][1] for x in _bounds(r))
    drawn = charts.figure_html(
        lambda: charts.histograms(content.figures, content.units, bounds),
        "Distribution of each figure; red lines are the bounds of requirements",
        "histograms",
    )
    return _section(
        "Figures",
        drawn,
        table("Mean, standard deviation and quantiles", columns, rows, numbers=range(2, len(columns))),
        _confidence(content),
        _left_out(content),
    )


def _bounds(r: Any) -> list[float]:
    return [r.value - r.tolerance, r.value + r.tolerance] if r.bound == "equals" else [r.value]


def _confidence(content: Content) -> Markup:
    t = content.table
    if content.campaign.sampler in statistics.NO_SAMPLE:
        return Markup()
    rows = []
    for name in t.figures:
        found = summary(name, content.figures[name]).quantiles
        rows.append((name, *(f"{short(q.low)} to {short(q.high)}" for q in found)))
    shares = [f"{100 * s:g} %" for s in statistics.SHARES]
    made = table(
        "95 % bounds of the quantiles, by order statistics", ("figure", *shares), rows, numbers=range(1, 6)
    )
    return element("details", join([element("summary", "How sure the quantiles are"), made]))


def _left_out(content: Content) -> Markup:
    failed = int(content.table.failed.sum())
    told = (
        [f"{failed:,} runs without figures are left out of means and quantiles: see Failed runs."]
        if failed
        else []
    )
    for name, values in content.figures.items():
        infinite = int(np.isinf(values).sum())
        if infinite:
            told.append(
                f"{name} is infinite in {infinite:,} runs, which its histogram and its effects leave out."
            )
    return element("p", " ".join(told)) if told else Markup()


def over_time(content: Content) -> Markup:
    """Return percentile bands."""
    found = list(content.bands.values())[:MOST_BANDS]
    if not found:
        return Markup()
    return _section(
        "Over time",
        charts.figure_html(lambda: charts.bands(found), "Percentiles of all runs at each instant", "bands"),
    )


# what it depends on


def effects(content: Content) -> Markup:
    """Return what the figures depend on."""
    c, t = content.campaign, content.table
    if not len(t.inputs) or len(t) < 20:
        return Markup()
    parts: list[Any] = [*_drivers(content), *_together(content)]
    asked = list(dict.fromkeys(r.figure for r in c.requirements)) or list(t.figures)
    for k, name in enumerate(asked[:MOST_PANELS]):
        parts += _effects_of(content, name, f"effect{k}")
    return _section("What matters", *parts) if parts else Markup()


def _drivers(content: Content) -> Iterator[Markup]:
    c, t = content.campaign, content.table
    if not c.requirements:
        return
    good = passing(c.requirements, t.figures, len(t))
    bad = int((~good).sum())
    if not bad:
        yield element("p", "No run misses a requirement.")
        return
    found = drivers(t.inputs, ~good, good)
    if not found:
        yield element(
            "p", f"No single input sets the {bad:,} runs that miss a requirement apart from the others."
        )
        return
    caption = f"Inputs whose values differ in the {bad:,} runs that miss a requirement, the strongest first"
    yield _driver_table(caption, found)


def _together(content: Content) -> Iterator[Markup]:
    """Say which inputs cannot be told apart."""
    groups = [" and ".join(a.names) for a in content.campaign.axes if len(a.names) > 1]
    if groups:
        yield element(
            "p",
            f"Drawn together: {'; '.join(groups)}. The effect of one includes what it shares with the others.",
        )


def _driver_table(caption: str, found: tuple[SuspectInput, ...]) -> Markup:
    rows = [
        (
            d.name,
            d.tendency,
            f"{short(d.bad[0])} to {short(d.bad[2])}",
            f"{short(d.good[0])} to {short(d.good[2])}",
            f"{d.distance:.2f}",
        )
        for d in found[:MOST_EFFECTS]
    ]
    columns = (
        "input",
        "in these runs",
        "middle half of these",
        "middle half of the others",
        "distance (0 to 1)",
    )
    return table(caption, columns, rows, numbers=(2, 3, 4))


def _effects_of(content: Content, name: str, prefix: str) -> Iterator[Markup]:
    values = content.figures[name]
    finite = values[np.isfinite(values)]
    if finite.size < 20 or not np.ptp(finite) > 0:
        return
    label = charts.label(name, content.units[name])
    yield element("h3", name)
    effects = [e for e in content.effects(name) if np.isfinite(e.share)]
    effects = [
        e for e in effects if e.share > 0 or abs(e.swing) > 3 * float(np.hypot(e.errors[0], e.errors[-1]))
    ]
    if not effects:
        yield element("p", f"No input has an effect on the mean of {name} beyond chance.")
        return
    largest = tornado(effects)[:MOST_EFFECTS]
    yield charts.figure_html(
        lambda: charts.tornado(largest, label, float(finite.mean())),
        f"Tornado: mean of {name} where an input is in its lowest and in its highest tenth",
        f"{prefix}-tornado",
    )
    yield charts.figure_html(
        lambda: charts.effects_over(effects[:4], label),
        f"Main effects: mean of {name} over the inputs that explain most of its variance (two standard errors)",
        f"{prefix}-main",
    )
    rows = [
        (e.name, f"{100 * max(e.share, 0.0):.1f} %", f"{e.rank:+.2f}".replace("-", "−"), short(e.swing))
        for e in effects[:MOST_EFFECTS]
    ]
    columns = ("input", "explains of the variance", "rank correlation", "low to high")
    yield table(f"Main effects on {name}", columns, rows, numbers=(1, 2, 3))
    yield from _indices(content, name, values, prefix)


def _indices(content: Content, name: str, values: np.ndarray, prefix: str) -> Iterator[Markup]:
    c, t = content.campaign, content.table
    if c.sampler != "saltelli":
        return
    names = [_axis_name(a) for a in c.axes]
    ordered = np.full(int(t.index.max()) + 1, np.nan)
    ordered[t.index] = values
    try:
        indices = sobol_indices(c.points, ordered, names)
    except InputError as error:
        yield element("p", str(error))
        return
    left = f"; {indices.left_out:,} pairs with a failed run are left out" if indices.left_out else ""
    if c.noisy:
        yield element(
            "p",
            "The noise is another one in every run: its share of the variance is in every total index. With seed among what varies it "
            "has an index of its own.",
        )
    yield charts.figure_html(
        lambda: charts.index_bars(indices),
        f"Sobol indices of {name}, with 95 % bounds, from {indices.pairs:,} pairs of points{left}",
        f"{prefix}-sobol",
    )
    if indices.second_order is not None and indices.second_bounds is not None and len(names) > 1:
        i, j = np.triu_indices(len(names), 1)
        order = np.argsort(-indices.second_order[i, j])[:MOST_EFFECTS]
        rows = [
            (
                f"{names[i[k]]} and {names[j[k]]}",
                short(float(indices.second_order[i[k], j[k]]), 3),
                f"{short(float(indices.second_bounds[0, i[k], j[k]]), 3)} to {short(float(indices.second_bounds[1, i[k], j[k]]), 3)}",
            )
            for k in order
        ]
        yield table(
            f"Sobol indices of pairs on {name}",
            ("pair", "share of the variance", "95 % bounds"),
            rows,
            numbers=(1, 2),
        )


def failures(content: Content) -> Markup:
    """Return runs that failed, by their cause."""
    t = content.table
    if not t.failed.any():
        return Markup()
    texts = np.array(t.cause_texts, dtype=object)[t.cause]
    causes = [str(x) or "unknown" if bad else "" for x, bad in zip(texts, t.failed)]
    parts: list[Any] = []
    rows = []
    groups = group_causes(causes, t.inputs)
    for g in groups:
        index, ended = t.index[g.rows], t.end_times[g.rows]
        told = next((t.texts[int(i)] for i in index if int(i) in t.texts), "")
        when = (
            f"{short(float(np.nanmin(ended)))} to {short(float(np.nanmax(ended)))}"
            if np.isfinite(ended).any()
            else "–"
        )
        first = ", ".join(str(int(i)) for i in index[:3])
        rows.append((g.cause, f"{g.rows.size:,}", percent(g.rows.size / len(t)), when, first, told))
    columns = ("cause", "runs", "share", "ended at [s]", "such as run", "told")
    parts.append(table("Runs without figures, by cause", columns, rows, numbers=(1, 2, 3)))
    parts += [_driver_table(f"What sets the runs apart: {g.cause}", g.drivers) for g in groups if g.drivers]
    return _section("Failed runs", *parts)


def scatter(content: Content) -> Markup:
    """Return the scatter matrix of the inputs that matter and the figures."""
    c, t = content.campaign, content.table
    if len(t) < 20 or not len(t.inputs) or not len(t.figures):
        return Markup()
    asked = list(dict.fromkeys([*(r.figure for r in c.requirements), *t.figures]))[:3]
    chosen: dict[str, float] = {}
    for name in asked:
        for e in content.effects(name):
            if np.isfinite(e.share):
                chosen[e.name] = max(chosen.get(e.name, 0.0), e.share)
    names = sorted(chosen, key=lambda n: -chosen[n])[: MOST_PANELS - len(asked)]
    columns = {n: np.asarray(t.inputs[n], dtype=float) for n in names} | {
        n: content.figures[n] for n in asked
    }
    good = passing(c.requirements, t.figures, len(t))
    text = "Inputs that matter most and figures, each over each"
    text += "; runs that miss a requirement in red" if not good.all() else ""
    left = len(t.inputs) - len(names)
    text += f"; {left} more inputs are in the table" if left > 0 else ""
    return _section(
        "Scatter matrix",
        charts.figure_html(lambda: charts.scatter_matrix(columns, content.units, good), text, "scatter"),
    )


# what was run


def varies(content: Content) -> Markup:
    """Return what varied and how."""
    c = content.campaign
    rows = [(_axis_name(a), *_axis_texts(a)) for a in c.axes]
    text = f"{c.runs:,} runs, sampler: {c.sampler}, seed {c.seed}."
    return _section(
        "What varies",
        element("p", text),
        table("Distributions", ("what", "distribution", "numbers [SI]"), rows),
    )


def _axis_name(axis: Axis) -> str:
    return ", ".join(axis.names)


def _axis_texts(axis: Axis) -> tuple[str, str]:
    d = axis.distribution
    if isinstance(d, Rows):
        low, high = d.limits
        ends = "; ".join(f"{short(a, 6)} to {short(b, 6)}" for a, b in zip(low, high))
        return f"{len(d.rows)} values", ends
    if isinstance(d, Correlated):
        each = "; ".join(
            f"{n}: {' '.join(_axis_texts(Axis((n,), m)))}" for n, m in zip(axis.names, d.members)
        )
        return "correlated", f"{each}; correlation {[list(r) for r in d.correlation]}"
    fields: Any = d
    held = {f.name: getattr(d, f.name) for f in dataclasses.fields(fields) if f.init}
    kind = held.pop("name", type(d).__name__.lower())
    held |= held.pop("parameters", {})
    return str(kind), ", ".join(f"{n} {_plain(x)}" for n, x in held.items() if not _infinite(x))


def _infinite(x: Any) -> bool:
    return x is None or (isinstance(x, float) and math.isinf(x))


def _plain(x: Any) -> str:
    return f"({', '.join(short(float(v), 6) for v in x)})" if isinstance(x, tuple) else short(float(x), 6)


def reproduce(content: Content) -> Markup:
    """Return the commands and the study."""
    c = content.campaign
    whole = join([element("summary", f"{c.name}, in full"), element("pre", element("code", c.text))])
    rows = [(name, value) for name, value in content.origin.items()]
    return _section(
        "How to reproduce",
        element("pre", element("code", content.command(None))),
        element("details", whole),
        element(
            "details",
            join(
                [
                    element("summary", "Versions, processor and digests of all that decides the numbers"),
                    table("What another campaign must have in common with this one", ("what", "value"), rows),
                ]
            ),
        ),
    )
