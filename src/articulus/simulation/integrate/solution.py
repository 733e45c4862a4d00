"""What an adaptive integration returns: points, dense output and statistics."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from articulus.errors import InputError


@dataclasses.dataclass(frozen=True)
class Statistics:
    """What an integration cost.

    Parameters
    ----------
    steps, rejections : int
        Steps that were accepted and that were tried in vain.
    evaluations, jacobians, factorizations : int
    """

    steps: int = 0
    rejections: int = 0
    evaluations: int = 0
    jacobians: int = 0
    factorizations: int = 0

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(
            self.steps + other.steps,
            self.rejections + other.rejections,
            self.evaluations + other.evaluations,
            self.jacobians + other.jacobians,
            self.factorizations + other.factorizations,
        )

    def __str__(self) -> str:
        return f"{self.steps} steps, {self.rejections} rejected, {self.evaluations} evaluations"

    @property
    def attempts(self) -> int:
        """Return the number of steps, accepted or not."""
        return self.steps + self.rejections


@dataclasses.dataclass(frozen=True)
class Piece:
    """Dense output of one step: x = sum_k coefficients_k theta^k with theta = (t - start) / (end - start)."""

    start: float
    end: float
    coefficients: np.ndarray

    def __call__(self, t: np.ndarray) -> np.ndarray:
        """Return x, (..., n), at times t, (...)."""
        theta = ((t - self.start) / (self.end - self.start))[..., None]
        out = np.zeros((*np.shape(t), self.coefficients.shape[1]))
        for coefficient in self.coefficients[::-1]:
            out = out * theta + coefficient
        return out


@dataclasses.dataclass(frozen=True)
class IntegrationSolution:
    """A solution as a function of time.

    Parameters
    ----------
    t : array, (steps + 1,) [s]
    x : array, (steps + 1, n)
        The accepted points.
    pieces : tuple of Piece
        Dense output between them.
    state : AdaptiveState
        From which the integration can go on.
    """

    t: np.ndarray
    x: np.ndarray
    pieces: tuple[Piece, ...]
    state: Any

    @classmethod
    def of(cls, states: Sequence[Any], pieces: Sequence[Piece]) -> IntegrationSolution:
        """Return the solution through successive states."""
        return cls(
            np.array([s.t for s in states]), np.array([s.x for s in states]), tuple(pieces), states[-1]
        )

    @property
    def statistics(self) -> Statistics:
        """Return the cost so far, that of earlier parts included."""
        return self.state.statistics

    def __call__(self, t: Any) -> np.ndarray:
        """Return x, (..., n), at times t [s], (...), within the range of the solution."""
        t = np.asarray(t, dtype=float)
        low, high = min(self.t[0], self.t[-1]), max(self.t[0], self.t[-1])
        if not np.all((t >= low) & (t <= high)):
            raise InputError(f"time {t} lies outside of the solution; expected {low:g} to {high:g} s")
        if not self.pieces:
            return np.broadcast_to(self.x[0], (*t.shape, self.x.shape[1])).copy()
        sign = 1.0 if self.t[-1] > self.t[0] else -1.0
        index = np.searchsorted(sign * self.t, sign * t, side="right") - 1
        index = np.clip(index, 0, len(self.pieces) - 1)
        out = np.empty((*t.shape, self.x.shape[1]))
        for k in np.unique(index):
            out[index == k] = self.pieces[k](t[index == k])
        return out
