"""Numbers over time as rows, looked up on symbols."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import Finding, InputError, unlike
from articulus.kernel.lookup import LONG, interval, looked_up
from articulus.model.mechanism.numbers import (
    Number,
    Vector,
    as_number,
    as_numbers,
    convert,
    quantity,
    value_of,
)


@dataclass(frozen=True)
class Table:
    """Rows of numbers at given times: linear between them or constant until the next, constant before the first and after the last.

    Parameters
    ----------
    times : numbers [s]
        Ascending.
    values : rows of numbers
        One row per time; a plain number for a row of one.
    hold : bool
        Whether each row holds until the next time (jumps) instead of leading to the next row in a straight line.

    Notes
    -----
    A short table, or one with parameters in it, is written out: 2 comparisons and 2 m + 1 multiply-adds per row of m numbers. From
    `LONG` rows on the place is searched in a constant of the native code, which costs log2 of the number of rows.
    """

    times: tuple[float, ...] = quantity("s", "ascending times", size="rows")
    values: tuple[Vector, ...] = quantity("any", "one row of numbers per time", size="rows x m")
    hold: bool = False

    def __post_init__(self) -> None:
        convert(self, times=_times, values=_rows)
        if len(self.values) != len(self.times):
            raise InputError(
                Finding(
                    "Table.values",
                    f"{len(self.values)} rows",
                    f"{len(self.times)}, one per time",
                    field="values",
                )
            )
        widths = sorted({len(row) for row in self.values})
        if len(widths) != 1:
            raise InputError(
                Finding("Table.values", f"rows of {widths} numbers", "one length", field="values")
            )

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return len(self.values[0])

    def at(self, t: SX, number: Any = value_of) -> SX:
        """Return the row at time t, (m,); `number` turns each entry into an expression."""
        if len(self.times) >= LONG and all(isinstance(x, float) for row in self.values for x in row):
            return self._search(t)
        y = [ca.vertcat(*map(number, row)) for row in self.values]
        after = [SX(1), *(t >= start for start in self.times[1:])]
        inside = [a - b for a, b in zip(after, [*after[1:], SX(0)])]
        start = sum((here * row for here, row in zip(inside, y)), SX.zeros(self.width))
        if self.hold:
            return start
        begin = sum((here * at for here, at in zip(inside, self.times)), SX(0))
        steps = [b - a for a, b in zip(self.times, self.times[1:])]
        slopes = [(b - a) / step for a, b, step in zip(y, y[1:], steps)]
        slope = sum((here * k for here, k in zip(inside, slopes)), SX.zeros(self.width))
        return start + slope * _since(t, begin)

    def _search(self, t: SX) -> SX:
        times, y = np.array(self.times), np.array(self.values, dtype=float)
        slopes = np.zeros_like(y)
        if not self.hold:
            slopes[:-1] = np.diff(y, axis=0) / np.diff(times)[:, None]
        begin, start, slope = ca.vertsplit(
            looked_up(np.column_stack([times, y, slopes]), interval(times, t)),
            [0, 1, 1 + self.width, 1 + 2 * self.width],
        )
        return start + slope * _since(t, begin)


def _since(t: SX, begin: SX) -> SX:
    """Return t - begin, 0 before it; at begin the rate is already 1, that of the line to the right."""
    return (t >= begin) * (t - begin)


def _times(x: Any) -> tuple[float, ...]:
    numbers = as_numbers(x)
    if any(not isinstance(t, float) or not math.isfinite(t) for t in numbers):
        raise InputError("expected plain finite numbers")
    times = tuple(value_of(t) for t in numbers)
    if not times or any(not a < b for a, b in itertools.pairwise(times)):
        raise InputError(
            "expected ascending times, each once. A jump is two tables, or a table with hold = True"
        )
    return times


def _rows(x: Any) -> tuple[Vector, ...]:
    if isinstance(x, str) or not hasattr(x, "__iter__"):
        raise unlike("rows of numbers", repr(x))
    rows = tuple(as_numbers(row) for row in x)
    for number in (item for row in rows for item in row):
        _finite(number)
    return rows


def _finite(number: Number) -> None:
    if not math.isfinite(value_of(as_number(number))):
        raise unlike("finite numbers", repr(number))
