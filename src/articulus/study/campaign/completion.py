"""Whether a command has nothing left to do, without building any equations: a finished campaign answers at once."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from articulus.model.files.storage import StrPath, as_path, load_text, write_text
from articulus.model.files.toml.reader import load_tables
from articulus.study.campaign import shards
from articulus.study.campaign.machine import machine

FILE = "finished.json"


def mark(
    folder: Path, study: StrPath, runs: int | None, given: Mapping[str, Any], files: Mapping[str, str]
) -> None:
    """Note that a command came to its end."""
    text, place = _read(study)
    held = {
        "asked": _digest_of_command(text, place, given),
        "runs": _runs(text, runs),
        "files": dict(files),
        "machine": machine(),
    }
    write_text(folder / FILE, json.dumps(held))


def nothing_left(folder: Path, study: StrPath, runs: int | None, given: Mapping[str, Any]) -> int | None:
    """Return the number of runs of a command that came to its end before, and whose results are all there; else None.

    Parameters
    ----------
    folder : Path
        Folder of the campaign.
    study : path or text of a study (TOML)
    runs : int
        As given.
    given : mapping
        Everything else that was given.
    """
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, sqlite3.Error):
        finished = json.loads((folder / FILE).read_text(encoding="utf-8"))
        text, place = _read(study)
        wanted = _runs(text, runs)
        if (
            wanted is None
            or finished["asked"] != _digest_of_command(text, place, given)
            or wanted != finished["runs"]
            or finished["machine"] != machine()
        ):
            return None
        for file, digest in finished["files"].items():
            if hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16] != digest:
                return None
        base = sqlite3.connect(f"file:{folder / 'ledger.sqlite'}?mode=ro", uri=True)
        try:
            below = "SELECT SUM(MIN(first + count, ?) - first) FROM ranges WHERE first < ?"
            done = base.execute(below, (wanted, wanted)).fetchone()[0]
            held_shards = base.execute("SELECT file, digest FROM shards").fetchall()
        finally:
            base.close()
        if done >= wanted and all(shards.whole(folder, file, digest) for file, digest in held_shards):
            return int(wanted)
    return None


def _read(study: StrPath) -> tuple[str, str]:
    """Return the text of a study, and the folder where the files lie that it names."""
    if isinstance(study, str) and "\n" in study:
        return study, str(Path.cwd())
    return load_text(study), str(as_path(study).parent.absolute())


def _runs(text: str, runs: int | None) -> int | None:
    return runs if runs is not None else load_tables(text, "study").get("campaign", {}).get("runs")


def _digest_of_command(text: str, place: str, given: Mapping[str, Any]) -> str:
    """Digest of a command; the number of runs apart."""
    options = sorted((k, _plain(v)) for k, v in given.items() if v is not None)
    return hashlib.sha256(json.dumps([text, place, options], default=repr).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return a value with every number that it holds: the text of a long array leaves out most of them."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [
            type(value).__name__,
            {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)},
        ]
    if isinstance(value, Mapping):
        return [[_plain(k), _plain(v)] for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value.tolist() if hasattr(value, "tolist") else value
