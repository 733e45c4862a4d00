"""`plan` and `solve_problem`: the best motion of a mechanism, and of a problem given by equations."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, did_you_mean
from articulus.motion.trajectory.costs import Condition, costs_of
from articulus.motion.trajectory.invariants import open_redundant_ends
from articulus.motion.trajectory.ipopt import SolverSettings
from articulus.motion.trajectory.plans import OVER, PhaseCourse, Plan
from articulus.motion.trajectory.problem import Guess, GuessAlong, Phase, Problem
from articulus.motion.trajectory.schemes import PlanSettings
from articulus.motion.trajectory.schemes import scheme as scheme_of
from articulus.motion.trajectory.task import Task

LIMITS = ("torque_limit", "velocity_limit", "acceleration_limit", "jerk_limit", "torque_rate_limit")
"""Limits by joint."""
SMOOTHED = 0.3, 0.1
"""Speeds about which dry friction is smoothed, over the largest of the motion, one search after the other."""


def solve_problem(
    problem: Problem | Phase,
    *,
    scheme: str = "hermite_simpson",
    intervals: int | Sequence[int] = 40,
    error: float | None = None,
    overload: float | None = None,
    tolerance: float = 1e-8,
    iterations: int = 1000,
    time_limit: float = 600.0,
    task: Task | None = None,
    guess: Plan | None = None,
    options: dict[str, Any] | None = None,
) -> Plan:
    """Return the plan of a problem by direct collocation, multiple shooting or finite elements in time.

    Parameters
    ----------
    problem : Problem or Phase
    scheme : str
        "hermite_simpson", "radau <points>" or "lobatto <points>"; "shooting": multiple shooting, order 4; "weak": finite elements in time; "riccati" (RK4) or "riccati
        semi_implicit_euler": steps of equal length with inputs held during each, a given duration, feedback gains in the result.
    intervals : int or sequence of int
        Intervals of the first mesh, for all phases or for each.
    error : float
        Estimated error of the states, over their sizes, up to which the mesh is refined; the first mesh is kept if not given.
    overload : float
        Part of a limit by which it may be exceeded between the points, such as 0.01: bounds at the points are drawn in, and intervals cut,
        until it is reached. If not given limits hold at the points, and more than 0.02 between them is told.
    tolerance, iterations, time_limit
        Settings of the solver.
    task : Task
        From which the problem was made.
    guess : Plan
        Plan of a similar problem with the same unknowns, such as a stiffer arm: the search begins at its motion.
    options : dict
        More of ipopt's, such as {"ipopt.mu_strategy": "monotone"}, which suits stiff equations better.
    """
    whole = Problem((problem,)) if isinstance(problem, Phase) else problem
    if not isinstance(whole, Problem):
        raise InputError(f"problem: found {problem!r}; expected a Problem or a Phase")
    chosen = scheme_of(scheme)
    settings = _settings(
        _counts(intervals, whole), error, overload, SolverSettings(tolerance, iterations, time_limit, options)
    )
    if guess is not None:
        if not isinstance(guess, Plan):
            raise InputError(f"guess: found {guess!r}; expected a Plan of a similar motion")
        whole = _guess_from(whole, guess)
    if task is None:
        whole = open_redundant_ends(whole)
    made = chosen.solve(whole, settings, task, guess)
    made.warn(OVER if overload is None else overload)
    return made


def _counts(intervals: Any, problem: Problem) -> list[int]:
    """Return the number of intervals of each phase."""
    counts = list(intervals) if isinstance(intervals, Sequence) else [intervals] * len(problem.phases)
    if len(counts) != len(problem.phases) or not all(
        isinstance(n, int | np.integer) and n > 0 for n in counts
    ):
        raise InputError(
            f"intervals: found {intervals!r}; expected a whole number above zero, or a list of one for each phase"
        )
    return counts


def _settings(
    counts: Sequence[int], error: float | None, overload: float | None, solver: SolverSettings
) -> PlanSettings:
    """Return settings that were checked."""
    _require_positive(tolerance=solver.tolerance, iterations=solver.iterations, time_limit=solver.time_limit)
    if not isinstance(solver.iterations, int | np.integer):
        raise InputError(f"iterations: found {solver.iterations!r}; expected a whole number above zero")
    if error is not None:
        _require_positive(error=error)
    if overload is not None:
        _require_positive(overload=overload)
    return PlanSettings(counts, solver, error, overload)


def _require_positive(**settings: Any) -> None:
    for name, value in settings.items():
        if not isinstance(value, Real) or not 0 < float(value) < np.inf:
            raise InputError(f"{name}: found {value!r}; expected a number above zero")


def _guess_from(problem: Problem, guess: Plan) -> Problem:
    """Return a problem whose initial guess is the motion of another plan."""
    if [p.names for p in problem.phases] != [c.phase.names for c in guess.courses]:
        raise InputError(
            "guess: found a plan of other phases or with other unknowns; expected those of the problem"
        )

    def of(course: PhaseCourse) -> Guess:
        return GuessAlong((course.t - course.t[0]) / (course.t[-1] - course.t[0]), course.z)

    phases = tuple(replace(p, guess=of(c)) for p, c in zip(problem.phases, guess.courses))
    return replace(problem, phases=phases)


def plan(
    mechanism: Mechanism,
    q0: Any,
    goal: Any,
    *,
    duration: float | tuple[float, float],
    cost: Any = "effort",
    actuators: Sequence[str] = (),
    torque_limit: Mapping[str, float] | float | None = None,
    velocity_limit: Mapping[str, float] | float | None = None,
    acceleration_limit: Mapping[str, float] | float | None = None,
    jerk_limit: Mapping[str, float] | float | None = None,
    torque_rate_limit: Mapping[str, float] | float | None = None,
    v0: Any = None,
    goal_velocity: Any = None,
    hold: bool = True,
    obstacles: Sequence[Any] = (),
    keep: Sequence[Any] = (),
    conditions: Sequence[Condition] = (),
    parameters: Mapping[str, tuple[float, float]] | None = None,
    scheme: str | None = None,
    intervals: int = 50,
    error: float | None = None,
    overload: float | None = None,
    tolerance: float = 1e-6,
    iterations: int = 1000,
    time_limit: float = 600.0,
    guess: Plan | Sequence[Any] | None = None,
    restarts: int = 0,
    seed: int = 0,
    friction_speed: float | None = None,
    options: dict[str, Any] | None = None,
) -> Plan:
    """Return the best motion of a mechanism from one position to another, at rest there unless velocities are given.

    Parameters
    ----------
    mechanism : Mechanism
        Tree or closed loops, rigid or flexible.
    q0 : positions, art.goals.FramePose, art.goals.FramePoint or several of them
        At the start: array, dict of names, or name of a position; goals of frames leave the rest of the position open.
    goal : positions, art.goals.FramePose, art.goals.FramePoint or several of them
        At the end, likewise.
    duration : float or (float, float) [s]
        Given, or least and largest.
    cost : "effort", "time", dict of weights, Cost, function or several of them
        "effort": integral of the sum of (u / limit)^2. "time": the duration, with 1e-4 of effort, which makes the answer unique. Weights
        such as {"time": 1.0, "effort": 1e-4}; objects such as [Time(), Effort(1e-4)]; or a function of `MotionSymbols` that returns
        the cost per time.
    actuators : sequence of str
        Joints with motors; all of one degree of freedom if not given.
    torque_limit : dict of joint to number, or a number [N m or N]
        In place of the limits of the joints.
    velocity_limit : dict of joint to number, or a number [rad/s or m/s]
        Likewise.
    acceleration_limit : dict of joint to number, or a number [rad/s^2 or m/s^2]
    jerk_limit : dict of joint to number, or a number [rad/s^3 or m/s^3]
        For open mechanisms with an actuator in every degree of freedom. Accelerations are continuous then, and zero at ends at rest.
    torque_rate_limit : dict of joint to number, or a number [N m/s or N/s]
        Forces are continuous then, and hold the mechanism at ends at rest.
    v0 : velocities
        At the start; at rest if not given.
    goal_velocity : velocities or "free"
        At the end; at rest if not given.
    hold : bool
        Refuse a goal at rest that the motors cannot hold. With False it is told in a warning only: some can be reached for a moment, from the side
        from which gravity brakes.
    obstacles : sequence of Clear or Apart
        Obstacles and the hulls that keep away from them; hulls that keep away from each other.
    keep : sequence of OnLine, InBox or Facing
        What frames keep to all the way.
    conditions : sequence of Condition
        Your own, all the way or at an end.
    parameters : dict of str to (float, float)
        Named parameters of the mechanism that the plan may choose, with their bounds; `plan.parameters` has what it chose.
    scheme : str
        "hermite_simpson", "radau <points>", "lobatto <points>", "shooting" or "weak"; "riccati" (RK4) or "riccati
        semi_implicit_euler": steps of equal length with inputs held during each, a given duration, feedback gains in the result. If not given
        "radau 3" for mechanisms with dry friction in their joints, else "hermite_simpson".
    intervals : int
        Intervals of the first mesh.
    error : float
        Estimated error of the states over their sizes, up to which the mesh is refined; not at all if not given.
    overload : float
        Part of a limit by which it may be exceeded between the points of the mesh, such as 0.01; see `solve_problem`. If not given
        limits hold at the points, and more than 0.02 between them is told.
    tolerance, iterations, time_limit
        Settings of the solver.
    guess : Plan, or positions along the way
        A plan of a similar mechanism, such as a stiffer one: the search begins at its motion. Or one or more positions between start and
        goal, (k, nq), through which the initial guess goes.
    restarts : int
        More searches, from guesses that go through positions at random; the best motion found is returned. A search ends at a local minimum, or,
        from a symmetric guess, at a saddle.
    seed : int
        Seed of those positions.
    friction_speed : float [rad/s or m/s]
        Speed s about which dry friction of joints is smoothed, as c v / sqrt(v^2 + s^2). If not given 0.3 of the largest speed of the initial guess, then 0.1
        of it if that is found, too.
    options : dict
        More of ipopt's; see `solve_problem`.
    """
    require_mechanism(mechanism)
    limits: dict[str, Any] = dict(
        zip(LIMITS, (torque_limit, velocity_limit, acceleration_limit, jerk_limit, torque_rate_limit))
    )
    task = Task(
        mechanism,
        q0,
        goal,
        duration,
        costs_of(cost),
        _tuple("actuators", actuators),
        obstacles=_tuple("obstacles", obstacles),
        keep=_tuple("keep", keep),
        conditions=_conditions(conditions),
        v0=v0,
        goal_velocity=goal_velocity,
        parameters=dict(parameters or {}),
        **{name: by_joint(mechanism, given, name) for name, given in limits.items()},  # type: ignore[arg-type]
    )
    if friction_speed is not None:
        _require_positive(friction_speed=friction_speed)
        task = replace(task, friction_speed=float(friction_speed))
    first: Plan | None = guess if isinstance(guess, Plan) else None
    if guess is not None and first is None:
        task = replace(task, via=_positions(mechanism, guess))
    if not isinstance(restarts, int | np.integer) or restarts < 0:
        raise InputError(f"restarts: found {restarts!r}; expected a whole number, 0 or more")
    task.look_ahead(hold)
    if scheme is None:  # friction that is stiff wants a scheme that damps
        scheme = "radau 3" if task.rubbing else "hermite_simpson"
    settings: dict[str, Any] = {"scheme": scheme, "intervals": intervals, "tolerance": tolerance}
    settings |= {"iterations": iterations, "time_limit": time_limit, "options": options}
    stages = [task]
    if task.rubbing and friction_speed is None and scheme_of(scheme).has_multipliers:
        stages = [replace(task, friction_speed=s) for s in _friction_speeds(task)]
    if restarts or len(stages) > 1:
        first = _best([stages[0], *_elsewhere(stages[0], restarts, seed)], first, settings)
        if len(stages) > 1 and first.converged:
            last = _best(stages[1:], first, settings)
            first = last if last.converged else first
        task = first.task or task
    return solve_problem(task.phase(), error=error, overload=overload, task=task, guess=first, **settings)


def require_mechanism(given: Any) -> None:
    """Refuse what is no mechanism."""
    if not isinstance(given, Mechanism):
        raise InputError(f"mechanism: found {given!r}; expected a Mechanism, such as articulus.load(...)")


def _conditions(given: Any) -> tuple[Condition, ...]:
    conditions = _tuple("conditions", given)
    for each in conditions:
        if not isinstance(each, Condition):
            raise InputError(f"conditions: found {each!r}; expected Condition(name, function, lower, upper)")
    return conditions


def _positions(mechanism: Mechanism, given: Any) -> np.ndarray:
    """Return positions along the way, (k, nq)."""
    try:
        rows = (
            [given]
            if isinstance(given, Mapping) or (np.ndim(given) == 1 and np.isscalar(given[0]))
            else given
        )
        found = np.array([np.asarray(mechanism.positions(q), dtype=float) for q in rows])
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.ndim != 2 or found.shape[1] != mechanism.nq or isinstance(given, str):
        raise InputError(
            f"guess: found {given!r}; expected a Plan of a similar motion, or positions along the way, each of {mechanism.nq} numbers"
        )
    return found


def _friction_speeds(task: Task) -> list[float]:
    """Return the speeds about which dry friction is smoothed, first and last: parts of the largest of the motion, rounded to half decades, because other
    numbers are other native code."""
    top = task.top_speed or 1.0
    return [float(10.0 ** (np.round(2 * np.log10(part * top)) / 2)) for part in SMOOTHED]


def _elsewhere(task: Task, count: int, seed: int) -> list[Task]:
    """Return the same task with other guesses."""
    return [replace(task, via=via) for via in task.random_vias(count, seed)]


def _best(tasks: Sequence[Task], guess: Plan | None, settings: Mapping[str, Any]) -> Plan:
    """Return the cheapest motion of searches that differ by where they begin; the first one if none converged."""
    found = []
    for k, task in enumerate(tasks):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what is doubtful is told of the one that is taken
            found.append(solve_problem(task.phase(), task=task, guess=None if k else guess, **settings))
    return min((each for each in found if each.converged), key=lambda each: each.cost, default=found[0])


def _tuple(what: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{what}: found {given!r}; expected a list")
    return tuple(given)


def by_joint(mechanism: Mechanism, given: Any, what: str) -> dict[str, float] | None:
    """Return limits by joint, of a number for all or of a dict; raise InputError for others."""
    if given is None:
        return None
    if everywhere := np.isscalar(given):
        given = dict.fromkeys(mechanism.joint_names, given)
    if not isinstance(given, Mapping):
        raise InputError(f"{what}: found {given!r}; expected a number for all joints, or a dict of numbers")
    for joint, number in given.items():
        if joint not in mechanism.joint_names:
            raise InputError(f"{what}: found joint '{joint}'; {did_you_mean(joint, mechanism.joint_names)}")
        if what.startswith(("effort", "torque")) and not everywhere:
            mechanism.description.require_independent(joint, what)
        if not isinstance(number, Real) or not float(number) > 0:
            raise InputError(f"{what}: found {number!r} for joint '{joint}'; expected a number above zero")
    return {joint: float(number) for joint, number in given.items()}
