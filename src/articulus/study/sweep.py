"""Sweeps of a study: many runs that differ in parameters or initial states."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from articulus.numerics.streams import stream

MAX_RUNS = 1_000_000


@dataclass(frozen=True)
class Axis:
    """One number that a sweep changes.

    Parameters
    ----------
    name : str
        Parameter, or entry of the initial state such as "q.lift".
    kind : str
        "values", "normal" (mean, standard deviation) or "uniform" (least, greatest).
    numbers : tuple of float
    """

    name: str
    kind: str
    numbers: tuple[float, ...]


@dataclass(frozen=True)
class Sweep:
    """Axes that a sweep runs over: every combination of values, each with fresh random numbers.

    Parameters
    ----------
    axes : tuple of Axis
    runs : int
        Runs for every combination of values.
    seed : int
        Of the random numbers.
    """

    axes: tuple[Axis, ...]
    runs: int = 1
    seed: int = 0

    @property
    def count(self) -> int:
        """Number of all runs."""
        return self.runs * math.prod(len(a.numbers) for a in self.axes if a.kind == "values")

    def drawn(self) -> dict[str, np.ndarray]:
        """Return the numbers of each axis, (count,). Every axis has a random stream of its own."""
        grid = [a for a in self.axes if a.kind == "values"]
        combinations = np.array(list(itertools.product(*(a.numbers for a in grid))), dtype=float)
        repeated = np.repeat(combinations.reshape(self.count // self.runs, len(grid)), self.runs, axis=0)
        out = {a.name: repeated[:, k] for k, a in enumerate(grid)}
        for k, axis in enumerate(self.axes):
            if axis.kind != "values":
                generator = stream(self.seed, k)
                draw = generator.normal if axis.kind == "normal" else generator.uniform
                out[axis.name] = draw(axis.numbers[0], axis.numbers[1], size=self.count)
        return {a.name: out[a.name] for a in self.axes}
