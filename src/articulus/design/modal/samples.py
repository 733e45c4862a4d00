"""Evenly sampled inputs and outputs of a record, as a fit of a linear model takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.study.records import Record

UNEVEN = 0.01
"""Deviation of times from even sampling, over the interval, up to which a record counts as evenly sampled."""


@dataclass(frozen=True, eq=False)
class RecordSamples:
    """Inputs and outputs at even times, without their means and in units of their standard deviations.

    Parameters
    ----------
    u, y : array, (samples, inputs), (samples, outputs)
    u_size, y_size : array, (inputs,), (outputs,)
        Those units.
    period : float [s]
    inputs, outputs : tuple of str
    units : tuple of (input units, output units)
    name : str
    """

    u: np.ndarray
    y: np.ndarray
    u_size: np.ndarray
    y_size: np.ndarray
    period: float
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: tuple[tuple[str, ...], tuple[str, ...]]
    name: str

    @classmethod
    def of(
        cls, who: str, record: Record, inputs: Sequence[str] | str, outputs: Sequence[str] | str
    ) -> RecordSamples:
        """Return the columns of a record; raise InputError for one with gaps or uneven times."""
        names = [(x,) if isinstance(x, str) else tuple(x) for x in (inputs, outputs)]
        if not names[1]:
            raise InputError(f"{who}: found no outputs; expected columns of the record '{record.name}'")
        u, y = (np.column_stack([record[n] for n in some]) if some else np.zeros((len(record), 0)) for some in names)  # fmt: skip
        gaps = [g for g in record.gaps if g.column in ("", *names[0], *names[1])]
        if gaps:
            raise InputError(
                f"{who}: the record '{record.name}' has no samples for {gaps[0]}; expected even samples without gaps: take a part with `between`"
            )
        if record.jitter > UNEVEN:
            raise InputError(
                f"{who}: times of the record '{record.name}' are uneven by {100 * record.jitter:.2g} % of the interval; expected even samples"
            )
        for some, x in zip(names, (u, y)):
            still = [n for n, spread in zip(some, np.ptp(x, axis=0)) if spread == 0]
            if still:
                raise InputError(
                    f"{who}: the record '{record.name}' holds one value for '{still[0]}' throughout; expected a signal that moves"
                )
        units = tuple(record.units[n] for n in names[0]), tuple(record.units[n] for n in names[1])
        u, y = u - u.mean(axis=0), y - y.mean(axis=0)
        sizes = u.std(axis=0), y.std(axis=0)
        period = float(np.mean(np.diff(record.t)))
        return cls(u / sizes[0], y / sizes[1], *sizes, period, names[0], names[1], units, record.name)

    def __len__(self) -> int:
        return len(self.y)

    def split(self, held_out: float) -> tuple[RecordSamples, RecordSamples | None]:
        """Return the first part, and the last one that is held out."""
        n = round(len(self) * (1 - held_out))
        if n == len(self):
            return self, None
        return self._part(slice(0, n)), self._part(slice(n, None))

    def _part(self, rows: slice) -> RecordSamples:
        return replace(self, u=self.u[rows], y=self.y[rows])

    def in_units(self, model: LinearModel) -> LinearModel:
        """Return a model of these signals as one of those in the units of the record."""
        C = model.C * self.y_size[:, None]
        return replace(model, B=model.B / self.u_size, C=C, D=self.y_size[:, None] * model.D / self.u_size)


def require_order(who: str, order: Any, samples: RecordSamples) -> int:
    """Return the order; raise InputError for one that is no whole number or too large for the samples."""
    if not isinstance(order, (int, np.integer)) or isinstance(order, bool) or order < 1:
        raise InputError(
            f"{who}: found order = {order!r}; expected a whole number of states, two for each mode"
        )
    unknown = int(order) * (2 * samples.y.shape[1] + samples.u.shape[1])
    if len(samples) * samples.y.shape[1] < 4 * unknown:
        raise InputError(
            f"{who}: found {len(samples)} samples for some {unknown} unknowns of order {order}; expected at least four times as many"
        )
    return int(order)
