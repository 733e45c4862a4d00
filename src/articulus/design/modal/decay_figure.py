"""Damping, frequency and time constants of a run's free decay as figures with exact derivatives."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from articulus.design.modal.decay import DecayShape, corrections, estimate_poles
from articulus.errors import InputError, NumericalError, did_you_mean
from articulus.numerics.lyapunov import one_thread
from articulus.simulation.gradients.figures import Figure
from articulus.study.records import Record

KINDS = ("damping", "frequency", "time_constant")
TINY = 1e-40
"""Imaginary step of the derivatives: nothing is subtracted, so that it may be as small as one likes."""
POLISH = 3
"""Newton steps with the whole second derivative after the corrections have ended."""


@dataclass(frozen=True)
class DecayFigure(Figure):
    """Damping ratio [-], natural frequency [rad/s] or time constant [s] of a mode, identified from samples of a run by differential corrections.

    The derivative is that of the identified number by the samples: with the sum of squares G(x, y) least at x, dx/dy = -G_xx^-1 G_xy.

    Parameters
    ----------
    of : str or callable
        An entry of a signal, or a function of the signals.
    kind : str
        "damping", "frequency" or "time_constant".
    mode : int
        Number of the oscillating mode, by frequency, or of the decaying one, by rate.
    modes, real : int
        Numbers of oscillating and of merely decaying modes that are identified, as of `decay_fit`.
    after : float [s]
        Time from which nothing acts any more; samples before it do not count.
    until : float [s]
        Time up to which samples count: so long as the decay is there.
    trend : bool
        Whether the signal has a trend.

    Source: Lan & Ge 1989.
    """

    kind: str = "damping"
    mode: int = 0
    modes: int = 1
    real: int = 0
    after: float = 0.0
    until: float = np.inf
    trend: bool = False
    times: tuple[float, ...] = dataclasses.field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"DecayFigure: kind '{self.kind}'; {did_you_mean(str(self.kind), KINDS)}")
        count = self.real if self.kind == "time_constant" else self.modes
        if not 0 <= self.mode < count:
            raise InputError(
                f"DecayFigure: mode {self.mode}; expected one of {count}, counted from 0: more `modes` or `real`?"
            )

    def over(self, times: np.ndarray) -> Figure:
        return dataclasses.replace(self, times=tuple(times.tolist()))

    def value(self, y: np.ndarray) -> float:
        return self._look(y)[0]

    def weights(self, y: np.ndarray) -> np.ndarray:
        return self._look(y)[1]

    def _look(self, y: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the figure and its derivative by the samples."""
        t = np.array(self.times)
        inside = (t >= self.after - 1e-9) & (t <= self.until + 1e-9)
        shape, spread, x = self._identify(t[inside], y[inside])
        place = self._place(x)
        bent, J = _curvature(shape, x), shape.residuals(x)[1]
        by = np.zeros_like(y)
        by[inside] = J @ _solve(bent, np.eye(len(x))[place]) / spread
        found = float(x[place])
        return (1 / found, -by / found**2) if self.kind == "time_constant" else (found, by)

    def _place(self, x: np.ndarray) -> int:
        """Return the place of the figure among the parameters of the decay."""
        poles = 2 * self.modes
        if self.kind == "time_constant":
            return poles + int(np.argsort(x[poles : poles + self.real])[self.mode])
        return int(np.argsort(x[: self.modes])[self.mode]) + (self.modes if self.kind == "damping" else 0)

    def _identify(self, t: np.ndarray, y: np.ndarray) -> tuple[DecayShape, float, np.ndarray]:
        """Return the decay, the size of the samples, and its parameters where the sum of squares is least."""
        unknown = 2 * (2 * self.modes + self.real) + 1 + self.trend
        if len(t) <= unknown:
            raise InputError(
                f"DecayFigure: found {len(t)} samples from {self.after:g} s on; expected more than {unknown}: set `sample`, or a later end"
            )
        columns = y[:, None]
        if not np.ptp(y) > 0:
            raise NumericalError("DecayFigure: the signal does not move: nothing decays")
        start = t - t[0]
        try:
            poles = estimate_poles(
                Record("run", t, {"y": y}), columns, start, self.modes, self.real, 1 + self.trend
            )
        except InputError as reason:
            raise NumericalError(f"DecayFigure: {reason}") from reason
        shape, spread, end = corrections(start, columns, poles, self.modes, self.real, True, self.trend)
        if not end.converged or end.at_bound.any():
            raise NumericalError(
                f"DecayFigure: {self.modes} oscillating modes are not in the signal: a damping ratio ends at 1, or the corrections do not end"
            )
        x = end.x
        for _ in range(POLISH):
            r, J = shape.residuals(x)
            x = x - _solve(_curvature(shape, x), J.T @ r)
        return shape, float(spread[0]), x


def _solve(bent: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the solution of a symmetric system; NumericalError where a parameter has no effect."""
    size = np.sqrt(np.abs(np.diag(bent))) + 1e-300
    with one_thread():
        scaled = bent / np.outer(size, size)
        if not np.linalg.cond(scaled) < 1e14:
            raise NumericalError(
                "DecayFigure: the modes cannot be told apart: fewer modes, or a longer record?"
            )
        return np.asarray(np.linalg.solve(scaled, b / size)) / size


def _curvature(shape: DecayShape, x: np.ndarray) -> np.ndarray:
    """Return the second derivative of half the sum of squares, column by column from imaginary steps."""
    columns = []
    for k in range(len(x)):
        z = x.astype(complex)
        z[k] += 1j * TINY
        r, J = shape.residuals(z)
        columns.append((J.T @ r).imag / TINY)
    found = np.array(columns)
    return (found + found.T) / 2
