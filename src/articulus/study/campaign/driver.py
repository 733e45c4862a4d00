"""The driver: cuts a campaign into chunks, hands them to workers, writes what comes back, survives what goes wrong.

A chunk that raises, or whose worker dies or hangs, is halved until the run that does it is found; that run is set aside with its
cause, and all the others count. Chunks are sized by time: what comes out does not depend on how the campaign is cut.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from articulus.errors import ArticulusError, InputError, NumericalError, brief, doubtful
from articulus.kernel.jit import host
from articulus.model.files.npz import npz_arrays
from articulus.model.files.storage import MAX_BYTES, replacing, write_text
from articulus.study.campaign import shards
from articulus.study.campaign.design import Campaign
from articulus.study.campaign.ledger import Ledger, Range
from articulus.study.campaign.percentile_bands import Scale
from articulus.study.campaign.work import CAUSES, SET_ASIDE, RunRows, Trouble, join_rows

SETTINGS = "campaign.json"
LOCK = "driver.lock"
"""Held by the driver while it works; says how many runs it has done in how many seconds."""
SCALE = "scale.npz"
GONE = "none"
"""Digest of a file that is not there."""
FIRST_CHUNK = 64
"""Runs of the first chunk, before it is known how long one takes."""
CHUNK_SECONDS = 1.0
"""Wall-clock time that a chunk shall take [s]."""
LEAST_CHUNK_SECONDS = 0.3
"""Wall-clock time of the last chunks, of which workers have small ones [s]."""
HANDING_OUT = 0.006
"""Twice the time that handing out a chunk costs on a cluster [s]: with many workers chunks are longer, so that none waits for the driver."""
SHARD_SECONDS = 5.0
"""Wall-clock time after which finished rows are written [s]."""
SHARD_ROWS = 65_536
"""Rows after which they are written."""
ATTEMPTS = 3
"""Times that a single run may cost a worker its life before it is set aside."""
HOPELESS = 16
"""Runs set aside, with not one that worked, after which the campaign is given up."""
NOT_STARTED = 8
"""Workers that may die one after another, with not one chunk done, before the campaign is given up."""


class Workers(Protocol):
    """Who does the work: a thread of this process, other processes, or a cluster."""

    @property
    def slots(self) -> int:
        """How many chunks may be under way."""

    @property
    def inside(self) -> bool:
        """Whether the work is done in the process of the driver, which it can kill."""

    def submit(self, task: Range) -> None:
        """Hand out a chunk."""

    def wait(self, seconds: float) -> list[tuple[Range, RunRows | Trouble]]:
        """Return what has come back, waiting up to some seconds for anything."""

    def close(self) -> None:
        """Stop at once; what is under way is lost."""


@dataclass
class Progress:
    """How far a campaign is.

    Parameters
    ----------
    total : int or None
        Runs in all, where that is known.
    done, failed : int
        Runs done, those of them without figures.
    rate : float [1/s]
        Runs per second of wall-clock time since the start.
    note : str
        What a search has found so far.
    """

    total: int | None
    done: int
    failed: int = 0
    rate: float = 0.0
    note: str = ""

    @property
    def remaining(self) -> float:
        """Wall-clock time that is left [s]."""
        return (self.total - self.done) / self.rate if self.total and self.rate > 0 else float("inf")


Tell = Callable[[Progress], None]


class Folder:
    """The folder of a campaign: its settings, its ledger and its shards.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path):
        self.path = path

    @property
    def settings(self) -> dict[str, Any] | None:
        """What the folder says about its campaign; None for one without a campaign."""
        place = self.path / SETTINGS
        if not os.path.isfile(place):
            return None
        kinds = {"identity": dict, "campaign": dict, "runs": int, "files": dict, "folder": str}
        try:
            held = json.loads(place.read_text(encoding="utf-8"))
            if not all(isinstance(held[key], kind) for key, kind in kinds.items()):
                raise KeyError
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise InputError(
                f"{place}: found a file that cannot be read; expected the settings of a campaign"
            ) from None
        return held

    def require(self, campaign: Campaign) -> None:
        """Make the folder where there is none; raise InputError when it belongs to another campaign or to something else."""
        held = self.settings
        if held is None:
            if self.path.exists() and not self.path.is_dir():
                raise InputError(f"{self.path}: found a file; expected a new folder, or that of a campaign")
            if self.path.exists() and not all(_is_beginning(p.name) for p in self.path.iterdir()):
                raise InputError(
                    f"{self.path}: found a folder with other files; expected a new one, or that of a campaign"
                )
            try:
                self.path.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"{self.path}: cannot be made ({error.strerror})") from None
            return
        require_same(self.path, held, campaign.identity())
        require_files(self.path, held["files"], campaign.files)
        if campaign.runs > held["runs"]:
            campaign.points.require_extension(held["runs"], campaign.runs)

    def claim(self, campaign: Campaign) -> None:
        """Make the folder that of a campaign; raise InputError when it cannot be."""
        self.require(campaign)
        held = self.settings
        runs = campaign.runs if held is None else max(campaign.runs, held["runs"])
        text = {
            "runs": runs,
            "identity": campaign.identity(),
            "files": campaign.files,
            "folder": str(campaign.folder),
            "campaign": json.loads(campaign.to_json()) | {"runs": runs},
        }
        write_text(self.path / SETTINGS, json.dumps(text, indent=1))

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other drivers out while a block runs."""
        try:
            import fcntl
        except ImportError:
            raise InputError(
                f"{self.path}: campaigns run on Linux and macOS, which lock files by flock; this system has no module fcntl"
            ) from None
        with open(self.path / LOCK, "a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(
                    f"{self.path}: found another process that works on this campaign; expected none. "
                    f"`articulus campaign status {shlex.quote(str(self.path))}` shows its progress"
                ) from None
            file.truncate(0)
            yield

    def note_pace(self, runs: int, seconds: float) -> None:
        """Say in the lock how many runs the driver has written, and in what wall-clock time, for those who watch."""
        with contextlib.suppress(OSError):  # nothing depends on it
            (self.path / LOCK).write_text(f"{runs} {seconds:.6f}")

    @property
    def pace(self) -> tuple[int, float] | None:
        """What `note_pace` said of the driver that works, or worked last."""
        try:
            runs, seconds = (self.path / LOCK).read_text().split()
            return int(runs), float(seconds)
        except (OSError, ValueError):  # not yet, or just being written
            return None

    def scale(self, found: Callable[[], Scale]) -> Scale:
        """Return where values over time are counted, which is found once and kept."""
        place = self.path / SCALE
        if place.is_file():
            try:
                return read_scale(place)
            except InputError as error:
                doubtful(f"{error}: it is computed again from the first runs")
        new = found()
        with replacing(place) as temporary, temporary.open("wb") as file:
            np.savez(file, times=new.times, chosen=new.chosen, low=new.low, high=new.high)
        return read_scale(place)

    @property
    def digest(self) -> str:
        """Digest of what decides the numbers, which the shards carry."""
        held = self.settings
        if held is None:
            raise InputError(
                f"{self.path}: found no campaign; expected a folder that `articulus campaign` wrote"
            )
        return hashlib.sha256(json.dumps(held["identity"], sort_keys=True).encode()).hexdigest()

    def ledger(self) -> Ledger:
        """Return the ledger."""
        return Ledger(self.path, self.digest)


def held_campaign(folder: Path, settings: dict[str, Any]) -> Campaign:
    """Return the campaign that the settings of a folder hold; raise InputError where they do not."""
    try:
        return Campaign.from_json(json.dumps(settings["campaign"]), settings["folder"])
    except ArticulusError:
        raise
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{folder / SETTINGS}: found settings that are none of a campaign ({type(error).__name__}: {brief(error)}); expected those "
            "that `articulus campaign` wrote"
        ) from None


def read_scale(place: Path) -> Scale:
    """Return where values over time are counted, from a file; raise InputError for one that is gone or damaged."""
    try:
        held = npz_arrays(place.read_bytes(), MAX_BYTES)
        return Scale(held["times"], held["chosen"], held["low"], held["high"])
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"{place}: found a file that cannot be read ({brief(error)}); expected where values over time are counted"
        ) from None


def _is_beginning(name: str) -> bool:
    """Whether a file is one that a driver leaves which is killed before it has written the settings."""
    return name == LOCK or name.startswith(f".{SETTINGS}.")


def require_same(path: Path, held: dict[str, Any], identity: dict[str, str]) -> None:
    """Raise InputError that says what differs between the campaign of a folder and another one."""
    before = held["identity"]
    changed = [k for k in {**before, **identity} if before.get(k) != identity.get(k)]
    if changed:
        told = [
            f"{k} ({before.get(k)} then, {identity.get(k)} now)"
            if k.startswith(("version", "processor", "sampler"))
            else k
            for k in changed
        ]
        raise InputError(
            f"{path}: found a campaign that differs in: {', '.join(told)}; expected the same one. Runs of both must not be "
            "mixed: choose another folder with --output, or change back"
        )


def require_files(path: Path, files: dict[str, str], others: dict[str, str] | None = None) -> None:
    """Raise InputError when a file that the study reads is another one than when the campaign began.

    Parameters
    ----------
    path : Path
        Folder of the campaign.
    files : dict of path to digest
        That the campaign read.
    others : dict of path to digest
        That the study, which may lie elsewhere now, reads; the same paths if not given.
    """
    if others is None:
        others = {file: digest_of(Path(file)) for file in files}
    known = {(Path(file).name, digest) for file, digest in files.items()}
    for file, digest in others.items():
        if (Path(file).name, digest) not in known:
            how = "is gone" if digest == GONE else "has changed" if file in files else "is another file"
            raise InputError(
                f"{path}: found that {file} {how} since the campaign began; expected the same "
                "one. Runs of both must not be mixed: choose another folder with --output, or change back"
            )


def digest_of(file: Path) -> str:
    """Return the digest of the content of a file; GONE where there is none."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16] if file.is_file() else GONE


class Driver:
    """Runs what is left of a campaign.

    Parameters
    ----------
    campaign : Campaign
    folder : Folder
        Claimed and locked.
    ledger : Ledger
    tell : callable
        Called with the progress now and then.
    """

    def __init__(self, campaign: Campaign, folder: Folder, ledger: Ledger, tell: Tell | None = None):
        self.campaign, self.folder, self.ledger = campaign, folder, ledger
        self._tell = tell or (lambda progress: None)
        self._rows: list[RunRows] = []
        self._held = 0
        self._began = self._written = time.monotonic()
        self._flushed = 0
        self._good = self._aside = self._deaths = 0
        self._attempts: dict[Range, int] = {}
        self._rate = 0.0
        self.progress = Progress(campaign.runs, 0)

    def run(self, workers: Workers, alone: Callable[[], Workers] | None = None) -> None:
        """Run everything that is missing.

        Parameters
        ----------
        workers : Workers
        alone : callable
            Gives workers in processes of their own, for what was under way when a driver died; `workers` if not given.
        """
        suspects = self.ledger.started_ranges()
        queue = deque(self.ledger.missing(self.campaign.runs))
        self.progress.done = self.campaign.runs - sum(count for _, count in queue)
        began, before = time.monotonic(), self.progress.done
        try:
            if alone is not None and suspects:
                inside = [r for s in suspects for m in queue if (r := _common(s, m))[1] > 0]
                guarded = alone()
                try:
                    self._work(guarded, deque(inside), began, before)
                finally:
                    guarded.close()
                self._flush()
                queue = deque(self.ledger.missing(self.campaign.runs))
            self._work(workers, queue, began, before)
        finally:
            workers.close()
            self._flush()
            self.ledger.end()  # whatever went wrong, it did not end this process

    def _work(self, workers: Workers, queue: deque[Range], began: float, before: int) -> None:
        under_way = 0
        while queue or under_way:
            while queue and under_way < workers.slots:
                task = self._cut(queue, workers.slots, workers.inside)
                if workers.inside:
                    self.ledger.begin(task)
                workers.submit(task)
                under_way += 1
            for task, found in workers.wait(0.2):
                under_way -= 1
                if isinstance(found, RunRows):
                    self._take(found)
                else:
                    self._resolve(task, found, queue)
                spent = time.monotonic() - began
                self.progress.rate = (self.progress.done - before) / spent if spent > 0 else 0.0
            self._tell(self.progress)
            if self._held >= SHARD_ROWS or time.monotonic() - self._written > SHARD_SECONDS:
                self._flush()

    def _cut(self, queue: deque[Range], slots: int, inside: bool) -> Range:
        """Take a chunk off the queue: of about a second, a multiple of the vectors of the processor."""
        first, count = queue.popleft()
        if (first, count) in self._attempts:  # goes again as it was
            return first, count
        lanes = host().lanes
        seconds = max(CHUNK_SECONDS, HANDING_OUT * slots)
        wanted = int(self._rate * seconds) if self._rate else FIRST_CHUNK
        if not inside:  # towards the end smaller ones, so that no worker waits long for the last
            share = (count + sum(n for _, n in queue)) // (2 * slots)
            wanted = min(wanted, max(share, int(self._rate * LEAST_CHUNK_SECONDS), lanes))
        size = min(count, -(-max(1, wanted) // lanes) * lanes)
        if size < count:
            queue.appendleft((first + size, count - size))
        return first, size

    def _take(self, rows: RunRows) -> None:
        self._note_success(rows)
        self._rows.append(rows)
        self._held += rows.count
        self.progress.done += rows.count
        self.progress.failed += int((rows.status >= 2).sum())

    def _note_success(self, rows: RunRows) -> None:
        """Note that a chunk went well, and how fast."""
        self._good += rows.count
        self._deaths = 0
        self._attempts.pop((rows.first, rows.count), None)
        rate = 1 / max(float(rows.seconds[0]), 1e-9)
        self._rate = rate if not self._rate else 0.5 * (self._rate + rate)

    def _resolve(self, task: Range, trouble: Trouble, queue: deque[Range]) -> None:
        """Halve a chunk that made trouble, or set its only run aside."""
        first, count = task
        tried = self._attempts.pop(task, 0) + 1
        if trouble.again:
            self._deaths += 1
            if self._deaths >= NOT_STARTED and not self._good:
                raise NumericalError(
                    f"campaign: {self._deaths} workers died and none did any work. The last: {trouble.text}"
                )
            if tried < (ATTEMPTS if count == 1 else 1 if trouble.cause == "out of time" else 2):
                self._attempts[task] = tried
                queue.appendleft(task)
                return
        if count > 1:
            half = count // 2
            for part in ((first + half, count - half), (first, half)):
                self._attempts[part] = 0
                queue.appendleft(part)
            return
        self._aside += 1
        if self._aside >= HOPELESS and not self._good:
            raise NumericalError(
                f"campaign: the first {self._aside} runs could not be run and not one could; the last one, run {first}: {trouble.text}"
            )
        self._put_aside(first, trouble)

    def _put_aside(self, run: int, trouble: Trouble) -> None:
        """Count a run that cannot be run, with its cause."""
        held = self.campaign.inputs(run, 1)
        row = RunRows(
            run, 1, np.array([[held[n][0] for n in self.campaign.names]]).reshape(1, -1),
            np.full((1, len(self.campaign.figures)), np.nan), np.array([SET_ASIDE], np.int8),
            np.array([CAUSES.index(trouble.cause)], np.int8), np.zeros(1, np.int8), np.full(1, np.nan), np.zeros(1),
            {run: f"{trouble.cause}: {trouble.text}"},
        )  # fmt: skip
        self._rows.append(row)
        self._held += 1
        self.progress.done += 1
        self.progress.failed += 1

    def _flush(self) -> None:
        """Write what has been done; from then on it is safe."""
        self._written = time.monotonic()
        if not self._rows:
            return
        rows, self._rows, self._held = self._rows, [], 0
        self._flushed += sum(part.count for part in rows)
        shard = shards.write(self.folder.path, self.ledger.next_file(), _join(rows), self.folder.digest)
        notes = {kind: n for part in sorted(rows, key=lambda r: -r.first) for kind, n in part.notes.items()}
        self.ledger.add(shard, notes)
        self.folder.note_pace(self._flushed, time.monotonic() - self._began)


def _common(a: Range, b: Range) -> Range:
    """Return the runs that two ranges share; none has a count of zero or less."""
    first = max(a[0], b[0])
    return first, min(a[0] + a[1], b[0] + b[1]) - first


def _join(rows: list[RunRows]) -> list[RunRows]:
    """Return rows in the order of runs, neighbors as one: the ledger stays short."""
    out: list[list[RunRows]] = []
    for part in sorted(rows, key=lambda r: r.first):
        if out and out[-1][-1].first + out[-1][-1].count == part.first:
            out[-1].append(part)
        else:
            out.append([part])
    return [join_rows(group) for group in out]
