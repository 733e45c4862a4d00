"""Runs of a campaign at chosen points of the unit cube: what the searches are made of."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from articulus import kernel
from articulus.errors import InputError, NumericalError, did_you_mean
from articulus.kernel import pool
from articulus.model.files.storage import StrPath, as_path
from articulus.study.campaign.design import SEED, Campaign
from articulus.study.campaign.distributions import Axis, Rows, draw
from articulus.study.campaign.driver import CHUNK_SECONDS, FIRST_CHUNK, Progress, Tell
from articulus.study.campaign.figures import Requirement
from articulus.study.campaign.journal import Journal
from articulus.study.campaign.local_worker import LocalWorker
from articulus.study.campaign.work import Trouble, attempt


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search; its text says what is kept and what was found so far."""


class PointRuns:
    """Runs of a campaign at chosen points of the unit cube.

    Parameters
    ----------
    campaign : Campaign
    requirement : str
        Its text, such as "settling < 2 s", or the name of its figure; the only one if not given.
    """

    def __init__(self, campaign: Campaign, requirement: str | None):
        self.campaign, self.requirement = campaign, _find_requirement(campaign, requirement)
        self.dims = sum(a.distribution.dims for a in campaign.axes)
        if not self.dims:
            raise InputError("campaign: nothing varies; expected a line in [campaign.vary]")
        self._journal = Journal(None, self.dims)
        self._progress = Progress(None, 0)
        self._tell: Tell = _nothing
        self._rate, self._new, self._seconds, self._why = 0.0, 0, 0.0, ""

    @contextlib.contextmanager
    def searching(
        self,
        output: StrPath | None,
        name: str,
        settings: dict[str, Any],
        *,
        total: int | None = None,
        threads: int | None = None,
        tell: Tell | None = None,
    ) -> Iterator[None]:
        """Keep the runs of a search, and tell how far it is, while a block runs.

        Parameters
        ----------
        output : path or None
            Folder of the file; None keeps nothing.
        name : str
            Name of the search.
        settings : dict
            What decides which runs it asks for: another search has another file.
        total : int or None
            Runs that it takes, if that is known.
        threads : int
        tell : callable
        """
        file = None if output is None else as_path(output) / f"{name}_{self._digest(settings)}.npz"
        self._journal = Journal(file, self.dims)
        self._progress, self._tell = Progress(total, 0), tell or _nothing
        try:
            with kernel.threads(threads or pool.count()):
                yield
        except KeyboardInterrupt:
            self._journal.save()
            raise SearchInterrupted(self._so_far()) from None
        finally:
            self._journal.save()

    def _digest(self, settings: dict[str, Any]) -> str:
        held = [self.campaign.identity(), list(self.campaign.files.values()), self.requirement.text, settings]
        return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()[:12]

    def _so_far(self) -> str:
        """Return what an interrupted search came to."""
        j = self._journal
        kept = f"; they are kept in {j.file}, and the same command goes on from there" if j.file else ""
        found = f". Worst so far: {self._worst()}" if j.done else ""
        return f"interrupted after {j.done:,} runs{kept}{found}"

    def _worst(self) -> str:
        j = self._journal
        worst = int(np.argmax(self.requirement.badness(j.figures)))
        at = ", ".join(f"{n} = {x:.6g}" for n, x in self.inputs(j.points[worst]).items())
        return f"{self._figure_text(j.figures[worst])} at {at}"

    def _figure_text(self, figure: float) -> str:
        unit, size = self.requirement.bound_unit
        return (
            "a run that fails"
            if np.isnan(figure)
            else f"{self.requirement.figure} = {figure / size:.6g} {unit}"
        )

    def inputs(self, point: np.ndarray) -> dict[str, float]:
        """Return what varies at a point, by name."""
        return {n: float(x[0]) for n, x in draw(self.campaign.axes, point[None]).items()}

    def list_runs(self, points: np.ndarray) -> Campaign:
        """Return a campaign of these runs, all with the same noise unless the seed varies."""
        inputs = draw(self.campaign.axes, points)
        if SEED not in inputs:
            inputs[SEED] = np.full(len(points), np.asarray(self.campaign.study.settings.seed, dtype=float))
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
        """Return the figure of the requirement, (rows,); NaN for a run that fails.

        Runs that an interrupted search has done are not run again.
        """
        out = np.empty(len(points))
        known = self._journal.look_up(points)
        out[: len(known)] = known
        self._report_progress()
        if len(known) < len(points):
            self._run(points, out, len(known))
        return out

    def figure(self, point: np.ndarray) -> float:
        """Return the figure of the requirement at one point, beside any search; NaN for a run that fails."""
        found = attempt(self.list_runs(point[None]), (0, 1), None)
        return float("nan") if isinstance(found, Trouble) else float(found.figures[0, self._column])

    def badness(self, points: np.ndarray) -> np.ndarray:
        """Return by how much each run misses the requirement; infinite for a run that fails."""
        return self.requirement.badness(self.figures(points))

    @property
    def _column(self) -> int:
        """Place of the figure among all figures."""
        return [f.name for f in self.campaign.figures].index(self.requirement.figure)

    def _run(self, points: np.ndarray, out: np.ndarray, first: int) -> None:
        """Run the points from `first` on, in chunks of about a second, in a thread so that Ctrl-C is heard at once."""
        worker = LocalWorker(self.list_runs(points), None)
        try:
            while first < len(points):
                wanted = max(1, int(self._rate * CHUNK_SECONDS)) if self._rate else FIRST_CHUNK
                count, began = min(wanted, len(points) - first), time.monotonic()
                chunk = slice(first, first + count)
                out[chunk] = self._chunk(worker, first, count)
                if self._why and not self._journal.done and np.isnan(out[chunk]).all():
                    raise NumericalError(
                        f"search: the first {count} runs could not be run. The last: {self._why}"
                    )
                self._new += count
                self._seconds += time.monotonic() - began
                self._rate = self._new / max(self._seconds, 1e-9)
                self._journal.add(points[chunk], out[chunk])
                self._report_progress()
                first += count
        finally:
            worker.close()

    def _chunk(self, worker: LocalWorker, first: int, count: int) -> np.ndarray:
        """Return the figures of a chunk; where it raises it is halved, and a run that raises by itself has none."""
        worker.submit((first, count))
        while not (found := worker.wait(0.2)):
            self._report_progress()
        rows = found[0][1]
        if not isinstance(rows, Trouble):
            return rows.figures[:, self._column]
        if count == 1:
            self._why = rows.text
            return np.full(1, np.nan)
        half = count // 2
        parts = (first, half), (first + half, count - half)
        return np.concatenate([self._chunk(worker, *part) for part in parts])

    def _report_progress(self) -> None:
        p, j = self._progress, self._journal
        p.done, p.rate = j.done, self._rate
        p.failed = int(np.isnan(j.figures).sum())
        if j.done:
            worst = j.figures[int(np.argmax(self.requirement.badness(j.figures)))]
            p.note = f"worst so far: {self._figure_text(worst)}"
        self._tell(p)


def _nothing(progress: Progress) -> None:
    """Tell nobody."""


def _find_requirement(campaign: Campaign, text: str | None) -> Requirement:
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
