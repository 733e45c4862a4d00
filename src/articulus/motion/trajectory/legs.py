"""Several legs of one motion: via points, and mechanisms that change on the way, such as an arm that picks up a payload.

Each leg is a phase with its own mechanism, limits and costs. Positions, velocities and whatever else is a state are continuous from leg to leg, and
all legs are one problem: the best motion through all of them, not the best of each.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.motion.motion import SampledMotion
from articulus.motion.piecewise import Piecewise
from articulus.motion.trajectory.costs import costs_of
from articulus.motion.trajectory.planning import LIMITS, by_joint, require_mechanism, solve_problem
from articulus.motion.trajectory.plans import Plan
from articulus.motion.trajectory.problem import Problem
from articulus.motion.trajectory.task import Task

if TYPE_CHECKING:
    from articulus.simulation.results import Run


@dataclass(frozen=True, eq=False)
class Leg:
    """A part of a motion.

    Parameters
    ----------
    goal : positions, art.goals.FramePose, art.goals.FramePoint or several of them
        Where it ends.
    duration : float or (float, float) [s]
        Given, or least and largest.
    goal_velocity : velocities, "free" or None
        At its end; at rest if None. "free" passes a via point without stopping.
    mechanism : Mechanism or None
        That moves on this leg, with the joints of the one before, such as an arm that holds a payload; the one before if None.
    name : str
        For messages; "leg 1", "leg 2", ... if empty.
    settings : dict
        More arguments of `plan` for this leg alone: cost, limits, obstacles, keep, conditions, actuators.
    """

    goal: Any
    duration: Any
    goal_velocity: Any = None
    mechanism: Mechanism | None = None
    name: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Itinerary:
    """What the search found for several legs.

    Parameters
    ----------
    whole : Plan
        Plan of all legs as one problem: cost, multipliers, violations, text.
    tasks : tuple of Task
    """

    whole: Plan
    tasks: tuple[Task, ...]

    @property
    def ok(self) -> bool:
        """Whether the search ended at a solution that keeps all constraints."""
        return self.whole.converged

    @property
    def cost(self) -> float:
        """What all legs cost; raises if the search did not converge."""
        return self.whole.cost

    @property
    def duration(self) -> float:
        """Of all legs [s]; raises if the search did not converge."""
        return self.whole.duration

    @property
    def t(self) -> np.ndarray:
        """Times of the points of all legs [s]; where legs meet, twice."""
        return self.whole.t

    @cached_property
    def legs(self) -> tuple[Plan, ...]:
        """The legs as plans of their mechanisms, each from its own time zero; with `run`, `track` and all the rest."""
        w, made = self.whole, []
        for task, phase, old, mesh in zip(self.tasks, w.problem.phases, w.layouts, w.meshes):
            problem = Problem((phase,))
            program, layouts = w.scheme.transcribe(problem, [mesh])
            x = w.solution.x[int(old.z[0, 0]) : old.end]
            none = np.zeros(0)
            solution = replace(
                w.solution, x=x, cost=program.cost(x), multipliers=none, bound_multipliers=none
            )
            made.append(Plan(problem, solution, program, tuple(layouts), w.scheme, (mesh,), task, w.error))
        return tuple(made)

    @property
    def q(self) -> np.ndarray:
        """Positions at the points, (points, nq)."""
        return np.vstack([leg.q for leg in self.legs])

    @property
    def v(self) -> np.ndarray:
        """Velocities at the points, (points, nv)."""
        return np.vstack([leg.v for leg in self.legs])

    @property
    def u(self) -> np.ndarray:
        """Forces of the actuators at the points, (points, actuators) [N m or N]."""
        return np.vstack([leg.u for leg in self.legs])

    @cached_property
    def motion(self) -> SampledMotion:
        """All legs as one motion, with tables, files and pictures; where one mechanism moves on all legs also with `run` and `track`."""
        parts, ends = [leg.samples for leg in self.legs], np.cumsum([leg.duration for leg in self.legs])
        begin = np.concatenate([[0.0], ends[:-1]])

        def join(arrays: list[np.ndarray]) -> np.ndarray:
            return np.concatenate([*(x[:-1] for x in arrays[:-1]), arrays[-1]])

        forces = [part.pieces for part in parts if part.pieces is not None]
        m = self.legs[0].mechanism
        return SampledMotion(
            join([part.t + t for part, t in zip(parts, begin)]),
            join([part.q for part in parts]),
            join([part.v for part in parts]),
            join([part.vdot for part in parts]),
            np.concatenate([parts[0].vdot_before[:1], *(part.vdot_before[1:] for part in parts)]),
            m if all(leg.mechanism is m for leg in self.legs) else None,
            self.legs[0].actuators,
            Piecewise(
                join([x.breaks + t for x, t in zip(forces, begin)]),
                np.concatenate([x.coefficients for x in forces]),
            ),
        )

    def run(self, q0: Any = None, v0: Any = None, *, track: bool = True, **settings: Any) -> tuple[Run, ...]:
        """Return simulations of the legs; arguments are those of `Plan.run`.

        With feedback (`track`) each begins where the one before ended; with the planned forces alone, at the planned start of its leg.
        """
        runs: list[Run] = []
        for leg in self.legs:
            if runs:
                q0, v0 = (runs[-1].q[-1], runs[-1].v[-1]) if track else (None, None)
            runs.append(leg.run(q0, v0, track=track, **settings))
        return tuple(runs)

    def __str__(self) -> str:
        rows = [
            f"  {leg.task.name if leg.task else ''}: {leg.t[-1]:.6g} s of {leg.mechanism.name}, cost {leg.solution.cost:.6g}"
            for leg in self.legs
        ]
        return "\n".join([str(self.whole), *rows])


def plan_legs(
    mechanism: Mechanism,
    q0: Any,
    legs: Sequence[Leg],
    *,
    v0: Any = None,
    scheme: str = "hermite_simpson",
    intervals: int | Sequence[int] = 25,
    error: float | None = None,
    overload: float | None = None,
    tolerance: float = 1e-6,
    iterations: int = 1000,
    time_limit: float = 600.0,
    options: dict[str, Any] | None = None,
    hold: bool = True,
    **settings: Any,
) -> Itinerary:
    """Return the best motion through several legs, as one problem.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism of the first leg.
    q0 : positions, or goals of frames
        At the start of the first leg.
    legs : sequence of Leg
    v0 : velocities
        At the start of the first leg; at rest if not given.
    scheme : str
        Scheme of collocation, or "shooting".
    intervals : int or sequence of int
        Intervals of the first mesh of each leg.
    error, overload, tolerance, iterations, time_limit, options, hold
        As in `plan`.
    **settings
        More arguments of `plan` for all legs: cost, limits, obstacles, keep, conditions, actuators. Those of a leg take their place.
    """
    require_mechanism(mechanism)
    if not isinstance(legs, Sequence) or not legs or not all(isinstance(leg, Leg) for leg in legs):
        raise InputError(f"legs: found {legs!r}; expected one or more Leg(goal, duration)")
    tasks: list[Task] = []
    for k, leg in enumerate(legs):
        own = _task(leg, k, tasks[-1] if tasks else None, mechanism, q0, v0, {**settings, **leg.settings})
        own.look_ahead(hold)
        tasks.append(own)
    for a, b in itertools.pairwise(tasks):
        if a.mechanism.v_names != b.mechanism.v_names:
            raise InputError(
                f"legs: found the velocities {', '.join(b.mechanism.v_names)} in '{b.name}' after {', '.join(a.mechanism.v_names)}; expected the "
                "same joints in all legs"
            )
    whole = solve_problem(
        Problem(tuple(task.phase() for task in tasks)),
        scheme=scheme,
        intervals=intervals,
        error=error,
        overload=overload,
        tolerance=tolerance,
        iterations=iterations,
        time_limit=time_limit,
        options=options,
    )
    return Itinerary(whole, tuple(tasks))


def _task(
    leg: Leg,
    number: int,
    before: Task | None,
    mechanism: Mechanism,
    q0: Any,
    v0: Any,
    settings: dict[str, Any],
) -> Task:
    """Return the task of a leg: from the start of the first one, or from wherever the leg before ends."""
    own = leg.mechanism or (mechanism if before is None else before.mechanism)
    require_mechanism(own)
    known = ("cost", "actuators", "obstacles", "keep", "conditions", *LIMITS)
    for name in settings:
        if name not in known:
            raise InputError(f"plan_legs: found the argument '{name}'; expected {', '.join(known)}")
    given: dict[str, Any] = {
        name: tuple(settings.get(name, ())) for name in ("actuators", "obstacles", "keep", "conditions")
    }
    given |= {name: by_joint(own, settings.get(name), name) for name in LIMITS}
    return Task(
        own,
        q0 if before is None else before.last(),
        leg.goal,
        leg.duration,
        costs_of(settings.get("cost", "effort")),
        v0=v0 if before is None else before.last_velocity,
        goal_velocity=leg.goal_velocity,
        name=leg.name or f"leg {number + 1}",
        continues=before is not None,
        **given,
    )
