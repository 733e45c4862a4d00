"""The report of a campaign, put together."""

from __future__ import annotations

import functools
import shlex
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from articulus.errors import ArticulusError, DoubtfulResult
from articulus.simulation.results.run import Run
from articulus.study.campaign.figures import scales
from articulus.study.campaign.report import sections
from articulus.study.campaign.report.sections import bounded, percent
from articulus.study.campaign.sensitivity import Effect, main_effects
from articulus.study.campaign.statistics import NO_SAMPLE, joint_rate, judge
from articulus.study.report.markup import Markup, element, join, written_or_told
from articulus.study.report.page import page_text

if TYPE_CHECKING:
    from articulus.study.campaign.design import Campaign
    from articulus.study.campaign.result import Band, Result
    from articulus.study.campaign.table import CampaignTable

PERCENTILES = (1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0)
MOST_REPLAYED = 3


@dataclass(frozen=True, eq=False)
class Content:
    """What a report tells.

    Parameters
    ----------
    campaign : Campaign
    table : CampaignTable
    bands : dict of name to Band
    worst : dict of index to str
        Runs that are shown by themselves, and why.
    folder : str
        Folder of the campaign, as commands name it.
    origin : dict
        Versions and the like.
    """

    campaign: Campaign
    table: CampaignTable
    bands: Mapping[str, Band]
    worst: Mapping[int, str]
    folder: str
    origin: Mapping[str, str]
    _effects: dict[str, tuple[Effect, ...]] = field(default_factory=dict, init=False, repr=False)

    def effects(self, name: str) -> tuple[Effect, ...]:
        """Return the main effects on a figure, computed once."""
        if name not in self._effects:
            self._effects[name] = main_effects(self.table.inputs, self.figures[name])
        return self._effects[name]

    @functools.cached_property
    def scales(self) -> dict[str, tuple[str, float]]:
        """Unit in which each figure is shown, that of the first requirement on it, and its size in SI."""
        return scales(self.campaign.requirements, self.table.units)

    @functools.cached_property
    def figures(self) -> dict[str, np.ndarray]:
        """The figures of all runs, in the units in which they are shown."""
        return {n: np.asarray(x, dtype=float) / self.scales[n][1] for n, x in self.table.figures.items()}

    @property
    def units(self) -> dict[str, str]:
        """Units in which the figures are shown."""
        return {name: unit for name, (unit, _) in self.scales.items()}

    def command(self, index: int | None) -> str:
        """Return the command that repeats one run, or the campaign."""
        if index is None:
            c = self.campaign
            written = c.tables.get("campaign", {})
            others = {"seed": (c.seed, 0), "sampler": (c.sampler, "monte carlo")}
            more = [
                f" --{k} {shlex.quote(str(x))}"
                for k, (x, usual) in others.items()
                if x != written.get(k, usual)
            ]
            return f"articulus campaign run {shlex.quote(c.name)} --runs {c.runs}{''.join(more)}"
        return f"articulus campaign show {shlex.quote(self.folder)} --run {index}"


def report_text(result: Result, *, replay: bool = True) -> str:
    """Return the report of a campaign as one HTML text that loads nothing.

    Parameters
    ----------
    result : Result
    replay : bool
        Whether the worst runs are computed again and played in the page.
    """
    chosen = worst_runs(result)
    runs = _replay(result, chosen) if replay else {}
    notes = [*result.notes]
    try:
        bands = {n: b for n, b in result.bands(PERCENTILES).items() if np.isfinite(b.values).any()}
    except ArticulusError as error:
        bands, notes = {}, [*notes, f"Percentiles over time could not be read: {error}"]
    origin = {str(k): str(v) for k, v in result.settings.get("identity", {}).items()}
    content = Content(result.campaign, result.table, bands, chosen, str(result.folder), origin)
    return page(content, _fragment(content, runs), notes)


def page(content: Content, replay: str = "", notes: list[str] | None = None) -> str:
    """Return the page of what a report tells."""
    writers: dict[str, Callable[[], Markup]] = {
        "Requirements": lambda: sections.requirements(content),
        "Single runs": lambda: sections.worst(content, Markup(replay)),
        "Figures": lambda: sections.figures(content),
        "Over time": lambda: sections.over_time(content),
        "What matters": lambda: sections.effects(content),
        "Failed runs": lambda: sections.failures(content),
        "Scatter matrix": lambda: sections.scatter(content),
        "What varies": lambda: sections.varies(content),
        "How to reproduce": lambda: sections.reproduce(content),
    }
    parts = {title: written_or_told(title, sections.ANCHORS, write) for title, write in writers.items()}
    study = content.campaign.study
    told = join(element("p", f"Note: {note}") for note in notes or ())
    return page_text(
        parts,
        sections.ANCHORS,
        kicker="articulus campaign",
        title=study.name,
        plays=bool(replay),
        purpose=study.purpose,
        banner=join([_banner(content), told]),
        footer=element(
            "p",
            ", ".join(
                f"{k.removeprefix('version of ')} {v}"
                for k, v in content.origin.items()
                if k.startswith("version")
            ),
        ),
    )


def worst_runs(result: Result, count: int = 1) -> dict[int, str]:
    """Return the worst runs of each requirement (without requirements: of each figure), a failed and an ordinary one, with reasons."""
    c, t = result.campaign, result.table
    found: dict[int, list[str]] = {}
    names = list(dict.fromkeys(r.figure for r in c.requirements)) or list(t.figures)
    for name in names[:6]:
        for index in result.worst(name, count):
            found.setdefault(int(index), []).append(f"worst {name}")
    failed = np.flatnonzero(t.failed)
    if failed.size:
        found.setdefault(int(t.index[failed[0]]), []).append("the first that failed")
    if names and len(t) > len(found):
        values = np.asarray(t.figures[names[0]], dtype=float)
        rows = np.flatnonzero(~np.isnan(values))
        if rows.size:
            order = np.argsort(
                values[rows], kind="stable"
            )  # a signal that never settles does so infinitely late
            usual = int(t.index[rows[order[(rows.size - 1) // 2]]])
            found.setdefault(usual, []).append(f"an ordinary one, with the median {names[0]}")
    return {index: " and ".join(why) for index, why in found.items()}


def _replay(result: Result, chosen: Mapping[int, str]) -> dict[str, Run]:
    """Return the worst runs whole; those that cannot be computed again are omitted."""
    runs = {}
    indices = list(chosen)
    for index in [*indices[: MOST_REPLAYED - 1], *indices[MOST_REPLAYED - 1 :][-1:]]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DoubtfulResult)  # the report counts doubtful runs
                run = result.replay(index)
        except ArticulusError:
            continue
        if run.t.size > 1 and np.isfinite(run.q).all(axis=-1).any():
            runs[f"run {index}"] = run
    return runs


def _fragment(content: Content, runs: Mapping[str, Run]) -> str:
    if not runs:
        return ""
    from articulus.browser import replay_fragment

    return replay_fragment(dict(runs), title=content.campaign.study.name)


def _banner(content: Content) -> Markup:
    c, t = content.campaign, content.table
    failed = int(t.failed.sum())
    verdicts = judge(c.requirements, t.figures, c.sampler)
    missed = sum(j.rate.passed < j.rate.runs for j in verdicts)
    many = f"{len(t):,} runs" + (f" of {c.runs:,}" if len(t) < c.runs else "")
    ended = f", {failed:,} of them failed" if failed else ""
    if not verdicts:
        kind, headline, text = (
            "warn",
            "Complete, without requirements" if len(t) >= c.runs else "Not complete",
            "",
        )
    else:
        rate = joint_rate(c.requirements, t.figures, len(t), c.sampler)
        text = f"All requirements together: {percent(rate.rate)} pass"
        text += "" if c.sampler in NO_SAMPLE else f" (95 % bounds {bounded(rate)})"
        kind = "bad" if missed else "good"
        one = len(verdicts) == 1
        headline = "The requirement is kept" if one else f"All {len(verdicts)} requirements are kept"
        headline += " in every run"
        if missed:
            headline = f"{rate.runs - rate.passed:,} of {rate.runs:,} runs miss a requirement"
    if len(t) < c.runs:
        kind = "warn" if kind == "good" else kind
    inner = join([element("strong", headline), element("span", f"{many}{ended}. {text}".strip())])
    return element("div", inner, class_=f"banner {kind}", role="status")
