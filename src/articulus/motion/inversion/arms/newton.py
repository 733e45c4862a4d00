"""Newton's method and the fixed point on a whole trajectory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.errors import NumericalError
from articulus.motion.inversion.arms.collocation import (
    CollocationGrid,
    LinearizedTrajectory,
    Slopes,
    TrajectoryResidual,
    residual,
)
from articulus.motion.inversion.arms.servo import Servo, ServoMotion

Array = np.ndarray

CONVERGED = 1e-8
"""Error that the last step leaves, over the size of the motion: the step times the rate of convergence, where that is known."""
ROUNDING = 1e-6
"""The same where steps shrink no more, which is what rounding leaves in long or stiff trajectories."""
STEPS = 30
"""Newton steps after which the search gives up."""
REUSED = 0.1
"""Rate of convergence up to which the factored equations serve for one more step."""
SHORTEST = 1 / 64
"""Share of a Newton step below which it gives up."""
SUBSTITUTIONS = 200
"""Steps of the fixed point after which it gives up."""


@dataclass(frozen=True)
class Trajectory:
    """A motion that solves the equations, q and v (n, nv), its accelerations and forces, what outputs and loops are off by, and how it was
    found.

    `sizes` are the steps over the size of the motion, `factored` how often the linear equations were set up, `slopes` those of the last
    ones.
    """

    q: Array
    v: Array
    motion: ServoMotion
    position: Array
    sizes: tuple[float, ...]
    factored: int
    slopes: Slopes


@np.errstate(over="ignore", invalid="ignore")
def newton(
    servo: Servo, grid: CollocationGrid, q: Array, v: Array, slopes: Slopes | None = None
) -> Trajectory:
    """Return the trajectory that Newton's method reaches from an estimate, first with given slopes.

    Steps are shortened until the next one, with the same linear equations, is smaller (natural monotonicity: Deuflhard 1974); the
    factored equations are kept while they converge fast.
    """
    off = residual(servo, grid, q, v)
    linear, factored = LinearizedTrajectory(servo, grid, q, v, off, slopes), 1
    sizes: list[float] = []
    step, rate = linear.correction(off), 1.0
    while len(sizes) < STEPS:
        size = _size(q, v, grid, step)
        sizes.append(size)
        if size * rate < CONVERGED:
            return _finish(servo, grid, q, v, step, sizes, factored, linear)
        share, there, after, next_step = _shorten(servo, grid, q, v, step, size, linear)
        if share < SHORTEST:
            if size < ROUNDING:
                return _finish(servo, grid, q, v, step, sizes, factored, linear)
            break
        rate = _size(*there, grid, next_step) / size
        (q, v), off, step = there, after, next_step
        if share < 1 or rate > REUSED:
            linear, factored = LinearizedTrajectory(servo, grid, q, v, off), factored + 1
            step, rate = linear.correction(off), 1.0
    raise NumericalError(
        f"Newton's method on the whole trajectory does not converge: last steps {_list_text(sizes)} of the size of the motion"
    )


@np.errstate(over="ignore", invalid="ignore")
def fixed_point(servo: Servo, grid: CollocationGrid, q: Array, v: Array) -> Trajectory:
    """Return the trajectory that substitution reaches: linear equations about the nominal motion, set up once, everything else on the
    right-hand side.

    Steps are halved where they grow (relaxation).
    """
    off = residual(servo, grid, q, v)
    linear, share = LinearizedTrajectory(servo, grid, q, v, off), 1.0
    sizes: list[float] = []
    step = linear.correction(off)
    while len(sizes) < SUBSTITUTIONS and share >= SHORTEST:
        size = _size(q, v, grid, step)
        sizes.append(size)
        if size < CONVERGED:
            return _finish(servo, grid, q, v, step, sizes, 1, linear)
        if len(sizes) > 1 and not size < sizes[-2]:
            share /= 2
        q, v = q + share * step[0], v + share * step[1]
        there = _try(servo, grid, q, v)
        if there is None:
            break
        off = there
        step = linear.correction(off)
    raise NumericalError(
        f"the fixed point diverges: last steps {_list_text(sizes)} of the size of the motion, relaxation {share:g}. The motion is too far from "
        "the nominal one of rigid bodies; expected method 'newton', a slower path or stiffer bodies"
    )


def _shorten(
    servo: Servo,
    grid: CollocationGrid,
    q: Array,
    v: Array,
    step: tuple[Array, Array],
    size: float,
    linear: LinearizedTrajectory,
) -> tuple[float, tuple[Array, Array], TrajectoryResidual, tuple[Array, Array]]:
    """Return the share of a step that makes the next one smaller, where it leads, the residual there and the next step."""
    share = 1.0
    while share >= SHORTEST:
        there = q + share * step[0], v + share * step[1]
        off = _try(servo, grid, *there)
        if off is not None:
            following = linear.correction(off)
            if _size(*there, grid, following) < (1 - share / 4) * size:
                return share, there, off, following
        share /= 2
    return 0.0, (q, v), residual(servo, grid, q, v), step


def _try(servo: Servo, grid: CollocationGrid, q: Array, v: Array) -> TrajectoryResidual | None:
    """Return the residual; None where the equations have no numbers."""
    try:
        return residual(servo, grid, q, v)
    except (NumericalError, FloatingPointError):
        return None


def _finish(
    servo: Servo,
    grid: CollocationGrid,
    q: Array,
    v: Array,
    step: tuple[Array, Array],
    sizes: list[float],
    factored: int,
    linear: LinearizedTrajectory,
) -> Trajectory:
    q, v, at = q + step[0], v + step[1], grid.nodes
    return Trajectory(
        q, v, servo.motion(q, v, at), servo.residual(q, at), tuple(sizes), factored, linear.slopes
    )


def _size(q: Array, v: Array, grid: CollocationGrid, step: tuple[Array, Array]) -> float:
    """Return a step over the size of the motion, both weighted by the mass matrix: positions or velocities, whichever is larger."""
    whole = q - grid.start.q + step[0], v + step[1]
    found = [
        grid.start.length(d).max() / max(grid.start.length(x).max(), 1e-300) for d, x in zip(step, whole)
    ]
    return float(max(found)) if np.isfinite(found).all() else np.inf


def _list_text(sizes: list[float]) -> str:
    return ", ".join(f"{size:.2g}" for size in sizes[-3:])
