"""The report of schedules of one step: predicted times, how far from the best, and which processor does what when."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from articulus.parallel import waits
from articulus.parallel.schedule import Schedule
from articulus.study.report.markup import Markup, element, join, number, section, table
from articulus.study.report.page import page_text

CHARTS = 4000
"""Most tasks whose Gantt charts are drawn."""


def schedule_report(schedules: Sequence[Schedule], title: str) -> str:
    """Return the report of schedules of one task graph, one for each number of processors, as one HTML text that loads nothing."""
    graph, last = schedules[0].graph, schedules[-1]
    facts = f"{len(graph)} tasks, {graph.work:g} operations, critical path {graph.critical_path:g}"
    parts = {"Predicted times": _times(schedules), "Who does what when": _charts(schedules)}
    anchors = {each: each.lower().replace(" ", "-") for each in parts}
    headline = f"{last.speedup:.3g} times as fast on {_many(last.processors)}"
    return page_text(
        parts,
        anchors,
        kicker="articulus schedule",
        title=title,
        purpose=f"{facts}: at most {graph.parallelism:.3g} times as fast on any number of processors.",
        banner=element(
            "div",
            join([element("strong", headline), element("span", f"at most {100 * last.error:.3g} % above the best")]),
            class_="banner good",
            role="status",
        ),
        footer=element("p", f"articulus {version('articulus')}; times in operations"),
    )  # fmt: skip


def _times(schedules: Sequence[Schedule]) -> Markup:
    rows = [
        (
            str(s.processors),
            s.method,
            number(s.makespan),
            f"{s.speedup:.3g}",
            f"{100 * s.speedup / s.processors:.3g} %",
            f"{100 * s.error:.3g} %",
            f"{len(waits(s))} of {len(waits(s, all_of_them=True))}",
        )
        for s in schedules
    ]
    columns = (
        "processors",
        "by",
        "step",
        "speed-up",
        "at work",
        "above the best at most",
        "checks between processors",
    )
    return section("Predicted times", table("One step on several processors", columns, rows, numbers=(0, 2, 3, 4, 5)), anchor="predicted-times")  # fmt: skip


def _charts(schedules: Sequence[Schedule]) -> Markup:
    if len(schedules[0].graph) > CHARTS:
        text = f"{len(schedules[0].graph)} tasks are too many to draw; `articulus schedule --chart` draws one chart."
        return section("Who does what when", element("p", text), anchor="who-does-what-when")
    figures = []
    for s in schedules:
        label = f"Gantt chart on {_many(s.processors)}"
        dark = s.svg().replace("<text ", '<text style="fill:#222" ')  # on the white of the chart in any theme
        drawn = Markup(dark.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1))
        caption = element("figcaption", f"{_many(s.processors)}, {number(s.makespan)} operations")
        figures.append(element("figure", join([drawn, caption]), tabindex="0"))
    hint = element(
        "p", "A row for each processor, a bar for each task; point at a bar for its name and its times."
    )
    return section("Who does what when", hint, *figures, anchor="who-does-what-when")


def _many(processors: int) -> str:
    return "one processor" if processors == 1 else f"{processors} processors"
