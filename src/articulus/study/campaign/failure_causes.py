"""Runs that went wrong: grouped by cause, with the inputs that set them apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Group:
    """Runs that went wrong for the same reason.

    Parameters
    ----------
    cause : str
    rows : array of int
        Rows of the table.
    drivers : tuple of SuspectInput
        Inputs that set these runs apart from those that went well, the strongest first.
    """

    cause: str
    rows: np.ndarray
    drivers: tuple[SuspectInput, ...]


@dataclass(frozen=True)
class SuspectInput:
    """An input whose values differ between runs that went wrong and the others.

    Parameters
    ----------
    name : str
    distance : float
        Largest difference of the two distribution functions, 0 to 1 (Kolmogorov and Smirnov).
    chance : float
        Probability of so large a distance if the input had nothing to do with it.
    bad, good : tuple of float
        Lower quartile, median and upper quartile of the input in either set.
    """

    name: str
    distance: float
    chance: float
    bad: tuple[float, float, float]
    good: tuple[float, float, float]

    @property
    def tendency(self) -> str:
        """Whether the runs that went wrong have high, low or other values."""
        if self.bad[1] > self.good[2]:
            return "high"
        if self.bad[1] < self.good[0]:
            return "low"
        return "higher" if self.bad[1] > self.good[1] else "lower"


def group_causes(
    causes: Sequence[str], inputs: Mapping[str, np.ndarray], good: np.ndarray | None = None
) -> tuple[Group, ...]:
    """Return the runs with a cause, grouped by it, the largest group first.

    Parameters
    ----------
    causes : sequence of str
        Causes of each run; empty where nothing went wrong.
    inputs : mapping of name to array, (runs,)
    good : bool array, (runs,)
        Runs to compare with; those without a cause if not given.
    """
    named = np.asarray(causes, dtype=object)
    well = named == "" if good is None else np.asarray(good, dtype=bool)
    groups = [
        Group(c, rows := np.flatnonzero(named == c), drivers(inputs, rows, well))
        for c in sorted({*causes} - {""})
    ]
    return tuple(sorted(groups, key=lambda g: -g.rows.size))


def drivers(inputs: Mapping[str, np.ndarray], bad: np.ndarray, good: np.ndarray) -> tuple[SuspectInput, ...]:
    """Return inputs whose values in bad runs differ from those in good ones beyond chance (one in a thousand), strongest first.

    Parameters
    ----------
    inputs : mapping of name to array, (runs,)
    bad, good : array of rows, or of bool
    """
    from scipy.stats import ks_2samp

    found = []
    for name, values in inputs.items():
        b, g = np.asarray(values, dtype=float)[bad], np.asarray(values, dtype=float)[good]
        if b.size < 2 or g.size < 2:
            continue
        test = ks_2samp(b, g, method="asymp")
        chance = min(1.0, float(test.pvalue) * len(inputs))  # as many inputs are looked at
        if chance < 1e-3 and math.isfinite(float(test.statistic)):
            found.append(SuspectInput(name, float(test.statistic), chance, _quartiles(b), _quartiles(g)))
    return tuple(sorted(found, key=lambda d: -d.distance))


def _quartiles(x: np.ndarray) -> tuple[float, float, float]:
    low, middle, high = np.quantile(x, [0.25, 0.5, 0.75])
    return float(low), float(middle), float(high)
