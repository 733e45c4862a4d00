"""The work of a campaign: runs of an index range to rows of the table. A pure function of the campaign's text."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulus.errors import DoubtfulResult, InputError
from articulus.kernel.jit import host
from articulus.simulation.results.run import Run
from articulus.simulation.results.signal import Signal
from articulus.simulation.results.status import Cause, RunStatus
from articulus.simulation.running import diagnostics
from articulus.simulation.running.progress import quiet
from articulus.study.campaign.component_numbers import inner_name
from articulus.study.campaign.design import SEED, Campaign
from articulus.study.campaign.percentile_bands import Counts, Scale, count_values, extremes
from articulus.study.check import FIGURES

SET_ASIDE = 3
"""Status of a run that raised, or that killed or hung its worker; those below are of `RunStatus`."""
STATUS = (*(s.name.lower() for s in RunStatus), "set aside")
"""Texts of the status of a run, by its code."""
COLUMNS = ("inputs", "figures", "status", "cause", "doubts", "ended", "seconds")
"""Arrays of `RunRows`."""
CAUSES = ("", *(str(c) for c in Cause), "refused", "raised", "killed", "out of memory", "out of time")
"""Why a run has no figures, by the code in the table."""
TEXTS = 20
"""Failures of a piece of a chunk that are told in full."""
PIECE_BYTES = 16 << 20
"""Memory that the samples of the runs that are computed together may take [bytes]: they stay in the cache."""


@dataclass(frozen=True, eq=False)
class RunRows:
    """Rows of the table for the runs [first, first + count).

    Parameters
    ----------
    first, count : int
    inputs, figures : array, (count, columns)
    status, cause, doubts : int8 array, (count,)
        Codes of STATUS and CAUSES, and how many diagnostics are doubtful.
    ended : array, (count,) [s]
        Time at which each run ended.
    seconds : array, (count,) [s]
        Wall-clock time of the chunk, over its runs.
    texts : dict of index to str
        What failed, of the first few.
    counts : Counts or None
        Counts of values over time, for bands; only the extreme values before there is a scale.
    notes : mapping of str to str
        Warnings by their kind, the first of each.
    """

    first: int
    count: int
    inputs: np.ndarray
    figures: np.ndarray
    status: np.ndarray
    cause: np.ndarray
    doubts: np.ndarray
    ended: np.ndarray
    seconds: np.ndarray
    texts: Mapping[int, str] = field(default_factory=dict)
    counts: Counts | None = None
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Trouble:
    """A chunk that did not come back.

    Parameters
    ----------
    cause : str
        One of CAUSES.
    text : str
        What happened.
    again : bool
        Whether it may go well the next time: a worker died; code that raises does so again.
    """

    cause: str
    text: str
    again: bool = False


def attempt(campaign: Campaign, task: tuple[int, int], scale: Scale | None) -> RunRows | Trouble:
    """Return the rows of a chunk, or what went wrong."""
    try:
        return run_rows(campaign, *task, scale)
    except InputError as error:
        return Trouble("refused", str(error))
    except MemoryError:
        return Trouble(
            "out of memory", f"the runs {task[0]} to {task[0] + task[1] - 1} need more memory than there is"
        )
    except Exception as error:  # noqa: BLE001  (whatever a run raises is its own, not the campaign's)
        return Trouble("raised", f"{type(error).__name__}: {error}")


def run_rows(campaign: Campaign, first: int, count: int, scale: Scale | None = None) -> RunRows:
    """Return the rows of a range of runs, computed in pieces whose samples need little memory.

    The same bits come out whatever the range: runs are in batches of two or more, which all take the same native code; noise
    and inputs belong to the number of a run.
    """
    size = _piece(campaign)
    starts = range(first, first + count, size)
    return join_rows([_rows(campaign, at, min(size, first + count - at), scale) for at in starts])


def join_rows(parts: list[RunRows]) -> RunRows:
    """Return the rows of neighboring ranges, given in order, as those of one."""
    if len(parts) == 1:
        return parts[0]
    arrays: dict[str, Any] = {n: np.concatenate([getattr(r, n) for r in parts]) for n in COLUMNS}
    total = None
    for each in (r.counts for r in parts if r.counts is not None):
        total = each if total is None else total + each
    texts = {i: t for r in parts for i, t in r.texts.items()}
    notes = {kind: n for r in reversed(parts) for kind, n in r.notes.items()}
    return RunRows(
        parts[0].first, sum(r.count for r in parts), **arrays, texts=texts, counts=total, notes=notes
    )


def _piece(campaign: Campaign) -> int:
    """Number of runs that are computed together: as many as fit into PIECE_BYTES, whole vectors of the processor."""
    signals, system = campaign.signals, campaign.study.loop.system
    width = sum(len(signals[n].labels) for n in ("q", "v", *needed_signals(campaign))) + system.nc + system.nd
    most, lanes = PIECE_BYTES // (8 * times_of(campaign).size * width), host().lanes
    return max(lanes, most // lanes * lanes)


def _rows(campaign: Campaign, first: int, count: int, scale: Scale | None) -> RunRows:
    """Return the rows of a range of runs that are computed together."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as said, quiet():
        warnings.simplefilter("always")
        inputs = campaign.inputs(first, count)
        run = _runs(campaign, first, inputs, count, needed_signals(campaign), campaign.study.settings.sample)
    grid = _on_grid(campaign, run)
    good = np.asarray(run.status)[:count] != RunStatus.FAILED
    figures = np.empty((count, len(campaign.figures)))
    for k, figure in enumerate(campaign.figures):
        figures[:, k] = np.where(good, figure.values(grid)[:count], np.nan)
    cause, ended, texts = _endings(run, count, first)
    counts = _counts(campaign, grid, count, good, scale)
    doubts = np.bincount([d.run for d in run.warnings if d.run < count], minlength=count).astype(np.int8)
    spent = (time.perf_counter() - began) / count
    return RunRows(
        first, count, np.stack([inputs[n] for n in campaign.names], axis=1) if inputs else np.zeros((count, 0)),
        figures, np.asarray(run.status)[:count].astype(np.int8), cause, doubts, ended, np.full(count, spent), texts, counts,
        _notes(said),
    )  # fmt: skip


def _counts(
    campaign: Campaign, grid: Run, count: int, good: np.ndarray, scale: Scale | None
) -> Counts | None:
    """Return how many values lie where, without a scale the extreme ones; None where no bands are wanted."""
    if not campaign.bands:
        return None
    values = np.stack([grid[name][:count] for name in campaign.bands])  # (entries, runs, time)
    return extremes(grid.t, values, good) if scale is None else count_values(scale, values, good)


def whole_run(campaign: Campaign, index: int) -> Run:
    """Return one run with all its signals; its numbers are those of the campaign bit for bit."""
    settings = campaign.study.settings
    with warnings.catch_warnings(), quiet():
        warnings.simplefilter("ignore", DoubtfulResult)  # told below of this run alone, without its twin
        sample = settings.sample or settings.step
        both = _runs(campaign, index, campaign.inputs(index, 1), 1, tuple(campaign.signals), sample)
    run = _pick(both, 0, campaign)
    diagnostics.warn(campaign.study.mechanism.name, run.warnings, 1)
    return run


def needed_signals(campaign: Campaign) -> tuple[str, ...]:
    """Signals that figures and bands are computed from."""
    signals = campaign.signals
    wanted = [f.signal for f in campaign.figures] + list(campaign.bands)
    return tuple(
        n for n, s in signals.items() if n not in ("q", "v") and any(w in (n, *s.columns) for w in wanted)
    )


def _sample(campaign: Campaign, sample: float | None) -> float | None:
    """Time between samples: that of the study; without one, each step where something over time is asked for, else the ends."""
    ends = all(f.at in ("start", "end") and f.what not in FIGURES for f in campaign.figures)
    return None if sample is None and ends and not campaign.bands else sample or campaign.study.settings.step


def _runs(
    campaign: Campaign,
    first: int,
    varied: Mapping[str, np.ndarray],
    count: int,
    outputs: tuple[str, ...],
    sample: float | None,
) -> Run:
    """Return the runs [first, first + count); a single one goes twice, by the code that all have."""
    study, s = campaign.study, campaign.study.settings
    rows = max(count, 2)
    inputs = {n: x if count > 1 else np.repeat(x, 2) for n, x in varied.items()}
    seeds = inputs.pop(SEED, None)
    states = {"q": np.tile(study.q0, (rows, 1)), "v": np.tile(study.v0, (rows, 1))}
    params = dict(study.params)
    signals = campaign.signals
    for name, values in inputs.items():
        if name[:2] in ("q.", "v."):
            states[name[0]][:, signals[name[0]].columns.index(name)] = values
        else:
            params[inner_name(name) if "." in name else name] = values
    settings = dataclasses.replace(
        s,
        sample=_sample(campaign, sample) or s.t_end - s.t0,
        outputs=outputs,
        seed=s.seed if seeds is None else tuple(int(x) for x in seeds),
        first_run=first,
    )
    return study.loop.run(settings, states["q"], states["v"], params=params, batch=True)


def times_of(campaign: Campaign) -> np.ndarray:
    """Times of the samples of a run that reaches its end."""
    s = campaign.study.settings
    every = max(1, round((_sample(campaign, s.sample) or s.t_end - s.t0) / s.step))
    steps = round((s.t_end - s.t0) / s.step)
    return s.t0 + np.append(np.arange(0, steps, every), steps) * s.step


def _on_grid(campaign: Campaign, run: Run) -> Run:
    """Return the runs on the whole grid of samples.

    Where all runs of a batch ended early, the batch ends with the last of them, at a sample that a run would not have in other
    company: it is omitted, and what is missing is filled up.
    """
    times = times_of(campaign)
    if run.t.size == times.size and run.t[-1] >= times[-1] - 1e-9 * abs(times[-1]):
        return run
    kept = run.t.size - 1
    signals = {}
    for name, signal in run.signals.items():
        values = np.full((len(signal.values), times.size, signal.values.shape[-1]), np.nan)
        values[:, :kept] = signal.values[:, :kept]
        signals[name] = Signal(name, values, signal.labels, signal.unit, signal.meaning)
    return Run(run.mechanism, times, signals, status=run.status)


def _endings(run: Run, count: int, first: int) -> tuple[np.ndarray, np.ndarray, dict[int, str]]:
    """Return cause and time of the end of each run, and texts of the first failures and of the first doubtful runs."""
    cause = np.zeros(count, dtype=np.int8)
    ended = np.full(count, run.meta["settings"]["t_end"])
    texts: dict[int, str] = {}
    for event in run.events:
        if event.stop and event.run < count:
            ended[event.run] = event.time
    for failure in run.failures:
        if failure.run < count:
            cause[failure.run] = CAUSES.index(str(failure.code))
            ended[failure.run] = failure.time
            if len(texts) < TEXTS:
                texts[first + failure.run] = f"at t = {failure.time:.9g} s ({failure.code}): {failure.reason}"
    doubts: dict[int, str] = {}
    for each in run.warnings:
        if each.run < count and (len(doubts) < TEXTS or first + each.run in doubts):
            before = doubts.get(first + each.run)
            told = each.finding + (f". Likely cause: {each.cause}" if each.cause else "")
            doubts[first + each.run] = f"{before}; {told}" if before else told
    return cause, ended, doubts | texts


def _notes(said: list[Any]) -> dict[str, str]:
    """Return warnings by their kind, the first of each; doubts are counted in the table."""
    told = [w for w in said if not issubclass(w.category, DoubtfulResult)]
    return {w.category.__name__: str(w.message) for w in reversed(told)}


def _pick(run: Run, row: int, campaign: Campaign) -> Run:
    """Return one run of a batch by itself."""
    status = RunStatus(int(run.status[row]))
    ends = [e.time for e in run.events if e.run == row and e.stop] + [
        f.time for f in run.failures if f.run == row
    ]
    kept = run.t.size if not ends else int(np.searchsorted(run.t, min(ends) + 1e-12, side="right"))
    signals = {
        n: Signal(n, s.values[row, :kept], s.labels, s.unit, s.meaning) for n, s in run.signals.items()
    }
    parameters = {
        n: p | {"value": p["value"][row] if isinstance(p["value"], list) else p["value"]}
        for n, p in run.meta["parameters"].items()
    }
    return Run(
        run.mechanism, run.t[:kept], signals, status=status,
        failures=tuple(f for f in run.failures if f.run == row), events=tuple(e for e in run.events if e.run == row),
        statistics=run.statistics, meta={**run.meta, "parameters": parameters, "study": campaign.text},
        warnings=tuple(d for d in run.warnings if d.run == row),
    )  # fmt: skip
