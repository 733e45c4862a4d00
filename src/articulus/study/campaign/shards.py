"""Shards: files with the rows of finished runs. Written under a temporary name, synced and renamed; never changed afterwards."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.model.files.seal import seal, why_broken
from articulus.model.files.storage import open_regular, replacing
from articulus.study.campaign.percentile_bands import Counts
from articulus.study.campaign.work import SET_ASIDE, RunRows

AGAIN = "expected it as it was written. The command that runs the campaign, given again, runs its runs again"
COLUMNS = ("status", "cause", "doubts", "ended", "seconds")


def h5py_module() -> Any:
    """Return h5py, or raise what to install."""
    try:
        import h5py
    except ImportError:
        raise InputError(
            "campaign: h5py is not installed; expected the extra `data`: pip install 'articulus[data]'"
        ) from None
    return h5py


@dataclass(frozen=True)
class Shard:
    """One file of rows.

    Parameters
    ----------
    file : str
        Name in the folder of the campaign.
    digest : str
        Digest of its content.
    size : int [bytes]
    ranges : tuple of (first, count, offset)
        Runs that it holds, and the row at which each range begins.
    texts : dict of index to str
        What failed.
    aside : tuple of int
        Runs that were set aside.
    """

    file: str
    digest: str
    size: int
    ranges: tuple[tuple[int, int, int], ...]
    texts: dict[int, str]
    aside: tuple[int, ...] = ()

    def holds(self, run: int) -> bool:
        """Whether it has the row of a run."""
        return any(first <= run < first + count for first, count, _ in self.ranges)


def write(folder: Path, file: str, parts: Sequence[RunRows], identity: str) -> Shard:
    """Write the rows of some ranges; the file is there as a whole, and on the disk, or not at all."""
    h5py = h5py_module()
    parts = sorted(parts, key=lambda p: p.first)
    offsets = np.cumsum([0, *(p.count for p in parts)])
    ranges = tuple((p.first, p.count, int(o)) for p, o in zip(parts, offsets))
    texts = {i: t for p in parts for i, t in p.texts.items()}
    with replacing(folder / file) as temporary:
        with h5py.File(temporary, "w", libver="latest") as out:
            for name in ("inputs", "figures"):  # a column lies in one piece
                out[name] = np.concatenate([getattr(p, name) for p in parts]).T.copy()
            for name in COLUMNS:
                out[name] = np.concatenate([getattr(p, name) for p in parts])
            out["ranges"] = np.array(ranges, dtype=np.int64)
            counts = [p.counts for p in parts if p.counts is not None]
            if counts:
                total = counts[0]
                for each in counts[1:]:
                    total = total + each
                group = out.create_group("counts")
                group.create_dataset(
                    "cells", data=total.cells.astype(np.int32), compression="gzip", compression_opts=1
                )
                group["least"], group["greatest"] = total.least, total.greatest
            out.attrs["identity"] = identity
            out.attrs["texts"] = json.dumps({str(i): t for i, t in texts.items()})
        content = seal(temporary.read_bytes())
        temporary.write_bytes(content)
    _sync_folder(folder)
    return Shard(file, hashlib.sha256(content).hexdigest(), len(content), ranges, texts)


def read(folder: Path, file: str, identity: str) -> Shard | None:
    """Return what a file holds; None for one that is damaged or of another campaign."""
    h5py = h5py_module()
    try:
        if why_broken(folder / file):
            return None
        content = (folder / file).read_bytes()
        with h5py.File(folder / file, "r") as held:
            if held.attrs["identity"] != identity or len(held["status"]) != held["ranges"][:, 1].sum():
                return None
            ranges = tuple((int(a), int(b), int(c)) for a, b, c in held["ranges"][:])
            texts = {int(i): t for i, t in json.loads(held.attrs["texts"]).items()}
            runs = np.concatenate([np.arange(a, a + b) for a, b, _ in ranges])
            aside = tuple(runs[held["status"][:] == SET_ASIDE].tolist())
    except (OSError, KeyError, ValueError):
        return None
    return Shard(file, hashlib.sha256(content).hexdigest(), len(content), ranges, texts, aside)


def whole(folder: Path, file: str, digest: str) -> bool:
    """Whether a file holds every byte that was written: its SHA-256 is the one of the ledger."""
    try:
        with open_regular(folder / file) as held:
            return hashlib.file_digest(held, "sha256").hexdigest() == digest
    except OSError:
        return False


def require_whole(folder: Path, file: str, digest: str) -> None:
    """Raise InputError for a file that is gone or damaged."""
    if not whole(folder, file, digest):
        raise InputError(f"{folder / file}: found a shard that is gone or damaged; {AGAIN}")


def column(folder: Path, file: str, group: str, k: int | None) -> np.ndarray:
    """Return one column of a file: entry k of "inputs" or "figures", or one of COLUMNS."""
    with _open(folder / file) as held:
        return np.asarray(held[group][k] if k is not None else held[group][:])


def counts(folder: Path, file: str) -> Counts | None:
    """Return the counts of values over time of a file."""
    with _open(folder / file) as held:
        if "counts" not in held:
            return None
        group = held["counts"]
        return Counts(group["cells"][:].astype(np.int64), group["least"][:], group["greatest"][:])


@contextlib.contextmanager
def _open(path: Path) -> Iterator[Any]:
    """Open a file of rows; raise InputError for one that is gone or damaged."""
    try:
        with h5py_module().File(path, "r") as held:
            yield held
    except (OSError, KeyError) as error:
        raise InputError(f"{path}: found a shard that cannot be read ({error}); {AGAIN}") from None


def _sync_folder(folder: Path) -> None:
    """Bring the names of the files in a folder to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
