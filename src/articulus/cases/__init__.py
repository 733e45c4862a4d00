"""Published cases with the numbers expected of them, and the runner behind `articulus verify`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from articulus.cases.case import ORIGINS, Case, folders, read_case
from articulus.cases.row import CaseRow
from articulus.errors import InputError, did_you_mean

HERE = Path(__file__).parent


def names() -> list[str]:
    """Return the names of the cases that come with the package."""
    return [folder.name for folder in folders(HERE)]


def find(names_or_paths: Iterable[str] | None = None) -> list[Case]:
    """Return cases by name, or by the path of a folder with a case of your own; all that come along if None."""
    return [read_case(_folder(name)) for name in (names() if names_or_paths is None else names_or_paths)]


def run(names_or_paths: Iterable[str] | None = None) -> list[CaseRow]:
    """Return the rows of the verification table.

    Parameters
    ----------
    names_or_paths : iterable of str
        Cases, see `find`; all that come with the package if not given.
    """
    return [row for case in find(names_or_paths) for row in case.rows()]


def _folder(name: str) -> Path:
    if name in names():
        return HERE / name
    if (Path(name) / "case.toml").is_file():
        return Path(name)
    raise InputError(f"no case '{name}'; {did_you_mean(name, names())}")


__all__ = ["ORIGINS", "Case", "CaseRow", "find", "names", "run"]
