"""Checkpoints: files from which a killed run continues.

A checkpoint is two files. The head, at the path that was given, holds everything but the log; it is replaced whole at
every write. The log, beside it, holds the rows logged so far and only grows; the head says how much of it counts and has
its SHA-256, and another one of itself. So a write costs no more as the run grows, and whenever a process is killed the
last complete head with its part of the log is on the disk.

Head: a line with format and version, a line with the SHA-256 of all that follows, eight bytes with the length of a JSON
text, that text, the arrays that it lists. Log: rows of numbers. All numbers are little-endian float64. No pickle.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from articulus.errors import ArticulusError, InputError, brief
from articulus.model.files.storage import StrPath, as_path, open_regular, replacing
from articulus.simulation.results.status import Cause, Failure, FinalState, Occurrence

FORMAT = b"articulus checkpoint "
VERSION = 1
UNREAD = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, MemoryError, RecursionError)
"""What reading a checkpoint raises that no run wrote."""
INTERVAL = 30.0
"""Seconds between checkpoints unless asked otherwise."""

Log = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Everything that a run needs to go on as if it had never stopped.

    Parameters
    ----------
    model : str
        Fingerprint of the mechanism.
    settings : dict
        All that decides the numbers of the run: plain numbers, texts, lists and dicts.
    state : FinalState
    log : dict of str to array, (rows, ...)
        What was logged so far, time first.
    events : tuple of Occurrence
    failures : tuple of Failure
    statistics : dict
        Counts so far.
    """

    model: str
    settings: Mapping[str, Any]
    state: FinalState
    log: Log = field(default_factory=dict)
    events: tuple[Occurrence, ...] = ()
    failures: tuple[Failure, ...] = ()
    statistics: Mapping[str, float] = field(default_factory=dict)

    def require(self, model: str, settings: Mapping[str, Any]) -> None:
        """Raise InputError, which says what differs, unless the checkpoint is of this model and these settings."""
        if model != self.model:
            raise InputError(
                f"checkpoint: it is of the mechanism {self.model[:12]}, found {model[:12]}; expected the same mechanism"
            )
        found = list(_changes(self.settings, json.loads(_json(settings))))
        if found:
            raise InputError(f"checkpoint: settings differ: {'; '.join(found)}; expected the same to go on")


class CheckpointWriter:
    """Writes checkpoints of one run.

    Parameters
    ----------
    path : path
        Path of the head; an earlier checkpoint there is replaced by the first write.
    model, settings
        As in Checkpoint.
    log : dict of str to array
        Rows from before, where a run continues.
    interval : float [s]
        Wall-clock time between checkpoints.
    """

    def __init__(
        self,
        path: StrPath,
        model: str,
        settings: Mapping[str, Any],
        log: Log | None = None,
        interval: float = INTERVAL,
    ):
        self.path = as_path(path)
        self._model, self._settings, self._interval = model, settings, interval
        self._log = self.path.with_name(f"{self.path.name}.{secrets.token_hex(8)}.log")
        self._digest, self._bytes, self._rows = hashlib.sha256(), 0, 0
        self._columns: dict[str, tuple[int, ...]] | None = None
        self._earlier = log
        self._last = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether the interval is over."""
        return time.monotonic() - self._last >= self._interval

    def put_off(self) -> None:
        """Wait for another interval, after a checkpoint that could not be written."""
        self._last = time.monotonic()

    def write(
        self,
        state: FinalState,
        rows: Log,
        events: tuple[Occurrence, ...] = (),
        failures: tuple[Failure, ...] = (),
        statistics: Mapping[str, float] | None = None,
    ) -> None:
        """Write a checkpoint.

        Parameters
        ----------
        state : FinalState
            State of the run.
        rows : dict of str to array, (new rows, ...)
            What was logged since the last checkpoint.
        events, failures : tuples
            All so far.
        statistics : dict
            Counts so far.
        """
        first = not self._log.exists()
        before = (self._digest.copy(), self._bytes, self._rows)
        try:
            for part in (rows,) if self._earlier is None else (self._earlier, rows):
                self._append(part)
            now = Checkpoint(self._model, self._settings, state, {}, events, failures, statistics or {})
            with replacing(self.path) as temporary:
                temporary.write_bytes(self._head(now))
        except BaseException:
            self._digest, self._bytes, self._rows = before
            raise
        self._earlier = None
        if first:
            _sweep(self.path, keep=self._log)
        self._last = time.monotonic()

    def _append(self, rows: Log) -> None:
        """Add rows to the log; what a failed write left behind the part that counts is cut off."""
        arrays = {name: np.asarray(a, dtype="<f8") for name, a in rows.items()}
        columns = {name: a.shape[1:] for name, a in arrays.items()}
        if self._columns is not None and columns != self._columns:
            raise InputError(f"checkpoint: found rows of {columns}; expected {self._columns} as before")
        self._columns = columns
        if len({len(a) for a in arrays.values()}) > 1:
            raise InputError(
                "checkpoint: found columns with different numbers of rows; expected as many in each"
            )
        count = len(next(iter(arrays.values()))) if arrays else 0
        flat = [a.reshape(count, math.prod(a.shape[1:])) for a in arrays.values()]
        content = np.concatenate(flat, axis=1).tobytes() if flat else b""
        with _readable_errors(self._log), open(self._log, "r+b" if self._log.exists() else "w+b") as file:
            file.seek(self._bytes)
            file.truncate()
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self._digest.update(content)
        self._bytes += len(content)
        self._rows += count

    def _head(self, c: Checkpoint) -> bytes:
        arrays = {"x": c.state.x}
        arrays |= {f"{name}{k}": getattr(f, name) for k, f in enumerate(c.failures) for name in "qvx"}
        held = {name: np.ascontiguousarray(a, dtype="<f8") for name, a in arrays.items()}
        text = _json(
            {
                "model": c.model,
                "settings": c.settings,
                "step": c.state.step,
                "t": c.state.t,
                "rng": c.state.rng,
                "statistics": c.statistics,
                "events": [[e.time, e.name, e.run, e.stop] for e in c.events],
                "failures": [[f.run, f.time, str(f.code), f.reason] for f in c.failures],
                "arrays": {name: a.shape for name, a in held.items()},
                "log": [self._log.name, self._rows, self._columns, self._digest.hexdigest()],
            }
        ).encode()
        body = len(text).to_bytes(8, "little") + text + b"".join(a.tobytes() for a in held.values())
        return b"%s%d\n%s\n" % (FORMAT, VERSION, hashlib.sha256(body).hexdigest().encode()) + body


def write(path: StrPath, checkpoint: Checkpoint) -> None:
    """Write one whole checkpoint."""
    c = checkpoint
    CheckpointWriter(path, c.model, c.settings).write(c.state, c.log, c.events, c.failures, c.statistics)


def read(path: StrPath) -> Checkpoint:
    """Return the checkpoint at `path`; raise InputError with the reason when it is missing, damaged or of another version."""
    place = as_path(path)
    with _readable_errors(place, "read"), open_regular(place) as file:
        content = file.read()
    try:
        return _checkpoint(place, content)
    except ArticulusError:
        raise
    except UNREAD as error:  # its SHA-256 fits, so that somebody made it up
        raise InputError(
            f"{place}: found a checkpoint that cannot be read ({type(error).__name__}: {brief(error)}); expected one that a run wrote"
        ) from None


def _checkpoint(place: Path, content: bytes) -> Checkpoint:
    header, arrays = _parse(place, content)
    failures = [
        Failure(run, at, Cause(code), reason, *(arrays[f"{name}{k}"] for name in "qvx"))
        for k, (run, at, code, reason) in enumerate(header["failures"])
    ]
    return Checkpoint(
        model=header["model"],
        settings=header["settings"],
        state=FinalState(header["step"], header["t"], arrays["x"], header["rng"]),
        log=_read_log(place, *header["log"]),
        events=tuple(Occurrence(*row) for row in header["events"]),
        failures=tuple(failures),
        statistics=header["statistics"],
    )


def require_place(path: StrPath) -> Path:
    """Return the path of checkpoints to come; raise InputError unless files can be written there."""
    place = as_path(path)
    if place.is_dir():
        raise InputError(f"{place}: found a folder; expected the path of a checkpoint file")
    with _readable_errors(place), tempfile.TemporaryFile(dir=place.parent):
        return place


def discard(path: StrPath) -> None:
    """Remove a checkpoint and its log, if there is one."""
    place = as_path(path)
    place.unlink(missing_ok=True)
    _sweep(place)


def _parse(place: Path, content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    first, _, rest = content.partition(b"\n")
    if not first.startswith(FORMAT):
        raise InputError(
            f"{place}: found no checkpoint; expected a file that begins with '{FORMAT.decode()}'"
        )
    if first != FORMAT + str(VERSION).encode():
        version = first.removeprefix(FORMAT)[:20].decode(errors="replace")
        raise InputError(f"{place}: found a checkpoint of version {version!r}; this program reads {VERSION}")
    digest, _, body = rest.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise InputError(f"{place}: found a damaged or shortened checkpoint (its SHA-256 does not fit)")
    start = 8 + int.from_bytes(body[:8], "little")
    header = json.loads(body[8:start])
    arrays = {}
    for name, shape in header["arrays"].items():
        count = math.prod(shape)
        arrays[name] = np.frombuffer(body, "<f8", count, start).reshape(shape).astype(np.float64)
        start += 8 * count
    return header, arrays


def _read_log(
    place: Path, name: str, rows: int, columns: dict[str, list[int]], digest: str
) -> dict[str, np.ndarray]:
    log = place.with_name(name)
    widths = [math.prod(shape) for shape in columns.values()]
    size = 8 * rows * sum(widths)
    with _readable_errors(log, "read"), open_regular(log) as file:
        content = file.read(min(size, os.fstat(file.fileno()).st_size))
    if len(content) < size:
        raise InputError(
            f"{log}: found {len(content)} bytes; expected at least {size}: the log was shortened"
        )
    if hashlib.sha256(content).hexdigest() != digest:
        raise InputError(f"{log}: found a damaged log (its SHA-256 does not fit)")
    table = np.frombuffer(content, "<f8").reshape(rows, sum(widths)).astype(np.float64)
    parts = np.split(table, np.cumsum(widths)[:-1], axis=1)
    return {key: part.reshape(rows, *shape) for (key, shape), part in zip(columns.items(), parts)}


def _sweep(path: Path, keep: Path | None = None) -> None:
    """Remove logs and temporary files of earlier checkpoints at `path`, such as killed processes leave."""
    name = re.escape(path.name)
    ours = re.compile(rf"{name}\.[0-9a-f]{{16}}\.log|\.{name}\.[a-z0-9_]{{8}}\.tmp")
    for other in path.parent.iterdir():
        if other != keep and ours.fullmatch(other.name):
            other.unlink(missing_ok=True)


def _changes(before: Any, now: Any, where: str = "") -> Iterator[str]:
    """Yield a text for every value that differs."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in {**before, **now}:
            yield from _changes(before.get(key), now.get(key), f"{where}.{key}" if where else key)
    elif json.dumps(before) != json.dumps(now):
        yield f"{where} was {_brief(before)}, is {_brief(now)}"


def _brief(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _json(value: Any) -> str:
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise InputError(
        f"checkpoint: found {value!r} among the settings; expected numbers, texts, lists and dicts"
    )


@contextlib.contextmanager
def _readable_errors(place: Path, verb: str = "written") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if verb == "read" and isinstance(error, FileNotFoundError):
            raise InputError(f"{place}: no such file; expected a checkpoint") from None
        raise InputError(f"{place}: cannot be {verb} ({error.strerror or error})") from None
