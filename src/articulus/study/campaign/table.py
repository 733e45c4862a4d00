"""`CampaignTable`: a row for every run that is done. Columns are read from the shards when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.model.files.storage import StrPath
from articulus.simulation.results.status import RunStatus
from articulus.study.campaign import shards
from articulus.study.campaign.work import CAUSES, SET_ASIDE, STATUS


class Columns(Mapping[str, np.ndarray]):
    """Columns by name, (runs,) each, read when first asked for.

    Parameters
    ----------
    table : CampaignTable
    group : str
        "inputs" or "figures".
    names : sequence of str
    """

    def __init__(self, table: CampaignTable, group: str, names: Sequence[str]):
        self._table, self._group, self._names = table, group, tuple(names)
        self._held: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise InputError(
                f"table: no column '{name}' of the {self._group}; {did_you_mean(str(name), self._names)}"
            )
        if name not in self._held:
            self._held[name] = self._table.column(self._group, self._names.index(name))
        return self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class CampaignTable:
    """Rows of the runs that are done, in the order of their numbers.

    Parameters
    ----------
    folder : Path
        Folder of the campaign.
    ranges : sequence of (first, count, file, offset)
        Where the rows are.
    inputs, figures : sequence of str
        Names of the columns.
    units : dict of str to str
        Units of the figures.
    texts : dict of int to str
        What is told of the first runs that failed or are doubtful, by their number.
    digests : dict of str to str
        SHA-256 of each file, which is compared once, when a column is first read.
    owner : object
        Lives as long as the table, which reads its columns when they are asked for: the folder may go with it.

    Attributes
    ----------
    inputs, figures : mapping of str to array (runs,)
        What varied, and what came out: NaN for a run that failed.
    """

    def __init__(
        self,
        folder: Path,
        ranges: Sequence[tuple[int, int, str, int]],
        inputs: Sequence[str],
        figures: Sequence[str],
        units: Mapping[str, str],
        texts: Mapping[int, str],
        digests: Mapping[str, str],
        owner: object = None,
    ):
        self._owner = owner
        self._digests, self._checked = dict(digests), False
        self._folder, self.ranges = folder, list(ranges)
        self.inputs, self.figures = Columns(self, "inputs", inputs), Columns(self, "figures", figures)
        self.units, self.texts = dict(units), dict(texts)

    def __len__(self) -> int:
        return sum(count for _, count, _, _ in self.ranges)

    def __repr__(self) -> str:
        return f"<CampaignTable of {len(self)} runs: {len(self.inputs)} inputs, {len(self.figures)} figures>"

    def require_whole(self) -> None:
        """Raise InputError where a file is gone or damaged; they are examined once."""
        if not self._checked:
            for file in dict.fromkeys(file for _, _, file, _ in self.ranges):
                shards.require_whole(self._folder, file, self._digests.get(file, ""))
            self._checked = True

    def column(self, group: str, k: int | None = None) -> np.ndarray:
        """Return one column of all runs, (runs,)."""
        if not self.ranges:
            return np.zeros(0)
        self.require_whole()
        held: dict[str, np.ndarray] = {}
        for file in dict.fromkeys(file for _, _, file, _ in self.ranges):
            held[file] = shards.column(self._folder, file, group, k)
        return np.concatenate([held[file][offset : offset + count] for _, count, file, offset in self.ranges])

    @cached_property
    def index(self) -> np.ndarray:
        """Number of each run: that of its point in the design and of its stream of noise."""
        parts = [np.arange(first, first + count) for first, count, _, _ in self.ranges]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=int)

    @cached_property
    def status(self) -> np.ndarray:
        """How each run ended: a `RunStatus`, or `work.SET_ASIDE`."""
        return self.column("status").astype(np.int8)

    @cached_property
    def cause(self) -> np.ndarray:
        """Why each run has no figures: a place in `work.CAUSES`."""
        return self.column("cause").astype(np.int8)

    @cached_property
    def doubts(self) -> np.ndarray:
        """How many diagnostics of each run are doubtful."""
        return self.column("doubts").astype(np.int8)

    @cached_property
    def end_times(self) -> np.ndarray:
        """Time at which each run ended [s]."""
        return self.column("ended")

    @cached_property
    def seconds(self) -> np.ndarray:
        """Wall-clock time of each run [s]; of a chunk, over its runs."""
        return self.column("seconds")

    @property
    def failed(self) -> np.ndarray:
        """Which runs have no figures: those that failed and those set aside."""
        return np.isin(self.status, (RunStatus.FAILED, SET_ASIDE))

    @property
    def status_texts(self) -> tuple[str, ...]:
        """Texts of the codes of `status`."""
        return STATUS

    @property
    def cause_texts(self) -> tuple[str, ...]:
        """Texts of the codes of `cause`."""
        return CAUSES

    def save(self, path: StrPath) -> None:
        """Write all rows to a file that ends in .parquet (extra `parquet`) or .csv; see `export.save_table`."""
        from articulus.study.campaign.export import save_table

        save_table(self, path)

    def same(self, other: CampaignTable) -> bool:
        """Whether all runs of two tables agree in every bit (wall-clock times apart)."""
        if list(self.inputs) != list(other.inputs) or list(self.figures) != list(other.figures):
            return False
        pairs = [(self.index, other.index), (self.status, other.status), (self.cause, other.cause)]
        pairs += [(self.end_times, other.end_times), (self.doubts, other.doubts)]
        pairs += [(self.inputs[n], other.inputs[n]) for n in self.inputs]
        pairs += [(self.figures[n], other.figures[n]) for n in self.figures]
        return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)
