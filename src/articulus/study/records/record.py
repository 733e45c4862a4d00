"""`Record`: what was measured, as columns over time in SI units."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.model.files.units import UnitError, parse_unit
from articulus.numerics.streams import stream
from articulus.simulation.results.run import Run

LONG = 1.5
"""Time between samples, over the usual one, above which something is missing."""


@dataclass(frozen=True)
class Gap:
    """A time in which a record has no samples."""

    t0: float
    t_end: float
    column: str = ""
    """The column that has none; "" for all."""

    def __str__(self) -> str:
        return f"{self.column or 'all columns'} from {self.t0:.6g} to {self.t_end:.6g} s"


@dataclass(frozen=True, eq=False)
class Record:
    """Measured columns over time.

    Parameters
    ----------
    name : str
        Name of the test, or of the file.
    t : array, (samples,) [s]
        Ascending.
    columns : dict of name to array, (samples,)
        In SI units; NaN where a sample is missing.
    units : dict of name to str
        SI unit of each column; "-" where none is known.
    origin : str
        Where it comes from.
    """

    name: str
    t: np.ndarray
    columns: Mapping[str, np.ndarray]
    units: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""

    def __post_init__(self) -> None:
        t = np.array(self.t, dtype=float)
        if t.ndim != 1 or len(t) < 2 or not np.isfinite(t).all():
            raise InputError(
                f"record '{self.name}': found times of shape {t.shape}; expected at least two finite numbers"
            )
        back = np.flatnonzero(np.diff(t) <= 0)
        if back.size:
            k = int(back[0])
            raise InputError(
                f"record '{self.name}': time goes from {t[k]:.9g} to {t[k + 1]:.9g} s at sample {k + 1}; expected times that rise. Two clocks, or two "
                "tests in one file?"
            )
        columns = {}
        for name, values in self.columns.items():
            x = np.array(values, dtype=float)
            if x.shape != t.shape:
                raise InputError(
                    f"record '{self.name}': column '{name}' has shape {x.shape}; expected {t.shape}, that of the times"
                )
            if np.isinf(x).any():
                raise InputError(
                    f"record '{self.name}': column '{name}' holds an infinite number; expected numbers, or NaN where one is missing"
                )
            x.setflags(write=False)
            columns[name] = x
        t.setflags(write=False)
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "units", {name: self.units.get(name, "-") for name in columns})

    @classmethod
    def of(cls, run: Run, name: str = "", noise: Mapping[str, float] | None = None, seed: int = 0) -> Record:
        """Return the signals of a single run as a record; `noise` adds normal numbers with a standard deviation to columns."""
        if run.batch is not None:
            raise InputError("record: found a batch of runs; expected one run")
        columns = {c: s.values[:, k].copy() for s in run.signals.values() for k, c in enumerate(s.columns)}
        units = {c: u for s in run.signals.values() for c, u in zip(s.columns, s.units)}
        random = stream(seed)
        for column, deviation in (noise or {}).items():
            if column not in columns:
                raise InputError(f"record: no column '{column}'; {did_you_mean(column, columns)}")
            columns[column] += deviation * random.standard_normal(len(run.t))
        return cls(name or run.mechanism.name, run.t, columns, units, "simulated")

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a column, (samples,)."""
        if name not in self.columns:
            raise InputError(f"record '{self.name}': no column '{name}'; {did_you_mean(name, self.columns)}")
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.t)

    @property
    def interval(self) -> float:
        """The usual time between samples: the median [s]."""
        return float(np.median(np.diff(self.t)))

    @property
    def jitter(self) -> float:
        """Largest deviation of a time from even sampling, gaps left out, over the interval [-]."""
        steps = np.diff(self.t) / self.interval
        return float(np.max(np.abs(steps[steps <= LONG] - 1), initial=0.0))

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Times without samples, of all columns and of single ones, in order."""
        wide = np.flatnonzero(np.diff(self.t) > LONG * self.interval)
        found = [Gap(float(self.t[k]), float(self.t[k + 1])) for k in wide]
        for name, x in self.columns.items():
            missing = np.flatnonzero(np.diff(np.concatenate([[0], np.isnan(x).astype(int), [0]])))
            found += [
                Gap(float(self.t[max(a - 1, 0)]), float(self.t[min(b, len(x) - 1)]), name)
                for a, b in zip(missing[::2], missing[1::2])
            ]
        return tuple(sorted(found, key=lambda g: g.t0))

    def between(self, t0: float, t_end: float) -> Record:
        """Return the samples from t0 to t_end [s]."""
        kept = (self.t >= t0) & (self.t <= t_end)
        if kept.sum() < 2:
            raise InputError(
                f"record '{self.name}': fewer than two samples from {t0:g} to {t_end:g} s; it goes from {self.t[0]:g} to {self.t[-1]:g} s"
            )
        return dataclasses.replace(
            self, t=self.t[kept], columns={n: x[kept] for n, x in self.columns.items()}
        )

    def shift(self, time: float) -> Record:
        """Return the same on a clock that shows `time` more [s]: with minus its delay, a late record becomes one on time."""
        return dataclasses.replace(self, t=self.t + time)

    def rename(self, names: Mapping[str, str]) -> Record:
        """Return the same with other names of some columns, old to new."""
        for old in names:
            self[old]
        return dataclasses.replace(
            self,
            columns={names.get(n, n): x for n, x in self.columns.items()},
            units={names.get(n, n): u for n, u in self.units.items()},
        )

    def at(self, t: np.ndarray, name: str) -> np.ndarray:
        """Return a column at other times, in straight lines between its samples; NaN outside and in gaps."""
        x = self[name]
        good = ~np.isnan(x)
        out = (
            np.interp(t, self.t[good], x[good], left=np.nan, right=np.nan)
            if good.any()
            else np.full(np.shape(t), np.nan)
        )
        for gap in self.gaps:
            if gap.column in ("", name):
                out = np.where((t > gap.t0) & (t < gap.t_end), np.nan, out)
        return out


def in_si(name: str, values: np.ndarray, unit: str, where: str) -> tuple[np.ndarray, str]:
    """Return a column in SI units, and its unit; raise InputError for a unit that cannot be read."""
    if not unit or unit == "-":
        return values, "-"
    try:
        found = parse_unit(unit)
    except UnitError as reason:
        raise InputError(f"{where}: column '{name}': {reason}") from None
    if found.factor == 1:
        return values, unit
    powers = zip(("kg", "m", "s", "rad"), found.dimension)
    return values * float(found.factor), " ".join(n if k == 1 else f"{n}^{k}" for n, k in powers if k) or "-"
