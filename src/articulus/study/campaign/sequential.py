"""Stop when sure enough: pass rates looked at several times while the runs come in, with bounds that stay true."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError
from articulus.study.campaign.statistics import CONFIDENCE, Rate, pass_rate

More = Callable[[int, int], np.ndarray]
"""Gives whether each of the runs [first, first + count) passes."""


@dataclass(frozen=True)
class Stopping:
    """When a campaign is long enough.

    The k-th look is given the share 1/(k (k + 1)) of what may go wrong, so that the last interval is right with the whole confidence
    although one looked several times; a plain interval that is examined until it pleases is not.

    Parameters
    ----------
    above : float
        Stop when the pass rate is certainly above this, or certainly below.
    width : float
        Stop when the interval of the pass rate is not wider than this.
    confidence : float
    first_runs : int
        Runs of the first look; every look doubles them.
    max_runs : int
        Runs after which to stop in any case.
    """

    above: float | None = None
    width: float | None = None
    confidence: float = CONFIDENCE
    first_runs: int = 64
    max_runs: int = 1_000_000

    def __post_init__(self) -> None:
        if (self.above is None) == (self.width is None):
            raise InputError(
                "Stopping: expected either above (a pass rate) or width (of the interval of the pass rate)"
            )
        for name in ("above", "width", "confidence"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise InputError(f"Stopping.{name}: found {value!r}; expected a number between 0 and 1")
        if not 1 <= self.first_runs <= self.max_runs:
            raise InputError(
                f"Stopping: found first_runs = {self.first_runs}, max_runs = {self.max_runs}; expected 1 <= first_runs <= max_runs"
            )

    def looks(self) -> Iterator[tuple[int, int]]:
        """Yield the number of each look, from 1 on, and its runs."""
        look, runs = 1, self.first_runs
        while True:
            yield look, min(runs, self.max_runs)
            if runs >= self.max_runs:
                return
            look, runs = look + 1, 2 * runs

    def rate(self, look: int, passed: int, runs: int) -> Rate:
        """Return the pass rate with bounds that hold at all looks together."""
        wrong = (1 - self.confidence) / (look * (look + 1))
        found = pass_rate(passed, runs, 1 - wrong)
        return Rate(found.passed, found.runs, found.low, found.high, self.confidence)

    def enough(self, rate: Rate) -> bool:
        """Whether no more runs are needed."""
        if self.width is not None:
            return rate.width <= self.width
        return self.above is not None and (rate.low > self.above or rate.high < self.above)


def run_until(more: More, stopping: Stopping) -> tuple[Rate, bool]:
    """Run until sure enough; return the pass rate and whether that was reached.

    Parameters
    ----------
    more : function
        Called with index ranges that continue each other.
    stopping : Stopping
    """
    passed = done = 0
    for look, runs in stopping.looks():
        passed += int(np.count_nonzero(more(done, runs - done)))
        done = runs
        rate = stopping.rate(look, passed, done)
        if stopping.enough(rate):
            return rate, True
    return rate, False
