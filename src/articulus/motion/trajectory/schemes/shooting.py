"""Multiple shooting as a scheme: nodes only, with inputs linear between them; `ShootingSteps` takes the place of relations and weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.motion.trajectory.collocation import Layout
from articulus.motion.trajectory.ipopt import Solution
from articulus.motion.trajectory.optimality import shooting_costates
from articulus.motion.trajectory.problem import Phase
from articulus.motion.trajectory.program import NonlinearProgram, Part
from articulus.motion.trajectory.schemes.collocation import Collocation
from articulus.motion.trajectory.shooting import ShootingSteps, StepCosts, StepEnds

EDGE = 5e-4
"""Half of the time over the duration in which an input jumps that is continuous on the mesh."""


@dataclass(frozen=True, eq=False)
class Shooting(Collocation):
    """Multiple shooting: states at the end of an interval follow by one step of order 4 from its start."""

    def relations(self, phase: Phase, layout: Layout) -> tuple[Part, Part | None]:
        first, last = (layout.z[layout.intervals[:, k]] for k in (0, -1))
        steps = ShootingSteps(phase, first, last, layout.duration, layout.lengths)
        return StepEnds(steps), None if phase.running is None else StepCosts(steps)

    def costates(
        self, program: NonlinearProgram, layout: Layout, phase: int, solution: Solution
    ) -> np.ndarray:
        return shooting_costates(program, layout, phase, solution)

    def nodes_at_jumps(self, at: np.ndarray) -> np.ndarray:
        return np.concatenate([at - EDGE, at + EDGE])


def shooting() -> Shooting:
    """Return multiple shooting; A, B and weights are those of the trapezoidal rule, which says at which points it uses rates."""
    return Shooting(
        "shooting",
        np.array([0.0, 1]),
        np.array([0.5, 0.5]),
        4,
        A=np.array([[-1.0, 1]]),
        B=np.array([[-0.5, -0.5]]),
    )
