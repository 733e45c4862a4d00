"""Continuation in the limits with linear programs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from articulus.design.methods.base import Evaluations, Minimizer, defined, descend, finish, merit, restore
from articulus.design.methods.quadratic import QuadraticSteps
from articulus.design.program import DesignProgram, Optimum, Point


@dataclass(frozen=True)
class Continuation(Minimizer):
    """The limits of the start are moved to those that are wanted: g(x) - (1 - gamma) g(start) <= 0, gamma from 0 to 1.

    For each gamma linear programs are solved within a box that shrinks, until the neighboring problem is satisfied; where that takes too
    long, the box grows back. At gamma = 1 they go on until the objective is stationary.

    Parameters
    ----------
    steps : int
        Steps of gamma.
    box : float
        First half width of the box, in logarithms of sizes and in scales of other variables.
    shrink : float
        Factor of the box from one linear program to the next.
    programs : int
        Linear programs in a row before the box grows back.
    tolerance : float
        Relative change that linear programs promise, over the size of their box, at which the search ends.
    iterations : int
        Linear programs at gamma = 1, at most.
    polish : bool
        Whether quadratic steps follow: linear programs come slowly to an optimum that is no corner.

    Source: McLaren & Slater 1989, section 3.
    """

    name = "continuation"
    steps: int = 40
    box: float = 0.1
    shrink: float = 0.75
    programs: int = 15
    tolerance: float = 1e-5
    iterations: int = 100
    polish: bool = True

    def minimize(self, program: DesignProgram, start: np.ndarray) -> Optimum:
        seen = Evaluations(program)
        low, high = program.to_scaled(program.lower), program.to_scaled(program.upper)
        z = program.to_scaled(start)
        point = first = seen.at(z)
        if not first.defined:
            return finish(program, z, start, seen.count, self.name, False, "the start has no figures")
        for gamma in np.linspace(0.0, 1.0, self.steps + 1)[1:]:
            z, point = self._satisfy(seen, z, point, low, high, (1 - gamma) * first.limits)
        nothing = np.zeros(len(program.limits))

        def within(point: Point, below: np.ndarray, above: np.ndarray) -> tuple[np.ndarray, float]:
            step = linear_step(point, nothing, below, above)
            limits = point.limits + point.slopes @ step
            return step, merit(Point(point.objective + point.slope @ step, point.slope, limits, point.slopes))

        z, _, done = descend(seen, z, within, low, high, self.box, self.tolerance, self.iterations)
        z, point = restore(seen, z, low, high)
        if self.polish:
            optimum = QuadraticSteps().minimize(program, program.from_scaled(z))
            if merit(optimum.point) <= merit(point):
                return dataclasses.replace(
                    optimum, method=self.name, start=start, evaluations=optimum.evaluations + seen.count
                )
        message = "objective stationary" if done else "no step keeps what it promises; still falling"
        return finish(program, z, start, seen.count, self.name, done, message)

    def _satisfy(
        self,
        seen: Evaluations,
        z: np.ndarray,
        point: Point,
        low: np.ndarray,
        high: np.ndarray,
        slack: np.ndarray,
    ) -> tuple[np.ndarray, Point]:
        """Return a design that satisfies the problem of one gamma."""
        over = (point.limits - slack).max(initial=0.0)
        for _ in range(2):
            box = self.box
            for _ in range(self.programs):
                step = linear_step(point, slack, np.maximum(low - z, -box), np.minimum(high - z, box))
                z_new, new = defined(seen, z, step)
                over_new = (new.limits - slack).max(initial=0.0)
                box *= self.shrink
                if over_new > max(0.05, over):  # the linear program promised too much
                    continue
                z, point, over = z_new, new, over_new
                if over <= 1e-3:
                    return z, point
        return z, point


def linear_step(point: Point, slack: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the step within a box that lowers the objective most, to first order, under the limits; else the one that breaks them least."""
    from scipy.optimize import linprog

    n, m = point.slope.size, point.limits.size
    size = max(np.abs(point.slope).max(), np.finfo(float).tiny)
    if not m:
        return np.where(point.slope > 0, low, high)
    # elastic limits: an excess that costs more than anything else
    costs = np.append(point.slope / size, 1e4)
    rows = np.column_stack([point.slopes, -np.ones(m)])
    found = linprog(
        costs, rows, slack - point.limits, bounds=[*zip(low, high), (0.0, None)], method="highs-ds",
        options={"presolve": False},
    )  # fmt: skip
    return found.x[:n] if found.x is not None else np.zeros(n)
