"""Finite elements in time as a scheme: the weak Hamiltonian form with linear virtual states and costates (Bless, Hodges & Calise 1989)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from articulus.errors import InputError
from articulus.motion.trajectory.collocation import Layout
from articulus.motion.trajectory.ipopt import Solution
from articulus.motion.trajectory.mesh_search import ROUNDS, warn_of_error
from articulus.motion.trajectory.plans import Plan
from articulus.motion.trajectory.problem import Phase, Problem
from articulus.motion.trajectory.program import NonlinearProgram
from articulus.motion.trajectory.schemes.collocation import Collocation
from articulus.motion.trajectory.task import Task
from articulus.motion.trajectory.time_elements import costates, solve_weak

if TYPE_CHECKING:
    from articulus.motion.trajectory.schemes.scheme import PlanSettings


@dataclass(frozen=True, eq=False)
class WeakForm(Collocation):
    """Finite elements in time: states are their values in the elements and at the nodes, inputs constant in each element.

    Its equations are the conditions of optimality of the midpoint rule.
    """

    has_switching = False

    def costates(
        self, program: NonlinearProgram, layout: Layout, phase: int, solution: Solution
    ) -> np.ndarray:
        return costates(program, layout, phase, solution)

    def switching(self, phase: Phase, layout: Layout, solution: Solution) -> np.ndarray:
        raise InputError('plan.switching: found the scheme "weak"; expected collocation or shooting')

    def solve(
        self, problem: Problem, settings: PlanSettings, task: Task | None = None, guess: Plan | None = None
    ) -> Plan:
        durations = None
        if guess is not None:
            given = [guess.solution.x[layout.duration] for layout in guess.layouts]
            durations = [float(np.clip(T, *phase.duration)) for T, phase in zip(given, problem.phases)]
        level = solve_weak(problem, self, settings, durations, rounds=ROUNDS)
        plan = Plan(
            problem, level.solution, level.program, level.layouts, self, level.meshes, task, level.error
        )
        if settings.error is not None and plan.converged and plan.error > settings.error:
            warn_of_error(plan.error, settings.error)
        return plan

    def loosen(self, phase: Phase, layout: Layout, low: np.ndarray, high: np.ndarray) -> None:
        super().loosen(phase, layout, low, high)
        middle = np.ix_(
            layout.intervals[:, 1], phase.states
        )  # in an element a state is the mean of its nodes
        low[middle], high[middle] = -np.inf, np.inf

    def equation_points(self, layout: Layout) -> np.ndarray:
        return layout.intervals[:, 1]

    def samples(
        self, layout: Layout, values: np.ndarray, rates: np.ndarray, duration: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        constant = rates[layout.intervals[:, 1]]
        after, before = np.append(constant, constant[-1:], axis=0), np.append(constant[:1], constant, axis=0)
        return np.append(layout.intervals[:, 0], layout.intervals[-1, -1]), after, before

    def limit_points(self, count: int) -> np.ndarray:
        return np.array([0.5])


def weak() -> WeakForm:
    """Return finite elements in time, order 2."""
    return WeakForm(
        "weak",
        np.array([0, 0.5, 1]),
        np.array([0.0, 1, 0]),
        2,
        A=np.array([[-1.0, 0, 1], [-0.5, 1, -0.5]]),
        B=np.array([[0.0, -1, 0], [0, 0, 0]]),
    )
