"""The report of a study, put together."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING

from articulus.browser import policy
from articulus.simulation.results.status import RunStatus
from articulus.study.report import sections
from articulus.study.report.margins import margins_section
from articulus.study.report.markup import Markup, element, escape, join, ratio, written_or_told
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
    writers: dict[str, Callable[[], Markup]] = {
        "Checks": lambda: sections.checks(outcome),
        "Failures": lambda: sections.failures(outcome),
        "Run diagnostics": lambda: sections.trust(outcome),
        "Tip motion": lambda: tip_section(outcome) if also is None else tip_section(*also),
        "Plots": lambda: sections.plots(outcome),
        "Key values": lambda: sections.key_values(outcome),
        "Stability margins": lambda: margins_section(outcome),
        "Events": lambda: sections.events(outcome),
        "Components": lambda: sections.components(outcome),
        "Model": lambda: sections.model(outcome),
        "How to reproduce": lambda: sections.reproduce(outcome),
    }
    parts = {title: written_or_told(title, sections.ANCHORS, write) for title, write in writers.items()}
    return page_text(
        parts,
        sections.ANCHORS,
        kicker="articulus study",
        title=study.name,
        replay=replay,
        purpose=study.purpose,
        banner=_banner(outcome),
        footer=element("p", sections.origin_line(outcome)),
    )


def page_text(
    parts: Mapping[str, Markup],
    anchors: Mapping[str, str],
    *,
    kicker: str,
    title: str,
    purpose: str,
    banner: Markup,
    footer: Markup,
    replay: str = "",
    plays: bool = False,
) -> str:
    """Return a page of sections with links to them.

    Parameters
    ----------
    parts : dict of title to Markup
        Sections; empty ones are omitted.
    anchors : dict of title to str
        Anchors of the sections.
    kicker, title, purpose : str
        What kind of report it is, of what, and why.
    banner, footer : Markup
    replay : str
        HTML of a replay, which has a section of its own before the others.
    plays : bool
        Whether one of the sections holds a replay.
    """
    shown = {each: part for each, part in parts.items() if part}
    targets = ({"Replay": "replay"} if replay else {}) | {each: anchors[each] for each in shown}
    links = join(element("a", each, href=f"#{anchor}") for each, anchor in targets.items())
    return string.Template(_resource("template.html")).substitute(
        kicker=kicker,
        title=escape(title),
        purpose=element("p", purpose, class_="purpose") if purpose else "",
        banner=banner,
        navigation=element("nav", links, aria_label="Sections"),
        sections=join(shown.values()),
        footer=footer,
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
    if run.warnings:
        told = (
            "the result is doubtful"
            if run.batch is None
            else f"{run.doubtful.size} of {runs} runs are doubtful"
        )
        kind, headline = ("warn" if kind == "good" else kind), f"{headline}, but {told}"
    strong = element("strong", headline)
    return element(
        "div", join([strong, element("span", _progress(outcome))]), class_=f"banner {kind}", role="status"
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
