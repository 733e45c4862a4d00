"""What rows say so far: counts, rates and distributions that grow with every shard, in constant memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from articulus.simulation.results.status import RunStatus
from articulus.study.campaign.design import Campaign
from articulus.study.campaign.figures import scales
from articulus.study.campaign.page.cells import Cells
from articulus.study.campaign.statistics import CONFIDENCE, NO_SAMPLE, NOTES, Rate, pass_rate
from articulus.study.campaign.work import CAUSES, SET_ASIDE


def number(x: float) -> float | None:
    """Return a number that JSON knows; None for others."""
    return float(x) if math.isfinite(x) else None


class FigureColumn:
    """One figure so far."""

    def __init__(self) -> None:
        self.cells = Cells()
        self.missing = self.infinite = 0
        self._sum = 0.0

    def add(self, values: np.ndarray) -> None:
        """Take the values of some runs."""
        missing, finite = np.isnan(values), np.isfinite(values)
        self.missing += int(missing.sum())
        self.infinite += int((~missing & ~finite).sum())
        self._sum += float(values[finite].sum())
        self.cells.add(values[finite])

    def to_page(self, size: float) -> dict[str, Any]:
        """Return it for the page, in a unit of some size; no mean where a value is infinite, as in the report."""
        count = self.cells.total
        bins = self.cells.bins() if count else None
        return {
            "count": count + self.infinite,
            "missing": self.missing,
            "infinite": self.infinite,
            "least": number(self.cells.least / size),
            "mean": self._sum / count / size if count and not self.infinite else None,
            "greatest": number(self.cells.greatest / size),
            "bins": bins
            and {
                **vars(bins),
                "start": bins.start / size,
                "width": bins.width / size,
                "counts": bins.counts.tolist(),
            },
        }


class Tally:
    """Everything that is counted.

    Parameters
    ----------
    campaign : Campaign
    """

    def __init__(self, campaign: Campaign):
        self._campaign = campaign
        self._names = [f.name for f in campaign.figures]
        self._columns = [FigureColumn() for _ in self._names]
        self._passed = np.zeros(len(campaign.requirements), dtype=np.int64)
        self._all = self.done = self.failed = self.doubtful = 0
        self._worst: list[tuple[float, int, float]] = [(-math.inf, -1, math.nan)] * len(self._passed)
        self._causes: dict[int, list[int]] = {}

    def add(
        self,
        index: np.ndarray,
        figures: np.ndarray,
        status: np.ndarray,
        cause: np.ndarray,
        doubts: np.ndarray,
    ) -> None:
        """Take the rows of some runs: their numbers (runs,), rising, figures (figures, runs), and codes (runs,)."""
        failed = np.isin(status, (RunStatus.FAILED, SET_ASIDE))
        self.done += index.size
        self.failed += int(failed.sum())
        self.doubtful += int((doubts > 0).sum())
        for column, values in zip(self._columns, figures):
            column.add(values)
        for code in np.unique(cause[failed]).tolist():
            runs = index[failed & (cause == code)]
            held = self._causes.setdefault(code, [0, int(runs.min())])
            self._causes[code] = [held[0] + runs.size, min(held[1], int(runs.min()))]
        self._judge(index, figures, failed)

    def _judge(self, index: np.ndarray, figures: np.ndarray, failed: np.ndarray) -> None:
        every = np.ones(index.size, dtype=bool)
        for k, r in enumerate(self._campaign.requirements):
            values = figures[self._names.index(r.figure)]
            passed = r.passes(values)
            every &= passed
            self._passed[k] += int(passed.sum())
            badness = np.where(failed | np.isnan(values), -np.inf, r.badness(values))
            found = int(np.argmax(badness))  # of equal ones the first run
            most, run, _ = self._worst[k]
            if badness[found] > most or (badness[found] == most > -math.inf and index[found] < run):
                self._worst[k] = (float(badness[found]), int(index[found]), float(values[found]))
        self._all += int(every.sum())

    # for the page

    def first_runs(self) -> list[int]:
        """Return the first run of each cause of failure."""
        return [first for _, first in self._causes.values()]

    def to_page(self, texts: dict[int, str]) -> dict[str, Any]:
        """Return everything for the page; `texts` tell what happened in some runs."""
        asked = self._campaign.requirements
        chosen = scales(asked, self._campaign.units)
        causes = sorted(self._causes.items(), key=lambda held: -held[1][0])
        bounds: dict[str, list[float]] = {}
        for r in asked:
            both = [r.value - r.tolerance, r.value + r.tolerance]
            size = chosen[r.figure][1]
            bounds.setdefault(r.figure, []).extend(
                x / size for x in (both if r.bound == "equals" else [r.value])
            )
        return {
            "failed": self.failed,
            "doubtful": self.doubtful,
            "causes": [
                {"cause": CAUSES[code], "runs": runs, "first": first, "text": texts.get(first, "")}
                for code, (runs, first) in causes
            ],
            "requirements": [
                {
                    "text": r.text,
                    "unit": r.bound_unit[0],
                    **self._rate(int(passed)),
                    "worst": number(worst[2] / r.bound_unit[1]),
                    "run": worst[1] if worst[1] >= 0 else None,
                }
                for r, passed, worst in zip(asked, self._passed, self._worst)
            ],
            "all": self._rate(self._all) if asked else None,
            "note": NOTES[self._campaign.sampler],
            "figures": [
                {
                    "name": name,
                    "unit": chosen[name][0],
                    "bounds": bounds.get(name, []),
                    **column.to_page(chosen[name][1]),
                }
                for name, column in zip(self._names, self._columns)
            ],
        }

    def _rate(self, passed: int) -> dict[str, Any]:
        if self._campaign.sampler in NO_SAMPLE or not self.done:
            rate = Rate(passed, self.done, math.nan, math.nan, CONFIDENCE)
        else:
            rate = pass_rate(passed, self.done)
        return {
            "passed": passed,
            "runs": self.done,
            "rate": number(rate.rate),
            "low": number(rate.low),
            "high": number(rate.high),
        }
