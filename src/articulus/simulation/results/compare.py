"""Two runs beside each other: where they differ most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError
from articulus.simulation.results.run import Run
from articulus.simulation.results.signal import Signal

SAME_TIME = 1e-9
"""Times that differ by less than this share of the whole span are the same."""


@dataclass(frozen=True)
class Difference:
    """The largest difference of one entry.

    Parameters
    ----------
    name : str
        Full name of the entry, such as "q.lift".
    unit : str
    largest : float
        Infinite where only one of the runs has a value.
    time : float [s]
        When it occurs.
    run : int
        Where in the batch it occurs; 0 for single runs.
    scale : float
        Largest size of the entry in the first run.
    """

    name: str
    unit: str
    largest: float
    time: float
    run: int
    scale: float


@dataclass(frozen=True)
class Comparison:
    """The differences of two runs at their common times, the largest share of its scale first."""

    times: int
    differences: tuple[Difference, ...]

    def __getitem__(self, name: str) -> float:
        """Return the largest difference of a signal, or of an entry by its full name."""
        found = [d.largest for d in self.differences if d.name == name or d.name.startswith(f"{name}.")]
        if not found:
            raise InputError(f"comparison: neither run has a signal '{name}', or only one has")
        return max(found)

    @property
    def identical(self) -> bool:
        """Whether all numbers are equal."""
        return all(d.largest == 0 for d in self.differences)

    def __str__(self) -> str:
        width = max([len(d.name) for d in self.differences], default=0)
        lines = [
            f"  {d.name:<{width}}  {d.largest:.3g} {d.unit} at t = {d.time:g} s of {d.scale:.3g} {d.unit}"
            for d in self.differences
        ]
        return "\n".join([f"largest differences at {self.times} common times", *lines])


def compare(a: Run, b: Run) -> Comparison:
    """Return the largest differences of the signals that both runs have, at the times that both have.

    Nothing is interpolated: where the times of logging differ, only common ones count.
    """
    if (a.batch or 1) != (b.batch or 1):
        raise InputError(f"compare: found {a.batch or 1} and {b.batch or 1} runs; expected as many in both")
    at_a, at_b = _common(a.t, b.t)
    if not at_a.size:
        raise InputError(
            f"compare: found no common time in {_span(a.t)} and {_span(b.t)}; expected runs that log at the same instants"
        )
    both = [(a.signals[name], b.signals[name]) for name in a.signals if name in b.signals]
    found = [d for x, y in both for d in _differences(x, y, at_a, at_b, a.t[at_a])]
    return Comparison(at_a.size, tuple(sorted(found, key=lambda d: -d.largest / (d.scale or 1.0))))


def _common(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the common times in `a` and in `b`."""
    if not a.size or not b.size:
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int)
    right = np.clip(np.searchsorted(b, a), 0, b.size - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(np.abs(b[left] - a) < np.abs(b[right] - a), left, right)
    span = max(np.ptp(a), np.ptp(b), np.abs(a).max())
    same = np.flatnonzero(np.abs(b[nearest] - a) <= SAME_TIME * span)
    return same, nearest[same]


def _differences(
    x: Signal, y: Signal, at_x: np.ndarray, at_y: np.ndarray, t: np.ndarray
) -> Iterator[Difference]:
    for k, (name, label) in enumerate(zip(x.columns, x.labels)):
        if label in y.labels:
            one = np.atleast_2d(x.values[..., k])[:, at_x]
            other = np.atleast_2d(y.entry(label))[:, at_y]
            gap = np.abs(one - other)
            gap[np.isnan(one) & np.isnan(other)] = 0.0
            gap[np.isnan(one) ^ np.isnan(other)] = np.inf
            run, at = np.unravel_index(gap.argmax(), gap.shape)
            scale = float(np.max(np.abs(one), initial=0.0, where=~np.isnan(one)))
            yield Difference(name, x.units[k], float(gap[run, at]), float(t[at]), int(run), scale)


def _span(t: np.ndarray) -> str:
    return f"{t.size} times from {t[0]:g} to {t[-1]:g} s" if t.size else "no time"
