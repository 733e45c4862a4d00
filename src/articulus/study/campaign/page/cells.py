"""A histogram of values that come in parts: constant memory, and the same counts whatever the parts and their order."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

CELLS = 4096
"""Most cells in which values are counted."""
BINS = 36
"""Most bins that are shown."""
TAIL = 0.001
"""Share of the values at either end that may lie outside of the bins, with more than MANY values."""
MANY = 2000


@dataclass(frozen=True, eq=False)
class Bins:
    """A histogram with few bins.

    Parameters
    ----------
    start, width : float
        Left end of the first bin, and width of each.
    counts : int array, (bins,)
    below, above : int
        Values outside.
    """

    start: float
    width: float
    counts: np.ndarray
    below: int
    above: int


class Cells:
    """Counts of finite values in cells [k w, (k + 1) w).

    The width w is the least power of two with which all values lie in CELLS cells: cells of a smaller width can be merged into it
    without any error.
    """

    def __init__(self) -> None:
        self.least, self.greatest = math.inf, -math.inf
        self._exponent = self._first = 0
        self._counts = np.zeros(0, dtype=np.int64)

    @property
    def total(self) -> int:
        """How many values were counted."""
        return int(self._counts.sum())

    def add(self, values: np.ndarray) -> None:
        """Count some finite values."""
        if not values.size:
            return
        self.least = min(self.least, float(values.min()))
        self.greatest = max(self.greatest, float(values.max()))
        exponent = _exponent(self.least, self.greatest)
        first, last = _cell(self.least, exponent), _cell(self.greatest, exponent)
        counts = np.bincount(
            np.floor(np.ldexp(values, -exponent)).astype(np.int64) - first, minlength=last - first + 1
        )
        if self._counts.size:
            before = self._first + np.arange(self._counts.size)
            np.add.at(counts, (before >> (exponent - self._exponent)) - first, self._counts)
        self._exponent, self._first, self._counts = exponent, first, counts

    def bins(self) -> Bins:
        """Return the middle of the distribution in a few bins of whole cells."""
        total, up_to = self.total, np.cumsum(self._counts)
        out = TAIL * total if total > MANY else 0.0
        low = int(np.searchsorted(up_to, out, side="right"))
        high = int(np.searchsorted(up_to, total - out, side="left"))
        wanted = int(np.clip(math.sqrt(total), 10, BINS))
        each = -(-(high - low + 1) // wanted)  # cells of a bin
        begin, end = (self._first + low) // each, (self._first + high) // each + 1
        place = (self._first + np.arange(self._counts.size)) // each - begin
        inside = (place >= 0) & (place < end - begin)
        counts = np.bincount(place[inside], self._counts[inside], end - begin).astype(np.int64)
        below, above = int(self._counts[place < 0].sum()), int(self._counts[place >= end - begin].sum())
        width = math.ldexp(each, self._exponent)
        return Bins(begin * width, width, counts, below, above)


def _cell(x: float, exponent: int) -> int:
    return math.floor(math.ldexp(x, -exponent))


def _exponent(least: float, greatest: float) -> int:
    """Return that of the least width 2^e with which a range takes at most CELLS cells whose numbers fit into 40 bits."""
    fits = max(math.frexp(max(abs(least), abs(greatest)))[1] - 40, -1000)
    exponent = max(fits, math.frexp(greatest / CELLS - least / CELLS)[1] - 1)
    while _cell(greatest, exponent) - _cell(least, exponent) >= CELLS:
        exponent += 1
    return exponent
