"""Sequential approximations in inverse variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.design.methods.base import Evaluations, Minimizer, descend, finish, merit, restore
from articulus.design.program import DesignProgram, Optimum, Point

FLAT = 0.5
"""Quadratic term of variables that are no sizes, over the objective."""
MOST = 1e4
"""Largest dual variable, over the objective: beyond it a limit cannot be met within the move limits."""


@dataclass(frozen=True)
class SequentialApproximations(Minimizer):
    """A sequence of approximate problems: limits to first order in the inverse sizes, within move limits that shrink where the
    approximation is not good (in the source they shrink by themselves).

    Each approximate problem is separable and convex, and is solved by its dual, which has a variable for each limit (Fleury's dual
    method; the source uses feasible directions). Other variables enter to first order, with a small quadratic term that makes the step unique.

    Parameters
    ----------
    first : float
        Ratio by which a size may change in the first step.
    iterations : int
        At most.
    tolerance : float
        Relative change that steps promise, over their size, at which the search ends.

    Source: McLaren & Slater 1989, section 3.
    """

    name = "approximations"
    first: float = 1.5
    iterations: int = 100
    tolerance: float = 1e-5

    def minimize(self, program: DesignProgram, start: np.ndarray) -> Optimum:
        seen = Evaluations(program)
        low, high = program.to_scaled(program.lower), program.to_scaled(program.upper)
        z = program.to_scaled(start)
        if not seen.at(z).defined:
            return finish(program, z, start, seen.count, self.name, False, "the start has no figures")

        def within(point: Point, below: np.ndarray, above: np.ndarray) -> tuple[np.ndarray, float]:
            return _approximate(program, point, below, above)

        z, _, done = descend(seen, z, within, low, high, np.log(self.first), self.tolerance, self.iterations)
        z, _ = restore(seen, z, low, high)
        message = "objective stationary" if done else "no step keeps what it promises; still falling"
        return finish(program, z, start, seen.count, self.name, done, message)


def _approximate(
    program: DesignProgram, point: Point, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the step of the approximate problem and the merit that it promises; derivatives by the logarithm of a size are those by minus the inverse at it."""
    size = max(abs(point.objective), np.finfo(float).tiny)
    problem = _Separable(point, point.slope / size, program.sizes & (point.slope > 0), low, high)
    step = problem.dual(_newton(problem, _rise(problem, len(program.limits))))[1]
    cost, limits = problem.predict(step)
    return step, merit(Point(point.objective + size * cost, point.slope, limits, point.slopes))


def _rise(problem: _Separable, count: int) -> np.ndarray:
    """Return duals near the best, one after another by bisection: the slope of the dual falls with each of them."""
    duals = np.zeros(count)
    for _ in range(6):
        for k in range(count):
            low, high = -12.0, np.log(MOST)
            duals[k] = 0.0
            if problem.dual(duals)[2][k] <= 0:
                continue
            for _ in range(20):
                duals[k] = np.exp((low + high) / 2)
                low, high = (
                    ((low + high) / 2, high) if problem.dual(duals)[2][k] > 0 else (low, (low + high) / 2)
                )
    return duals


def _newton(problem: _Separable, duals: np.ndarray) -> np.ndarray:
    """Return the duals after Newton's method on the concave dual."""
    value, _, g, curvature = problem.dual(duals)
    for _ in range(20):
        free = (duals > 0) | (g > 0)
        if np.abs(g[free]).max(initial=0.0) < 1e-9:
            break
        direction = np.zeros_like(duals)
        H = curvature[np.ix_(free, free)]
        direction[free] = np.linalg.solve(H + 1e-12 * (1 + np.trace(H)) * np.eye(len(H)), g[free])
        for share in 0.5 ** np.arange(12):
            tried = np.clip(duals + share * direction, 0.0, MOST)
            new = problem.dual(tried)
            if new[0] > value:
                duals, (value, _, g, curvature) = tried, new
                break
        else:
            break
    return duals


@dataclass(frozen=True, eq=False)
class _Separable:
    """Least sum of c x / x0 over inverse sizes and of c dz + dz^2 / 4 over the others, under limits to first order, in a box."""

    point: Point
    c: np.ndarray
    inverse: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def dual(self, duals: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Return the value of the Lagrangian's minimum, the step there, and first and minus second derivatives by the duals."""
        inverse, c, slopes = self.inverse, self.c, self.point.slopes
        pull = -(duals @ slopes)
        up = inverse & (pull > 0)
        logs = np.where(up, 0.5 * np.log(np.where(up, pull, 1.0) / np.where(inverse, c, 1.0)), -np.inf)
        free = np.where(inverse, logs, (pull - np.where(inverse, 0.0, c)) / FLAT)
        step = np.clip(free, self.low, self.high)
        rate = np.where(inverse, np.exp(-step) / (2 * np.where(up, pull, 1.0)), 1 / FLAT) * (free == step)
        cost, g = self.predict(step)
        cost += FLAT / 2 * np.sum(np.where(inverse, 0.0, step) ** 2)
        return cost + float(duals @ g), step, g, (slopes * rate) @ slopes.T

    def predict(self, step: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the change of the objective, over the objective, and the limits after a step."""
        change = np.where(self.inverse, 1 - np.exp(-step), step)
        cost = np.sum(self.c * np.where(self.inverse, np.exp(step) - 1, step))
        return float(cost), self.point.limits + self.point.slopes @ change
