"""Measured histories of a case: `[[record]]` in case.toml, and what is computed beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.simulation.results.run import Run
from articulus.study.records import Record, read_record


@dataclass(frozen=True)
class CaseRecord:
    """One `[[record]]` of case.toml: processed data of a test, and how near computed histories have to be.

    Parameters
    ----------
    name : str
        Key of the dictionary that `compute` returns: a `Run`, a `Record`, or a dict with "t" and columns.
    file : str
        In the folder of the case; any kind that `read_record` takes.
    test : str
        How it was measured: machine, inputs, what was done to the data.
    reason : str
        Why the bands are what they are.
    signals : dict of column of the file to column of what is computed
    bands : dict of column of the file to number
        Largest difference that counts as agreement, in the column's SI unit.
    units : dict of column to unit
        Where the file does not say them.
    start, stop : float [s]
        Part of the record that counts.
    """

    name: str
    file: str
    test: str
    reason: str
    signals: dict[str, str]
    bands: dict[str, float]
    units: dict[str, str] | None = None
    start: float = -np.inf
    stop: float = np.inf

    def __post_init__(self) -> None:
        if set(self.signals) != set(self.bands) or not self.signals or not (self.test and self.reason):
            raise ValueError(
                f"record '{self.name}': expected a test, a reason, signals, and a band for each; found signals {sorted(self.signals)}, bands {sorted(self.bands)}"
            )
        if not all(x > 0 for x in self.bands.values()):
            raise ValueError(f"record '{self.name}': expected bands above zero")

    def quantity(self, column: str) -> str:
        """Return the name of the row of a column."""
        return f"{self.name}: largest difference of {column} from {self.file}"

    def differences(self, folder: Path, computed: Any) -> dict[str, float]:
        """Return the largest difference of each column over the record, straight lines between computed samples."""
        measured = read_record(folder / self.file, units=self.units)
        kept = (measured.t >= self.start) & (measured.t <= self.stop)
        t = measured.t[kept]
        record = _record(computed, self.name)
        if not len(t) or record.t[0] > t[0] + 1e-9 or record.t[-1] < t[-1] - 1e-9:
            raise InputError(
                f"record '{self.name}': computed from {record.t[0]:g} to {record.t[-1]:g} s; expected all of {t[0] if len(t) else self.start:g} to "
                f"{t[-1] if len(t) else self.stop:g} s"
            )
        out = {}
        for column, own in self.signals.items():
            off = np.abs(record.at(np.clip(t, record.t[0], record.t[-1]), own) - measured[column][kept])
            out[column] = float(np.nanmax(off)) if np.isfinite(off).any() else np.nan
        return out


def _record(computed: Any, name: str) -> Record:
    if isinstance(computed, Record):
        return computed
    if isinstance(computed, Run):
        return Record.of(computed)
    if isinstance(computed, dict) and "t" in computed:
        return Record(name, computed["t"], {k: v for k, v in computed.items() if k != "t"})
    raise InputError(
        f"record '{name}': found {type(computed).__name__}; expected a Run, a Record, or a dict with 't' and columns"
    )
