"""Collocation schemes: where the equations hold within an interval, and how states follow from rates there.

With states x_j and rates r_j at the points c_j of an interval of length h, a scheme is the linear relations
sum_j A_ij x_j + h sum_j B_ij r_j = 0 and the weights of its quadrature. The first and the last point are the ends, which neighbors share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from articulus.errors import Finding, InputError
from articulus.motion.trajectory.collocation import (
    Layout,
    integral,
    loosen_copies,
    state_relations,
    transcribe,
)
from articulus.motion.trajectory.ipopt import Solution
from articulus.motion.trajectory.mesh_search import keep_limits, refine_plan, solve_first
from articulus.motion.trajectory.optimality import collocation_costates, switching
from articulus.motion.trajectory.problem import Phase, Problem
from articulus.motion.trajectory.program import NonlinearProgram, Part
from articulus.motion.trajectory.schemes.scheme import PlanSettings, Scheme
from articulus.motion.trajectory.task import Task

if TYPE_CHECKING:
    from articulus.motion.trajectory.plans import Plan


@dataclass(frozen=True, eq=False)
class Collocation(Scheme):
    """A collocation scheme.

    Parameters
    ----------
    A, B : array, (k, s)
        Relations of states and rates at the points.
    structured : bool
        Whether `condensed` knows the structure of its programs.
    """

    A: np.ndarray
    B: np.ndarray
    structured: bool = False

    def transcribe(
        self, problem: Problem, meshes: Sequence[np.ndarray]
    ) -> tuple[NonlinearProgram, list[Layout]]:
        return transcribe(problem, meshes, self)

    def costates(
        self, program: NonlinearProgram, layout: Layout, phase: int, solution: Solution
    ) -> np.ndarray:
        return collocation_costates(program, layout, phase, self, solution)

    def switching(self, phase: Phase, layout: Layout, solution: Solution) -> np.ndarray:
        return switching(phase, layout, self, solution)

    def solve(
        self, problem: Problem, settings: PlanSettings, task: Task | None = None, guess: Plan | None = None
    ) -> Plan:
        plan = solve_first(problem, self, settings, task, guess)
        if settings.error is not None:
            plan = refine_plan(plan, self, settings.error, settings.solver)
        if settings.overload is not None:
            plan = keep_limits(plan, self, settings.overload, settings.solver)
        return plan

    # parts of the program

    def relations(self, phase: Phase, layout: Layout) -> tuple[Part, Part | None]:
        """Return how states follow from rates, and the integral of the running cost, if there is one."""
        running = None if phase.running is None else integral(phase, layout, self.quadrature(layout))
        return state_relations(phase, layout, self), running

    def loosen(self, phase: Phase, layout: Layout, low: np.ndarray, high: np.ndarray) -> None:
        """Take bounds of every time from entries that follow from bounded ones."""
        if self.B.any(0).sum() == 1:
            loosen_copies(phase, layout, self, low, high)

    @property
    def to_start(self) -> np.ndarray:
        """Factors of the values at all points but the first, whose polynomial they continue to the start of the interval."""
        c = self.points[1:]
        return np.array([np.prod([-o / (p - o) for o in np.delete(c, k)]) for k, p in enumerate(c)])

    def interval_values(self, values: np.ndarray) -> np.ndarray:
        """Return values at the points, (intervals, points, ...), of which the interval itself has the first: where the scheme uses no rate
        there, the first is that of the interval before and the polynomial of the others takes its place."""
        if self.B[:, 0].any() or len(self.points) < 2:
            return values
        out = values.copy()
        out[:, 0] = np.tensordot(self.to_start, values[:, 1:], (0, 1))
        return out


def hermite_simpson() -> Collocation:
    """Return the Hermite-Simpson scheme: ends and middle, order 4 (Hargraves & Paris 1987)."""
    return Collocation(
        "hermite_simpson",
        np.array([0, 0.5, 1]),
        np.array([1 / 6, 4 / 6, 1 / 6]),
        4,
        A=np.array([[-1, 0, 1], [-0.5, 1, -0.5]]),
        B=np.array([[-1 / 6, -4 / 6, -1 / 6], [-1 / 8, 0, 1 / 8]]),
        structured=True,
    )


@lru_cache(maxsize=16)
def lobatto(points: int) -> Collocation:
    """Return the scheme on the Legendre-Gauss-Lobatto points of an interval, both ends among them, order 2 points - 2."""
    if points < 2:
        raise InputError(Finding("lobatto", f"{points} points", "2 or more"))
    inner = np.sort(np.polynomial.legendre.Legendre.basis(points - 1).deriv().roots().real)
    c = np.concatenate([[0.0], (inner + 1) / 2, [1.0]])
    integrals = _integrals(c, c)
    A = np.hstack([-np.ones((points - 1, 1)), np.eye(points - 1)])
    return Collocation(f"lobatto {points}", c, integrals[-1], 2 * points - 2, A=A, B=-integrals[1:])


@lru_cache(maxsize=16)
def radau(points: int) -> Collocation:
    """Return the scheme on the flipped Legendre-Gauss-Radau points of an interval, its end among them, order 2 points - 1.

    The rates at the start of an interval are those of the interval before; they do not enter.
    """
    if points < 1:
        raise InputError(Finding("radau", f"{points} points", "1 or more"))
    basis = np.polynomial.legendre.Legendre.basis
    roots = np.sort((basis(points) - basis(points - 1)).roots().real)
    c = (roots + 1) / 2
    c[-1] = 1.0
    integrals = _integrals(c, c)
    A = np.hstack([-np.ones((points, 1)), np.eye(points)])
    B = np.hstack([np.zeros((points, 1)), -integrals])
    weights = np.concatenate([[0.0], integrals[-1]])
    return Collocation(f"radau {points}", np.append(0.0, c), weights, 2 * points - 1, A=A, B=B)


def _integrals(points: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the integrals from 0 to each end of the Lagrange polynomials on the points, (ends, points)."""
    x, w = np.polynomial.legendre.leggauss(len(points) + 1)
    out = np.zeros((len(ends), len(points)))
    for j in range(len(points)):
        others = np.delete(points, j)
        for i, end in enumerate(ends):
            at = end * (x + 1) / 2
            values = np.prod((at[:, None] - others) / (points[j] - others), axis=1)
            out[i, j] = end / 2 * (w @ values)
    return out
