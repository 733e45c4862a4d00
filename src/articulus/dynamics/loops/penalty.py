"""The generic penalty method: constraints as stiff, damped, heavy springs."""

from __future__ import annotations

from casadi import SX

from articulus.dynamics.loops.augmented import augmented
from articulus.dynamics.loops.base import ConstraintProblem, ConstraintSolution


def generic_penalty(
    problem: ConstraintProblem, penalty: SX | float, frequency: SX | float = 0.0, damping: SX | float = 1.0
) -> ConstraintSolution:
    """Return vdot and multipliers of ALF1 with one iteration: constraints are violated in proportion to 1 / penalty.

    (M + G' a G) vdot = f - G' a (gamma + 2 w mu (G v + g_t) + w^2 g)

    Parameters
    ----------
    problem : Problem
    penalty, frequency, damping : numbers or (m,)
        As in `augmented`.

    Source: Bayo & Avello 1994, equation 23 without multipliers.
    """
    return augmented(problem, penalty, frequency, damping, iterations=1)
