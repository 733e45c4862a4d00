"""`Plan`: a motion, the inputs that produce it, and how good it is."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import DoubtfulResult, InputError, NumericalError
from articulus.model.files.storage import write_text
from articulus.motion.motion import Motion, MotionState, SampledMotion
from articulus.motion.piecewise import Piecewise
from articulus.motion.trajectory.collocation import Layout
from articulus.motion.trajectory.ipopt import Solution
from articulus.motion.trajectory.obstacles import Clear, penetrations
from articulus.motion.trajectory.optimality import Chatter, chatters, flat_inputs, switches
from articulus.motion.trajectory.overload import Overload, overloads
from articulus.motion.trajectory.playing import end_miss
from articulus.motion.trajectory.problem import Phase, Problem
from articulus.motion.trajectory.program import NonlinearProgram, Part
from articulus.motion.trajectory.residual import Residual, residual_vibration
from articulus.motion.trajectory.task import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from articulus.motion.trajectory.schemes.scheme import Scheme
    from articulus.simulation.results import Run

SATISFIED = 1e-5
"""Violation, over the size of the constraint, up to which a constraint of the program counts as kept."""
OPEN = 1e-3
"""Residual of closed loops on the mesh from which a plan warns [m or 1]."""
COARSE = 5e-3
"""Estimated error of the states over their sizes, from which on it is looked where the inputs alone lead."""
MISSED = 0.1
"""Distance of that end from the planned one, over the extent of the motion, from which a plan warns."""
OVER = 0.02
"""Part of a limit by which it may be exceeded between the points of the mesh; from there on a plan warns."""
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
class Plan(Motion):
    """What the search found.

    Parameters
    ----------
    problem : Problem
    solution : Solution
        Solution of the program, with multipliers.
    program : NonlinearProgram
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
    program: NonlinearProgram
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
        return tuple(
            self.scheme.costates(self.program, layout, k, self.solution)
            for k, layout in enumerate(self.layouts)
        )

    @cached_property
    def hamiltonian(self) -> tuple[np.ndarray, ...]:
        """Running cost plus costates times rates, by phases, at the points (points,); of finite elements in time in the elements.

        Along a solution it is constant in each phase, and of a duration that is free the cost it saves per time. What it varies by on
        the mesh is the error of the discretization.
        """
        made = []
        for course, layout, each in zip(self.courses, self.layouts, self.costates):
            phase = course.phase
            at = self.scheme.equation_points(layout)
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
        return tuple(
            self.scheme.switching(phase, layout, self.solution)
            for phase, layout in zip(self.problem.phases, self.layouts)
        )

    def input_jumps(self) -> list[np.ndarray]:
        """Return where inputs jump, as fractions of the duration, by phases."""
        return [
            switches(phase, layout, self.solution, S)
            for phase, layout, S in zip(self.problem.phases, self.layouts, self.switching)
        ]

    def _off_mesh_switches(self) -> list[float]:
        """Return the times at which inputs jump where the mesh has no node."""
        if not self.scheme.has_switching:
            return []
        found = []
        for course, mesh, at in zip(self.courses, self.meshes, self.input_jumps()):
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
        if not self.converged or not self.scheme.has_switching:
            return
        flat = {n for phase in self.problem.phases for n in flat_inputs(phase) if not phase.path}
        for each in self.chatter:
            if each.name in flat:
                warnings.warn(
                    f"plan: {each}: the mesh determines it there, not the cost (a singular arc). Add a small weight on it to the cost, "
                    'or take another scheme ("radau 3", "shooting"); positions and cost may still be right',
                    stacklevel=5,
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
            f"plan: between the points of the mesh limits are exceeded: {worst}. Pass overload={OVER:g}, which tightens bounds and splits "
            "intervals until all limits hold to that accuracy, or take more intervals; `plan.overload` has all of them",
            DoubtfulResult,
            stacklevel=5,
        )

    def _warn_of_open_loops(self) -> None:
        """Tell of loops that do not stay closed: the equations of motion hold their accelerations only."""
        if self.task is None or not self.converged or not self.mechanism.constraint_names:
            return
        off = np.abs(self.mechanism.constraint_residual(self.q, 0.0)).max(0)
        if off.max() > OPEN:
            name = self.mechanism.constraint_names[int(off.argmax())]
            warnings.warn(
                f"plan: constraint '{name}' is open by {off.max():.2g} along the motion; expected less than {OPEN:g}. Take more intervals; "
                "between two singular positions plan over one that is not",
                stacklevel=5,
            )

    def _warn_end_missed(self) -> None:
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
            miss = end_miss(phase, layout, self.scheme, self.solution.x, looked_at)
            if miss.part > MISSED:
                warnings.warn(
                    f"plan: the inputs alone lead elsewhere: {miss} in {phase.name}, with an estimated error of {self.error:.2g}. The mesh "
                    'does not resolve the motion: take more intervals, a scheme of higher order ("lobatto 4"), or give error=1e-3. If it '
                    "stays so, the motion is unstable and needs `track`",
                    DoubtfulResult,
                    stacklevel=5,
                )

    def _warn_of_obstacles(self) -> None:
        """Tell of obstacles that are not gone round but jumped across between two points of the mesh."""
        if self.task is None or not self.converged or not self.task.obstacles:
            return
        phase, z = self.courses[0].phase, self.courses[0].z
        rate = z[:, [phase.rates[k] for k in range(*self.task.columns.q.indices(phase.size))]]
        for each in penetrations(self.mechanism, self.task.obstacles, self.t, self.q, rate):
            warnings.warn(
                f"plan: between two points of the mesh {each}; expected it clear as at the points. Take more intervals, a margin, or another guess",
                DoubtfulResult,
                stacklevel=5,
            )

    def warn(self, most: float = OVER) -> None:
        """Tell of everything about the motion that a careful engineer would doubt, with limits exceeded by more than a part of them."""
        self._warn_of_chatter()
        self._warn_of_open_loops()
        self._warn_end_missed()
        self._warn_of_overload(most)
        self._warn_of_obstacles()

    def violations(self, above: float = SATISFIED) -> tuple[Violation, ...]:
        """Return the constraints that the motion does not keep on the mesh, the worst first."""
        found = []
        for block in self.program.constraints:
            r = block.values(self.solution.x)
            off = np.maximum(np.maximum(block.lower - r, r - block.upper), 0)
            for b, k in zip(*np.nonzero(off > above)):
                found.append((float(off[b, k]), block, int(b), int(k)))
        found.sort(key=lambda each: -each[0])
        return tuple(self._by_name(*each) for each in found)

    def at_limits(self, most: float = 0.2) -> tuple[tuple[str, float], ...]:
        """Return the unknowns that are at a bound at more than a part of the points, and at which part; most often first."""
        found: dict[str, float] = {}
        for course in self.courses:
            phase = course.phase
            near = 1e-4 * phase.scale
            at = (course.z <= phase.lower + near) | (course.z >= phase.upper - near)
            found |= {n: float(part) for n, part in zip(phase.names, at.mean(0)) if part > most}
        return tuple(sorted(found.items(), key=lambda each: -each[1]))

    def _by_name(self, amount: float, block: Part, place: int, row: int) -> Violation:
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
        return self._planned_mechanism

    @cached_property
    def _planned_mechanism(self) -> Mechanism:
        """The mechanism of the task, with the parameters that the plan chose."""
        assert self.task is not None
        m = self.task.mechanism
        return m.with_values(self.parameters) if self.task.parameters and self.converged else m

    @property
    def parameters(self) -> dict[str, float]:
        """What the plan chose for named parameters of the mechanism; `mechanism.with_values(plan.parameters)` has them."""
        self._require()
        return {
            n.removeprefix("p."): float(self[n][0]) for n in self.courses[0].phase.names if n.startswith("p.")
        }

    def _part(self, name: str) -> np.ndarray:
        return self.courses[0].z[:, getattr(self._require_task().columns, name)]

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

    @cached_property
    def vdot(self) -> np.ndarray:
        """Accelerations at the points, (points, nv)."""
        return self._part("a")

    @cached_property
    def actuators(self) -> tuple[str, ...]:
        """Joints with motors, in the order of u, which has an entry for each degree of freedom."""
        return self._require_task().motor_joints

    @property
    def ok(self) -> bool:
        """Whether the search ended at a solution that keeps all constraints, and nothing about it is doubtful."""
        return self.converged and super().ok

    @cached_property
    def warnings(self) -> tuple[str, ...]:  # type: ignore[override]
        """What is doubtful about the motion."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self.warn()
        return tuple(dict.fromkeys(str(each.message) for each in told))

    def _require_task(self) -> Task:
        if self.task is None:
            raise InputError("plan: this problem was given by equations; ask for its unknowns by name")
        return self.task

    @cached_property
    def pieces(self) -> Piecewise:
        """Forces of the motors, (nv,): on each interval the polynomial through its points, as the scheme has it.

        They overcome all dry friction, also what the plan smoothed, within their limits.
        """
        self._require()
        task, course = self._require_task(), self.courses[0]
        limit = np.maximum(course.phase.upper[task.columns.u], np.abs(self.u).max(0))
        forces = np.clip(self.u + task.friction_left(course.z), -limit, limit)
        begin, _, coefficients = self.scheme.replay(self.layouts[0], forces, self.duration)
        whole = np.zeros((*coefficients.shape[:2], self.mechanism.nv))
        whole[:, :, task.motors] = coefficients
        return Piecewise(np.append(begin, self.t[-1]), whole)

    @cached_property
    def samples(self) -> SampledMotion:
        """The motion at the points of the mesh; between them of degree five through positions, velocities and accelerations."""
        points, after, before = self.scheme.samples(self.layouts[0], self.v, self.vdot, self.duration)
        x = (self.t[points], self.q[points], self.v[points])
        return SampledMotion(*x, after, before, self.mechanism, self.actuators, self.pieces)

    def at(self, t: Any) -> MotionState:
        """Return positions, velocities, accelerations and forces at times, (..., n) each; what holds at the ends before and after.

        The equations of motion hold at the points of the mesh; between them as well as `error` says.
        """
        return self.samples.at(t)

    def _force_sizes(self) -> np.ndarray:
        limits = self.courses[0].phase.upper[self._require_task().columns.u]
        return np.where(np.isfinite(limits), limits, super()._force_sizes())

    def run(self, q0: Any = None, v0: Any = None, *, track: bool = True, **settings: Any) -> Run:
        """Return a simulation of the motion: its forces with feedback along it (`track`), or its forces alone; it shows the obstacles and the trace of
        the tip. Arguments are those of `Motion.run`.

        Parameters
        ----------
        q0, v0 : positions, velocities
            The planned start if not given.
        track : bool
            Whether there is feedback; without, a tight adaptive method is taken unless another is given.
        **settings
            `mechanism`, `period`, `bandwidth`, and those of `simulate`.
        """
        if q0 is None and v0 is None and not track and not settings:
            return self._proof
        self._require()
        return self.annotate(super().run(q0, v0, track=track, **settings))

    @cached_property
    def _proof(self) -> Run:
        self._require()
        return self.annotate(super().run(track=False))

    def annotate(self, run: Run) -> Run:
        """Return a run of the mechanism which, when it is viewed or replayed, shows the obstacles and the trace of the tip."""
        assert self.task is not None
        clear = [c for c in self.task.obstacles if isinstance(c, Clear)]
        obstacles = {id(c.obstacle): c.obstacle.shape() for c in clear}
        frames = [g.frame for g in self.task.goals]
        frames += [k.frame for k in self.task.keep] + [h.body for c in clear for h in c.hulls[-1:]]
        frames += [f.name for f in self.mechanism.description.frames[-1:]]
        drawn = {"obstacles": [s for s in obstacles.values() if s], "trail": frames[0] if frames else ""}
        return replace(run, meta={**run.meta, "settings": {**run.meta.get("settings", {}), **drawn}})

    @cached_property
    def end_error(self) -> float:
        """Largest distance of the end that the planned forces alone lead to (`run(track=False)`) from the planned one, over coordinates [rad or m]."""
        run = self.run(track=False)
        return float(np.abs(self.mechanism.position_difference(self.q[-1], run.q[-1])).max())

    def residual_vibration(self, frame: str) -> Residual:
        """Return what swings on after a simulation with the planned forces alone, when the joints are locked at its end.

        Parameters
        ----------
        frame : str
            Body or frame whose vibration is examined.
        """
        return residual_vibration(self, frame)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a netCDF4 file, whole or not at all; `load_plan` reads it. Needs the extra `data`."""
        from articulus.motion.trajectory.store import save

        save(self, path)

    def to_csv(self, path: str | PathLike[str], *, step: float | None = None) -> None:
        """Write the times and all unknowns of the first phase to a file of comma-separated values; an existing one is replaced.

        Parameters
        ----------
        path : path of the file
        step : float [s]
            If given, the file has positions, velocities, accelerations and forces of the mechanism at this distance.
        """
        if step is not None:
            super().to_csv(path, step=step)
            return
        course, text = self.courses[0], io.StringIO()
        header = ",".join(["t [s]", *course.phase.names])
        rows = np.column_stack([course.t, course.z])
        np.savetxt(text, rows, delimiter=",", header=header, comments="", fmt="%.17g")
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
        if s.saddles:
            lines.append(
                f"  found beside {len(s.saddles)} saddle{'s' * (len(s.saddles) > 1)} at which the search ended first, of cost {s.saddles[0]:.6g}; restarts=3 looks "
                "for still better motions elsewhere"
            )
        if self.task is not None and self.task.friction_speed is not None:
            lines.append(
                f'  dry friction is smoothed below a speed of {self.task.friction_speed:.2g} rad/s or m/s; it is stiff, "radau 3" suits it best'
            )
        if self.converged and (limits := self.overload):
            lines.append(f"  limits between the points: {limits[0]}")
        if not self.converged:
            lines += [f"  {v}" for v in self.violations()[:5]]
        elif away := self._off_mesh_switches():
            times = ", ".join(f"{t:.4g}" for t in away[:5]) + (", ..." if len(away) > 5 else "")
            lines.append(
                f"  inputs jump inside of intervals, at t = {times} s: error=1e-5 puts nodes there and lowers the cost"
            )
        lines += [f"  {each}" for each in (self.chatter if self.converged else ())]
        return "\n".join(lines)


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
