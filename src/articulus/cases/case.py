"""A case on disk: `case.toml` with the printed numbers, `case.py` with a function `compute` for ours."""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from articulus.cases.row import Row, Value, agrees
from articulus.errors import ArticulusError, InputError

ORIGINS = {
    "printed": "printed in the source",
    "recomputed": "recomputed independently from the printed data",
    "inferred": "rests on data inferred from other printed numbers",
    "assumed": "rests on data assumed where the source has none",
    "identity": "an identity that holds for any data",
}
"""Where the number called "printed" comes from; printed before the reason in every row."""


@dataclass(frozen=True)
class Expected:
    """One `[[row]]` of case.toml.

    Parameters
    ----------
    quantity : str
        Key of the dictionary that `compute` returns.
    printed : float or nested list of float
    tolerance : float
    origin : str
        Key of `ORIGINS`.
    reason : str
    where : str
        Section, table or equation.
    """

    quantity: str
    printed: Value
    tolerance: float
    origin: str
    reason: str
    where: str = ""


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
    """

    name: str
    title: str
    source: str
    reference: str
    expected: tuple[Expected, ...]
    folder: Path

    def rows(self) -> list[Row]:
        """Return the rows of the table; a case that stops gives rows that fail."""
        try:
            computed = self._compute()
        except (ArticulusError, np.linalg.LinAlgError) as error:
            return [self._row(e, None, f"stopped: {error}") for e in self.expected]
        self._require_match(computed)
        return [self._row(e, _plain(computed[e.quantity])) for e in self.expected]

    def _compute(self) -> dict[str, Any]:
        return _function(self.folder / "case.py", f"articulus_case_{self.name}")()

    def _row(self, e: Expected, computed: Value | None, note: str = "") -> Row:
        source = f"{self.source}, {e.where}" if e.where else self.source
        passed = computed is not None and agrees(e.printed, computed, e.tolerance)
        reason = f"{e.origin}: {note or e.reason}"
        return Row(self.name, source, e.quantity, e.printed, computed, e.tolerance, reason, passed)

    def _require_match(self, computed: dict[str, Any]) -> None:
        missing = {e.quantity for e in self.expected} ^ set(computed)
        if missing:
            raise InputError(f"case '{self.name}': only in one of case.toml and case.py: {sorted(missing)}")


def read_case(folder: Path) -> Case:
    """Return the case in a folder; raise InputError for a case.toml that is not as documented."""
    path = folder / "case.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        expected = tuple(_expected(row) for row in data.pop("row"))
        return Case(name=folder.name, expected=expected, folder=folder, **data)
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: {error}") from None


def _expected(row: dict[str, Any]) -> Expected:
    row["printed"] = _plain(row["printed"])
    row["tolerance"] = float(row["tolerance"])
    expected = Expected(**row)
    if expected.origin not in ORIGINS:
        raise ValueError(
            f"'{expected.quantity}': origin '{expected.origin}'; expected one of {list(ORIGINS)}"
        )
    if not (expected.tolerance >= 0 and expected.reason):
        raise ValueError(f"'{expected.quantity}': expected a tolerance of at least 0 and a reason for it")
    return expected


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
