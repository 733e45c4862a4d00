"""What servo constraints are asked before a run: whether their motors can produce the motion, and whether what they leave free is stable."""

from __future__ import annotations

import math

import numpy as np

from articulus.dynamics.loops.rank import require_full_rank
from articulus.errors import doubtful
from articulus.model.mechanism.numbers import value_of
from articulus.simulation.loop.components.servo_constraints import ServoConstraints
from articulus.simulation.loop.functions import System
from articulus.simulation.running.tolerance import state_sizes

GROWTH = 1e6
"""Growth of a motion within a run from which its start is no longer known."""
HUGE = 1e8
"""Rate of a state from which it is looked whether the motors can produce the motion at all."""
SMALL = 1e-5
"""Real part over the largest pole below which it is round-off of the differences."""


def check_servo_constraints(system: System, c: np.ndarray, p: np.ndarray, t0: float, t_end: float) -> None:
    """Refuse motors that cannot produce the motion at the start; warn of an unstable internal motion.

    Parameters
    ----------
    c, p : arrays, (nc,), (np,)
        Continuous states and parameters at the start.
    t0, t_end : float [s]
    """
    for component in system.network.components:
        if isinstance(component, ServoConstraints) and component.period is None:
            if not np.abs(_rate(system, c, p, t0)).max() < HUGE:  # also not finite
                _require_solvable(component, system, c, p, t0)
            _doubt_unstable(component, system, c, p, t0, t_end)


def _require_solvable(
    servo: ServoConstraints, system: System, c: np.ndarray, p: np.ndarray, t: float
) -> None:
    values = dict(zip((parameter.name for parameter in system.network.parameters), p))
    own = [values[x.name] for x in servo.with_program(system.description).parameters]
    matrix = np.array(servo.mobility(system.description)(c[system.places["q"]], t, own))
    require_full_rank(
        matrix,
        servo.rows(system.description),
        f"servo constraints '{servo.name}': the motors {', '.join(servo.joints)} cannot produce the motion at the start (G M^-1 Z' is singular)",
        "Choose other joints, or start from another position",
    )


def _doubt_unstable(
    servo: ServoConstraints, system: System, c: np.ndarray, p: np.ndarray, t0: float, t_end: float
) -> None:
    until = t_end if servo.arrival is None else min(t_end, value_of(servo.arrival))
    worst = fastest_growth(system, c, p, t0)
    if worst.real * (until - t0) > math.log(GROWTH):
        shown = f"{worst.real:.4g}" if abs(worst.imag) < 1e-6 * abs(worst) else f"{worst:.4g}"
        doubtful(
            f"servo constraints '{servo.name}': the internal dynamics are unstable: zero at {shown} rad/s, so that a deviation grows by e^{worst.real * (until - t0):.0f} within the run "
            "and the forces diverge whatever the step. The bounded solution begins before the motion: "
            "art.inversion.servo_plan(mechanism, program, joints, q=...).noncausal(t0, t_end)"
        )


def _rate(system: System, c: np.ndarray, p: np.ndarray, t: float) -> np.ndarray:
    return np.array(system.rhs(c, system.d0, p, np.zeros(system.nw), t, 1e-3)).ravel()


def fastest_growth(system: System, c: np.ndarray, p: np.ndarray, t: float) -> complex:
    """Return the pole with the largest real part [rad/s] of the equations at a state, by differences; 0 without unstable ones."""
    kept = np.r_[tuple(s for name, s in system.places.items() if not name.startswith("work."))]
    columns, sizes = [], state_sizes(system)
    for i in kept:
        step = 1e-6 * (sizes[i] + abs(c[i])) * np.eye(len(c))[i]
        difference = _rate(system, c + step, p, t) - _rate(system, c - step, p, t)
        columns.append(difference[kept] / (2 * step[i]))
    A = np.array(columns).T
    if not A.size or not np.isfinite(A).all():
        return 0j
    poles = np.linalg.eigvals(A).astype(complex)
    worst = complex(poles[np.argmax(poles.real)])
    return worst if worst.real > SMALL * np.abs(poles).max() else 0j
