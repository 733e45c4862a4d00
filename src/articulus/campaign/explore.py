"""A campaign that chooses its own runs: the worst case, the probability of a rare failure, as many runs as it takes."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.campaign import work
from articulus.campaign.design import SEED, Campaign
from articulus.campaign.distributions import Axis, Rows, drawn
from articulus.campaign.figures import Requirement
from articulus.campaign.result import Result
from articulus.campaign.run import campaign as run_campaign
from articulus.campaign.run import default_folder, require_as_planned
from articulus.campaign.search import METHODS, TAIL, Worst
from articulus.campaign.search import worst_case as search_worst
from articulus.campaign.sequential import Stopping
from articulus.campaign.statistics import NO_SAMPLE, Rate, passing
from articulus.campaign.subset import Rare
from articulus.campaign.subset import failure_probability as subset
from articulus.errors import InputError, did_you_mean
from articulus.files.storage import StrPath
from articulus.results.run import Run


class Chosen:
    """Runs of a campaign at chosen points of the unit cube.

    Parameters
    ----------
    campaign : Campaign
    requirement : str
        Its text, such as "settling < 2 s", or the name of its figure; the only one if not given.
    """

    def __init__(self, campaign: Campaign, requirement: str | None):
        self.campaign, self.requirement = campaign, _asked(campaign, requirement)
        self.dims = sum(a.distribution.dims for a in campaign.axes)
        if not self.dims:
            raise InputError("campaign: found nothing that varies; expected a line in [campaign.vary]")

    def listed(self, points: np.ndarray) -> Campaign:
        """Return a campaign of these runs, all with the same noise unless the seed varies."""
        inputs = drawn(self.campaign.axes, points)
        if SEED not in inputs:
            inputs[SEED] = np.full(len(points), float(self.campaign.study.settings.seed))
        rows = tuple(map(tuple, np.stack(list(inputs.values()), axis=-1).tolist()))
        found = dataclasses.replace(
            self.campaign,
            axes=(Axis(tuple(inputs), Rows(rows)),),
            sampler="list",
            runs=len(points),
            bands=(),
            keep=(),
        )
        object.__setattr__(found, "study", self.campaign.study)  # parsed and compiled once
        return found

    def figures(self, points: np.ndarray) -> np.ndarray:
        """Return the figure of the requirement, (rows,)."""
        rows = work.run_rows(self.listed(points), 0, len(points))
        names = [f.name for f in self.campaign.figures]
        return rows.figures[:, names.index(self.requirement.figure)]

    def badness(self, points: np.ndarray) -> np.ndarray:
        """Return by how much each run misses the requirement; infinite for a run that fails."""
        return self.requirement.badness(self.figures(points))


def _asked(campaign: Campaign, text: str | None) -> Requirement:
    held = campaign.requirements
    names = [r.text for r in held]
    if text is None and len(held) == 1:
        return held[0]
    found = [r for r in held if text in (r.text, r.figure)]
    if len(found) != 1:
        shown = "none" if text is None else f"'{text}'"
        hint = f"; {did_you_mean(text, names)}" if text and names else ""
        raise InputError(
            f"requirement: found {shown}; expected one of {', '.join(names) or 'the campaign, which has none'}{hint}"
        )
    return found[0]


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
    _chosen: Chosen

    def replay(self) -> Run:
        """Return the run, whole."""
        return work.whole_run(self._chosen.listed(self.found.point[None]), 0)

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
        See `articulus.campaign.search.worst_case`.
    given :
        Keys of the table [campaign], as of `articulus.campaign`.
    """
    chosen = Chosen(_planned(study, given), requirement)
    found = search_worst(
        chosen.badness, chosen.dims, method=method, runs=runs, batch=batch, seed=seed, tail=tail
    )
    inputs = {n: float(x[0]) for n, x in drawn(chosen.campaign.axes, found.point[None]).items()}
    value = float(chosen.figures(found.point[None])[0])
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
    **given: Any,
) -> Rare:
    """Return the probability that a run misses a requirement, however rare, by subset simulation.

    Parameters
    ----------
    study, requirement, given :
        See `worst_case`.
    runs_per_level, seed, confidence :
        See `articulus.campaign.subset.failure_probability`.

    Raises
    ------
    InputError
        The study has noise whose seed does not vary: the probability would be that of a single realization.
    """
    chosen = Chosen(_planned(study, given), requirement)
    if chosen.campaign.study.loop.system.network.noise and SEED not in chosen.campaign.names:
        raise InputError(
            "failure_probability: found a study with noise; expected its seed among what varies, such as "
            "seed = {uniform = [0, 1e9]}: with one seed the probability would be that of one realization of the noise"
        )
    return subset(
        chosen.badness, chosen.dims, runs_per_level=runs_per_level, seed=seed, confidence=confidence
    )


@dataclass(frozen=True, eq=False)
class Answer:
    """What a campaign that stops by itself came to.

    Parameters
    ----------
    rate : Rate
        Of the runs that keep all requirements, with bounds that hold although the runs were looked at several times.
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
    first: int = 64,
    most: int = 1_000_000,
    output: StrPath | None = None,
    threads: int | None = None,
    **given: Any,
) -> Answer:
    """Run a campaign until its pass rate is certainly above (or below) a number, or known to a width.

    Parameters
    ----------
    study, output, threads, given :
        As of `articulus.campaign`. Runs that are there already are used.
    above, width, confidence, first, most :
        See `articulus.campaign.sequential.Stopping`.
    """
    stopping = Stopping(above, width, confidence, first, most)
    passing_by = output is None and isinstance(study, str) and "\n" in study
    if passing_by:
        output = tempfile.mkdtemp(prefix="articulus-campaign-")
    place = default_folder(study) if output is None else output
    try:
        answer = _until(study, stopping, place, threads, given)
    except BaseException:
        if passing_by:
            shutil.rmtree(place, ignore_errors=True)
        raise
    if passing_by:
        weakref.finalize(answer.result, shutil.rmtree, place, ignore_errors=True)
    return answer


def _until(
    study: StrPath, stopping: Stopping, place: StrPath, threads: int | None, given: dict[str, Any]
) -> Answer:
    for look, runs in stopping.looks():
        result = run_campaign(study, runs, output=place, threads=threads, **given)
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


def _planned(study: StrPath | Campaign, given: dict[str, Any]) -> Campaign:
    if isinstance(study, Campaign):
        require_as_planned(study, given)
        return study
    return Campaign.read(study, runs=given.pop("runs", 1), **{"sampler": "monte carlo", **given})
