"""How far the campaign of a folder is, and what it says so far. Reads what is new since the last look; writes nothing."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from articulus.errors import ArticulusError
from articulus.model.files.storage import StrPath, as_path
from articulus.study.campaign import ledger, percentile_bands, shards
from articulus.study.campaign.design import Campaign
from articulus.study.campaign.driver import LOCK, SCALE, SETTINGS, Folder, held_campaign, read_scale
from articulus.study.campaign.page.tally import Tally, number
from articulus.study.campaign.percentile_bands import Counts, Scale
from articulus.study.campaign.result import PERCENTILES

RECENT = 30.0
"""Time since the last shard up to which a campaign counts as running where its driver cannot be seen, as on another machine [s]."""

Parts = list[list[int]]
"""Rows of a shard that count: first run, number of runs and row at which they begin, of each range."""


class Watch:
    """Looks at the folder of a campaign.

    Parameters
    ----------
    folder : path
        It may be there only later.
    inside : bool
        Whether the campaign is run by this process.
    """

    def __init__(self, folder: StrPath, inside: bool = False):
        self.folder, self._inside = as_path(folder).absolute(), inside
        self._one_at_a_time = threading.Lock()
        self._stamp = 0
        self.version = 0
        self._body: dict[str, Any] = {}
        self._campaign: Campaign | None = None
        self._settings: dict[str, Any] = {}
        self._start_again()

    def _start_again(self) -> None:
        self._held: dict[str, Parts] = {}
        self._written: dict[str, float] = {}
        self._taken = time.monotonic()
        self._scale: Scale | None = None
        self._counts: Counts | None = None
        self._tally = Tally(self._campaign) if self._campaign else None

    def look(self, seen: int = -1) -> dict[str, Any]:
        """Return what the page shows: how far the campaign is, and the rest unless that is what version `seen` had."""
        with self._one_at_a_time:
            try:
                self._read_settings()
                if self._campaign is None:
                    return {"phase": "starting", "folder": str(self.folder), "version": -1}
                self._read_rows(self._campaign)
            except (sqlite3.Error, OSError, ArticulusError) as error:
                return {"phase": "unreadable", "why": str(error), "folder": str(self.folder), "version": seen}
            return self._head() | ({} if seen == self.version else self._body)

    # reading

    def _read_settings(self) -> None:
        """Take the settings where they have changed; start again for another campaign."""
        place = self.folder / SETTINGS
        if not place.is_file():
            return
        stamp = place.stat().st_mtime_ns
        if stamp == self._stamp:
            return
        held = Folder(self.folder).settings or {}
        self._campaign = held_campaign(self.folder, held)
        self._stamp, self._settings, self._body = stamp, held, {}
        self._start_again()

    def _read_rows(self, campaign: Campaign) -> None:
        """Take the rows of new shards; start again where old ones count no more, as after --retry-failed."""
        with self._ledger() as base:
            rows = (
                base.execute("SELECT file, first, count, offset FROM ranges ORDER BY first").fetchall()
                if base
                else []
            )
            found: dict[str, Parts] = {}
            for file, *part in rows:
                found.setdefault(file, []).append(part)
            if any(found.get(file) != parts for file, parts in self._held.items()):
                self._start_again()
            new = [file for file in found if file not in self._held]
            if not new and self._body:
                return
            assert self._tally is not None
            digests = dict(base.execute("SELECT file, digest FROM shards")) if base else {}
            for file in new:
                shards.require_whole(self.folder, file, digests.get(file, ""))
                self._take(campaign, self._tally, file, found[file])
            texts: dict[int, str] = {}
            notes: list[str] = []
            if base:
                for run in self._tally.first_runs():
                    texts |= dict(base.execute("SELECT run, text FROM texts WHERE run = ?", (run,)))
                notes = [text for (text,) in base.execute("SELECT text FROM notes")]
        self.version += 1
        self._body = {**self._tally.to_page(texts), "notes": notes, "bands": self._bands(campaign)}

    @contextlib.contextmanager
    def _ledger(self) -> Iterator[sqlite3.Connection | None]:
        """Give the ledger, for reading only; None where there is none yet.

        Without a write-ahead log nobody has it open, and not even a lock is needed. But a connection without locks would, when it
        is closed, take away those of another one in the same process.
        """
        path = self.folder / ledger.FILE
        if not path.is_file():
            yield None
            return
        still = not self._inside and not Path(f"{path}-wal").exists()
        base = sqlite3.connect(
            f"{path.as_uri()}?{'immutable=1' if still else 'mode=ro'}", uri=True, timeout=1.0
        )
        try:
            known = base.execute("SELECT name FROM sqlite_master WHERE name = 'notes'").fetchone()
            yield base if known else None
        finally:
            base.close()

    def _take(self, campaign: Campaign, tally: Tally, file: str, parts: Parts) -> None:
        """Take the rows of a shard that count."""
        with shards.h5py_module().File(self.folder / file, "r") as held:
            columns = [held[n][:] for n in ("figures", "status", "cause", "doubts")]
        at = np.concatenate([np.arange(offset, offset + count) for _, count, offset in parts])
        index = np.concatenate([np.arange(first, first + count) for first, count, _ in parts])
        written = (self.folder / file).stat().st_mtime
        if campaign.bands:
            self._add_counts(shards.counts(self.folder, file))
        tally.add(index, *(c[..., at] for c in columns))
        self._held[file], self._written[file], self._taken = parts, written, time.monotonic()

    def _add_counts(self, part: Counts | None) -> None:
        if self._scale is None:
            self._scale = read_scale(self.folder / SCALE)
            self._counts = percentile_bands.empty(self._scale)
        if part is not None:
            assert self._counts is not None
            self._counts = self._counts + part

    # what is shown

    def _head(self) -> dict[str, Any]:
        """Return how far it is: runs done and in all, rate [1/s] and remaining time [s] while it runs."""
        assert self._campaign is not None
        assert self._tally is not None
        total, done = int(self._settings["runs"]), self._tally.done
        last = max(self._written.values(), default=0.0)
        running = done < total and (self._is_locked() or 0 <= time.time() - last < RECENT)
        rate = self._rate() if running else None
        left = max(0.0, (total - done) / rate - (time.monotonic() - self._taken)) if rate else None
        return {
            "phase": "complete" if done >= total else "running" if running else "stopped",
            "title": _title(self._campaign),
            "folder": str(self.folder),
            "version": self.version,
            "done": done,
            "total": total,
            "rate": rate,
            "remaining": left,
            "last": last or None,
        }

    def _rate(self) -> float | None:
        """Return runs per second of wall-clock time from the start of the driver to its last shard; clocks that jump do not matter."""
        runs, seconds = Folder(self.folder).pace or (0, 0.0)
        return runs / seconds if runs and seconds > 0 else None

    def _is_locked(self) -> bool:
        """Whether a driver on this machine holds the folder; its lock is examined, not tried."""
        with contextlib.suppress(OSError):
            end = f":{(self.folder / LOCK).stat().st_ino}"
            for line in Path("/proc/locks").read_text().splitlines():
                fields = line.split()
                if "FLOCK" in fields and any(f.endswith(end) for f in fields):
                    return True
        return False

    def _bands(self, campaign: Campaign) -> list[dict[str, Any]]:
        """Return percentiles over time of the entries for which they are asked."""
        if self._scale is None or self._counts is None:
            return []
        values = np.stack(
            [percentile_bands.percentile(self._scale, self._counts, p / 100) for p in PERCENTILES]
        )
        units = _units(campaign)
        least, greatest = self._counts.least, self._counts.greatest
        return [
            {
                "name": name,
                "unit": units.get(name, ""),
                "times": self._scale.times.tolist(),
                "percentiles": PERCENTILES,
                "values": [_numbers(row) for row in values[:, k]],
                "least": _numbers(least[k]),
                "greatest": _numbers(greatest[k]),
            }
            for k, name in enumerate(campaign.bands)
        ]


def _title(campaign: Campaign) -> str:
    with contextlib.suppress(ArticulusError, AttributeError):
        return str(campaign.tables.get("study", {}).get("name", campaign.name))
    return campaign.name


def _units(campaign: Campaign) -> dict[str, str]:
    """Return the units of all entries of signals; none where files of the study are gone."""
    with contextlib.suppress(ArticulusError):
        return {c: u for s in campaign.signals.values() for c, u in zip(s.columns, s.units)}
    return {}


def _numbers(values: np.ndarray) -> list[float | None]:
    return [number(x) for x in values.tolist()]
