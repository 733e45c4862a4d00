"""Search for the worst case: differential evolution or CMA-ES over the unit cube, a whole generation of runs at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError, did_you_mean, require_package
from articulus.numerics.streams import stream

Badness = Callable[[np.ndarray], np.ndarray]
"""Gives how bad runs are, (rows,), at points of the unit cube, (rows, dims): the larger the worse, infinite for a run that fails."""

METHODS = ("differential evolution", "cma-es")
TAIL = 0.00135
"""Share of each distribution that the search leaves out at either end: a normal one is searched to three deviations."""


@dataclass(frozen=True, eq=False)
class Worst:
    """The worst case that a search found.

    Parameters
    ----------
    point : array, (dims,)
        In the unit cube.
    badness : float
        Infinite when the run fails.
    runs : int
        That the search took.
    history : array, (generations,)
        Largest badness so far, after each generation.
    at_edge : bool array, (dims,)
        Coordinates at the end of what was searched: there may be worse beyond.
    """

    point: np.ndarray
    badness: float
    runs: int
    history: np.ndarray
    at_edge: np.ndarray


def worst_case(
    badness: Badness,
    dims: int,
    *,
    method: str = METHODS[0],
    runs: int = 2000,
    batch: int = 32,
    seed: int = 0,
    tail: float = TAIL,
) -> Worst:
    """Return the worst case within a number of runs; the search ends early at a run that fails: nothing is worse.

    Parameters
    ----------
    badness : function
    dims : int
        Number of coordinates.
    method : str
        "differential evolution" (looks everywhere) or "cma-es" (follows valleys of smooth figures; extra `search`).
    runs : int
        Most runs to take.
    batch : int
        Runs of a generation, which are computed together.
    seed : int
    tail : float
        Share of each coordinate left out at either end, below 0.5.
    """
    if method not in METHODS:
        raise InputError(
            f"method: found '{method}'; expected {' or '.join(METHODS)}; {did_you_mean(method, METHODS)}"
        )
    if dims < 1 or not 0 <= tail < 0.5 or batch < 5 or runs < 2 * batch:
        raise InputError(
            f"search: found {dims} coordinates, tail {tail:g}, {runs} runs in batches of {batch}; expected at least 1, below 0.5, "
            "batches of 5 or more and two of them"
        )
    seeker = _Seeker(badness, dims, runs, tail)
    try:
        if method == METHODS[0]:
            _differential_evolution(seeker, dims, batch, seed)
        else:
            _cma(seeker, dims, batch, seed)
    except _Enough:
        pass
    edge = np.abs(seeker.best - 0.5) > 0.5 - tail - 0.01 * (1 - 2 * tail)
    return Worst(seeker.best, seeker.value, seeker.take_sign, np.array(seeker.history), edge)


class _Enough(Exception):
    """The runs are used up, or a run failed."""


class _Seeker:
    """Counts runs and remembers the worst."""

    def __init__(self, badness: Badness, dims: int, runs: int, tail: float):
        self.badness, self.runs, self.tail = badness, runs, tail
        self.best, self.value = np.full(dims, 0.5), -math.inf
        self.take_sign = 0
        self.history: list[float] = []

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return the badness of points of the searched part, (rows, dims), scaled to the unit cube."""
        if self.take_sign + len(points) > self.runs:
            raise _Enough
        inside = self.tail + (1 - 2 * self.tail) * np.clip(points, 0, 1)
        found = np.asarray(self.badness(inside), dtype=float)
        found = np.where(np.isnan(found), math.inf, found)
        self.take_sign += len(points)
        k = int(np.argmax(found))
        if found[k] > self.value:
            self.value, self.best = float(found[k]), inside[k]
        self.history.append(self.value)
        if self.value == math.inf:
            raise _Enough
        return found


def _differential_evolution(seeker: _Seeker, dims: int, batch: int, seed: int) -> None:
    from scipy.optimize import differential_evolution

    generator = stream(seed)
    times = -(-batch // dims)  # a generation has at least as many points as there are coordinates
    if seeker.runs < times * dims:
        raise InputError(
            f"differential evolution: found {seeker.runs} runs for {dims} coordinates; expected at least one generation, "
            f"{times * dims} runs"
        )
    while True:  # until the runs are used up: each start with fresh points
        differential_evolution(
            lambda x: -seeker(x.T.reshape(-1, dims)),
            [(0.0, 1.0)] * dims,
            popsize=times,
            maxiter=seeker.runs,
            tol=1e-3,
            rng=generator,
            polish=False,
            vectorized=True,
            updating="deferred",
        )


def _cma(seeker: _Seeker, dims: int, batch: int, seed: int) -> None:
    cma = require_package("cma", "cma-es", "search")
    if dims < 2:
        raise InputError("cma-es: found one coordinate; expected two or more. Take 'differential evolution'")
    generator = stream(seed)
    while True:  # until the runs are used up: each start from another place
        start = np.full(dims, 0.5) if not seeker.take_sign else generator.random(dims)
        options = {
            "bounds": [0, 1],
            "popsize": batch,
            "seed": int(generator.integers(1, 2**31)),
            "verbose": -9,
            "verb_log": 0,
        }
        strategy = cma.CMAEvolutionStrategy(start, 0.25, options)
        while not strategy.stop():
            points = strategy.ask()
            strategy.tell(points, (-seeker(np.array(points))).tolist())
