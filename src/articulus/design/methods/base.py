"""What a method of minimization is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from articulus.design.program import DesignProgram, Optimum, Point

KEPT = 1e-6
"""Relative excess up to which a limit counts as kept."""
PENALTY = 3.0
"""Relative cost of a limit that is broken, over the relative excess: above the relative multipliers of limits that matter."""


class Minimizer(ABC):
    """Goes from a start to a design that nothing near it is better than. One file each, and a line in ALL_METHODS."""

    name: ClassVar[str]

    @abstractmethod
    def minimize(self, program: DesignProgram, start: np.ndarray) -> Optimum:
        """Return the best design that is found from a start."""


class Evaluations:
    """Points of a program in scaled variables; counts them and keeps the last."""

    def __init__(self, program: DesignProgram):
        self.program, self.count = program, 0
        self._last: tuple[bytes, Point] | None = None

    def at(self, z: np.ndarray) -> Point:
        """Return the point of scaled variables, its derivatives by these."""
        key = z.tobytes()
        if self._last is None or self._last[0] != key:
            x = self.program.from_scaled(z)
            p, rates = self.program.evaluate(x), self.program.rates(x)
            self._last = (
                key,
                Point(p.objective, p.slope * rates, p.limits, p.slopes * rates, p.defined, p.found),
            )
            self.count += 1
        return self._last[1]


def merit(point: Point) -> float:
    """Return the objective with what breaking limits costs."""
    return point.objective * (1 + PENALTY * point.excess) if point.defined else np.inf


def defined(seen: Evaluations, z: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, Point]:
    """Return the farthest design along a step, halved as often as needed, that has figures."""
    for _ in range(30):
        point = seen.at(z + step)
        if point.defined:
            return z + step, point
        step = step / 2
    return z, seen.at(z)


def restore(seen: Evaluations, z: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, Point]:
    """Return a design near that keeps its limits, by a few Gauss-Newton steps on those that are broken."""
    point = seen.at(z)
    for _ in range(12):
        broken = point.limits > KEPT / 2
        if not broken.any():
            break
        J = np.where((z <= low) | (z >= high), 0.0, point.slopes)[broken]
        step = -np.linalg.lstsq(J, point.limits[broken] + KEPT / 4, rcond=None)[0]
        trial, new = defined(seen, z, np.clip(z + step, low, high) - z)
        if not new.excess < point.excess:
            break
        z, point = trial, new
    return z, point


def descend(
    seen: Evaluations,
    z: np.ndarray,
    step_within: Callable[[Point, np.ndarray, np.ndarray], tuple[np.ndarray, float]],
    low: np.ndarray,
    high: np.ndarray,
    box: float,
    tolerance: float,
    iterations: int,
) -> tuple[np.ndarray, Point, bool]:
    """Return the end of steps within a box that grows where a step keeps its promise, and shrinks where it does not.

    Parameters
    ----------
    step_within : function of a point and of the lower and upper bounds of the step
        Returns the step and the merit that it promises.
    """
    point = seen.at(z)
    for _ in range(iterations):
        step, promised = step_within(point, np.maximum(low - z, -box), np.minimum(high - z, box))
        z_new, new = defined(seen, z, step)
        gain, promise = merit(point) - merit(new), merit(point) - promised
        if gain > 0:
            z, point = z_new, new
        box = min(box * (1.5 if gain > 0.75 * promise else 1.0 if gain > 0.25 * promise else 0.5), 1.0)
        if 0 <= promise < tolerance * box * merit(point):
            return z, point, True
        if box < 0.01 * tolerance:
            break
    return z, point, False


def finish(
    program: DesignProgram,
    z: np.ndarray,
    start: np.ndarray,
    used: int,
    method: str,
    converged: bool,
    message: str,
) -> Optimum:
    """Return the optimum at scaled variables."""
    x = program.from_scaled(z)
    point = program.evaluate(x)
    kept = point.excess <= 10 * KEPT
    return Optimum(program, x, point, converged and kept, used + 1, method, message, start)
