"""A campaign that chooses its own runs: the worst case, the probability of a rare failure, as many runs as it takes."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.model.files.storage import StrPath
from articulus.simulation.results.run import Run
from articulus.study.campaign import work
from articulus.study.campaign.calls import default_folder, require_as_planned
from articulus.study.campaign.calls import run as run_campaign
from articulus.study.campaign.design import Campaign
from articulus.study.campaign.distributions import Rows
from articulus.study.campaign.driver import Tell
from articulus.study.campaign.figures import Requirement
from articulus.study.campaign.point_runs import PointRuns
from articulus.study.campaign.result import Result
from articulus.study.campaign.search import METHODS, TAIL, Worst
from articulus.study.campaign.search import worst_case as search_worst
from articulus.study.campaign.sequential import Stopping
from articulus.study.campaign.statistics import NO_SAMPLE, Rate, passing
from articulus.study.campaign.subset import Rare
from articulus.study.campaign.subset import failure_probability as subset


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The worst case of a requirement.

    Parameters
    ----------
    requirement : Requirement
    inputs : dict of name to float
        What the worst run has of each number that varies.
    value : float
        Its figure; NaN when the run fails.
    kept : bool
        Whether it keeps the requirement: then no run was found that does not.
    found : Worst
        How the search went.
    edge : tuple of str
        Inputs at the end of what was searched.
    """

    requirement: Requirement
    inputs: dict[str, float]
    value: float
    kept: bool
    found: Worst
    edge: tuple[str, ...]
    _chosen: PointRuns

    def replay(self) -> Run:
        """Return the run, whole."""
        return work.whole_run(self._chosen.list_runs(self.found.point[None]), 0)

    def __repr__(self) -> str:
        at = ", ".join(f"{n} = {x:.6g}" for n, x in self.inputs.items())
        how = "is kept" if self.kept else "is missed"
        return f"<worst case: {self.requirement.text} {how}, {self.value:.6g} {self.requirement.unit} at {at}; {self.found.runs} runs>"


def worst_case(
    study: StrPath | Campaign,
    requirement: str | None = None,
    *,
    method: str = METHODS[0],
    runs: int = 2000,
    batch: int = 32,
    seed: int = 0,
    tail: float = TAIL,
    output: StrPath | None = None,
    threads: int | None = None,
    tell: Tell | None = None,
    **given: Any,
) -> WorstCase:
    """Search what varies for the run that misses a requirement by most.

    Parameters
    ----------
    study : path or text of a study (TOML), or a Campaign
    requirement : str
        Such as "settling < 2 s", or the name of its figure; the only one if not given.
    method : str
        "differential evolution" or "cma-es".
    runs, batch, seed, tail :
        See `articulus.study.campaign.search.worst_case`.
    output : path
        Folder in which the runs of the search are kept: the same search again continues behind them, one of more runs too. Nothing
        is kept if not given.
    threads : int
        All cores if not given. Results do not depend on it.
    tell : callable
        Called with a `Progress` now and then.
    given :
        Keys of the table [campaign], as of `articulus.campaign.run`.

    Raises
    ------
    SearchInterrupted
        Ctrl-C; its text says what was found so far and where it is kept.
    """
    chosen = PointRuns(_plan(study, given), requirement)
    settings = {"method": method, "batch": batch, "seed": seed, "tail": tail}
    with chosen.searching(output, "worst_case", settings, total=runs, threads=threads, tell=tell):
        found = search_worst(
            chosen.badness, chosen.dims, method=method, runs=runs, batch=batch, seed=seed, tail=tail
        )
    inputs = chosen.inputs(found.point)
    value = chosen.figure(found.point)
    kept = bool(chosen.requirement.passes(np.array([value]))[0])
    return WorstCase(chosen.requirement, inputs, value, kept, found, _edges(chosen.campaign, found), chosen)


def _edges(campaign: Campaign, found: Worst) -> tuple[str, ...]:
    out: list[str] = []
    first = 0
    for axis in campaign.axes:
        last = first + axis.distribution.dims
        if found.at_edge[first:last].any() and not isinstance(axis.distribution, Rows):
            out += axis.names
        first = last
    return tuple(out)


def failure_probability(
    study: StrPath | Campaign,
    requirement: str | None = None,
    *,
    runs_per_level: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
    output: StrPath | None = None,
    threads: int | None = None,
    tell: Tell | None = None,
    **given: Any,
) -> Rare:
    """Return the probability that a run misses a requirement, however rare, by subset simulation.

    Parameters
    ----------
    study, requirement, output, threads, tell, given :
        See `worst_case`.
    runs_per_level, seed, confidence :
        See `articulus.study.campaign.subset.failure_probability`.

    Raises
    ------
    InputError
        The study has noise whose seed does not vary: the probability would be that of a single realization.
    SearchInterrupted
        Ctrl-C; its text says what was found so far and where it is kept.
    """
    chosen = PointRuns(_plan(study, given), requirement)
    if chosen.campaign.noisy:
        raise InputError(
            "failure_probability: found a study with noise; expected its seed among what varies, such as "
            "seed = {uniform = [0, 1e9]}: with one seed the probability would be that of one realization of the noise"
        )
    settings = {"runs_per_level": runs_per_level, "seed": seed}
    with chosen.searching(output, "rare", settings, threads=threads, tell=tell):
        return subset(
            chosen.badness, chosen.dims, runs_per_level=runs_per_level, seed=seed, confidence=confidence
        )


@dataclass(frozen=True, eq=False)
class Answer:
    """What a campaign that stops by itself came to.

    Parameters
    ----------
    rate : Rate
        Rate of the runs that keep all requirements, with bounds that hold although the runs were examined several times.
    sure : bool
        Whether the question is answered; if not, the largest number of runs was reached.
    result : Result
    """

    rate: Rate
    sure: bool
    result: Result


def run_until(
    study: StrPath,
    *,
    above: float | None = None,
    width: float | None = None,
    confidence: float = 0.95,
    first_runs: int = 64,
    max_runs: int = 1_000_000,
    output: StrPath | None = None,
    **given: Any,
) -> Answer:
    """Run a campaign until its pass rate is certainly above (or below) a number, or known to a width.

    Parameters
    ----------
    study, output, given :
        As of `articulus.campaign.run`, with everything that it takes. Runs that are there already are used.
    above, width, confidence, first_runs, max_runs :
        See `articulus.study.campaign.sequential.Stopping`.
    """
    stopping = Stopping(above, width, confidence, first_runs, max_runs)
    passing_by = output is None and isinstance(study, str) and "\n" in study
    if passing_by:
        output = tempfile.mkdtemp(prefix="articulus-campaign-")
    place = default_folder(study) if output is None else output
    try:
        answer = _until(study, stopping, place, given)
    except BaseException:
        if passing_by:
            shutil.rmtree(place, ignore_errors=True)
        raise
    if passing_by:
        weakref.finalize(answer.result, shutil.rmtree, place, ignore_errors=True)
    return answer


def _until(study: StrPath, stopping: Stopping, place: StrPath, given: dict[str, Any]) -> Answer:
    for look, runs in stopping.looks():
        result = run_campaign(study, runs, output=place, **given)
        c, t = result.campaign, result.table
        if not c.requirements:
            raise InputError(
                'run_until: found no requirement; expected at least one, such as "settling < 2 s"'
            )
        if c.sampler != "monte carlo":
            why = "is no sample" if c.sampler in NO_SAMPLE else "does not give independent runs"
            raise InputError(
                f"run_until: found the sampler '{c.sampler}', which {why}; expected 'monte carlo'"
            )
        good = passing(c.requirements, t.figures, len(t))[:runs]
        rate = stopping.rate(look, int(good.sum()), good.size)
        if stopping.enough(rate):
            return Answer(rate, True, result)
    return Answer(rate, False, result)


def _plan(study: StrPath | Campaign, given: dict[str, Any]) -> Campaign:
    if isinstance(study, Campaign):
        require_as_planned(study, given)
        return study
    return Campaign.read(study, runs=given.pop("runs", 1), **{"sampler": "monte carlo", **given})
