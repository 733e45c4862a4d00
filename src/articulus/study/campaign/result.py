"""`Result`: what a campaign came to, read from its folder."""

from __future__ import annotations

import functools
import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import DoubtfulResult, InputError, did_you_mean
from articulus.model.files.storage import StrPath, as_path, write_text
from articulus.simulation.results.run import Run
from articulus.study.campaign import percentile_bands, shards, work
from articulus.study.campaign.design import Campaign
from articulus.study.campaign.driver import SCALE, Folder, held_campaign, read_scale, require_files
from articulus.study.campaign.machine import machine
from articulus.study.campaign.table import CampaignTable

if TYPE_CHECKING:
    from articulus.study.campaign.page import CampaignPage

PERCENTILES = (5.0, 50.0, 95.0)
KEPT = "runs"
"""Folder of the runs that are kept whole."""


@dataclass(frozen=True, eq=False)
class Band:
    """Percentiles of one entry of a signal over time.

    Parameters
    ----------
    name, unit : str
    times : array, (times,) [s]
    percentiles : tuple of float [%]
    values : array, (percentiles, times)
    least, greatest : array, (times,)
        Extreme values of all runs.
    """

    name: str
    unit: str
    times: np.ndarray
    percentiles: tuple[float, ...]
    values: np.ndarray
    least: np.ndarray
    greatest: np.ndarray


class Result:
    """A campaign, as far as it is done.

    Parameters
    ----------
    folder : path
        That of the campaign.
    """

    def __init__(self, folder: StrPath):
        self.folder = as_path(folder)
        held = Folder(self.folder).settings
        if held is None:
            raise InputError(
                f"{self.folder}: found no campaign; expected a folder that `articulus campaign` wrote"
            )
        self.settings: dict[str, Any] = held
        self.runs: int = held["runs"]

    def __repr__(self) -> str:
        failed = int(self.table.failed.sum())
        return f"<Campaign of {self.runs} runs in {self.folder}: {len(self.table)} done, {failed} without figures>"

    @functools.cached_property
    def campaign(self) -> Campaign:
        """The campaign itself."""
        return held_campaign(self.folder, self.settings)

    @functools.cached_property
    def table(self) -> CampaignTable:
        """A row for every run that is done."""
        ledger = Folder(self.folder).ledger()
        try:
            c = self.campaign
            return CampaignTable(
                self.folder,
                ledger.ranges(),
                c.names,
                [f.name for f in c.figures],
                c.units,
                ledger.texts(),
                ledger.files(),
                self,
            )
        finally:
            ledger.close()

    @property
    def complete(self) -> bool:
        """Whether all runs are done."""
        return len(self.table) >= self.runs

    @functools.cached_property
    def notes(self) -> list[str]:
        """Warnings that runs gave."""
        ledger = Folder(self.folder).ledger()
        try:
            return ledger.notes()
        finally:
            ledger.close()

    # single runs

    def replay(self, index: int) -> Run:
        """Return one run with all its signals; every number is that of the campaign bit for bit.

        Raises
        ------
        InputError
            No such run; or versions, processor or files are others than those of the campaign.
        """
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)) or not 0 <= index < self.runs:
            raise InputError(
                f"replay: found run {index!r}; expected a whole number from 0 to {self.runs - 1}"
            )
        before = self.settings["identity"]
        for name, now in machine().items():
            if before.get(name) != now:
                raise InputError(
                    f"replay: found {name} {now}; expected {before.get(name)}, with which the campaign ran"
                )
        require_files(self.folder, self.settings["files"])
        return work.whole_run(self.campaign, int(index))

    def worst(self, name: str, count: int = 1) -> np.ndarray:
        """Return the numbers of the worst runs by a figure, the worst first; runs without figures do not count.

        Worst is what passes the first requirement on the figure by most; without a requirement, the largest.
        """
        figures = [f.name for f in self.campaign.figures]
        if name not in figures:
            raise InputError(f"worst: no figure '{name}'; {did_you_mean(name, figures)}")
        values = self.table.figures[name]
        asked = [r for r in self.campaign.requirements if r.figure == name]
        badness = asked[0].badness(values) if asked else values.copy()
        badness = np.where(self.table.failed | np.isnan(values), -np.inf, badness)
        order = np.argsort(-badness, kind="stable")[: max(0, count)]
        return self.table.index[order[badness[order] > -np.inf]]

    def keep_worst(self) -> list[Path]:
        """Write the worst runs of the figures for which that is asked, whole; return their files."""
        chosen = dict.fromkeys(int(i) for name, count in self.campaign.keep for i in self.worst(name, count))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulResult)  # the table counts doubtful runs
            return self.keep(list(chosen))

    def keep(self, indices: Sequence[int]) -> list[Path]:
        """Write some runs whole, as netCDF files that `Run.load` reads; return the files."""
        place = self.folder / KEPT
        out = []
        for index in indices:
            place.mkdir(exist_ok=True)
            file = place / f"run_{index:09d}.nc"
            if not file.is_file():
                self.replay(index).save(file)
            out.append(file)
        return out

    # over time

    def bands(self, percentiles: Sequence[float] = PERCENTILES) -> dict[str, Band]:
        """Return percentiles over time of the entries for which they are asked, by name."""
        names = self.campaign.bands
        if not names:
            return {}
        scale = read_scale(self.folder / SCALE)
        total = percentile_bands.empty(scale)
        self.table.require_whole()
        for file in dict.fromkeys(file for _, _, file, _ in self.table.ranges):
            part = shards.counts(self.folder, file)
            total = total if part is None else total + part
        values = np.stack([percentile_bands.percentile(scale, total, p / 100) for p in percentiles])
        units = {c: u for s in self.campaign.study.loop.signals.values() for c, u in zip(s.columns, s.units)}
        return {
            n: Band(
                n, units[n], scale.times, tuple(percentiles), values[:, k], total.least[k], total.greatest[k]
            )
            for k, n in enumerate(names)
        }

    def report(self, path: StrPath | None = None, *, replay: bool = True) -> Path:
        """Write the report, one HTML file that needs nothing else, and return its path.

        Parameters
        ----------
        path : path
            "report.html" in the folder of the campaign if not given.
        replay : bool
            Whether the worst runs are computed again and played in it.
        """
        from articulus.study.campaign.report import report_text

        place = self.folder / "report.html" if path is None else as_path(path)
        write_text(place, report_text(self, replay=replay))
        return place

    def view(self, *, browser: bool = True, wait: bool | None = None) -> CampaignPage:
        """Open a page that shows the campaign, and follows it while another process runs it (extra `view`).

        Parameters
        ----------
        browser : bool
            Whether to open the page; its address is printed in any case.
        wait : bool
            Whether to return only when the page is closed (Ctrl+C). If not given, a script waits, and a prompt or notebook
            does not.
        """
        from articulus.study.campaign.page import CampaignPage

        return CampaignPage(self.folder, owner=self).offer(browser, wait)

    def digest(self) -> str:
        """Return a digest of all rows, wall-clock times apart: equal for the same campaign however it was run."""
        t, found = self.table, hashlib.sha256()
        columns = [t.index, t.status, t.cause, t.doubts, t.end_times, *t.inputs.values(), *t.figures.values()]
        for column in columns:
            found.update(np.ascontiguousarray(column).tobytes())
        return found.hexdigest()
