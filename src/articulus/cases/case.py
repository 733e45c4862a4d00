"""A case on disk: `case.toml` with the expected numbers, `case.py` with a function `compute` for ours."""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from articulus.cases.history import CaseRecord
from articulus.cases.row import CaseRow, Value, agrees
from articulus.errors import ArticulusError, InputError

ORIGINS = {
    "printed": "printed in the source",
    "recomputed": "recomputed from the source's data by a program of its own, in tests/oracles/cases",
    "recomputed elsewhere": "recomputed from the source's data by a program that is not kept here",
    "closed form": "a formula, evaluated by hand or by a program of its own in tests/oracles/cases",
    "inferred": "rests on data inferred from other printed numbers",
    "assumed": "rests on data assumed where the source has none",
    "fitted": "data were chosen so that the number comes out: it cannot disagree",
    "measured": "a history that was measured, or that stands for one, kept with the case",
    "identity": "an identity that holds for any data, or two ways of this package to one result",
}
"""Where an expected number comes from."""


@dataclass(frozen=True)
class Expected:
    """One `[[row]]` of case.toml.

    Parameters
    ----------
    quantity : str
        Key of the dictionary that `compute` returns.
    expected : float or nested list of float
        What is compared with it.
    tolerance : float
        Largest difference of any entry that counts as agreement.
    origin : str
        Key of `ORIGINS`.
    reason : str
        Why the tolerance is what it is, and more on the origin.
    where : str
        Section, table or equation.
    deviation : str
        Why the number is known not to be reached; the row passes while it is not, and fails once it is.
    deviates_by : float
        With a deviation: largest difference of any entry; beyond it the row fails.
    same_as : str
        "case: quantity" of the row that this one repeats, so that it counts once.
    """

    quantity: str
    expected: Value
    tolerance: float
    origin: str
    reason: str
    where: str = ""
    deviation: str = ""
    deviates_by: float = 0.0
    same_as: str = ""

    def passes(self, computed: Value) -> bool:
        """Return whether a computed number is what this row says of it."""
        agreed = agrees(self.expected, computed, self.tolerance)
        if not self.deviation:
            return agreed
        return not agreed and agrees(self.expected, computed, self.deviates_by)


@dataclass(frozen=True)
class Case:
    """A published case.

    Parameters
    ----------
    name : str
        Name of its folder.
    title : str
    source : str
        Short key of the publication.
    reference : str
        The publication in full.
    expected : tuple of Expected
    folder : Path
    records : tuple of CaseRecord
        Measured histories that computed ones are compared with.
    """

    name: str
    title: str
    source: str
    reference: str
    expected: tuple[Expected, ...]
    folder: Path
    records: tuple[CaseRecord, ...] = ()

    def rows(self) -> list[CaseRow]:
        """Return the rows of the table; a case that stops gives rows that fail."""
        try:
            computed = self._compute()
        except (ArticulusError, np.linalg.LinAlgError) as error:
            return [self._row(e, None, f"stopped: {error}") for e in (*self.expected, *self._histories())]
        self._require_match(computed)
        rows = [self._row(e, _plain(computed[e.quantity])) for e in self.expected]
        for record in self.records:
            found = record.differences(self.folder, computed[record.name])
            rows += [self._row(e, found[c]) for c, e in zip(record.bands, _rows_of(record))]
        return rows

    def _histories(self) -> list[Expected]:
        return [e for record in self.records for e in _rows_of(record)]

    def _compute(self) -> dict[str, Any]:
        return _function(self.folder / "case.py", f"articulus_case_{self.name}")()

    def _row(self, e: Expected, computed: Value | None, note: str = "") -> CaseRow:
        source = f"{self.source}, {e.where}" if e.where else self.source
        return CaseRow(
            self.name,
            source,
            e.quantity,
            e.expected,
            computed,
            e.tolerance,
            e.origin,
            note or e.reason,
            computed is not None and e.passes(computed),
            e.deviation,
            e.same_as,
        )

    def _require_match(self, computed: dict[str, Any]) -> None:
        missing = ({e.quantity for e in self.expected} | {r.name for r in self.records}) ^ set(computed)
        if missing:
            raise InputError(f"case '{self.name}': only in one of case.toml and case.py: {sorted(missing)}")


def read_case(folder: Path) -> Case:
    """Return the case in a folder; raise InputError for a case.toml that is not as documented."""
    path = folder / "case.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        expected = tuple(_read_expected(row) for row in data.pop("row"))
        records = tuple(CaseRecord(**record) for record in data.pop("record", ()))
        return Case(name=folder.name, expected=expected, folder=folder, records=records, **data)
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: {error}") from None


def _rows_of(record: CaseRecord) -> list[Expected]:
    """Return what is expected of the differences from a record: nothing beyond the band."""
    return [
        Expected(record.quantity(c), 0.0, band, "measured", record.reason, record.test)
        for c, band in record.bands.items()
    ]


def _read_expected(row: dict[str, Any]) -> Expected:
    row["expected"] = _plain(row["expected"])
    row["tolerance"] = float(row["tolerance"])
    e = Expected(**row)
    if e.origin not in ORIGINS:
        raise ValueError(f"'{e.quantity}': origin '{e.origin}'; expected one of {list(ORIGINS)}")
    if not (e.tolerance >= 0 and e.reason):
        raise ValueError(f"'{e.quantity}': expected a tolerance of at least 0 and a reason for it")
    if bool(e.deviation) != (e.deviates_by > e.tolerance):
        raise ValueError(
            f"'{e.quantity}': a deviation is a text with deviates_by above the tolerance of {e.tolerance:g};"
            f" found deviation = {e.deviation!r}, deviates_by = {e.deviates_by:g}"
        )
    return e


def folders(parent: Path) -> Iterator[Path]:
    """Yield the folders that hold a case, by name."""
    return (p.parent for p in sorted(parent.glob("*/case.toml")))


def _function(path: Path, name: str) -> Callable[[], dict[str, Any]]:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise InputError(f"{path}: no such script")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.compute


def _plain(value: Any) -> Value:
    """Return numbers or arrays as float or nested list of float."""
    return np.asarray(value, dtype=float).tolist()
