"""`Scheme`: how a problem on a mesh becomes numbers to search for, and what those numbers say about the motion.

One class for each kind of transcription. A plan asks its scheme for costates, switching functions and the inputs to replay, and
`solve_problem` asks it for the plan; nobody compares names of schemes.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from articulus.motion.trajectory.collocation import Layout
from articulus.motion.trajectory.ipopt import Solution, SolverSettings
from articulus.motion.trajectory.problem import Phase, Problem
from articulus.motion.trajectory.program import NonlinearProgram
from articulus.motion.trajectory.task import Task

if TYPE_CHECKING:
    from articulus.motion.trajectory.plans import Plan


@dataclass(frozen=True)
class PlanSettings:
    """What is asked of a plan besides its problem.

    Parameters
    ----------
    counts : sequence of int
        Intervals of the first mesh, for each phase.
    solver : SolverSettings
    error : float or None
        Estimated error of the states over their sizes, up to which the mesh is refined.
    overload : float or None
        Part of a limit by which it may be exceeded between the points of the mesh.
    """

    counts: Sequence[int]
    solver: SolverSettings
    error: float | None = None
    overload: float | None = None


@dataclass(frozen=True, eq=False)
class Scheme(abc.ABC):
    """A transcription.

    Parameters
    ----------
    name : str
    points : array, (s,)
        Points of an interval, from 0 to 1.
    weights : array, (s,)
        Weights of the quadrature of the running cost.
    order : int
        Order of the states at the ends of intervals.
    """

    name: str
    points: np.ndarray
    weights: np.ndarray
    order: int

    has_multipliers = True
    """Whether its programs have multipliers, from which costates follow."""
    has_switching = True
    """Whether multipliers of the bounds of inputs are known at every point."""

    @abc.abstractmethod
    def transcribe(
        self, problem: Problem, meshes: Sequence[np.ndarray]
    ) -> tuple[NonlinearProgram, list[Layout]]:
        """Return the program of a problem, and where each phase is in it; meshes are the ends of intervals of each phase, from 0 to 1."""

    @abc.abstractmethod
    def costates(
        self, program: NonlinearProgram, layout: Layout, phase: int, solution: Solution
    ) -> np.ndarray:
        """Return dJ/dx at the points of a phase, (points, states)."""

    @abc.abstractmethod
    def switching(self, phase: Phase, layout: Layout, solution: Solution) -> np.ndarray:
        """Return S = dH/du at the points of a phase, (points, inputs)."""

    def replay(
        self, layout: Layout, values: np.ndarray, duration: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return values at the points, (points, n), as polynomials of the part s of each interval that has passed, from 0 to 1.

        Starts (intervals,) [s], lengths (intervals,) [s] and coefficients (intervals, powers, n), lowest power first.
        """
        powers = np.linalg.inv(np.vander(self.points, increasing=True))
        starts = layout.fractions[layout.intervals[:, 0]] * duration
        coefficients = np.einsum("kp,ipn->ikn", powers, self.interval_values(values[layout.intervals]))
        return starts, layout.lengths * duration, coefficients

    def samples(
        self, layout: Layout, values: np.ndarray, rates: np.ndarray, duration: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the points between which a motion is smooth, (k,), and rates after and before each, (k, n), of values and rates at all points."""
        inside = self.interval_values(rates[layout.intervals])
        after = np.append(inside[:, :-1].reshape(-1, rates.shape[1]), inside[-1:, -1], axis=0)
        before = np.append(inside[:1, 0], inside[:, 1:].reshape(-1, rates.shape[1]), axis=0)
        return np.arange(len(rates)), after, before

    @abc.abstractmethod
    def solve(
        self, problem: Problem, settings: PlanSettings, task: Task | None = None, guess: Plan | None = None
    ) -> Plan:
        """Return the plan of a problem, begun at the durations of a guess."""

    # what follows from the points

    def interval_values(self, values: np.ndarray) -> np.ndarray:
        """Return values at the points, (intervals, points, ...), as the polynomial of each interval has them."""
        return values

    def equation_points(self, layout: Layout) -> np.ndarray:
        """Return the numbers of the points at which equations and rates hold."""
        return np.arange(len(layout.z))

    def limit_points(self, count: int) -> np.ndarray:
        """Return the parts of an interval at which limits are examined, `count` of them where its motion is a polynomial."""
        return np.linspace(0.0, 1.0, count)

    def nodes_at_jumps(self, at: np.ndarray) -> np.ndarray:
        """Return where a mesh needs nodes for inputs that jump at some fractions of the duration."""
        return at

    def quadrature(self, layout: Layout) -> np.ndarray:
        """Return the weights of all points in an integral over the fractions of the duration, (points,)."""
        out = np.zeros(len(layout.z))
        np.add.at(out, layout.intervals, layout.lengths[:, None] * self.weights)
        return out
