"""`Experiment`: a record beside the loop that shall explain it."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.model.files.units import UnitError, parse_unit
from articulus.simulation.running.loop import Loop
from articulus.study.records import Record

LONGEST = 1e-3
"""Longest step that is taken unasked [s]."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """A measured run and the loop that shall explain it.

    Parameters
    ----------
    record : Record
    loop : Loop
        With the inputs that the machine had: references, measured forces as a `Table`.
    outputs : dict of str to str, or sequence of str
        Entries of signals, and the columns of the record that measured them; of the same names if a sequence. All columns of the record
        that are entries of q and v if not given.
    q0, v0 : array
        State at the first time of the record; neutral and at rest if not given.
    params : dict of str to float
        Values of this experiment alone, such as a payload.
    step : float [s]
        Step of the run; the interval of the record, or a whole part of it of at most 1 ms, if not given.
    """

    record: Record
    loop: Loop
    outputs: Mapping[str, str] | Sequence[str] | None = None
    q0: Any = None
    v0: Any = None
    params: Mapping[str, float] = field(default_factory=dict)
    step: float | None = None

    def __post_init__(self) -> None:
        given = self.outputs
        if given is None:
            known = [c for s in "qv" for c in self.loop.signals[s].columns]
            given = [c for c in known if c in self.record.columns]
            if not given:
                raise InputError(
                    f"experiment: the record '{self.record.name}' has none of the columns {', '.join(known)}; give `outputs`"
                )
        named = dict(given) if isinstance(given, Mapping) else {n: n for n in given}
        known = [c for s in self.loop.signals.values() for c in s.columns]
        for entry, column in named.items():
            if entry not in known:
                raise InputError(f"experiment: no entry '{entry}' of a signal; {did_you_mean(entry, known)}")
            self.record[column]
            self._require_unit(entry, column)
        object.__setattr__(self, "outputs", named)

    def _require_unit(self, entry: str, column: str) -> None:
        units = {c: u for s in self.loop.signals.values() for c, u in zip(s.columns, s.units)}
        found, expected = self.record.units[column], units[entry]
        try:
            same = "-" in (found, expected) or parse_unit(found).dimension == parse_unit(expected).dimension
        except UnitError:
            same = True
        if not same:
            raise InputError(
                f"experiment: column '{column}' is in {found}; expected the unit of '{entry}', {expected}"
            )

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries of signals that were measured."""
        return tuple(self.outputs)  # type: ignore[arg-type]

    @functools.cached_property
    def measured(self) -> np.ndarray:
        """What was measured, (samples, entries); NaN where a sample is missing."""
        assert isinstance(self.outputs, Mapping)
        return np.column_stack([self.record[c] for c in self.outputs.values()])

    @functools.cached_property
    def _places(self) -> tuple[tuple[str, int], ...]:
        """The signal of every entry and its place there."""
        at = {c: (n, k) for n, s in self.loop.signals.items() for k, c in enumerate(s.columns)}
        return tuple(at[e] for e in self.entries)

    @functools.cached_property
    def grid(self) -> tuple[float, int]:
        """Step of the run [s], and the number of steps."""
        interval = self.record.interval
        h = self.step or interval / math.ceil(interval / LONGEST - 1e-9)
        return h, max(1, math.ceil((self.record.t[-1] - self.record.t[0]) / h - 1e-6))

    def predict(
        self, names: Sequence[str], values: np.ndarray, delay: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what the loop gives at the times of the record, (samples, entries), and its derivatives.

        Parameters
        ----------
        names, values :
            Parameters of the loop.
        delay : float [s]
            By which the record is late.

        Returns
        -------
        y : array, (samples, entries)
        by : array, (samples, entries, names)
        by_delay : array, (samples, entries)
        """
        key = (tuple(names), values.tobytes(), delay)
        kept = self.__dict__.setdefault("_predicted", {})  # the last one: statistics ask for it again
        if key not in kept:
            kept.clear()
            kept[key] = self._predict(names, values, delay)
        return kept[key]

    def _predict(
        self, names: Sequence[str], values: np.ndarray, delay: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        h, steps = self.grid
        t0 = float(self.record.t[0])
        whole = self._places  # of whole signals: their derivatives are read off together
        found = self.loop.sensitivities(
            t0 + steps * h, self.q0, self.v0, by=list(names), outputs=list(dict.fromkeys(s for s, _ in whole)), step=h, t0=t0,
            params={**self.params, **dict(zip(names, values.tolist()))},
        )  # fmt: skip
        y = np.stack([found.signals[s][:, k] for s, k in whole], axis=1)
        by = np.stack([found.by[s][:, k] for s, k in whole], axis=1)
        place = np.clip((self.record.t - delay - t0) / h, 0, steps)
        left = np.minimum(place.astype(int), steps - 1)
        part = place - left
        part = np.where(np.abs(part - np.round(part)) < 1e-6, np.round(part), part)[:, None]
        if not part.any():
            return y[left], by[left], -(y[left + 1] - y[left]) / h
        at = (1 - part) * y[left] + part * y[left + 1]
        at_by = (1 - part[..., None]) * by[left] + part[..., None] * by[left + 1]
        return at, at_by, -(y[left + 1] - y[left]) / h


def as_experiments(given: Experiment | Sequence[Experiment]) -> list[Experiment]:
    """Return one or several experiments as a list."""
    found = [given] if isinstance(given, Experiment) else list(given)
    if not found or not all(isinstance(e, Experiment) for e in found):
        raise InputError(f"fit: found {given!r}; expected an Experiment, or several")
    return found
