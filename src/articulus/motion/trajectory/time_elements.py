"""Finite elements in time: the weak Hamiltonian form of an optimal control problem (Bless, Hodges & Calise 1989).

States and costates are constant within each element and have values of their own at the nodes; their variations are linear, so that
no rate of a state or a costate appears. The equations that follow are the conditions of optimality of the midpoint rule
(`schemes.weak`), and are solved as such: on two elements per phase from the guess of the problem by ipopt, which tells minima from
other stationary points, then on meshes of twice as many elements by Newton's method from the solution before, costates included. The
difference of the last two meshes tells the error.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from articulus.motion.trajectory.collocation import Layout, first_guess
from articulus.motion.trajectory.ipopt import Solution, SolverSettings, solve
from articulus.motion.trajectory.newton import newton
from articulus.motion.trajectory.problem import Problem
from articulus.motion.trajectory.program import NonlinearProgram

if TYPE_CHECKING:
    from articulus.motion.trajectory.schemes.scheme import PlanSettings, Scheme

FIRST = 2
"""Elements per phase of the first mesh."""
ENDED = ("User_Requested_Stop", "Maximum_WallTime_Exceeded")
"""What ends the search for good, on whatever mesh."""


@dataclass(frozen=True, eq=False)
class Level:
    """The solution on one mesh.

    Parameters
    ----------
    meshes : tuple of array
        Meshes of each phase, from 0 to 1.
    program : NonlinearProgram
    layouts : tuple of Layout
    solution : Solution
    error : float
        Estimated error of the states over their sizes, and of the durations over themselves; infinite without a coarser mesh.
    """

    meshes: tuple[np.ndarray, ...]
    program: NonlinearProgram
    layouts: tuple[Layout, ...]
    solution: Solution
    error: float = np.inf


def ladder(counts: Sequence[int]) -> list[list[int]]:
    """Return numbers of elements, coarse to fine: halved until each is two or less."""
    steps = [list(counts)]
    while max(steps[0]) > FIRST:
        steps.insert(0, [max(-(-n // 2), min(n, FIRST)) for n in steps[0]])
    return steps


def on_mesh(
    problem: Problem,
    counts: Sequence[int],
    before: Level | None,
    scheme: Scheme,
    settings: SolverSettings,
    durations: Sequence[float] | None = None,
) -> Level:
    """Return the solution with so many elements in each phase, from that on a coarser mesh if there is one that converged.

    Durations [s] are those to begin with; those of `first_guess` if not given.
    """
    meshes = tuple(np.linspace(0.0, 1.0, n + 1) for n in counts)
    program, layouts = scheme.transcribe(problem, meshes)
    if before is None or not before.solution.converged:
        start = first_guess(problem, layouts)
        for layout, T in zip(layouts, durations or ()):
            start[layout.duration] = T
    else:
        start = np.concatenate([_move_to_mesh(before, k, layout) for k, layout in enumerate(layouts)])
        solution = newton(program, start, tolerance=settings.tolerance, time_limit=settings.time_limit)
        if solution.converged:
            return Level(
                meshes, program, tuple(layouts), solution, _difference(problem, before, layouts, solution.x)
            )
    solution = solve(
        program,
        start,
        tolerance=settings.tolerance,
        iterations=settings.iterations,
        time_limit=settings.time_limit,
        options=settings.options,
    )
    error = (
        np.inf
        if before is None or not before.solution.converged
        else _difference(problem, before, layouts, solution.x)
    )
    return Level(meshes, program, tuple(layouts), solution, error)


def _move_to_mesh(before: Level, phase: int, layout: Layout) -> np.ndarray:
    """Return the unknowns of a phase on another mesh, by interpolation."""
    old, x = before.layouts[phase], before.solution.x
    z = [np.interp(layout.fractions, old.fractions, column) for column in x[old.z].T]
    return np.append(np.column_stack(z).ravel(), x[old.duration])


def _difference(problem: Problem, before: Level, layouts: Sequence[Layout], x: np.ndarray) -> float:
    """Return the error that the difference from a coarser mesh tells, by the order of two: largest over nodes, states and durations."""
    worst = 0.0
    for phase, old, new in zip(problem.phases, before.layouts, layouts):
        ratio = (len(new.intervals) / len(old.intervals)) ** 2
        if ratio <= 1:
            continue
        nodes = np.append(old.intervals[:, 0], len(old.z) - 1)
        ours = np.append(new.intervals[:, 0], len(new.z) - 1)
        for k in phase.states:
            size = max(float(np.abs(x[new.z[:, k]]).max()), 1e-3 * float(phase.scale[k]))
            now = np.interp(old.fractions[nodes], new.fractions[ours], x[new.z[ours, k]])
            off = float(np.abs(now - before.solution.x[old.z[nodes, k]]).max())
            worst = max(worst, off / size / (ratio - 1))
        change = abs(before.solution.x[old.duration] / x[new.duration] - 1)
        worst = max(worst, change / (ratio - 1))
    return worst


def solve_weak(
    problem: Problem,
    scheme: Scheme,
    settings: PlanSettings,
    durations: Sequence[float] | None = None,
    *,
    rounds: int,
) -> Level:
    """Return the solution by finite elements in time.

    Parameters
    ----------
    problem : Problem
    scheme : Scheme
        Scheme of finite elements in time.
    settings : PlanSettings
        Elements of each phase, and the estimated error up to which they are halved further.
    durations : sequence of float [s]
        Initial durations of the phases; those of `first_guess` if not given.
    rounds : int
        Most such halvings.
    """
    steps, error, solver = ladder(settings.counts), settings.error, settings.solver
    level = on_mesh(problem, steps[0], None, scheme, solver, durations)
    try:
        for wanted in steps[1:]:
            if level.solution.status in ENDED:
                return level
            level = on_mesh(problem, wanted, level, scheme, solver, durations)
        wanted = steps[-1]
        for _ in range(rounds if error is not None else 0):
            assert error is not None
            if level.error <= error or not level.solution.converged:
                break
            wanted = [2 * n for n in wanted]
            level = on_mesh(problem, wanted, level, scheme, solver, durations)
    except KeyboardInterrupt:
        reached = [len(mesh) - 1 for mesh in level.meshes]
        warnings.warn(
            f"plan: stopped while {wanted} elements were looked at; the motion on {reached} is kept",
            stacklevel=4,
        )
    return level


def costates(program: NonlinearProgram, layout: Layout, phase: int, solution: Solution) -> np.ndarray:
    """Return what the cost changes by per change of each state, at the nodes and in the elements of a phase, (points, states).

    Parameters
    ----------
    program : NonlinearProgram
    layout : Layout
        Layout of the phase.
    phase : int
        Its number.
    solution : Solution
    """
    name = "states follow from rates"
    places = [k for k, block in enumerate(program.constraints) if block.name == name]
    first = program.first_rows[places[phase]]
    rows = program.constraints[places[phase]].rows
    own = solution.multipliers[first : first + rows].reshape(len(layout.intervals), 2, -1)
    out = np.zeros((len(layout.z), own.shape[2]))
    out[layout.intervals[:, 1]] = -own[:, 0]
    out[layout.intervals[:, 0]] = -own[:, 0] - own[:, 1] / 2
    out[-1] = -own[-1, 0] + own[-1, 1] / 2
    return out
