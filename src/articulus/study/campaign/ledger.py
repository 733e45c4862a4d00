"""The ledger: which runs are done and where their rows are. SQLite with a write-ahead log, written by the driver alone.

A shard counts when the ledger says so: its file is complete before the transaction that names it. A driver that dies leaves at
most a file that nobody names.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from articulus.errors import InputError
from articulus.study.campaign import shards
from articulus.study.campaign.shards import Shard

FILE = "ledger.sqlite"
SCHEMA = """
CREATE TABLE IF NOT EXISTS shards (file TEXT PRIMARY KEY, digest TEXT NOT NULL, size INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS ranges (first INTEGER PRIMARY KEY, count INTEGER NOT NULL, file TEXT NOT NULL, offset INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS texts (run INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS begun (first INTEGER PRIMARY KEY, count INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS notes (kind TEXT PRIMARY KEY, text TEXT NOT NULL);
"""
COLUMNS = {
    "shards": ["file", "digest", "size"],
    "ranges": ["first", "count", "file", "offset"],
    "texts": ["run", "text"],
    "begun": ["first", "count"],
    "notes": ["kind", "text"],
}
MOST_TEXTS = 10_000
"""Failures that are told in full."""

Range = tuple[int, int]
"""First run and number of runs."""


class Ledger:
    """The ledger of a campaign.

    Parameters
    ----------
    folder : Path
        Folder of the campaign.
    identity : str
        Digest of the campaign, which its shards carry.
    """

    def __init__(self, folder: Path, identity: str):
        self.folder, self._identity = folder, identity
        self.path = folder / FILE
        self.rebuilt = False
        self._last: int | None = None
        try:
            if self._lost():
                raise sqlite3.DatabaseError("no ledger beside the shards")
            self._open()
        except (sqlite3.DatabaseError, UnicodeDecodeError):  # SQLite's word on a torn page can be torn itself
            self._rebuild()

    def _lost(self) -> bool:
        """Whether the file is gone or empty although shards have been written: SQLite would begin a new one."""
        there = self.path.is_file() and self.path.stat().st_size > 0
        return not there and any(self.folder.glob("shard_*.h5"))

    def _open(self) -> None:
        self._base = sqlite3.connect(self.path, isolation_level=None, timeout=30.0, check_same_thread=False)
        self._base.text_factory = _decode_text
        self._base.execute("PRAGMA journal_mode=WAL")
        self._base.executescript(SCHEMA)
        for table, columns in COLUMNS.items():
            held = [row[1] for row in self._base.execute(f"PRAGMA table_info({table})")]
            if held != columns:
                raise sqlite3.DatabaseError(f"the table {table} has other columns")
        found = self._base.execute("PRAGMA quick_check").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(found)

    def _rebuild(self) -> None:
        """Put a torn ledger aside and write a new one from the shards, which say themselves what they hold."""
        with contextlib.suppress(AttributeError, sqlite3.Error):
            self._base.close()
        for end in ("", "-wal", "-shm"):
            old = Path(f"{self.path}{end}")
            if old.exists():
                old.replace(f"{self.path}.torn{end}")
        self._open()
        self.rebuilt = True
        aside: set[int] = set()
        for path in sorted(self.folder.glob("shard_*.h5")):
            shard = shards.read(self.folder, path.name, self._identity)
            if shard is None:
                continue
            self.forget(sorted(run for run in aside if shard.holds(run)))  # they were tried again
            with contextlib.suppress(InputError):  # runs that another shard has too: they are run again
                self.add(shard)
            aside.update(shard.aside)

    @contextlib.contextmanager
    def _writing(self, synced: bool = True) -> Iterator[sqlite3.Connection]:
        """Give the base inside a transaction, which is done as a whole or not at all.

        One that is not `synced` outlives this process, but not a loss of power.
        """
        try:
            self._base.execute(f"PRAGMA synchronous={'FULL' if synced else 'NORMAL'}")
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield self._base
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")
        except (sqlite3.OperationalError, sqlite3.DatabaseError) as error:
            raise InputError(f"{self.path}: cannot be written ({error})") from None

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    # writing

    def add(self, shard: Shard, notes: Mapping[str, str] | None = None) -> None:
        """Let a shard count; of notes, which are by kind, the first of each is kept."""
        with self._writing() as base:
            for first, count, _ in shard.ranges:
                before = base.execute(
                    "SELECT first, count FROM ranges WHERE first < ? ORDER BY first DESC LIMIT 1",
                    (first + count,),
                ).fetchone()
                if before is not None and before[0] + before[1] > first:
                    raise InputError(
                        f"{self.path}: found run {max(first, before[0])} twice; expected every run once"
                    )
            base.execute("INSERT INTO shards VALUES (?, ?, ?)", (shard.file, shard.digest, shard.size))
            base.executemany(
                "INSERT INTO ranges VALUES (?, ?, ?, ?)", [(a, b, shard.file, o) for a, b, o in shard.ranges]
            )
            held = base.execute("SELECT COUNT(*) FROM texts").fetchone()[0]
            texts = list(shard.texts.items())[: max(0, MOST_TEXTS - held)]
            base.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?)", texts)
            base.executemany("INSERT OR IGNORE INTO notes VALUES (?, ?)", list((notes or {}).items()))
            for first, count, _ in shard.ranges:
                base.execute("DELETE FROM begun WHERE first >= ? AND first < ?", (first, first + count))

    def begin(self, work: Range) -> None:
        """Note that some runs are under way in the process of the driver: should they kill it, the next one knows."""
        with self._writing(synced=False) as base:
            base.execute("INSERT OR REPLACE INTO begun VALUES (?, ?)", work)

    def end(self) -> None:
        """Note that nothing is under way."""
        with self._writing(synced=False) as base:
            base.execute("DELETE FROM begun")

    def forget(self, runs: Sequence[int]) -> None:
        """Let the rows of some runs count no more: they are run again."""
        with self._writing() as base:
            for run in runs:
                found = base.execute(
                    "SELECT first, count, file, offset FROM ranges WHERE first <= ? ORDER BY first DESC LIMIT 1",
                    (run,),
                ).fetchone()
                if found is None or found[0] + found[1] <= run:
                    continue
                first, count, file, offset = found
                base.execute("DELETE FROM ranges WHERE first = ?", (first,))
                before = run - first
                if before:
                    base.execute("INSERT INTO ranges VALUES (?, ?, ?, ?)", (first, before, file, offset))
                if count - before - 1:
                    base.execute(
                        "INSERT INTO ranges VALUES (?, ?, ?, ?)",
                        (run + 1, count - before - 1, file, offset + before + 1),
                    )
                base.execute("DELETE FROM texts WHERE run = ?", (run,))

    # reading

    def ranges(self) -> list[tuple[int, int, str, int]]:
        """Return (first, count, file, offset) of all rows, in the order of runs."""
        return self._base.execute("SELECT first, count, file, offset FROM ranges ORDER BY first").fetchall()

    def files(self) -> dict[str, str]:
        """Return the SHA-256 of every shard that counts, by its name."""
        return dict(self._base.execute("SELECT file, digest FROM shards ORDER BY file").fetchall())

    def count_done(self) -> int:
        """Return how many runs are done."""
        return int(self._base.execute("SELECT COALESCE(SUM(count), 0) FROM ranges").fetchone()[0])

    def started_ranges(self) -> list[Range]:
        """Return what was under way when a driver died."""
        return [(a, b) for a, b in self._base.execute("SELECT first, count FROM begun ORDER BY first")]

    def texts(self) -> dict[int, str]:
        """Return what is told of runs that failed or are doubtful, by their number."""
        return dict(self._base.execute("SELECT run, text FROM texts ORDER BY run").fetchall())

    def notes(self) -> list[str]:
        """Return warnings that runs gave, one of each kind."""
        return [text for (text,) in self._base.execute("SELECT text FROM notes")]

    def missing(self, runs: int) -> list[Range]:
        """Return the runs below a number that are not done, as ranges."""
        out, at = [], 0
        for first, count in self._base.execute(
            "SELECT first, count FROM ranges WHERE first < ? ORDER BY first", (runs,)
        ):
            if first > at:
                out.append((at, first - at))
            at = max(at, first + count)
        if at < runs:
            out.append((at, runs - at))
        return out

    def drop_lost(self) -> list[str]:
        """Forget shards whose file is gone or damaged, so that their runs are run again; return their names."""
        lost = [file for file, digest in self.files().items() if not shards.whole(self.folder, file, digest)]
        with self._writing() as base:
            for file in lost:
                base.execute("DELETE FROM ranges WHERE file = ?", (file,))
                base.execute("DELETE FROM shards WHERE file = ?", (file,))
        return lost

    def next_file(self) -> str:
        """Return a name for the next shard that no file has."""
        if self._last is None:
            taken = [int(p.stem[6:]) for p in self.folder.glob("shard_*.h5") if p.stem[6:].isdigit()]
            self._last = max(taken, default=-1)
        self._last += 1
        return f"shard_{self._last:06d}.h5"


def _decode_text(stored: bytes) -> str:
    """Return a text of the ledger; a damaged one is no file's name and no file's digest, and is found by that."""
    return stored.decode("utf-8", "replace")
