"""What a sample of runs says about all runs, and how sure that is: pass rates and quantiles with exact confidence bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from articulus.errors import InputError

CONFIDENCE = 0.95
SHARES = (0.01, 0.05, 0.5, 0.95, 0.99)
"""Shares of the runs whose quantiles a summary gives."""

NOTES = {
    "monte carlo": "",
    "latin hypercube": "The runs of a Latin hypercube are not independent: the bounds are those of independent runs, and usually too wide.",
    "sobol": "The points of a Sobol sequence are not independent: the bounds are those of independent runs, and usually too wide.",
    "saltelli": "The runs of a Saltelli design share coordinates: rates and quantiles are right on average, but their bounds are too narrow.",
    "grid": "A grid is no random sample: rates are shares of its points, without confidence bounds.",
    "list": "A list is no random sample: rates are shares of its rows, without confidence bounds.",
}
"""What has to be said about the bounds of each sampler."""
NO_SAMPLE = ("grid", "list")


class Demand(Protocol):
    """A bound on a figure."""

    @property
    def figure(self) -> str:
        """Name of the figure."""

    @property
    def text(self) -> str:
        """Figure and bound, such as "settling < 2 s"."""

    @property
    def bound_unit(self) -> tuple[str, float]:
        """Unit in which the bound was written, and its size in that of the figure."""

    def passes(self, values: np.ndarray) -> np.ndarray:
        """Return whether each value keeps the bound; no number does not."""

    def badness(self, values: np.ndarray) -> np.ndarray:
        """Return by how much each value passes the bound."""


@dataclass(frozen=True)
class Rate:
    """How many of some runs pass.

    Parameters
    ----------
    passed, runs : int
    low, high : float
        Bounds of the probability of passing that hold with the confidence, whatever it is (Clopper & Pearson 1934).
    confidence : float
    """

    passed: int
    runs: int
    low: float
    high: float
    confidence: float

    @property
    def rate(self) -> float:
        """Share of the runs that pass."""
        return self.passed / self.runs if self.runs else math.nan

    @property
    def width(self) -> float:
        """Width of the interval of confidence."""
        return self.high - self.low


def pass_rate(passed: int, runs: int, confidence: float = CONFIDENCE) -> Rate:
    """Return the pass rate of independent runs with its exact two-sided bounds.

    Parameters
    ----------
    passed, runs : int
    confidence : float
        That the interval holds the probability, at least.
    """
    from scipy.stats import beta

    _require_share("confidence", confidence)
    whole = all(isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in (passed, runs))
    if not whole or not 0 <= passed <= runs:
        raise InputError(
            f"pass_rate: found {passed} of {runs} runs; expected whole numbers, from 0 to the number of runs"
        )
    tail = (1 - confidence) / 2
    low = 0.0 if passed == 0 else float(beta.ppf(tail, passed, runs - passed + 1))
    high = 1.0 if passed == runs else float(beta.ppf(1 - tail, passed + 1, runs - passed))
    return Rate(int(passed), int(runs), low, high, confidence)


def runs_without_failure(rate: float, confidence: float = CONFIDENCE) -> int:
    """Return the number of runs that all have to pass to show, one-sided, that at least the share `rate` of all passes."""
    _require_share("rate", rate)
    _require_share("confidence", confidence)
    return math.ceil(math.log1p(-confidence) / math.log(rate))


@dataclass(frozen=True)
class Quantile:
    """A quantile of a figure.

    Parameters
    ----------
    share : float
        Share of all runs that are below it.
    value : float
    low, high : float
        Order statistics that enclose it with the confidence; infinite where there are too few runs for one.
    confidence : float
    """

    share: float
    value: float
    low: float
    high: float
    confidence: float


def quantile(values: np.ndarray, share: float, confidence: float = CONFIDENCE) -> Quantile:
    """Return a quantile of independent values with bounds that hold for every distribution: two order statistics.

    Values that are no number (of runs that failed) are omitted.
    """
    from scipy.stats import binom

    _require_share("share", share)
    _require_share("confidence", confidence)
    x = np.sort(np.asarray(values, dtype=float)[~np.isnan(values)])
    n, tail = x.size, (1 - confidence) / 2
    if not n:
        return Quantile(share, math.nan, math.nan, math.nan, confidence)
    # the number of values below the quantile is binomial: the k-th smallest lies above it with probability P(B < k)
    lower = int(binom.ppf(tail, n, share))  # largest k with P(B < k) <= tail; 0: none
    upper = int(binom.isf(tail, n, share)) + 1  # least k with P(B >= k) <= tail; n + 1: none
    low = -math.inf if lower < 1 else float(x[lower - 1])
    high = math.inf if upper > n else float(x[upper - 1])
    return Quantile(share, float(x[min(math.ceil(share * n), n) - 1]), low, high, confidence)


@dataclass(frozen=True)
class Summary:
    """One figure of all runs.

    Parameters
    ----------
    name, unit : str
    count, missing : int
        Runs with this figure, and runs without it.
    mean, deviation, least, greatest : float
    quantiles : tuple of Quantile
    """

    name: str
    unit: str
    count: int
    missing: int
    mean: float
    deviation: float
    least: float
    greatest: float
    quantiles: tuple[Quantile, ...]


def summary(
    name: str,
    values: np.ndarray,
    unit: str = "-",
    shares: Sequence[float] = SHARES,
    confidence: float = CONFIDENCE,
) -> Summary:
    """Return mean, deviation, extremes and quantiles of a figure."""
    good = np.asarray(values, dtype=float)[~np.isnan(values)]
    finite = good[np.isfinite(good)]
    whole = finite.size == good.size and good.size
    found = tuple(quantile(good, share, confidence) for share in shares)
    mean = float(finite.mean()) if whole else math.nan
    deviation = float(finite.std(ddof=1)) if whole and good.size > 1 else math.nan
    ends = (float(good.min()), float(good.max())) if good.size else (math.nan, math.nan)
    return Summary(name, unit, good.size, len(values) - good.size, mean, deviation, *ends, found)


@dataclass(frozen=True, eq=False)
class Judgement:
    """A requirement and how the runs keep it.

    Parameters
    ----------
    requirement : Requirement
    rate : Rate
    worst : int
        Row of the run that misses it most or comes nearest to missing it; a failed run if there is one.
    """

    requirement: Demand
    rate: Rate
    worst: int


def judge(
    requirements: Sequence[Demand],
    figures: Mapping[str, np.ndarray],
    sampler: str = "monte carlo",
    confidence: float = CONFIDENCE,
) -> tuple[Judgement, ...]:
    """Return the pass rate and the worst run of each requirement; a run without the figure does not pass."""
    out = []
    for r in requirements:
        values = np.asarray(figures[r.figure], dtype=float)
        rate = _rate_of(r.passes(values), sampler, confidence)
        out.append(Judgement(r, rate, int(np.argmax(r.badness(values))) if values.size else -1))
    return tuple(out)


def passing(requirements: Sequence[Demand], figures: Mapping[str, np.ndarray], count: int) -> np.ndarray:
    """Return whether each run keeps all requirements, (count,)."""
    good = np.ones(count, dtype=bool)
    for r in requirements:
        good &= r.passes(np.asarray(figures[r.figure], dtype=float))
    return good


def _rate_of(passed: np.ndarray, sampler: str, confidence: float) -> Rate:
    if sampler in NO_SAMPLE:
        return Rate(int(passed.sum()), passed.size, math.nan, math.nan, confidence)
    return pass_rate(int(passed.sum()), passed.size, confidence)


def joint_rate(
    requirements: Sequence[Demand],
    figures: Mapping[str, np.ndarray],
    count: int,
    sampler: str = "monte carlo",
    confidence: float = CONFIDENCE,
) -> Rate:
    """Return how many runs keep all requirements."""
    return _rate_of(passing(requirements, figures, count), sampler, confidence)


def _require_share(name: str, share: float) -> None:
    if not 0 < share < 1:
        raise InputError(f"{name}: found {share!r}; expected a number between 0 and 1, such as 0.95")
