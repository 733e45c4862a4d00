"""Figures of a run that have derivatives: one number of the samples of an expression of its signals."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

Expression = Callable[[Any], Any]
"""From the signals of a run, s["q"], s["q.lift"], s.t and s.p["payload"], to one number, on CasADi symbols."""


@dataclass(frozen=True)
class Figure(abc.ABC):
    """One number of a run.

    Parameters
    ----------
    of : str or callable
        An entry of a signal, such as "q.lift", or a function of the signals: `lambda s: ca.sumsqr(s["q"] - target)`.
    """

    of: str | Expression
    ends: ClassVar[bool] = False
    """Whether it looks at the last sample alone."""

    def over(self, times: np.ndarray) -> Figure:
        """Return the figure of samples at these times; itself where it does not depend on them."""
        return self

    @abc.abstractmethod
    def value(self, y: np.ndarray) -> float:
        """Return the figure of the samples, (samples,)."""

    @abc.abstractmethod
    def weights(self, y: np.ndarray) -> np.ndarray:
        """Return its derivative by the samples, (samples,)."""


class Final(Figure):
    """The last sample."""

    ends = True

    def value(self, y: np.ndarray) -> float:
        return float(y[-1])

    def weights(self, y: np.ndarray) -> np.ndarray:
        return np.eye(len(y))[-1]


class Mean(Figure):
    """Mean of all samples."""

    def value(self, y: np.ndarray) -> float:
        return float(y.mean())

    def weights(self, y: np.ndarray) -> np.ndarray:
        return np.full(len(y), 1 / len(y))


class Rms(Figure):
    """Root of the mean square of all samples; at zero its derivative is taken as zero."""

    def value(self, y: np.ndarray) -> float:
        return float(np.sqrt(np.mean(y**2)))

    def weights(self, y: np.ndarray) -> np.ndarray:
        rms = self.value(y)
        return y / (len(y) * rms) if rms > 0 else np.zeros_like(y)


class Largest(Figure):
    """Largest sample; its derivative is that of the sample where it is, the first if there are several."""

    def value(self, y: np.ndarray) -> float:
        return float(y.max())

    def weights(self, y: np.ndarray) -> np.ndarray:
        return np.eye(len(y))[int(y.argmax())]


class Smallest(Figure):
    """Smallest sample; its derivative is that of the sample where it is, the first if there are several."""

    def value(self, y: np.ndarray) -> float:
        return float(y.min())

    def weights(self, y: np.ndarray) -> np.ndarray:
        return np.eye(len(y))[int(y.argmin())]


ALL_FIGURES: tuple[type[Figure], ...] = (Final, Mean, Rms, Largest, Smallest)
"""Every figure that has derivatives."""
