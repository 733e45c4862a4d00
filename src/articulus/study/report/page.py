"""The report of a study, put together."""

from __future__ import annotations

import string
from importlib.resources import files
from typing import TYPE_CHECKING

from articulus.browser import policy
from articulus.results.status import RunStatus
from articulus.study.report import sections
from articulus.study.report.margins import margins_section
from articulus.study.report.markup import Markup, element, escaped, joined, ratio
from articulus.study.report.tip import tip_section

if TYPE_CHECKING:
    from articulus.study.runner import Outcome

STRICT = "default-src 'none'; img-src data:"
"""What a report without a replay may load."""


def report_text(outcome: Outcome, replay: str = "", also: tuple[Outcome, str] | None = None) -> str:
    """Return the report as one HTML text that loads nothing.

    Parameters
    ----------
    outcome : Outcome
    replay : str
        HTML to put in the place for a moving picture, as from `articulus.browser.replay_fragment`.
    also : (Outcome, str)
        Another study, of the motion of a tip, and its replay: shown in a section of their own.
    """
    study = outcome.study
    parts = {
        "Checks": sections.checks(outcome),
        "Failures": sections.failures(outcome),
        "Run diagnostics": sections.trust(outcome),
        "Tip motion": tip_section(outcome) if also is None else tip_section(*also),
        "Plots": sections.plots(outcome),
        "Key values": sections.key_values(outcome),
        "Stability margins": margins_section(outcome),
        "Sweep": sections.sweep(outcome),
        "Events": sections.events(outcome),
        "Components": sections.components(outcome),
        "Model": sections.model(outcome),
        "How to reproduce": sections.reproduce(outcome),
    }
    shown = {title: part for title, part in parts.items() if part}
    anchors = ({"Replay": "replay"} if replay else {}) | {title: sections.ANCHORS[title] for title in shown}
    links = joined(element("a", title, href=f"#{anchor}") for title, anchor in anchors.items())
    return page_text(
        kicker="articulus study",
        title=study.name,
        replay=replay,
        purpose=element("p", study.purpose, class_="purpose") if study.purpose else "",
        banner=_banner(outcome),
        navigation=element("nav", links, aria_label="Sections"),
        sections=joined(shown.values()),
        footer=element("p", sections.origin_line(outcome)),
    )


def page_text(*, title: str, replay: str = "", plays: bool = False, **parts: str) -> str:
    """Return a page from its parts: kicker, purpose, banner, navigation, sections and footer; `plays`: a section holds a replay."""
    return string.Template(_resource("template.html")).substitute(
        parts,
        title=escaped(title),
        policy=f"{policy() if replay or plays else STRICT}; style-src 'unsafe-inline'",
        style=_resource("style.css"),
        replay=f'<section id="replay"><h2>Replay</h2>{replay}</section>' if replay else "",
    )


def _resource(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _banner(outcome: Outcome) -> Markup:
    run, verdicts = outcome.run, outcome.verdicts
    bad = sum(not v.passed for v in verdicts)
    runs = 1 if run.batch is None else run.batch
    if run.failed.size:
        ended = "The run failed" if run.batch is None else f"{run.failed.size} of {runs} runs failed"
        kind, headline = "bad", f"{ended}" + (f", {bad} of {len(verdicts)} checks failed" if bad else "")
    elif bad:
        kind, headline = (
            "bad",
            f"{bad} of {len(verdicts)} checks failed" if len(verdicts) > 1 else "The check failed",
        )
    elif verdicts:
        kind, headline = (
            "good",
            "The check passes" if len(verdicts) == 1 else f"All {len(verdicts)} checks pass",
        )
    else:
        kind, headline = "warn", "Complete, without checks"
    if run.doubts:
        told = (
            "the result is doubtful"
            if run.batch is None
            else f"{run.doubtful.size} of {runs} runs are doubtful"
        )
        kind, headline = ("warn" if kind == "good" else kind), f"{headline}, but {told}"
    strong = element("strong", headline)
    return element(
        "div", joined([strong, element("span", _progress(outcome))]), class_=f"banner {kind}", role="status"
    )


def _progress(outcome: Outcome) -> str:
    """Return how far the run got and how fast."""
    run, s = outcome.run, outcome.study.settings
    end = float(run.t[-1]) if run.t.size else s.t0
    many = "" if run.batch is None else f"{run.batch:,} runs, "
    reached = f"{many}{s.t0:g} to {end:g} s" + (
        "" if abs(end - s.t_end) < 1e-9 * max(1.0, abs(s.t_end)) else f" of {s.t_end:g} s"
    )
    stopped = ", stopped by an event" if run.batch is None and run.status == RunStatus.STOPPED else ""
    speed = run.statistics.get("real_time_ratio")
    fast = f", {ratio(speed)} times real time" if speed else ""
    return f"{reached}{stopped}{fast}"
