"""Sequential quadratic programming."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.design.methods.base import Evaluations, Minimizer, finish, restore
from articulus.design.program import DesignProgram, Optimum

FAR = 1e3
"""Excess that stands for a design without figures."""


@dataclass(frozen=True)
class QuadraticSteps(Minimizer):
    """Sequential quadratic programming with the exact derivatives (SLSQP by D. Kraft, of SciPy), restarted where its line search fails.

    Parameters
    ----------
    iterations : int
        At most.
    tolerance : float
        Relative change of the objective at which the search ends.
    """

    name = "quadratic steps"
    iterations: int = 600
    tolerance: float = 1e-9

    def minimize(self, program: DesignProgram, start: np.ndarray) -> Optimum:
        from scipy.optimize import minimize

        seen = Evaluations(program)
        z = program.to_scaled(start)
        first = seen.at(z)
        size = max(abs(first.objective), np.finfo(float).tiny) if first.defined else 1.0
        low, high = program.to_scaled(program.lower), program.to_scaled(program.upper)

        def value(z: np.ndarray) -> float:
            p = seen.at(z)
            return p.objective / size if p.defined else FAR

        def slope(z: np.ndarray) -> np.ndarray:
            return seen.at(z).slope / size

        def room(z: np.ndarray) -> np.ndarray:
            p = seen.at(z)
            return -p.limits if p.defined else np.full(len(program.limits), -FAR)

        rule = {"type": "ineq", "fun": room, "jac": lambda z: -seen.at(z).slopes}
        best, message, done = np.inf, "", False
        left = self.iterations
        for _ in range(8):  # a line search that fails is tried again with a fresh second derivative
            result = minimize(
                value, z, jac=slope, bounds=list(zip(low, high)), constraints=[rule] if program.limits else [], method="SLSQP",
                options={"maxiter": max(min(left, 200), 1), "ftol": self.tolerance},
            )  # fmt: skip
            left -= result.nit
            z, done, message = result.x, bool(result.success), str(result.message)
            if not done:
                z, _ = restore(seen, z, low, high)
            merit = seen.at(z).objective / size + 10 * min(seen.at(z).excess, FAR)
            if merit >= best - 1e-7 * abs(best) or left <= 0:
                break
            best = merit
        return finish(program, z, start, seen.count, self.name, done, message)
