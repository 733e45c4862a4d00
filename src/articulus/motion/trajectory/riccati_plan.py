"""`FeedbackPlan`: a motion found by the Riccati solver, with its feedback gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from articulus import kernel
from articulus.motion.trajectory.ipopt import Solution, SolverSettings
from articulus.motion.trajectory.plans import SATISFIED, Plan, Violation
from articulus.motion.trajectory.problem import Phase, Problem
from articulus.motion.trajectory.riccati import SearchOutcome, search
from articulus.motion.trajectory.stages import Stages
from articulus.motion.trajectory.task import Task

if TYPE_CHECKING:
    from articulus.motion.trajectory.schemes.riccati import RiccatiSteps

FINER = 4
"""Steps of RK4 with which one step of the plan is compared."""


@dataclass(frozen=True, eq=False)
class FeedbackPlan(Plan):
    """What the Riccati solver found: inputs are held during each step.

    Parameters
    ----------
    stages : Stages
    outcome : SearchOutcome
    """

    stages: Stages
    outcome: SearchOutcome

    @property
    def converged(self) -> bool:
        """Whether the search ended at a solution that keeps all constraints."""
        return self.outcome.converged

    @property
    def gains(self) -> np.ndarray:
        """Best answer to small deviations during each step, (steps, inputs, states): u = u(k) + gains (x - x(k))."""
        self._require()
        return self.outcome.gains

    @property
    def goal_error(self) -> float:
        """Largest violation of what has to hold at the end, over its size."""
        off = [v.amount for v in self.violations(0.0) if v.t >= self.t[-1]]
        return max(off, default=0.0)

    def violations(self, above: float = SATISFIED) -> tuple[Violation, ...]:
        """Return the constraints that the motion does not keep at the ends of steps, the worst first; over their sizes."""
        s, found = self.stages, []
        z, f = self.courses[0].z, self._rates()
        groups = ((s.rows, slice(0, -1)), (s.last_rows, slice(-1, None)))
        for rows, points in groups:
            if not rows:
                continue
            values = s.row_values(rows)(z[points][:, s.states], z[points][:, list(s.phase.inputs)], f[points])
            lower, upper = (np.array([getattr(r, side) for r in rows]) for side in ("lower", "upper"))
            off = np.maximum(np.maximum(lower - values, values - upper), 0.0)
            for b, k in zip(*np.nonzero(off > above)):
                t = float(self.t[points][b])
                found.append(Violation(rows[k].name, rows[k].entry, s.phase.name, t, float(off[b, k])))
        return tuple(sorted(found, key=lambda v: -v.amount))

    def _rates(self) -> np.ndarray:
        phase, z = self.stages.phase, self.courses[0].z
        return z[:, [phase.rates[k] for k in self.stages.states]]

    def __str__(self) -> str:
        kept = f"  constraints kept within {self.outcome.violation:.2g} of their sizes, the goal within {self.goal_error:.2g}"
        head, *rest = super().__str__().splitlines()
        return "\n".join([head, rest[0].replace("intervals", "steps"), kept, *rest[1:]])


def riccati_plan(
    phase: Phase, scheme: RiccatiSteps, steps: int, settings: SolverSettings, task: Task | None
) -> FeedbackPlan:
    """Return the plan of one phase of given duration by the Riccati solver, in so many steps of equal length."""
    stages = Stages(phase, None if task is None else task.mechanism, steps, scheme.method)
    outcome = search(
        stages,
        tolerance=settings.tolerance,
        iterations=settings.iterations,
        time_limit=settings.time_limit,
    )
    return feedback_plan(stages, scheme, outcome, task)


def feedback_plan(
    stages: Stages, scheme: RiccatiSteps, outcome: SearchOutcome, task: Task | None
) -> FeedbackPlan:
    """Return the plan of what a search found."""
    phase, problem = stages.phase, Problem((stages.phase,))
    rates = kernel.compile(stages.rates, finite=False, ranks=((1, 1), (1,)))
    mesh, empty = np.linspace(0, 1, stages.steps + 1), np.zeros(0)
    program, layouts = scheme.transcribe(problem, [mesh])
    x, seconds = np.append(_unknowns(stages, outcome, rates).ravel(), phase.duration[0]), outcome.seconds
    solution = Solution(x, outcome.cost, empty, empty, outcome.status, outcome.iterations, seconds, seconds)
    error = _error(stages, outcome, rates)
    return FeedbackPlan(
        problem, solution, program, tuple(layouts), scheme, (mesh,), task, error, stages, outcome
    )


def _unknowns(stages: Stages, outcome: SearchOutcome, rates: kernel.Kernel) -> np.ndarray:
    """Return all unknowns at the ends of steps, (steps + 1, n); the last inputs stay until the end."""
    phase, x = stages.phase, outcome.x
    u = np.vstack([outcome.u, outcome.u[-1:]])
    z = np.zeros((len(x), phase.size))
    z[:, [phase.rates[k] for k in stages.states]] = rates(x, u)
    z[:, stages.states], z[:, list(phase.inputs)] = x, u
    return z


def _error(stages: Stages, outcome: SearchOutcome, rates: kernel.Kernel) -> float:
    """Return what the steps are off by, from finer ones, over the sizes of the states and summed over the steps."""
    u, x, h = outcome.u, outcome.x[:-1], stages.h / FINER
    for _ in range(FINER):
        f1 = rates(x, u)
        f2 = rates(x + h / 2 * f1, u)
        f3 = rates(x + h / 2 * f2, u)
        x = x + h / 6 * (f1 + 2 * f2 + 2 * f3 + rates(x + h * f3, u))
    off = np.abs(x - outcome.x[1:]) / stages.state_scale
    return float(off.max(1).sum())
