"""Steps of equal length with inputs held during each, solved by Riccati recursions: a scheme whose plans have feedback gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from articulus.errors import InputError
from articulus.motion.trajectory.collocation import Layout
from articulus.motion.trajectory.ipopt import Solution
from articulus.motion.trajectory.problem import Phase, Problem
from articulus.motion.trajectory.program import NonlinearProgram
from articulus.motion.trajectory.riccati_plan import FeedbackPlan, riccati_plan
from articulus.motion.trajectory.schemes.scheme import Scheme
from articulus.motion.trajectory.task import Task

if TYPE_CHECKING:
    from articulus.motion.trajectory.plans import Plan
    from articulus.motion.trajectory.schemes.scheme import PlanSettings


@dataclass(frozen=True, eq=False)
class RiccatiSteps(Scheme):
    """Steps with inputs held.

    Parameters
    ----------
    method : str
        "rk4", or "semi_implicit_euler" of mechanisms.
    """

    method: str = "rk4"

    has_multipliers = has_switching = False

    def transcribe(
        self, problem: Problem, meshes: Sequence[np.ndarray]
    ) -> tuple[NonlinearProgram, list[Layout]]:
        layouts: list[Layout] = []
        for phase, mesh in zip(problem.phases, meshes, strict=True):
            first = layouts[-1].end if layouts else 0
            z = first + np.arange(len(mesh) * phase.size).reshape(len(mesh), phase.size)
            intervals = np.arange(len(mesh) - 1)[:, None]
            layouts.append(Layout(z, int(z[-1, -1]) + 1, mesh, intervals, np.diff(mesh)))
        free = np.full(layouts[-1].end, np.inf)
        return NonlinearProgram((), (), -free, free), layouts

    def costates(
        self, program: NonlinearProgram, layout: Layout, phase: int, solution: Solution
    ) -> np.ndarray:
        raise InputError(
            'plan.costates: found the scheme "riccati", which has gains in their place; expected another'
        )

    def switching(self, phase: Phase, layout: Layout, solution: Solution) -> np.ndarray:
        raise InputError(f'plan.switching: found the scheme "{self.name}"; expected collocation or shooting')

    def samples(
        self, layout: Layout, values: np.ndarray, rates: np.ndarray, duration: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rates before a point are those with which the trapezoidal rule comes to its values: inputs jump there."""
        steps = duration * layout.lengths[:, None]
        slope = np.diff(values, axis=0) / steps
        before = slope if self.order == 1 else 2 * slope - rates[:-1]
        return np.arange(len(rates)), rates, np.append(rates[:1], before, axis=0)

    def solve(
        self, problem: Problem, settings: PlanSettings, task: Task | None = None, guess: Plan | None = None
    ) -> FeedbackPlan:
        if settings.error is not None or settings.overload is not None or settings.solver.options:
            raise InputError(
                "riccati: found an error to refine to, an overload, or options of ipopt; expected none of them. It takes equal steps, as many "
                "as `intervals`"
            )
        if len(problem.phases) != 1:
            raise InputError(
                f"riccati: found {len(problem.phases)} phases; expected one. Several take collocation (hermite_simpson)"
            )
        return riccati_plan(problem.phases[0], self, settings.counts[0], settings.solver, task)


def riccati(method: str = "rk4") -> RiccatiSteps:
    """Return the scheme of the Riccati solver, by RK4 or "semi_implicit_euler"."""
    name = "riccati" if method == "rk4" else f"riccati {method}"
    return RiccatiSteps(name, np.zeros(1), np.ones(1), 4 if method == "rk4" else 1, method=method)
