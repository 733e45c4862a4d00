"""The least-squares problem of a fit: weighted differences of prediction and record, over all experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from articulus.design.fits.experiment import Experiment
from articulus.design.fits.least_squares import LeastSquares, least_squares
from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism.numbers import value_of

SMALLEST = 1e-6
"""Part of its first value below which what must be positive is not tried."""
NEAR = 0.01
"""Part of the standard deviations of estimates below which a change of them means nothing."""


@dataclass(frozen=True, eq=False)
class FitProblem:
    """What is fitted to what.

    Parameters
    ----------
    experiments : list of Experiment
    names : tuple of str
    start, lower, upper : array, (names,)
    used : list of array of bool, (samples, entries)
        Samples of each experiment that count.
    deviations : list of array, (entries,)
        Deviations of the noise of each measured entry, the unit of the residuals.
    delayed : bool
        Whether the delay of the records is fitted, too; the last parameter then.
    """

    experiments: list[Experiment]
    names: tuple[str, ...]
    start: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    used: list[np.ndarray]
    deviations: list[np.ndarray]
    delayed: bool = False

    @property
    def size(self) -> np.ndarray:
        """Size of each parameter."""
        width = np.where(np.isfinite(self.upper - self.lower), self.upper - self.lower, 0.0)
        size = np.where(self.start != 0, np.abs(self.start), np.where(width > 0, width, 1.0))
        return np.append(size, max(e.record.interval for e in self.experiments)) if self.delayed else size

    def residuals(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weighted residuals of the samples that count, (m,), and their derivatives, (m, n)."""
        n = len(self.names)
        rows, by = [], []
        for e, used, s in zip(self.experiments, self.used, self.deviations):
            y, y_by, y_delay = e.predict(self.names, x[:n], float(x[n]) if self.delayed else 0.0)
            J = np.concatenate([y_by, y_delay[..., None]], axis=-1) if self.delayed else y_by
            rows.append(((y - e.measured) / s)[used])
            by.append((J / s[:, None])[used])
        return np.concatenate(rows), np.concatenate(by)

    def solve(self, x: np.ndarray | None = None, most: int = 50, close: float = NEAR) -> LeastSquares:
        """Return the parameters of least squares; steps of fewer standard deviations than `close` are not taken."""
        late = np.inf if self.delayed else 0.0
        extra = [late] if self.delayed else []
        begin = self.start if x is None else x
        if self.delayed and len(begin) == len(self.names):
            begin = np.append(begin, 0.0)
        return least_squares(
            self.residuals,
            begin,
            self.size,
            np.append(self.lower, [-y for y in extra]),
            np.append(self.upper, extra),
            most,
            close,
        )


def starting_values(
    experiments: Sequence[Experiment],
    parameters: Sequence[str] | Mapping[str, float],
    bounds: Mapping[str, tuple[float, float]] | None,
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray]:
    """Return names, start, lower and upper bounds of the parameters; those of their declared ranges where no others are given."""
    if isinstance(parameters, str):
        parameters = [parameters]
    names, given = tuple(parameters), dict(bounds or {})
    if not names:
        raise InputError("fit: found no parameter; expected names")
    known = {p.name: p for p in experiments[0].loop.system.network.parameters}
    for name in [*names, *given]:
        if name not in known:
            raise InputError(f"fit: no parameter '{name}'; {did_you_mean(name, known)}")
    start, lower, upper = [], [], []
    for name in names:
        value = parameters[name] if isinstance(parameters, Mapping) else value_of(known[name])
        low, high = given.get(name, known[name].range or (-np.inf, np.inf))
        low = max(low, _least(experiments[0], name))
        if not low < high:
            raise InputError(
                f"fit: bounds of '{name}' are {low:g} and {high:g}; expected the lower one first"
            )
        start.append(float(value))
        lower.append(low)
        upper.append(high)
    return names, np.array(start), np.array(lower), np.array(upper)


def _least(experiment: Experiment, name: str) -> float:
    """Return the least value that a parameter can have by itself: masses, inertias and friction are not negative."""
    for expression, _, _, _, positive in experiment.loop.mechanism.description.physical.least:
        if getattr(expression, "name", None) == name:
            return SMALLEST * abs(float(value_of(expression))) if positive else 0.0
    return -np.inf
