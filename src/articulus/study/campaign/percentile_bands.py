"""Percentiles over time in constant memory: values are counted in cells whose limits the first runs set.

Counts are whole numbers, so that their sum is the same in any order. Cells reach beyond what the first runs show by their whole
width on both sides; what lies still further out is counted in the outermost cells, which end at the extreme values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CELLS = 256
"""Cells of each instant; with three times the width of the first runs, one is 1.2 % of that width."""
TIMES = 201
"""Most instants at which values are counted."""
PILOT = 256
"""Runs that set the limits."""


@dataclass(frozen=True, eq=False)
class Scale:
    """Where values are counted.

    Parameters
    ----------
    times : array, (times,) [s]
    chosen : int array, (times,)
        Samples of a run that these are.
    low, high : array, (entries, times)
        Ends of the cells.
    """

    times: np.ndarray
    chosen: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, eq=False)
class Counts:
    """How many values lie in each cell.

    Parameters
    ----------
    cells : int64 array, (entries, times, CELLS)
    least, greatest : array, (entries, times)
    """

    cells: np.ndarray
    least: np.ndarray
    greatest: np.ndarray

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.cells + other.cells,
            np.fmin(self.least, other.least),
            np.fmax(self.greatest, other.greatest),
        )


def chosen_of(times: np.ndarray) -> np.ndarray:
    """Return which samples of a run values are counted at."""
    return np.unique(np.linspace(0, times.size - 1, min(TIMES, times.size)).round().astype(int))


def extremes(times: np.ndarray, values: np.ndarray, good: np.ndarray) -> Counts:
    """Return least and greatest values of (entries, runs, time), without cells; runs that are not `good` do not count."""
    held = values[:, :, chosen_of(times)]
    least, greatest = _ends(held, np.isfinite(held) & good[:, None])
    return Counts(np.zeros((*least.shape, 0), np.int64), least, greatest)


def no_extremes(entries: int, times: np.ndarray) -> Counts:
    """Return the extreme values of no runs."""
    shape = entries, chosen_of(times).size
    return Counts(np.zeros((*shape, 0), np.int64), np.full(shape, np.inf), np.full(shape, -np.inf))


def _ends(held: np.ndarray, usable: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return least and greatest usable value of all runs, infinite where there is none."""
    least, greatest = np.where(usable, held, np.inf), np.where(usable, held, -np.inf)
    return least.min(axis=1), greatest.max(axis=1)


def scale_of(times: np.ndarray, found: Counts) -> Scale:
    """Return the scale for the extreme values of the first runs."""
    chosen = chosen_of(times)
    low, high = (np.where(np.isfinite(x), x, 0.0) for x in (found.least, found.greatest))
    size = np.maximum(np.abs(low), np.abs(high))
    width = np.maximum(high - low, 1e-9 * np.where(size > 0, size, 1.0))
    return Scale(times[chosen], chosen, low - width, high + width)


def count_values(scale: Scale, values: np.ndarray, good: np.ndarray) -> Counts:
    """Return the counts of values (entries, runs, time)."""
    held = values[:, :, scale.chosen]
    usable = np.isfinite(held) & good[:, None]
    share = (held - scale.low[:, None]) / (scale.high - scale.low)[:, None]
    cell = np.clip(np.where(usable, share * CELLS, 0.0), 0, CELLS - 1).astype(np.int64)
    entries, times = scale.low.shape
    place = np.arange(entries)[:, None, None] * times + np.arange(times)[None, None, :]
    flat = (place * CELLS + cell)[usable]
    cells = np.bincount(flat, minlength=entries * times * CELLS).reshape(entries, times, CELLS)
    return Counts(cells, *_ends(held, usable))


def empty(scale: Scale) -> Counts:
    """Return no counts."""
    shape = scale.low.shape
    return Counts(np.zeros((*shape, CELLS), np.int64), np.full(shape, np.inf), np.full(shape, -np.inf))


def percentile(scale: Scale, counts: Counts, share: float) -> np.ndarray:
    """Return the value below which a share of all runs lies, (entries, times); NaN where there is no value."""
    total = counts.cells.sum(axis=-1)
    up_to = np.cumsum(counts.cells, axis=-1)
    wanted = share * total
    k = (up_to < wanted[..., None]).sum(axis=-1).clip(0, CELLS - 1)
    inside = np.take_along_axis(counts.cells, k[..., None], -1)[..., 0]
    before = np.take_along_axis(up_to, k[..., None], -1)[..., 0] - inside
    part = np.where(inside > 0, (wanted - before) / np.maximum(inside, 1), 0.0)
    step = (scale.high - scale.low) / CELLS
    left = np.where(k == 0, np.minimum(counts.least, scale.low), scale.low + k * step)
    right = np.where(k == CELLS - 1, np.maximum(counts.greatest, scale.high), scale.low + (k + 1) * step)
    left, right = np.maximum(left, counts.least), np.minimum(right, counts.greatest)
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, left + np.clip(part, 0, 1) * (right - left), np.nan)
