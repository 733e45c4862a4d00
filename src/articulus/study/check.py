"""Checks of a study: a number of the run against a bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from articulus.simulation.results.diagnostics import energy_errors, momentum_changes
from articulus.simulation.results.run import Run

FIGURES: dict[str, tuple[str, str, Callable[[Run], np.ndarray]]] = {
    "energy balance": ("energy", "J", lambda run: energy_errors(run)[0]),
    "relative energy balance": ("energy", "-", lambda run: _share(*energy_errors(run))),
    "angular momentum change": ("momentum", "kg m^2/s", lambda run: momentum_changes(run)["kg m^2/s"]),
    "linear momentum change": ("momentum", "kg m/s", lambda run: momentum_changes(run)["kg m/s"]),
    "constraint residual": (
        "constraint",
        "-",
        lambda run: moment(np.abs(np.atleast_2d(run["constraint.position"])), "max"),
    ),
}
"""Run diagnostics that can be checked: the signal that each needs, its unit, and how it is found for each run."""

MOMENTS = ("start", "end", "min", "max", "peak")
"""Where a signal is examined besides a time; "peak" is its largest size."""

BOUNDS = ("equals", "less", "greater")


@dataclass(frozen=True)
class RunCheck:
    """One number of a run against a bound.

    Parameters
    ----------
    name : str
        What the report calls it.
    what : str
        Entry of a signal, such as "q.lift", or one of FIGURES.
    at : str or float [s]
        One of MOMENTS, or a time, of which the nearest sample counts; "" for a figure.
    bound : str
        One of BOUNDS.
    value : float [unit]
    tolerance : float [unit]
        For "equals".
    unit : str
    """

    name: str
    what: str
    at: str | float
    bound: str
    value: float
    tolerance: float
    unit: str

    @property
    def demand(self) -> str:
        """Return what is demanded, as a text."""
        unit = "" if self.unit == "-" else f" {self.unit}"
        if self.bound == "equals":
            return f"{self.value:.9g} ± {self.tolerance:.3g}{unit}"
        return f"{'<' if self.bound == 'less' else '>'} {self.value:.9g}{unit}"

    @property
    def place(self) -> str:
        """Return what is examined and where, as a text."""
        if self.what in FIGURES:
            return self.what
        return f"{self.what} at {self.at:g} s" if isinstance(self.at, float) else f"{self.what}, {self.at}"

    def verdict(self, run: Run) -> Verdict:
        """Return what the check finds in a run; of a batch the worst counts."""
        values = self.values(run)
        passed = self.passes(values)
        worst = values[int(np.argmax(self.badness(values)))]
        return Verdict(self, float(worst), bool(passed.all()), int((~passed).sum()), len(values))

    def values(self, run: Run) -> np.ndarray:
        """Return the number of each run, (runs,); NaN for a run that did not reach the time that is examined."""
        if self.what in FIGURES:
            return np.atleast_1d(FIGURES[self.what][2](run))
        y = np.atleast_2d(run.select(self.what).values[..., 0])
        if isinstance(self.at, float):
            reached = run.t.size and self.at <= run.t[-1] + 1e-9 * max(1.0, abs(run.t[-1]))
            return y[:, int(np.abs(run.t - self.at).argmin())] if reached else np.full(len(y), np.nan)
        return moment(y, self.at)

    def passes(self, values: np.ndarray) -> np.ndarray:
        """Return whether each of some numbers keeps the bound; one that is not finite does not."""
        with np.errstate(invalid="ignore"):
            return np.isfinite(values) & (self._excess(values) <= 0)

    def _excess(self, values: np.ndarray) -> np.ndarray:
        """Return by how much the bound is passed."""
        if self.bound == "equals":
            return np.abs(values - self.value) - self.tolerance
        return (values - self.value) * (1.0 if self.bound == "less" else -1.0)

    def badness(self, values: np.ndarray) -> np.ndarray:
        """Return by how much each of some numbers passes the bound, negative where it does not."""
        return np.where(np.isfinite(values), self._excess(values), np.inf)


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    Parameters
    ----------
    check : RunCheck
    found : float
        The number; of a batch the worst.
    passed : bool
    failures, runs : int
        Number of runs that do not pass, and of all.
    """

    check: RunCheck
    found: float
    passed: bool
    failures: int
    runs: int

    @property
    def text(self) -> str:
        """Return the number with its unit, and how many runs do not pass."""
        unit = "" if self.check.unit == "-" else f" {self.check.unit}"
        many = f" ({self.failures} of {self.runs} runs fail)" if self.runs > 1 and self.failures else ""
        worst = " (worst of all runs)" if self.runs > 1 and not self.failures else ""
        return f"{self.found:.9g}{unit}{many}{worst}"


def moment(y: np.ndarray, at: str) -> np.ndarray:
    """Return one of MOMENTS of signals (runs, time), (runs,); NaN, which fills the time after the end of a run, does not count."""
    good = ~np.isnan(y)
    any_good = good.any(axis=1)
    rows = np.arange(len(y))
    if at == "start":
        return y[rows, good.argmax(axis=1)]
    if at == "end":
        return y[rows, y.shape[1] - 1 - good[:, ::-1].argmax(axis=1)]
    if at == "min":
        found = np.min(y, axis=1, initial=np.inf, where=good)
    else:
        found = np.max(np.abs(y) if at == "peak" else y, axis=1, initial=-np.inf, where=good)
    return np.where(any_good, found, np.nan)


def _share(error: np.ndarray, moved: np.ndarray) -> np.ndarray:
    return np.where(moved > 0, error / np.where(moved > 0, moved, 1.0), error)
