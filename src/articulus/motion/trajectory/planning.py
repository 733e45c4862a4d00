"""`Plan`: a motion, the inputs that produce it, and how good it is."""

from __future__ import annotations

import io
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import DoubtfulResult, InputError, NumericalError, did_you_mean
from articulus.kernel.lookup import interval, looked_up
from articulus.model.files.storage import write_text
from articulus.model.mechanism import Spline
from articulus.motion.trajectory.collocation import Layout, first_guess, transcribe
from articulus.motion.trajectory.condensed import Condensed
from articulus.motion.trajectory.follow import default_bandwidth, inertia_feedback, require_times, steps
from articulus.motion.trajectory.interior import solve_condensed
from articulus.motion.trajectory.ipopt import Solution, solve
from articulus.motion.trajectory.lqr_tracking import feedback_along
from articulus.motion.trajectory.obstacles import gone_through
from articulus.motion.trajectory.optimality import (
    Chatter,
    chatters,
    collocation_costates,
    flat_inputs,
    nodes_of,
    shooting_costates,
    switches,
    switching,
    with_nodes,
)
from articulus.motion.trajectory.overload import Overload, drawn_in, interval_loads, overloads
from articulus.motion.trajectory.playing import missed
from articulus.motion.trajectory.problem import Guess, GuessAlong, Phase, Problem
from articulus.motion.trajectory.program import Part, Program
from articulus.motion.trajectory.refine import cut, interval_errors, refined
from articulus.motion.trajectory.residual import Residual, residual_vibration
from articulus.motion.trajectory.schemes import Scheme
from articulus.motion.trajectory.schemes import scheme as scheme_of
from articulus.motion.trajectory.task import Task
from articulus.motion.trajectory.time_elements import Search, costates, solve_weak
from articulus.simulation.loop.components.pd import PD
from articulus.simulation.loop.components.prescribed import PrescribedForce
from articulus.simulation.loop.components.state_feedback import StateFeedback
from articulus.simulation.loop.course import Course

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from articulus.simulation.results import Run

SATISFIED = 1e-5
"""Violation, over the size of the constraint, up to which a constraint of the program counts as kept."""
OUTPUT = 1e-3
"""Step at which a simulated plan is looked at, about [s]; of short and long ones as often as `LOOKS` says."""
LOOKS = 200, 5000
"""Least and largest number of those steps."""
ROUNDS = 5
"""Most refinements of a mesh."""
OPEN = 1e-3
"""Residual of closed loops on the mesh from which a plan warns [m or 1]."""
COARSE = 5e-3
"""Estimated error of the states over their sizes, from which on it is looked where the inputs alone lead."""
MISSED = 0.1
"""Distance of that end from the planned one, over the extent of the motion, from which a plan warns."""
OVER = 0.02
"""Part of a limit by which it may be exceeded between the points of the mesh; from there on a plan warns."""
DRAWS = 12
"""Most times that bounds are drawn in because limits are exceeded between points."""
CUT = 6
"""After how many of them the intervals that still exceed limits are cut."""
SMOOTHED = 0.3, 0.1
"""Speeds about which dry friction is smoothed, over the largest of the motion, one search after the other."""
JUMP = 1e-3
"""Distance over the duration up to which a node of a refined mesh is where an input jumps."""


@dataclass(frozen=True)
class Violation:
    """A constraint that is not kept: its name, which entry, when, and by how much (in its own unit)."""

    constraint: str
    entry: str
    phase: str
    t: float
    amount: float

    def __str__(self) -> str:
        return f"{self.constraint} ({self.entry}) at t = {self.t:.4g} s in {self.phase}: off by {self.amount:.4g}"


@dataclass(frozen=True, eq=False)
class PhaseCourse:
    """One phase of a plan: times and unknowns at the points of the mesh."""

    phase: Phase
    t: np.ndarray
    z: np.ndarray


@dataclass(frozen=True, eq=False)
class Plan:
    """What the search found.

    Parameters
    ----------
    problem : Problem
    solution : Solution
        Of the program, with multipliers.
    program : Program
    layouts : tuple of Layout
    scheme : Scheme
    meshes : tuple of array
    task : Task or None
        If it is a mechanism's motion.
    error : float
        Estimated error of the states over their sizes, summed over the intervals: what is left of the discretization.
    """

    problem: Problem
    solution: Solution
    program: Program
    layouts: tuple[Layout, ...]
    scheme: Scheme
    meshes: tuple[np.ndarray, ...]
    task: Task | None
    error: float

    @property
    def converged(self) -> bool:
        """Whether the search ended at a solution that keeps all constraints."""
        return self.solution.converged

    @property
    def cost(self) -> float:
        """What the motion costs; raises if the search did not converge."""
        self._require()
        return self.solution.cost

    @property
    def duration(self) -> float:
        """Of all phases [s]; raises if the search did not converge."""
        self._require()
        return float(sum(self.solution.x[layout.duration] for layout in self.layouts))

    @cached_property
    def courses(self) -> tuple[PhaseCourse, ...]:
        """The phases, also of a search that did not converge."""
        made, begin = [], 0.0
        for phase, layout in zip(self.problem.phases, self.layouts):
            T = float(self.solution.x[layout.duration])
            made.append(PhaseCourse(phase, begin + T * layout.fractions, self.solution.x[layout.z]))
            begin += T
        return tuple(made)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return one unknown at all points of all phases that have it, by its name."""
        parts = [c.z[:, c.phase.names.index(name)] for c in self.courses if name in c.phase.names]
        if not parts:
            known = ", ".join(dict.fromkeys(n for c in self.courses for n in c.phase.names))
            raise InputError(f"plan: found no '{name}'; there are {known}")
        return np.concatenate(parts)

    @property
    def t(self) -> np.ndarray:
        """Times of the points [s]."""
        return np.concatenate([c.t for c in self.courses])

    @cached_property
    def costates(self) -> tuple[np.ndarray, ...]:
        """What the cost changes by per change of each state, by phases, (points, states); raises if the search did not converge."""
        self._require()
        if self.scheme.name.startswith("riccati"):
            raise InputError(
                'plan.costates: found the scheme "riccati", which has gains in their place; expected another'
            )
        made = []
        for k, layout in enumerate(self.layouts):
            if self.scheme.name == "weak":
                made.append(costates(self.program, layout, k, self.solution))
            elif self.scheme.name == "shooting":
                made.append(shooting_costates(self.program, layout, k, self.solution))
            else:
                made.append(collocation_costates(self.program, layout, k, self.scheme, self.solution))
        return tuple(made)

    @cached_property
    def hamiltonian(self) -> tuple[np.ndarray, ...]:
        """Running cost plus costates times rates, by phases, at the points (points,); of finite elements in time in the elements.

        Along a solution it is constant in each phase, and of a duration that is free the cost it saves per time. What it varies by on
        the mesh is the error of the discretization.
        """
        made = []
        for course, layout, each in zip(self.courses, self.layouts, self.costates):
            phase = course.phase
            at = layout.intervals[:, 1] if self.scheme.name == "weak" else np.arange(len(layout.z))
            z = course.z[at]
            rates = z[:, [phase.rates[int(k)] for k in phase.states]]
            running = 0.0 if phase.running is None else np.array(phase.running(z.T)).ravel()
            made.append(running + (each[at] * rates).sum(1))
        return tuple(made)

    @cached_property
    def switching(self) -> tuple[np.ndarray, ...]:
        """What the Hamiltonian changes by per change of each input, by phases, (points, inputs).

        Positive where an input is at its lower bound, negative at the upper one, zero between: an input jumps where it passes zero.
        """
        self._require()
        if self.scheme.name == "weak" or self.scheme.name.startswith("riccati"):
            raise InputError(
                f'plan.switching: found the scheme "{self.scheme.name}"; expected collocation or shooting'
            )
        return tuple(
            switching(phase, layout, self.scheme, self.solution)
            for phase, layout in zip(self.problem.phases, self.layouts)
        )

    def _switches(self) -> list[np.ndarray]:
        """Return where inputs jump, as fractions of the duration, by phases."""
        return [
            switches(phase, layout, self.solution, S)
            for phase, layout, S in zip(self.problem.phases, self.layouts, self.switching)
        ]

    def _jumps_away(self) -> list[float]:
        """Return the times at which inputs jump where the mesh has no node."""
        if self.scheme.name == "weak" or self.scheme.name.startswith("riccati"):
            return []
        found = []
        for course, mesh, at in zip(self.courses, self.meshes, self._switches()):
            off = np.abs(mesh[:, None] - at).min(0) > JUMP
            found += (course.t[0] + (course.t[-1] - course.t[0]) * at[off]).tolist()
        return found

    @cached_property
    def chatter(self) -> tuple[Chatter, ...]:
        """Where inputs swing from point to point, with times in seconds: the mesh determines them there, not the cost.

        That is so on singular arcs, where the switching function is zero for a while, and where a limit or a path is kept at the points
        only. Positions and cost are right as far as `error` tells.
        """
        found = []
        for course, layout in zip(self.courses, self.layouts):
            begin, T = course.t[0], course.t[-1] - course.t[0]
            for each in chatters(course.phase, layout, self.solution):
                found.append(Chatter(each.name, begin + each.begin * T, begin + each.end * T))
        return tuple(found)

    def _warn_of_chatter(self) -> None:
        """Tell of inputs that swing where the cost has no curvature in them; of the others `chatter` and the text of the plan do."""
        if not self.converged:
            return
        flat = {n for phase in self.problem.phases for n in flat_inputs(phase) if not phase.path}
        for each in self.chatter:
            if each.name in flat:
                warnings.warn(
                    f"plan: {each}: the mesh determines it there, not the cost (a singular arc). Add a small weight on it to the cost, "
                    'or take another scheme ("radau 3", "shooting"); positions and cost may still be right',
                    stacklevel=4,
                )

    @cached_property
    def overload(self) -> tuple[Overload, ...]:
        """What every limited entry takes of its limit at most, at the points of the mesh and between them, the largest first.

        Limits hold at the points; between them the polynomials of the scheme may exceed them. Give `overload` to `plan` to prevent it.
        """
        found: list[Overload] = []
        for course, layout in zip(self.courses, self.layouts):
            found += overloads(course.phase, layout, self.scheme, self.solution.x, float(course.t[0]))
        return tuple(sorted(found, key=lambda each: -each.ratio))

    def _warn_of_overload(self, most: float = OVER) -> None:
        """Tell of limits that are exceeded between the points of the mesh.

        Inputs that jump exceed them in every scheme whose inputs are continuous. That matters for motors; of problems given by equations
        the text of the plan tells it.
        """
        if not self.converged:
            return
        over = [each for each in self.overload if each.ratio > 1 + most]
        if self.task is None:
            inputs = {(p.name, p.names[k]) for p in self.problem.phases for k in p.inputs}
            over = [each for each in over if (each.phase, each.entry) not in inputs]
        if not over:
            return
        worst = "; ".join(str(each) for each in over[:3]) + (
            f"; {len(over) - 3} more" if len(over) > 3 else ""
        )
        warnings.warn(
            f"plan: between the points of the mesh limits are exceeded: {worst}. Give overload={OVER:g}, which draws bounds in and cuts "
            "intervals until all limits are kept as well as that, or take more intervals; `plan.overload` has all of them",
            DoubtfulResult,
            stacklevel=4,
        )

    def _warn_of_open_loops(self) -> None:
        """Tell of loops that do not stay closed: the equations of motion hold their accelerations only."""
        if self.task is None or not self.converged or not self.mechanism.constraint_names:
            return
        off = np.abs(self.mechanism.constraint_residual(self.q, 0.0)).max(0)
        if off.max() > OPEN:
            name = self.mechanism.constraint_names[int(off.argmax())]
            warnings.warn(
                f"plan: constraint '{name}' is open by {off.max():.2g} on the way; expected less than {OPEN:g}. Take more intervals; "
                "between two singular positions plan over one that is not",
                stacklevel=4,
            )

    def _warn_of_missing(self) -> None:
        """Tell of inputs that lead elsewhere: where the mesh may be too coarse, they are played by an adaptive integrator.

        The estimated error alone does not tell, because it grows with vibrations that hardly move the end. For the same reason velocities are
        not looked at, nor other states that are rates of states.
        """
        if not self.converged or self.error <= COARSE:
            return
        for phase, layout in zip(self.problem.phases, self.layouts):
            rates = set(phase.rates.values())
            looked_at = [k for k in phase.rates if k not in rates]
            if self.task is not None:
                looked_at = list(range(*self.task.columns.q.indices(phase.size)))
            miss = missed(phase, layout, self.scheme, self.solution.x, looked_at)
            if miss.part > MISSED:
                warnings.warn(
                    f"plan: the inputs alone lead elsewhere: {miss} in {phase.name}, with an estimated error of {self.error:.2g}. The mesh "
                    'does not resolve the motion: take more intervals, a scheme of higher order ("lobatto 4"), or give error=1e-3. If it '
                    "stays so, the motion is unstable and needs `track`",
                    DoubtfulResult,
                    stacklevel=4,
                )

    def _warn_of_obstacles(self) -> None:
        """Tell of obstacles that are not gone round but jumped across between two points of the mesh."""
        if self.task is None or not self.converged or not self.task.obstacles:
            return
        phase, z = self.courses[0].phase, self.courses[0].z
        rate = z[:, [phase.rates[k] for k in range(*self.task.columns.q.indices(phase.size))]]
        for each in gone_through(self.mechanism, self.task.obstacles, self.t, self.q, rate):
            warnings.warn(
                f"plan: between two points of the mesh {each}; expected it clear as at the points. Take more intervals, a margin, or another guess",
                DoubtfulResult,
                stacklevel=4,
            )

    def violations(self, above: float = SATISFIED) -> tuple[Violation, ...]:
        """Return the constraints that the motion does not keep on the mesh, the worst first."""
        found = []
        for block in self.program.constraints:
            r = block.values(self.solution.x)
            off = np.maximum(np.maximum(block.lower - r, r - block.upper), 0)
            for b, k in zip(*np.nonzero(off > above)):
                found.append((float(off[b, k]), block, int(b), int(k)))
        found.sort(key=lambda each: -each[0])
        return tuple(self._named(*each) for each in found)

    def at_limits(self, most: float = 0.2) -> tuple[tuple[str, float], ...]:
        """Return the unknowns that are at a bound at more than a part of the points, and at which part; most often first."""
        found: dict[str, float] = {}
        for course in self.courses:
            phase = course.phase
            near = 1e-4 * phase.scale
            at = (course.z <= phase.lower + near) | (course.z >= phase.upper - near)
            found |= {n: float(part) for n, part in zip(phase.names, at.mean(0)) if part > most}
        return tuple(sorted(found.items(), key=lambda each: -each[1]))

    def _named(self, amount: float, block: Part, place: int, row: int) -> Violation:
        first = int(block.index[place][0])
        p = next(k for k, layout in enumerate(self.layouts) if first < layout.end)
        layout, phase = self.layouts[p], self.problem.phases[p]
        point = min((first - int(layout.z[0, 0])) // phase.size, len(layout.z) - 1)
        rows, columns = block.jacobian_pattern
        depends = [int(block.index[place][j]) for j in columns[rows == row]]
        entries = [
            phase.names[(i - int(layout.z[0, 0])) % phase.size] for i in depends if i < layout.duration
        ]
        entry = ", ".join(dict.fromkeys(entries[:3])) + (", ..." if len(set(entries)) > 3 else "")
        return Violation(block.name, entry, phase.name, float(self.courses[p].t[point]), amount)

    def _require(self) -> None:
        if self.converged:
            return
        worst = self.violations()
        text = (
            f"plan: the search ended with {self.solution.status} after {self.solution.iterations} iterations"
        )
        if worst:
            text += (
                f"; {len(worst)} constraint{'s are' if len(worst) > 1 else ' is'} not kept, first {worst[0]}"
            )
        if self.task is not None and self.task.rubbing:
            text += f"; dry friction in {', '.join(self.task.rubbing[:3])}{', ...' if len(self.task.rubbing) > 3 else ''}"
            text += f" was smoothed below {self.task.friction_speed or 0:.2g} rad/s or m/s, a larger friction_speed may help"
        if limits := self.at_limits():
            text += f"; at a limit for much of the time: {', '.join(f'{n} ({100 * part:.0f} %)' for n, part in limits[:4])}"
        raise NumericalError(
            f"{text}. The motion that keeps them best is in plan.courses; loosen that constraint, give more time or another guess"
        )

    # mechanisms

    @property
    def mechanism(self) -> Mechanism:
        """Of which this is a motion."""
        if self.task is None:
            raise InputError("plan: this problem was given by equations; it has no mechanism")
        return self.task.mechanism

    def _part(self, name: str) -> np.ndarray:
        if self.task is None:
            raise InputError("plan: this problem was given by equations; ask for its unknowns by name")
        return self.courses[0].z[:, getattr(self.task.columns, name)]

    @property
    def q(self) -> np.ndarray:
        """Positions at the points, (points, nq)."""
        return self._part("q")

    @property
    def v(self) -> np.ndarray:
        """Velocities at the points, (points, nv)."""
        return self._part("v")

    @property
    def u(self) -> np.ndarray:
        """Forces of the motors at the points, (points, motors) [N m or N]."""
        return self._part("u")

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints with motors, in the order of u, which has an entry for each degree of freedom."""
        assert self.task is not None
        return self.task.motor_joints

    @cached_property
    def _forces(self) -> np.ndarray:
        """Forces of the motors that overcome all dry friction, also what the plan smoothed, within their limits."""
        assert self.task is not None
        limit = np.maximum(self.courses[0].phase.upper[self.task.columns.u], np.abs(self.u).max(0))
        return np.clip(self.u + self.task.friction_left(self.courses[0].z), -limit, limit)

    @cached_property
    def _holding(self) -> np.ndarray:
        """Forces of the motors that hold the end of the motion, (motors,); of closed loops the last ones of the plan."""
        assert self.task is not None
        if self.mechanism.constraint_names:
            return np.asarray(self._forces[-1])
        return np.asarray(self.mechanism.gravity(self.q[-1]))[self.task.motors]

    def feedforward(self) -> tuple[PrescribedForce, ...]:
        """Return the motors' forces as components for `simulate` and `Loop`; after the motion they hold its end."""
        self._require()
        assert self.task is not None
        time, made = SX.sym("t"), []
        forces = {
            motor: ca.if_else(time > self.t[-1], hold, self._played(u)(time))
            for motor, u, hold in zip(self.task.motors, self._forces.T, self._holding)
        }
        for joint in self.joints:
            own = ca.vertcat(*(forces[k] for k in range(self.mechanism.nv)[self.mechanism.v_slice(joint)]))
            made.append(PrescribedForce(joint, ca.Function("forces", [time], [own])))
        return tuple(made)

    def _played(self, u: np.ndarray) -> ca.Function:
        """Return an input as a function of time: on each interval the polynomial through its points, as the scheme has it."""
        layout, t = self.layouts[0], self.t
        begin, h = t[layout.intervals[:, 0]], layout.lengths * (t[-1] - t[0])
        powers = np.linalg.inv(np.vander(self.scheme.points, increasing=True)).T
        rows = np.column_stack([begin, 1 / h, self.scheme.own(u[layout.intervals]) @ powers])
        time = SX.sym("t")
        now = ca.fmin(ca.fmax(time, t[0]), t[-1])
        first, rate, *c = ca.vertsplit(looked_up(rows, interval(begin, now)))
        s, total = (now - first) * rate, SX(0)
        for factor in reversed(c):
            total = total * s + factor
        return ca.Function("input", [time], [total])

    def track(
        self,
        kp: Any = None,
        kd: Any = None,
        *,
        bandwidth: float | None = None,
        deviation: float | None = None,
        period: float | None = None,
    ) -> tuple[PD | StateFeedback, tuple[PrescribedForce, ...]]:
        """Return a controller that keeps the mechanism on the motion, and the forces to go with it.

        `follow` simulates with them. Where every degree of freedom has a motor, the feedback has gains in proportion to the inertia along the
        motion and a bandwidth; else it is linear-quadratic.

        Parameters
        ----------
        kp : numbers [N m/rad or N/m]
            Of a PD controller in the joints with motors, in place of that.
        kd : numbers [N m s/rad or N s/m]
        bandwidth : float [rad/s]
            10 over the duration if not given, at most 0.2 over the period.
        deviation : float
            For linear-quadratic feedback: part of the extent of the motion at which it may spend all that the motors can, or, without limits, the
            largest planned force; 0.05 if not given.
        period : float [s]
            Of the controller; continuous if not given.
        """
        self._require()
        m = self.mechanism
        if (kp is None) != (kd is None):
            raise InputError(
                "track: found one of kp and kd; expected both, or none for linear-quadratic feedback"
            )
        require_times(bandwidth=bandwidth, period=period)
        assert self.task is not None
        if kp is None and deviation is None and len(self.task.motors) == m.nv == m.nq:
            w = bandwidth or default_bandwidth(self.duration, period)
            return inertia_feedback(m, self.t, self.q, self.v, self.joints, w, period), self.feedforward()
        if kp is None:
            part = 0.05 if deviation is None else deviation
            return self._linear_quadratic(part, period), self.feedforward()
        target, rate = [], []
        for joint in self.joints:
            q, v = self.q[:, m.q_slice(joint)], self.v[:, m.v_slice(joint)]
            if q.shape != v.shape:
                raise InputError(
                    f"track: found the motor in '{joint}', whose velocities are not the rates of its coordinates; expected a controller of "
                    "your own beside `feedforward()`"
                )
            target += [_spline(self.t, column) for column in q.T]
            rate += [_spline(self.t, column) for column in v.T]
        course = Course(tuple(target)), Course(tuple(rate))
        pd = PD(kp=kp, kd=kd, target=course[0], rate=course[1], joints=self.joints, period=period)
        return pd, self.feedforward()

    def follow(
        self,
        q0: Any = None,
        v0: Any = None,
        *,
        mechanism: Mechanism | None = None,
        period: float | None = None,
        bandwidth: float | None = None,
        **settings: Any,
    ) -> Run:
        """Return a simulation that follows the motion with feedback (`track`), from its start or another; steps end where the motion does.

        Parameters
        ----------
        q0, v0 : positions, velocities
            The planned start if not given.
        mechanism : Mechanism
            That moves, such as one with another payload; the planned one if not given.
        period : float [s]
            Of the controller; the run then ends with the first period after the motion. Continuous if not given.
        bandwidth : float [rad/s]
            Of the feedback; see `track`.
        **settings
            Of `simulate`.
        """
        from articulus.simulation.running import Loop

        controller, forces = self.track(bandwidth=bandwidth, period=period)
        w = bandwidth or default_bandwidth(self.duration, period)
        end, step = steps(self.duration, w, period)
        assert self.task is not None
        chosen = {"step": step, "method": "rosenbrock" if self.task.rubbing else "rk4"} | settings
        loop = Loop(mechanism or self.mechanism, controller=controller, components=list(forces))
        start = self.q[0] if q0 is None else q0
        return self.shown(loop.simulate(end, q0=start, v0=self.v[0] if v0 is None else v0, **chosen))

    def _linear_quadratic(self, deviation: float, period: float | None = None) -> StateFeedback:
        m, phase, u = self.mechanism, self.courses[0].phase, self.u
        assert self.task is not None
        limits = phase.upper[self.task.columns.u]
        used = np.abs(u).max(0)
        used = np.maximum(used, 0.1 * used.max() if used.any() else 1.0)
        tau = np.zeros((len(u), m.nv))
        tau[:, self.task.motors] = self._forces
        sizes = np.where(np.isfinite(limits), limits, used)
        return feedback_along(m, self.t, self.q, self.v, tau, self.joints, sizes, deviation, period)

    def run(self, **settings: Any) -> Run:
        """Return a simulation with the planned forces alone, from the planned start; by a tight adaptive method unless others are given.

        Parameters
        ----------
        **settings
            Of `Loop.simulate`.
        """
        return self._simulated(settings) if settings else self._proof

    @cached_property
    def _proof(self) -> Run:
        return self._simulated({})

    def _simulated(self, settings: dict[str, Any]) -> Run:
        from articulus.simulation.running import Loop

        forces = self.feedforward()
        step = self.duration / int(np.clip(round(self.duration / OUTPUT), *LOOKS))
        chosen: dict[str, Any] = {
            "method": "dormand_prince",
            "rtol": 1e-9,
            "atol": 1e-11,
            "step": step,
        } | settings
        loop = Loop(self.mechanism, components=list(forces))
        return self.shown(loop.simulate(self.duration, q0=self.q[0], v0=self.v[0], **chosen))

    def shown(self, run: Run) -> Run:
        """Return a run of the mechanism which, when it is viewed or replayed, shows the obstacles and the trace of the tip."""
        assert self.task is not None
        obstacles = {id(c.obstacle): c.obstacle.shape() for c in self.task.obstacles}
        frames = [g.frame for g in self.task.goals]
        frames += [k.frame for k in self.task.keep] + [
            h.body for c in self.task.obstacles for h in c.hulls[-1:]
        ]
        frames += [f.name for f in self.mechanism.description.frames[-1:]]
        drawn = {"obstacles": [s for s in obstacles.values() if s], "trail": frames[0] if frames else ""}
        return replace(run, meta={**run.meta, "settings": {**run.meta.get("settings", {}), **drawn}})

    @cached_property
    def end_error(self) -> float:
        """Largest distance of the simulated end (`run`) from the planned one, over coordinates [rad or m]."""
        run = self.run()
        return float(np.abs(self.mechanism.position_difference(self.q[-1], run.q[-1])).max())

    def residual_vibration(self, frame: str) -> Residual:
        """Return what swings on after a simulation with the planned forces (`run`), when the joints are locked at its end.

        Parameters
        ----------
        frame : str
            Body or frame whose vibration is looked at.
        """
        return residual_vibration(self, frame)

    def view(self, **settings: Any) -> Any:
        """Show the motion in the browser: a simulation with the planned forces, the obstacles, and the trace of the tip."""
        return self.run().view(**settings)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a netCDF4 file, whole or not at all; `load_plan` reads it. Needs the extra `data`."""
        from articulus.motion.trajectory.store import save

        save(self, path)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the times and all unknowns of the first phase to a file of comma-separated values; an existing one is replaced."""
        course, text = self.courses[0], io.StringIO()
        header = ",".join(["t [s]", *course.phase.names])
        np.savetxt(
            text,
            np.column_stack([course.t, course.z]),
            delimiter=",",
            header=header,
            comments="",
            fmt="%.17g",
        )
        write_text(path, text.getvalue())

    def plot(self) -> Figure:
        """Return a figure of positions, speeds and forces with their limits."""
        import matplotlib.pyplot as plt

        groups = _groups(self.courses[0].phase)
        figure, axes = plt.subplots(
            len(groups), 1, sharex=True, figsize=(8, 2.2 * len(groups)), layout="constrained", squeeze=False
        )
        for course in self.courses:
            for ax, (label, places) in zip(axes[:, 0], _groups(course.phase).items()):
                for k, place in enumerate(places):
                    color, name = f"C{k % 10}", course.phase.names[place]
                    first = course is self.courses[0]
                    ax.plot(
                        course.t,
                        course.z[:, place],
                        color=color,
                        label=name if first and len(places) <= 8 else None,
                    )
                    for bound in (course.phase.lower[place], course.phase.upper[place]):
                        if np.isfinite(bound):
                            ax.hlines(bound, course.t[0], course.t[-1], color=color, lw=0.6, ls=":")
                ax.set_ylabel(label)
        for ax in axes[:, 0]:
            if ax.get_legend_handles_labels()[0]:
                ax.legend(frameon=False, fontsize="small", ncols=4)
        axes[-1, 0].set_xlabel("t [s]")
        state = "" if self.converged else f"  (not converged: {self.solution.status})"
        axes[0, 0].set_title(f"duration {self.t[-1]:.4g} s, cost {self.solution.cost:.6g}{state}")
        return figure

    def __str__(self) -> str:
        s = self.solution
        lines = [
            f"plan: {s.status}, {s.iterations} iterations in {s.seconds:.3g} s (functions {s.function_seconds:.3g} s)",
            f"  cost {s.cost:.9g}, duration {self.t[-1]:.6g} s, {self.scheme.name} on {sum(map(len, self.meshes)) - len(self.meshes)} intervals",
            f"  estimated error of the states {self.error:.2g} of their sizes",
        ]
        if self.task is not None and self.task.friction_speed is not None:
            lines.append(
                f'  dry friction is smoothed below a speed of {self.task.friction_speed:.2g} rad/s or m/s; it is stiff, "radau 3" suits it best'
            )
        if self.converged and (limits := self.overload):
            lines.append(f"  limits between the points: {limits[0]}")
        if not self.converged:
            lines += [f"  {v}" for v in self.violations()[:5]]
        elif away := self._jumps_away():
            times = ", ".join(f"{t:.4g}" for t in away[:5]) + (", ..." if len(away) > 5 else "")
            lines.append(
                f"  inputs jump inside of intervals, at t = {times} s: error=1e-5 puts nodes there and lowers the cost"
            )
        lines += [f"  {each}" for each in (self.chatter if self.converged else ())]
        return "\n".join(lines)


def _spline(t: np.ndarray, y: np.ndarray) -> Spline:
    """Return the spline through samples; its rates at the ends are those of the parabolas through three points."""
    ends = []
    for k in (slice(0, 3), slice(-1, -4, -1)):
        x = t[k] - t[k][0]
        ends.append(float(np.polyfit(x / x[-1], y[k], 2)[1] / x[-1]))
    return Spline(tuple(t), tuple(y), tuple(ends))


def _groups(phase: Phase) -> dict[str, list[int]]:
    """Return places of the unknowns worth looking at, by the beginning of their names."""
    groups: dict[str, list[int]] = {}
    for k, name in enumerate(phase.names):
        kind = name.split(".")[0]
        if kind in ("q", "v", "u"):
            groups.setdefault(kind, []).append(k)
        elif not name.startswith(("a.", "rate of", "loop force")):
            groups.setdefault("states" if k in phase.rates else "inputs", []).append(k)
    return groups


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
        Of the first mesh, for all phases or for each.
    error : float
        Estimated error of the states, over their sizes, up to which the mesh is refined; the first mesh is kept if not given.
    overload : float
        Part of a limit by which it may be exceeded between the points, such as 0.01: bounds at the points are drawn in, and intervals cut,
        until it is reached. If not given limits hold at the points, and more than 0.02 between them is told.
    tolerance, iterations, time_limit
        Of the solver.
    task : Task
        From which the problem was made.
    guess : Plan
        Of a similar problem with the same unknowns, such as a stiffer arm: the search begins at its motion.
    options : dict
        More of ipopt's, such as {"ipopt.mu_strategy": "monotone"}, which suits stiff equations better.
    """
    whole = Problem((problem,)) if isinstance(problem, Phase) else problem
    if not isinstance(whole, Problem):
        raise InputError(f"problem: found {problem!r}; expected a Problem or a Phase")
    counts = list(intervals) if isinstance(intervals, Sequence) else [intervals] * len(whole.phases)
    if len(counts) != len(whole.phases) or not all(isinstance(n, int | np.integer) and n > 0 for n in counts):
        raise InputError(
            f"intervals: found {intervals!r}; expected a whole number above zero, or a list of one for each phase"
        )
    _require_positive(tolerance=tolerance, iterations=iterations, time_limit=time_limit)
    if not isinstance(iterations, int | np.integer):
        raise InputError(f"iterations: found {iterations!r}; expected a whole number above zero")
    if error is not None:
        _require_positive(error=error)
    if overload is not None:
        _require_positive(overload=overload)
    if guess is not None:
        if not isinstance(guess, Plan):
            raise InputError(f"guess: found {guess!r}; expected a Plan of a similar motion")
        whole = _begun(whole, guess)
    if not isinstance(scheme, str):
        raise InputError(f'scheme: found {scheme!r}; expected a name such as "hermite_simpson"')
    if scheme.split()[:1] == ["riccati"]:
        from articulus.motion.trajectory.riccati_plan import riccati_plan  # late: it makes a Plan

        if error is not None or options:
            raise InputError(
                "riccati: found an error to refine to, or options of ipopt; expected neither. It takes equal steps, as many as `intervals`"
            )
        kept = riccati_plan(
            whole,
            name=scheme,
            steps=counts[0],
            tolerance=tolerance,
            iterations=iterations,
            time_limit=time_limit,
            task=task,
        )
        kept._warn_of_missing()
        kept._warn_of_obstacles()
        return kept
    chosen = scheme_of(scheme)
    if chosen.name == "weak":
        durations = None
        if guess is not None:
            given = [guess.solution.x[layout.duration] for layout in guess.layouts]
            durations = [float(np.clip(T, *phase.duration)) for T, phase in zip(given, whole.phases)]
        elements = Search(tolerance, iterations, time_limit, options, durations)
        level = solve_weak(whole, counts, elements, error=error, rounds=ROUNDS)
        made = Plan(
            whole, level.solution, level.program, level.layouts, chosen, level.meshes, task, level.error
        )
        if error is not None and made.converged and made.error > error:
            _warn_of(made.error, error)
        made._warn_of_open_loops()
        made._warn_of_missing()
        made._warn_of_overload()
        made._warn_of_obstacles()
        return made
    search = _Search(tolerance, iterations, time_limit, options)
    made = _first_plan(whole, counts, chosen, search, task, guess)
    if error is not None:
        made = _refined(made, error, search)
    if overload is not None:
        made = _within_limits(made, overload, search)
    made._warn_of_chatter()
    made._warn_of_open_loops()
    made._warn_of_missing()
    made._warn_of_overload(OVER if overload is None else overload)
    made._warn_of_obstacles()
    return made


@dataclass(frozen=True)
class _Search:
    """How a program is searched: tolerance, most iterations and seconds, options of ipopt."""

    tolerance: float
    iterations: int
    time_limit: float
    options: dict[str, Any] | None


def _first_plan(
    problem: Problem,
    counts: Sequence[int],
    chosen: Scheme,
    search: _Search,
    task: Task | None,
    guess: Plan | None = None,
) -> Plan:
    """Return the plan on the first mesh."""
    meshes = tuple(np.linspace(0.0, 1.0, n + 1) for n in counts)
    program, layouts = transcribe(problem, meshes, chosen)
    x = first_guess(problem, layouts)
    if guess is not None:
        for layout, other, phase in zip(layouts, guess.layouts, problem.phases):
            x[layout.duration] = np.clip(guess.solution.x[other.duration], *phase.duration)
    return _plan_on(problem, program, layouts, chosen, meshes, task, search, x)


def _plan_on(
    problem: Problem,
    program: Program,
    layouts: Sequence[Layout],
    chosen: Scheme,
    meshes: tuple[np.ndarray, ...],
    task: Task | None,
    search: _Search,
    x: np.ndarray,
) -> Plan:
    """Return the plan on meshes, begun at unknowns x."""
    structure = None if search.options else Condensed.of(problem, layouts, chosen, program)
    solution = _solved(program, structure, x, search)
    errors = [interval_errors(p, a, chosen, solution.x) for p, a in zip(problem.phases, layouts)]
    worst = float(max(e.sum() for e in errors))
    return Plan(problem, solution, program, tuple(layouts), chosen, meshes, task, worst)


def _refined(plan: Plan, error: float, search: _Search) -> Plan:
    """Return a plan on finer meshes, with nodes where inputs jump, until its estimated error is reached."""
    made, problem, chosen = plan, plan.problem, plan.scheme
    for k in range(ROUNDS + 1):
        if not made.converged:
            break
        meshes, layouts, x = made.meshes, made.layouts, made.solution.x
        jumps = [nodes_of(at, chosen) for at in made._switches()]
        off = max(float(np.abs(mesh[:, None] - at).min(0).max(initial=0)) for mesh, at in zip(meshes, jumps))
        if made.error <= error and off <= JUMP:
            break
        if k == ROUNDS:
            if made.error > error:
                _warn_of(made.error, error)
            else:
                warnings.warn(
                    f"plan: after {ROUNDS} refinements an input still jumps {off:.2g} of the duration away from the ends of all intervals; "
                    "the cost is larger than the least by about the square of that. Expected more intervals to begin with",
                    stacklevel=3,
                )
            break
        errors = [interval_errors(p, a, chosen, x) for p, a in zip(problem.phases, layouts)]
        finer = [
            refined(mesh, e, error / len(e)) if made.error > error else mesh
            for mesh, e in zip(meshes, errors)
        ]
        meshes = tuple(with_nodes(mesh, at) for mesh, at in zip(finer, jumps))
        program, new = transcribe(problem, meshes, chosen)
        made = _plan_on(problem, program, new, chosen, meshes, made.task, search, _moved_to(made, new))
    return made


def _within_limits(plan: Plan, most: float, search: _Search) -> Plan:
    """Return a plan that keeps its limits between the points of the mesh, too, up to a part of them."""
    made, program, problem = plan, plan.program, plan.problem
    kept = [np.ones((len(a.intervals), p.size)) for a, p in zip(made.layouts, problem.phases)]
    for k in range(DRAWS):
        x, layouts, chosen, meshes = made.solution.x, made.layouts, made.scheme, made.meshes
        loads = [interval_loads(p, a, chosen, x)[0] for p, a in zip(problem.phases, layouts)]
        if not made.converged or max(each.max() for each in loads) <= 1 + most:
            break
        kept = [
            np.where(each > 1 + most / 2, part / np.maximum(each, 1.0), part)
            for part, each in zip(kept, loads)
        ]
        if k % CUT == CUT - 1:
            parts = [1 + (each.max(1) > 1 + most) for each in loads]
            meshes = tuple(cut(mesh, each) for mesh, each in zip(meshes, parts))
            kept = [part.repeat(each, axis=0) for part, each in zip(kept, parts)]
            program, finer = transcribe(problem, meshes, chosen)
            x, layouts = _moved_to(made, finer), tuple(finer)
        narrow = drawn_in(program, problem.phases, layouts, kept)
        made = _plan_on(problem, narrow, layouts, chosen, meshes, plan.task, search, x)
    return made


def _solved(program: Program, structure: Condensed | None, x: np.ndarray, search: _Search) -> Solution:
    """Return the solution of a program from a guess: by its structure where it has one and that succeeds, else by ipopt."""
    begun = time.perf_counter()
    limits: dict[str, Any] = {"tolerance": search.tolerance, "iterations": search.iterations}
    found = None
    if structure is not None:
        found = solve_condensed(program, structure, x, **limits, time_limit=search.time_limit)
    if found is not None:
        return found
    left = max(search.time_limit - (time.perf_counter() - begun), 1e-3)
    return solve(program, x, **limits, time_limit=left, options=search.options)


def _require_positive(**settings: Any) -> None:
    for name, value in settings.items():
        if not isinstance(value, Real) or not 0 < float(value) < np.inf:
            raise InputError(f"{name}: found {value!r}; expected a number above zero")


def _begun(problem: Problem, guess: Plan) -> Problem:
    """Return a problem whose first guess is the motion of another plan."""
    if [p.names for p in problem.phases] != [c.phase.names for c in guess.courses]:
        raise InputError(
            "guess: found a plan of other phases or with other unknowns; expected those of the problem"
        )

    def of(course: PhaseCourse) -> Guess:
        return GuessAlong((course.t - course.t[0]) / (course.t[-1] - course.t[0]), course.z)

    phases = tuple(replace(p, guess=of(c)) for p, c in zip(problem.phases, guess.courses))
    return replace(problem, phases=phases)


def _warn_of(found: float, error: float) -> None:
    warnings.warn(
        f"plan: after {ROUNDS} refinements the estimated error of the states is {found:.2g}, above {error:.2g}; inputs that jump "
        "need intervals that end where they jump, smooth ones more intervals to begin with or a scheme of higher order",
        stacklevel=3,
    )


def _moved_to(plan: Plan, layouts: Sequence[Layout]) -> np.ndarray:
    """Return the unknowns of a plan on other meshes."""
    parts = []
    for course, layout, old in zip(plan.courses, layouts, plan.layouts):
        s = (course.t - course.t[0]) / (course.t[-1] - course.t[0])
        z = np.column_stack([np.interp(layout.fractions, s, column) for column in course.z.T])
        parts.append(np.append(z.ravel(), plan.solution.x[old.duration]))
    return np.concatenate(parts)


def plan(
    mechanism: Mechanism,
    start: Any,
    goal: Any,
    *,
    duration: float | tuple[float, float],
    cost: Mapping[str, float] | str = "effort",
    joints: Sequence[str] = (),
    effort: Mapping[str, float] | float | None = None,
    velocity: Mapping[str, float] | float | None = None,
    obstacles: Sequence[Any] = (),
    keep: Sequence[Any] = (),
    scheme: str = "hermite_simpson",
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
    """Return the best motion of a mechanism from rest to rest.

    Parameters
    ----------
    mechanism : Mechanism
        Tree or closed loops, rigid or flexible.
    start : positions
        Array, dict of names, or name of a position.
    goal : positions, art.goals.FramePose, art.goals.FramePoint or several of them
    duration : float or (float, float) [s]
        Given, or least and largest.
    cost : "effort", "time" or dict of weights
        "effort": integral of the sum of (u / limit)^2. "time": the duration, with 1e-4 of effort, which makes the answer unique. Or
        weights such as {"time": 1.0, "effort": 1e-4}.
    joints : sequence of str
        Joints with motors; all of one degree of freedom if not given.
    effort : dict of joint to number, or a number [N m or N]
        Limits in place of those of the joints.
    velocity : dict of joint to number, or a number [rad/s or m/s]
        Likewise.
    obstacles : sequence of Clear
        Obstacles and the hulls that keep away from them.
    keep : sequence of OnLine, InBox or Facing
        What frames keep to all the way.
    scheme : str
        "hermite_simpson", "radau <points>", "lobatto <points>", "shooting" or "weak"; "riccati" (RK4) or "riccati
        semi_implicit_euler": steps of equal length with inputs held during each, a given duration, feedback gains in the result.
    intervals : int
        Of the first mesh.
    error : float
        Estimated error of the states over their sizes, up to which the mesh is refined; not at all if not given.
    overload : float
        Part of a limit by which it may be exceeded between the points of the mesh, such as 0.01; see `solve_problem`. If not given
        limits hold at the points, and more than 0.02 between them is told.
    tolerance, iterations, time_limit
        Of the solver.
    guess : Plan, or positions along the way
        A plan of a similar mechanism, such as a stiffer one: the search begins at its motion. Or one or more positions between start and
        goal, (k, nq), through which the first guess goes.
    restarts : int
        More searches, from guesses that go through positions at random; the best motion found is returned. A search ends at a local minimum, or,
        from a symmetric guess, at a saddle.
    seed : int
        Of those positions.
    friction_speed : float [rad/s or m/s]
        Speed s about which dry friction of joints is smoothed, as c v / sqrt(v^2 + s^2). If not given 0.3 of the largest speed of the first guess, then 0.1
        of it if that is found, too.
    options : dict
        More of ipopt's; see `solve_problem`.
    """
    weights = (
        {"effort": {"effort": 1.0}, "time": {"time": 1.0, "effort": 1e-4}}.get(cost)
        if isinstance(cost, str)
        else cost
    )
    if not isinstance(mechanism, Mechanism):
        raise InputError(f"mechanism: found {mechanism!r}; expected a Mechanism, such as articulus.load(...)")
    if not isinstance(weights, Mapping):
        found = f'"{cost}"' if isinstance(cost, str) else repr(cost)
        raise InputError(f'cost: found {found}; expected "effort", "time" or a dict of weights')
    task = Task(
        mechanism,
        start,
        goal,
        duration,
        weights,
        _listed("joints", joints),
        by_joint(mechanism, effort, "effort"),
        by_joint(mechanism, velocity, "velocity"),
        _listed("obstacles", obstacles),
        _listed("keep", keep),
    )
    if friction_speed is not None:
        _require_positive(friction_speed=friction_speed)
        task = replace(task, friction_speed=float(friction_speed))
    begun: Plan | None = guess if isinstance(guess, Plan) else None
    if guess is not None and begun is None:
        task = replace(task, via=_positions(mechanism, guess))
    if not isinstance(restarts, int | np.integer) or restarts < 0:
        raise InputError(f"restarts: found {restarts!r}; expected a whole number, 0 or more")
    task.look_ahead()
    settings: dict[str, Any] = {"scheme": scheme, "intervals": intervals, "tolerance": tolerance}
    settings |= {"iterations": iterations, "time_limit": time_limit, "options": options}
    stages = [task]
    if task.rubbing and friction_speed is None and not scheme.startswith("riccati"):
        stages = [replace(task, friction_speed=s) for s in _friction_speeds(task)]
    if restarts or len(stages) > 1:
        begun = _best([stages[0], *_elsewhere(stages[0], restarts, seed)], begun, settings)
        if len(stages) > 1 and begun.converged:
            last = _best(stages[1:], begun, settings)
            begun = last if last.converged else begun
        task = begun.task or task
    return solve_problem(task.phase(), error=error, overload=overload, task=task, guess=begun, **settings)


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


def _listed(what: str, given: Any) -> tuple[Any, ...]:
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
        if what == "effort" and not everywhere:
            mechanism.description.require_independent(joint, what)
        if not isinstance(number, Real) or not float(number) > 0:
            raise InputError(f"{what}: found {number!r} for joint '{joint}'; expected a number above zero")
    return {joint: float(number) for joint, number in given.items()}
