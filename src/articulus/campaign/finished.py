"""Whether a command has nothing left to do, without building any equations: a finished campaign answers at once."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from articulus.campaign.machine import machine
from articulus.files.storage import write_text

FILE = "finished.json"


def mark(
    folder: Path, study: str, runs: int | None, given: Mapping[str, Any], files: Mapping[str, str]
) -> None:
    """Note that a command came to its end."""
    held = {
        "asked": _asked(study, given),
        "runs": _runs(study, runs),
        "files": dict(files),
        "machine": machine(),
    }
    write_text(folder / FILE, json.dumps(held))


def nothing_left(folder: Path, study: str, runs: int | None, given: Mapping[str, Any]) -> int | None:
    """Return the number of runs of a command that came to its end before, and whose results are all there; else None.

    Parameters
    ----------
    folder : Path
        Of the campaign.
    study : str
        Text of the study.
    runs : int
        As given.
    given : mapping
        Everything else that was given.
    """
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, sqlite3.Error):
        held = json.loads((folder / FILE).read_text(encoding="utf-8"))
        wanted = _runs(study, runs)
        if (
            wanted is None
            or held["asked"] != _asked(study, given)
            or wanted > held["runs"]
            or held["machine"] != machine()
        ):
            return None
        for file, digest in held["files"].items():
            if hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16] != digest:
                return None
        base = sqlite3.connect(f"file:{folder / 'ledger.sqlite'}?mode=ro", uri=True)
        try:
            done = base.execute("SELECT SUM(count) FROM ranges").fetchone()[0]
            shards = base.execute("SELECT file, size FROM shards").fetchall()
        finally:
            base.close()
        if done >= wanted and all((folder / file).stat().st_size == size for file, size in shards):
            return int(wanted)
    return None


def _runs(study: str, runs: int | None) -> int | None:
    return runs if runs is not None else tomllib.loads(study).get("campaign", {}).get("runs")


def _asked(study: str, given: Mapping[str, Any]) -> str:
    """Digest of a command; the number of runs apart."""
    options = {k: v for k, v in given.items() if v is not None}
    return hashlib.sha256(json.dumps([study, options], default=repr, sort_keys=True).encode()).hexdigest()
