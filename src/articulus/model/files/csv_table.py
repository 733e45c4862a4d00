"""Numbers over time from a CSV file: times in the first column, what follows them in the others."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import numpy as np

from articulus.errors import Finding, ModelError, did_you_mean
from articulus.model.files.storage import load_text
from articulus.model.files.units import UnitError, parse_unit

MAX_ROWS = 5000
"""Most rows of a table; every lookup in a run costs in proportion to them."""


@dataclass(frozen=True)
class CsvColumns:
    """What a CSV file holds.

    Parameters
    ----------
    names : tuple of str
        Names of the columns after the times; empty texts without a heading.
    units : tuple of str
        Their units, as "boom [deg]" in the heading gives them; empty where there is none.
    times : tuple of float [s]
    rows : tuple of tuples of float
        Numbers as in the file.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    times: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]


def read_columns(path: Path, wanted: Sequence[str] = ()) -> CsvColumns:
    """Return the columns of a CSV file, all or the wanted ones in their order; raise ModelError with the line."""
    return columns_of(load_text(path), path.name, wanted)


def columns_of(text: str, name: str, wanted: Sequence[str] = ()) -> CsvColumns:
    """Return the columns of the text of a CSV file; `name` stands for the file in messages."""
    path = PurePath(name)
    lines = _lines(text, path)
    if not lines:
        raise ModelError(Finding(f"{path.name}:1", "no numbers", "times and numbers, separated by commas"))
    heading = None if _all_numbers(lines[0][1]) else lines.pop(0)
    names, units = _heading(path, *heading) if heading else ((), ())
    if len(lines) > MAX_ROWS:
        raise ModelError(
            Finding(path.name, f"{len(lines)} rows", f"at most {MAX_ROWS}", "Keep every n-th row.")
        )
    table = [_numbers(path, i, row, len(names) or len(lines[0][1])) for i, row in lines]
    if not table or len(table[0]) < 2:
        raise ModelError(
            Finding(f"{path.name}:1", "no numbers over time", "a column of times and at least one more")
        )
    names = names or ("",) * len(table[0])
    units = units or ("",) * len(table[0])
    picked = [_pick(path, name, names) for name in wanted] or range(1, len(names))
    second = float(parse_unit(units[0] or "s").factor)
    return CsvColumns(
        tuple(names[k] for k in picked),
        tuple(units[k] for k in picked),
        tuple(row[0] * second for row in table),
        tuple(tuple(row[k] for k in picked) for row in table),
    )


def read_samples(path: Path, wanted: Sequence[str] = ()) -> tuple[tuple[str, ...], np.ndarray]:
    """Return units and numbers, (rows, columns), of a CSV file with a heading and without times.

    All columns, or the wanted ones in their order; raise ModelError with the line. Numbers are as in the file, units as
    "mass [kg]" in the heading gives them, empty where there is none.
    """
    lines = _lines(load_text(path), path)
    if len(lines) < 2 or _all_numbers(lines[0][1]):
        raise ModelError(
            Finding(
                f"{path.name}:1", "no heading with numbers below", "names of columns, such as 'mass [kg],c'"
            )
        )
    names, units = _heading(path, *lines[0], timed=False)
    table = np.array([_numbers(path, i, row, len(names)) for i, row in lines[1:]])
    picked = [_pick(path, name, ("", *names)) - 1 for name in wanted] or list(range(len(names)))
    return tuple(units[k] for k in picked), table[:, picked]


def _lines(text: str, path: PurePath) -> list[tuple[int, list[str]]]:
    """Return the lines of a CSV text that hold anything, each with its number."""
    content = csv.reader(io.StringIO(text))
    try:
        return [(i, row) for i, row in enumerate(content, 1) if any(map(str.strip, row))]
    except csv.Error as error:
        where = f"{path.name}:{content.line_num}"
        raise ModelError(Finding(where, f"no table ({error})", "numbers, separated by commas")) from None


def _all_numbers(row: list[str]) -> bool:
    try:
        return all(math.isfinite(float(cell)) for cell in row)
    except ValueError:
        return False


def _name_and_unit(cell: str) -> tuple[str, str]:
    """Return both parts of a heading such as "boom [deg]"; the unit is empty where there is none."""
    text = cell.strip()
    if not text.endswith("]"):
        return text, ""
    begin = text.find("[", text.rfind("]", 0, -1) + 1)
    return (text, "") if begin < 0 else (text[:begin].rstrip(), text[begin + 1 : -1])


def _heading(
    path: PurePath, line: int, row: list[str], timed: bool = True
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names, units = [], []
    for k, cell in enumerate(row):
        name, unit = _name_and_unit(cell)
        try:
            found = parse_unit(unit or ("s" if timed and k == 0 else "-"))
        except UnitError as error:
            raise ModelError(
                Finding(f"{path.name}:{line}: column '{name}'", str(error), "a known unit")
            ) from None
        if timed and k == 0 and found.dimension != parse_unit("s").dimension:
            raise ModelError(
                Finding(f"{path.name}:{line}", f"'{cell}' first", "the times first, such as 't [s]'")
            )
        names.append(name)
        units.append(unit)
    return tuple(names), tuple(units)


def _numbers(path: PurePath, line: int, row: list[str], width: int) -> list[float]:
    if len(row) != width:
        raise ModelError(Finding(f"{path.name}:{line}", f"{len(row)} columns", f"{width}, as before"))
    out = []
    for k, cell in enumerate(row):
        try:
            out.append(float(cell))
        except ValueError:
            out.append(math.nan)
        if not math.isfinite(out[-1]):
            raise ModelError(
                Finding(
                    f"{path.name}:{line}",
                    f"{cell!r} in column {k + 1}",
                    "a finite number",
                    "Decimal point, not comma.",
                )
            )
    return out


def _pick(path: PurePath, name: str, names: tuple[str, ...]) -> int:
    if name not in names[1:]:
        known = did_you_mean(name, [n for n in names[1:] if n])
        raise ModelError(Finding(f"{path.name}:1", f"no column '{name}'", "the name of a column", known))
    return names.index(name, 1)
