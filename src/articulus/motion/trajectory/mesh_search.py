"""A plan by collocation: on a first mesh, on finer ones, and on ones whose motion keeps its limits between the points, too."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import doubtful
from articulus.motion.trajectory.collocation import Layout, first_guess
from articulus.motion.trajectory.condensed import Condensed
from articulus.motion.trajectory.interior import MOST, solve_condensed
from articulus.motion.trajectory.ipopt import Solution, SolverSettings, solve
from articulus.motion.trajectory.optimality import with_nodes
from articulus.motion.trajectory.overload import interval_loads, narrow_bounds
from articulus.motion.trajectory.plans import JUMP, Plan
from articulus.motion.trajectory.problem import Problem
from articulus.motion.trajectory.program import NonlinearProgram
from articulus.motion.trajectory.refine import cut, interval_errors, refine
from articulus.motion.trajectory.saddle import descent
from articulus.motion.trajectory.task import Task

if TYPE_CHECKING:
    from articulus.motion.trajectory.schemes.collocation import Collocation
    from articulus.motion.trajectory.schemes.scheme import PlanSettings

ROUNDS = 5
"""Most refinements of a mesh."""
DRAWS = 12
"""Most times that bounds are drawn in because limits are exceeded between points."""
CUT = 6
"""After how many of them the intervals that still exceed limits are cut."""
SADDLES = 3
"""Most saddles that are left one after another."""
ASIDE = 0.1
"""How far aside of a saddle the next search begins, over the sizes of the unknowns."""
LOWER = 1e-6
"""Part of the cost by which that search has to end lower."""


def solve_first(
    problem: Problem, scheme: Collocation, settings: PlanSettings, task: Task | None, guess: Plan | None
) -> Plan:
    """Return the plan on the first mesh, of intervals of equal length, begun at the durations of a guess."""
    meshes = tuple(np.linspace(0.0, 1.0, n + 1) for n in settings.counts)
    program, layouts = scheme.transcribe(problem, meshes)
    x = first_guess(problem, layouts)
    if guess is not None:
        for layout, other, phase in zip(layouts, guess.layouts, problem.phases):
            x[layout.duration] = np.clip(guess.solution.x[other.duration], *phase.duration)
    return _solve_on(problem, program, layouts, scheme, meshes, task, settings.solver, x)


def _solve_on(
    problem: Problem,
    program: NonlinearProgram,
    layouts: Sequence[Layout],
    scheme: Collocation,
    meshes: tuple[np.ndarray, ...],
    task: Task | None,
    settings: SolverSettings,
    x: np.ndarray,
    near: bool = False,
) -> Plan:
    """Return the plan on meshes, begun at unknowns x, which may be near the solution."""
    known = scheme.structured and not settings.options
    structure = Condensed.of(problem, layouts, program) if known else None
    solution = solve_program(program, structure, x, settings, near)
    errors = [interval_errors(p, a, scheme, solution.x) for p, a in zip(problem.phases, layouts)]
    worst = float(max(e.sum() for e in errors))
    return Plan(problem, solution, program, tuple(layouts), scheme, meshes, task, worst)


def solve_program(
    program: NonlinearProgram,
    structure: Condensed | None,
    x: np.ndarray,
    settings: SolverSettings,
    near: bool = False,
) -> Solution:
    """Return the solution of a program from a guess; searches that end at a saddle go on down from there, and those that stay tell it."""
    begin = time.perf_counter()
    solution = _search(program, structure, x, settings, begin, near)
    saddles = list[float]()
    while solution.converged and solution.regularization > 0 and len(saddles) < SADDLES:
        down = descent(program, solution)
        if down is None:
            break
        other = _search(program, structure, solution.x + ASIDE * down, settings, begin)
        if not other.converged or other.cost >= solution.cost * (1 - LOWER):
            doubtful(
                f"plan: the search ended at a saddle (cost {solution.cost:.6g}): its cost curves down along other motions, and none was found from "
                "there. Guesses that are as symmetric as the task end so; expected restarts=3, or guess= with positions to one side of the way"
            )
            break
        saddles.append(solution.cost)
        solution = other
    return dataclasses.replace(solution, saddles=saddles)


def _search(
    program: NonlinearProgram,
    structure: Condensed | None,
    x: np.ndarray,
    settings: SolverSettings,
    begin: float,
    near: bool = False,
) -> Solution:
    """Return where the search ends: by the program's structure where it has one and that succeeds, else by ipopt."""
    limits: dict[str, Any] = {"tolerance": settings.tolerance, "iterations": settings.iterations}
    left = max(settings.time_limit - (time.perf_counter() - begin), 1e-3)
    if structure is not None:
        with _bar(program, min(MOST, settings.iterations)) as tell:
            solution = solve_condensed(program, structure, x, **limits, time_limit=left, near=near, tell=tell)
        if solution is not None:
            return solution
        left = max(settings.time_limit - (time.perf_counter() - begin), 1e-3)
    with _bar(program, settings.iterations) as tell:
        return solve(program, x, **limits, time_limit=left, options=settings.options, tell=tell)


@contextlib.contextmanager
def _bar(program: NonlinearProgram, most: int) -> Iterator[Callable[[], None]]:
    """Give what is to be called after each iteration; on a terminal searches of more than a second show a bar."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from articulus.simulation.running.progress import progress

    with progress(f"plan, {program.size} unknowns, at most", most, "iterations") as bar:
        yield bar.advance


def refine_plan(plan: Plan, scheme: Collocation, error: float, settings: SolverSettings) -> Plan:
    """Return a plan on finer meshes, with nodes where inputs jump, until its estimated error is reached.

    The time limit is that of all refinements. Where the search on a finer mesh does not converge, the plan on the last one that did is
    returned, and told: nothing that was found is lost.
    """
    problem, begin = plan.problem, time.perf_counter()
    for k in range(ROUNDS + 1):
        if not plan.converged:
            break
        meshes, layouts, x = plan.meshes, plan.layouts, plan.solution.x
        jumps = [scheme.nodes_at_jumps(at) for at in plan.input_jumps()]
        off = max(float(np.abs(mesh[:, None] - at).min(0).max(initial=0)) for mesh, at in zip(meshes, jumps))
        if plan.error <= error and off <= JUMP:
            break
        if k == ROUNDS:
            if plan.error > error:
                warn_of_error(plan.error, error)
            else:
                warnings.warn(
                    f"plan: after {ROUNDS} refinements an input still jumps {off:.2g} of the duration away from the ends of all intervals; "
                    "the cost is larger than the least by about the square of that. Expected more intervals to begin with",
                    stacklevel=5,
                )
            break
        errors = [interval_errors(p, a, scheme, x) for p, a in zip(problem.phases, layouts)]
        finer = [
            refine(mesh, e, error / len(e)) if plan.error > error else mesh for mesh, e in zip(meshes, errors)
        ]
        meshes = tuple(with_nodes(mesh, at) for mesh, at in zip(finer, jumps))
        program, new = scheme.transcribe(problem, meshes)
        left = max(settings.time_limit - (time.perf_counter() - begin), 1e-3)
        limited = dataclasses.replace(settings, time_limit=left)
        finer_plan = _solve_on(
            problem, program, new, scheme, meshes, plan.task, limited, _interpolate(plan, new), near=True
        )
        if not finer_plan.converged:
            doubtful(
                f"plan: the search on a mesh of {sum(len(mesh) - 1 for mesh in meshes)} intervals ended with {finer_plan.solution.status} after "
                f"{finer_plan.solution.iterations} iterations; this is the plan on {sum(len(mesh) - 1 for mesh in plan.meshes)}, whose estimated error of the states "
                f"is {plan.error:.2g}, asked for {error:.2g}. Expected a larger error, more intervals to begin with, or a larger time_limit"
            )
            break
        plan = finer_plan
    return plan


def warn_of_error(reached: float, error: float) -> None:
    """Tell of an error that refinements did not reach."""
    warnings.warn(
        f"plan: after {ROUNDS} refinements the estimated error of the states is {reached:.2g}, above {error:.2g}; inputs that jump "
        "need intervals that end where they jump, smooth ones more intervals to begin with or a scheme of higher order",
        stacklevel=5,
    )


def keep_limits(plan: Plan, scheme: Collocation, most: float, settings: SolverSettings) -> Plan:
    """Return a plan that keeps its limits between the points of the mesh, too, up to a part of them."""
    program, problem, task = plan.program, plan.problem, plan.task
    parts = [np.ones((len(a.intervals), p.size)) for a, p in zip(plan.layouts, problem.phases)]
    for k in range(DRAWS):
        x, layouts, meshes = plan.solution.x, plan.layouts, plan.meshes
        loads = [interval_loads(p, a, scheme, x)[0] for p, a in zip(problem.phases, layouts)]
        if not plan.converged or max(each.max() for each in loads) <= 1 + most:
            break
        parts = [
            np.where(each > 1 + most / 2, part / np.maximum(each, 1.0), part)
            for part, each in zip(parts, loads)
        ]
        if k % CUT == CUT - 1:
            cuts = [1 + (each.max(1) > 1 + most) for each in loads]
            meshes = tuple(cut(mesh, each) for mesh, each in zip(meshes, cuts))
            parts = [part.repeat(each, axis=0) for part, each in zip(parts, cuts)]
            program, finer = scheme.transcribe(problem, meshes)
            x, layouts = _interpolate(plan, finer), tuple(finer)
        narrow = narrow_bounds(program, problem.phases, layouts, parts)
        plan = _solve_on(problem, narrow, layouts, scheme, meshes, task, settings, x, near=True)
    return plan


def _interpolate(plan: Plan, layouts: Sequence[Layout]) -> np.ndarray:
    """Return the unknowns of a plan on other meshes."""
    parts = []
    for course, layout, old in zip(plan.courses, layouts, plan.layouts):
        s = (course.t - course.t[0]) / (course.t[-1] - course.t[0])
        z = np.column_stack([np.interp(layout.fractions, s, column) for column in course.z.T])
        parts.append(np.append(z.ravel(), plan.solution.x[old.duration]))
    return np.concatenate(parts)
