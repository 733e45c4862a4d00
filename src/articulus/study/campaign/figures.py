"""Figures of runs: a few numbers that say how a run went, and requirements on them."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.declared import Field
from articulus.errors import InputError, did_you_mean
from articulus.model.files.units import UnitError, parse_unit, split_quantity
from articulus.simulation.results.run import Run
from articulus.simulation.results.signal import Signal
from articulus.study.check import FIGURES, MOMENTS, RunCheck, moment

OVER_TIME = ("settling", "overshoot", "rms", "mean")
"""Figures of a signal over time, besides its MOMENTS."""
SAME = 1e-12
"""Relative difference up to which a figure is equal to a bound: 940 steps of 2 ms are 1.88 s, though not bit for bit."""
FIGURE = (
    Field("signal", "signal", meaning="entry of a signal, such as q.lift"),
    Field("figure", "choice", meaning="diagnostic of the run", words={name: name for name in FIGURES}),
    Field(
        "at",
        "moment",
        meaning="a time, or one of these words",
        words={m: m for m in (*MOMENTS, *OVER_TIME)},
        unit="s",
        default="end",
    ),
    Field(
        "target",
        "number",
        unit="any",
        size="1",
        meaning="where the signal shall come to; its last sample if not given",
    ),
    Field(
        "band",
        "number",
        unit="any",
        size="1",
        meaning="of settling: how near to the target it has to stay",
        least=0,
    ),
)
"""Keys of the table of a figure."""
ENTRIES = tuple(f.name for f in FIGURE)
USED = {"target": ("settling", "overshoot", "rms"), "band": ("settling",)}
"""Keys that only some figures use."""
_DEMAND = re.compile(r"\s*(.+?)\s*(<=|>=|<|>)\s*(.+?)\s*")


@dataclass(frozen=True)
class Figure:
    """One number of each run.

    Parameters
    ----------
    name : str
        Column of the table.
    what : str
        Entry of a signal, such as "q.lift", or one of the run diagnostics FIGURES.
    at : str or float [s]
        One of MOMENTS or OVER_TIME, or a time, of which the nearest sample counts; "" for run diagnostics.
    unit : str
    target : float or None [unit of the signal]
        Where the signal shall come to; the last sample if not given (0 for "rms").
    band : float [unit of the signal]
        For "settling": how near to the target it has to stay.
    """

    name: str
    what: str
    at: str | float
    unit: str
    target: float | None = None
    band: float = 0.0

    @property
    def signal(self) -> str:
        """Entry of a signal, or signal, that the figure is computed from."""
        return FIGURES[self.what][0] if self.what in FIGURES else self.what

    def values(self, run: Run) -> np.ndarray:
        """Return the number of each run of a batch, (runs,)."""
        if self.at not in OVER_TIME:
            return RunCheck(self.name, self.what, self.at, "less", 0.0, 0.0, self.unit).values(run)
        y = np.atleast_2d(run.select(self.what).values[..., 0])
        return {
            "settling": self._settling,
            "overshoot": self._overshoot,
            "rms": self._rms,
            "mean": self._mean,
        }[str(self.at)](run.t, y)

    def _goal(self, y: np.ndarray) -> np.ndarray:
        return moment(y, "end") if self.target is None else np.full(len(y), self.target)

    def _settling(self, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Time from the start after which the signal stays within the band; infinite where its last sample is outside."""
        good = ~np.isnan(y)
        outside = good & ~(np.abs(y - self._goal(y)[:, None]) <= self.band)
        last = np.where(outside.any(axis=1), y.shape[1] - 1 - outside[:, ::-1].argmax(axis=1), -1)
        end = y.shape[1] - 1 - good[:, ::-1].argmax(axis=1)
        times = np.append(t - t[0], np.inf)
        settled = np.where(last >= end, np.inf, times[last + 1])
        return np.where(good.any(axis=1), settled, np.nan)

    def _overshoot(self, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        """How far the signal goes beyond the target, as seen from its start; 0 where it does not."""
        goal, start = self._goal(y), moment(y, "start")
        beyond = (y - goal[:, None]) * np.where(goal >= start, 1.0, -1.0)[:, None]
        return np.maximum(moment(beyond, "max"), 0.0)

    def _rms(self, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.sqrt(_mean((y - (self.target or 0.0)) ** 2))

    def _mean(self, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _mean(y)


def _mean(y: np.ndarray) -> np.ndarray:
    """Return the mean of the samples of each row; NaN, which fills the time after the end of a run, does not count."""
    good = ~np.isnan(y)
    count = good.sum(axis=1)
    return np.where(count > 0, np.where(good, y, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)


@dataclass(frozen=True)
class Requirement:
    """A bound on a figure that every run shall keep.

    Parameters
    ----------
    figure : str
        Name of the figure.
    bound : str
        "less", "greater" or "equals".
    value : float [unit]
    unit : str
    tolerance : float [unit]
        For "equals".
    given : str
        As it was written, with the unit that was chosen for it.
    strict : bool
        Whether a figure that is equal to the bound misses it: "<", not "<=".
    """

    figure: str
    bound: str
    value: float
    unit: str = "-"
    tolerance: float = 0.0
    given: str = ""
    strict: bool = False

    @property
    def _check(self) -> RunCheck:
        return RunCheck(self.figure, self.figure, "", self.bound, self.value, self.tolerance, self.unit)

    @property
    def demand(self) -> str:
        """What is demanded, as a text such as "< 2 s"."""
        return self._check.demand

    @property
    def text(self) -> str:
        """Figure and demand, such as "settling < 2 s"."""
        return self.given or f"{self.figure} {self.demand}"

    def __post_init__(self) -> None:
        if self.bound not in ("less", "greater", "equals"):
            raise InputError(
                f"requirements: {self.figure}: found the bound {self.bound!r}; expected less, greater or equals"
            )
        if not math.isfinite(self.value) or not math.isfinite(self.tolerance):
            raise InputError(f'requirements: "{self.text}": found no finite bound; expected a number')
        try:
            _ = self.bound_unit
        except UnitError as error:
            raise InputError(f'requirements: "{self.given}": {error}') from None

    @functools.cached_property
    def bound_unit(self) -> tuple[str, float]:
        """Unit in which the bound was written, and its size in `unit`."""
        demand = _DEMAND.fullmatch(self.given)
        bound = _bound(demand[3]) if demand else 0.0
        name = split_quantity(bound)[1] if isinstance(bound, str) else self.unit
        if name == self.unit:
            return name, 1.0
        return name, float(parse_unit(name).factor / parse_unit(self.unit).factor)

    def passes(self, values: np.ndarray) -> np.ndarray:
        """Return whether each of some figures keeps the bound; the figure of a failed run, which is no number, does not."""
        kept = self._check.passes(values)
        if self.bound == "equals":
            return kept
        at_bound = np.isclose(values, self.value, rtol=SAME, atol=0.0)
        return kept & ~at_bound if self.strict else kept | at_bound

    def badness(self, values: np.ndarray) -> np.ndarray:
        """Return by how much each of some figures passes the bound, negative where it does not; infinite for failed runs."""
        return self._check.badness(values)


def _bound(text: str) -> float | str:
    """Return a plain number, or the text of one that has a unit."""
    try:
        return float(text)
    except ValueError:
        return text


def scales(requirements: Sequence[Requirement], units: Mapping[str, str]) -> dict[str, tuple[str, float]]:
    """Return the unit in which each figure is shown, that of the first requirement on it, and its size in the unit of the table."""
    found = {name: (unit, 1.0) for name, unit in units.items()}
    return found | {r.figure: r.bound_unit for r in reversed(requirements)}


Number = Callable[[Any, str, str], float]
"""Reads a number, plain or with a unit: (given, unit, place) -> value in that unit."""


def read_figures(
    tables: Any, signals: Mapping[str, Signal], number: Number, span: tuple[float, float]
) -> tuple[Figure, ...]:
    """Return the figures of tables such as {"peak torque": {"signal": "u.lift", "at": "peak"}}.

    Parameters
    ----------
    tables : mapping
    signals : mapping of str to Signal
        What a run reports.
    number : callable
    span : two numbers [s]
        Begin and end of a run.

    Raises
    ------
    InputError
        A key, signal or moment that is not known, with the nearest that is; a time at which nothing runs.
    """
    if not isinstance(tables, Mapping):
        raise InputError(f'figures: found {tables!r}; expected a table such as {{turn = "q.lift"}}')
    return tuple(_figure(name, table, signals, number, span) for name, table in tables.items())


def _figure(
    name: str, given: Any, signals: Mapping[str, Signal], number: Number, span: tuple[float, float]
) -> Figure:
    if isinstance(given, Figure):
        return given
    table = {"signal": given} if isinstance(given, str) else given
    if not isinstance(table, Mapping):
        raise InputError(
            f'figures: {name}: found {given!r}; expected a table such as {{signal = "q.lift", at = "end"}}'
        )
    for key in table:
        if key not in ENTRIES:
            raise InputError(f"figures: {name}: no key '{key}'; {did_you_mean(str(key), ENTRIES)}")
    if "figure" in table or table.get("signal") in FIGURES:
        what = table.get("figure", table.get("signal"))
        if what not in FIGURES or FIGURES[what][0] not in signals:
            known = [n for n in FIGURES if FIGURES[n][0] in signals]
            raise InputError(f"figures: {name}: no run diagnostic '{what}'; {did_you_mean(str(what), known)}")
        if len(table) > 1:
            raise InputError(
                f"figures: {name}: found {', '.join(table)}; expected nothing beside a diagnostic"
            )
        return Figure(name, what, "", FIGURES[what][1])
    units = {c: u for s in signals.values() for c, u in zip(s.columns, s.units)}
    what = table.get("signal")
    if what not in units:
        raise InputError(f"figures: {name}: no entry '{what}' of a signal; {did_you_mean(str(what), units)}")
    unit, at = units[what], table.get("at", "end")
    if not isinstance(at, str) or at not in (*MOMENTS, *OVER_TIME):
        if isinstance(at, str) and not any(c.isdigit() for c in at):
            raise InputError(f"figures: {name}.at: found '{at}'; {did_you_mean(at, (*MOMENTS, *OVER_TIME))}")
        at = number(at, "s", f"figures: {name}.at")
    slack = 1e-9 * max(1.0, abs(span[1]))
    if isinstance(at, float) and not span[0] - slack <= at <= span[1] + slack:
        raise InputError(
            f"figures: {name}.at: found {at:g} s; expected a time of the run, {span[0]:g} s to {span[1]:g} s"
        )
    for key, where in USED.items():
        if key in table and at not in where:
            raise InputError(
                f"figures: {name}: found {key} with at = {at!r}, which does not use it; expected it with {', '.join(where)} only"
            )
    target = number(table["target"], unit, f"figures: {name}.target") if "target" in table else None
    if at == "settling" and "band" not in table:
        raise InputError(
            f"figures: {name}: found no band; expected band [{unit}], how near to the target counts"
        )
    band = number(table["band"], unit, f"figures: {name}.band") if "band" in table else 0.0
    if band < 0:
        raise InputError(
            f"figures: {name}.band: found {band:g} {unit}; expected a number that is not negative"
        )
    return Figure(
        name,
        str(what),
        at if isinstance(at, str) else float(at),
        "s" if at == "settling" else unit,
        target,
        band,
    )


def read_requirements(given: Any, figures: tuple[Figure, ...], number: Number) -> tuple[Requirement, ...]:
    """Return the requirements of texts such as "settling < 2 s"."""
    units = {f.name: f.unit for f in figures}
    listed = isinstance(given, (list, tuple))
    if not listed or not all(isinstance(x, (str, Requirement)) for x in given):
        raise InputError(f'requirements: found {given!r}; expected a list of texts such as "settling < 2 s"')
    found = []
    for text in given:
        if isinstance(text, Requirement):
            found.append(text)
            continue
        match = _DEMAND.fullmatch(text)
        if match is None:
            raise InputError(f'requirements: found "{text}"; expected a text such as "settling < 2 s"')
        name, sign, bound = match.groups()
        if name not in units:
            raise InputError(f"requirements: \"{text}\": no figure '{name}'; {did_you_mean(name, units)}")
        value = number(_bound(bound), units[name], f'requirements: "{text}"')
        written = f"{name} {sign} {bound}"
        found.append(
            Requirement(
                name,
                "less" if "<" in sign else "greater",
                value,
                units[name],
                given=written,
                strict="=" not in sign,
            )
        )
    for r in found:
        if r.figure not in units:
            raise InputError(f"requirements: no figure '{r.figure}'; {did_you_mean(r.figure, units)}")
    return tuple(found)


def of_checks(checks: tuple[RunCheck, ...]) -> tuple[tuple[Figure, ...], tuple[Requirement, ...]]:
    """Return the checks of a study as figures and requirements."""
    figures: dict[str, Figure] = {}
    requirements = []
    for check in checks:
        name = check.name or check.place
        if name in figures and (figures[name].what, figures[name].at) != (check.what, check.at):
            name = check.place
        figures[name] = Figure(name, check.what, check.at, check.unit)
        requirements.append(Requirement(name, check.bound, check.value, check.unit, check.tolerance))
    return tuple(figures.values()), tuple(requirements)
