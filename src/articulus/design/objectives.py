"""What is wanted of figures of runs: sums of terms as objectives, smooth or in the printed form of Lan & Ge 1989, and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from articulus.errors import InputError

LEAST = 1e-14
"""What Lan & Ge 1989 add to a distance before they divide by it."""


@dataclass(frozen=True)
class Aim:
    """A figure that shall be near a value: B ((figure - value) / scale)^2, or as printed -B / (1e-14 + |figure - value| / scale).

    Parameters
    ----------
    figure : str, callable or figure
        As `Loop.gradient` takes it.
    value : float
        What is wanted.
    weight : float
        B.
    scale : float [unit of the figure]
        Distance that counts as one; 1 / E of the source.
    printed : bool
        The form of Lan & Ge 1989, equations 4 and 5: a spike at the value, 1e14 high, without a slope there; searches by gradients end beside it. The square is the default.
    """

    figure: Any
    value: float = 0.0
    weight: float = 1.0
    scale: float = 1.0
    printed: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.value) and self.weight > 0 and self.scale > 0):
            raise InputError(
                f"Aim: found value {self.value:g}, weight {self.weight:g}, scale {self.scale:g}; expected a finite value, weight and scale above 0"
            )

    def of(self, figure: float) -> tuple[float, float]:
        """Return the term and its derivative by the figure."""
        off = (figure - self.value) / self.scale
        if self.printed:
            distance = LEAST + abs(off)
            return -self.weight / distance, self.weight * np.sign(off) / distance**2 / self.scale
        return self.weight * off**2, 2 * self.weight * off / self.scale


@dataclass(frozen=True)
class WeightedFigure:
    """A figure times a weight, which is negative for what shall be large.

    Parameters
    ----------
    figure : str, callable or figure
    weight : float
    """

    figure: Any
    weight: float = 1.0

    def of(self, figure: float) -> tuple[float, float]:
        """Return the term and its derivative by the figure."""
        return self.weight * figure, self.weight


@dataclass(frozen=True)
class Objective:
    """The sum of `Aim` and `WeightedFigure` terms, as an objective of `optimize`.

    Parameters
    ----------
    terms : Aim or WeightedFigure
    """

    terms: tuple[Aim | WeightedFigure, ...]

    def __init__(self, *terms: Aim | WeightedFigure):
        if not terms or not all(isinstance(x, Aim | WeightedFigure) for x in terms):
            raise InputError(f"Objective: found {terms!r}; expected at least one Aim or WeightedFigure")
        object.__setattr__(self, "terms", terms)

    @classmethod
    def of(cls, given: Any) -> Objective:
        """Return an objective as it is, and a figure as one with this term alone."""
        return (
            given
            if isinstance(given, Objective)
            else cls(given if isinstance(given, Aim | WeightedFigure) else WeightedFigure(given))
        )

    def total(self, values: np.ndarray, slopes: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the sum and its derivatives from values of the figures, (terms,), and their derivatives, (terms, variables)."""
        parts = [term.of(value) for term, value in zip(self.terms, values.tolist())]
        return float(sum(p[0] for p in parts)), np.array([p[1] for p in parts]) @ slopes


@dataclass(frozen=True)
class AtMost:
    """A limit on a figure of each run.

    Parameters
    ----------
    name : str
    figure : str, callable or figure
        As `Loop.gradient` takes it.
    limit : float [unit of the figure]
        Not zero; the figure is at most this.
    """

    sign: ClassVar[float] = 1.0

    name: str
    figure: Any
    limit: float

    def __post_init__(self) -> None:
        if not np.isfinite(self.limit) or self.limit == 0:
            raise InputError(f"limit '{self.name}': found {self.limit:g}; expected a number that is not zero")


@dataclass(frozen=True)
class AtLeast(AtMost):
    """A lower limit on a figure of each run; as `AtMost`."""

    sign: ClassVar[float] = -1.0
