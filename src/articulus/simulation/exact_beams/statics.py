"""Beams at rest: Newton's method with load steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.simulation.exact_beams.assembly import BeamAssembly, displacement_kernel
from articulus.simulation.exact_beams.beam import Beam

X = TypeVar("X")
LONGEST = 0.5
"""Largest displacement in one step of Newton's method [rad, part of a length]."""
DIVERGED = 1e3
"""Displacement in a correction that leads nowhere [rad, part of a length]."""
MOST_HALVINGS = 6
"""How often a load step that does not converge is cut in two."""


def static(
    beam: Beam,
    steps: int = 1,
    start: np.ndarray | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 50,
) -> np.ndarray:
    """Return the poses of the nodes at rest under loads and gravity, (nodes, 7).

    Loads and gravity grow in equal steps, each from the solution before; a step that does not converge is halved.

    Parameters
    ----------
    beam : Beam
        Its supports must leave no rigid motion free. Histories of loads and a base are those of time 0.
    steps : int
    start : array, (nodes, 7)
        Where to begin; the undeformed beam if not given.
    tolerance : float
        Newton's iteration ends when no displacement changes by more than this [rad, and part of the beam's length].
    max_iterations : int
        Largest number of iterations of each step.

    Raises
    ------
    NumericalError
        The iteration did not converge; `result` holds the poses of the last load step that did.
    """
    if not isinstance(steps, (int, np.integer)) or steps < 1:
        raise InputError(f"beam: steps = {steps!r}; expected an integer of at least 1")
    whole = BeamAssembly(beam)
    q = whole.at(0.0)[0] if start is None else np.array(start, dtype=float)
    for k in range(1, steps + 1):
        where = f"load step {k} of {steps}"

        def balanced(q: np.ndarray, part: float, where: str = where) -> np.ndarray:
            return _balanced(BeamAssembly(_scale_loads(beam, part)), q, tolerance, max_iterations, where)

        q = continue_loading(balanced, q, (k - 1) / steps, k / steps, MOST_HALVINGS)
    return q


def continue_loading(balanced: Callable[[X, float], X], x: X, first: float, last: float, halvings: int) -> X:
    """Return the state under one part of the loads from that under another; halfway first where need be.

    Parameters
    ----------
    balanced : callable
        From a state and a part of the loads to the state in balance under it; raises NumericalError where it finds none.
    x : state
        In balance under the part `first`.
    first, last : float
        Parts of the loads.
    halvings : int
        How often a part may be cut in two.
    """
    try:
        return balanced(x, last)
    except NumericalError:
        if not halvings:
            raise
    middle = (first + last) / 2
    halfway = continue_loading(balanced, x, first, middle, halvings - 1)
    return continue_loading(balanced, halfway, middle, last, halvings - 1)


def mixed_newton(
    x: X,
    correct: Callable[[X, np.ndarray | None], tuple[np.ndarray, np.ndarray]],
    move: Callable[[X, np.ndarray], X],
    predict: Callable[[X, np.ndarray], np.ndarray],
    size: Callable[[np.ndarray], float],
    limit: Callable[[X], float],
    iterations: int,
) -> X | None:
    """Return the state where the forces on beams balance; None where it is not found.

    Newton's method on poses and stresses as independent unknowns, the stresses eliminated in each element: the
    geometric stiffness is that of the stress which the last correction predicted, not of the stress at the corrected
    poses. Both have the same solution; but a rotation of a slender beam stretches it by a second-order error, which,
    times EA, is a stress without meaning, and a tangent with it leads astray.

    Parameters
    ----------
    x : state
        Estimate.
    correct : callable
        From a state and the stress (None: that of the state) to Newton's correction and the stress that was taken.
    move : callable
        From a state and a part of a correction to the next state.
    predict : callable
        From a state and a correction to the stress that it predicts.
    size : callable
        Largest displacement in a correction [-]; a step is at most `LONGEST`.
    limit : callable
        Size of a correction at which the iteration ends.
    iterations : int

    Source: Magisano, Leonetti & Garcea 2017 (mixed integration points).
    """
    stress = None
    for _ in range(iterations):
        change, stress = correct(x, stress)
        large = size(change)
        if not large < DIVERGED:
            return None
        part = min(1.0, LONGEST / large) if large else 1.0
        stress = (1 - part) * stress + part * predict(x, change)
        x = move(x, part * change)
        if large <= limit(x):
            return x
    return None


def _scale_loads(beam: Beam, part: float) -> Beam:
    """Return the beam with a part of its loads and of its gravity."""
    loads = tuple(
        dataclasses.replace(
            load, force=tuple(part * x for x in load.force), moment=tuple(part * x for x in load.moment)
        )
        for load in beam.loads
    )
    return dataclasses.replace(beam, loads=loads, gravity=tuple(part * x for x in beam.gravity))


def _balanced(
    beam: BeamAssembly, q: np.ndarray, tolerance: float, max_iterations: int, where: str
) -> np.ndarray:
    """Return the poses where the forces balance, by `mixed_newton`."""
    still = np.zeros((beam.nodes, 6))
    scale = np.array([1.0] * 3 + [beam.lengths.sum()] * 3)

    def correct(poses: np.ndarray, stress: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        stress = beam.stress(poses) if stress is None else stress
        try:
            solve = beam.factor(beam.blocks(0.0, poses, still, still, 0.0, 0.0, stress=stress))
        except np.linalg.LinAlgError:
            raise NumericalError(
                f"beam: {where}: the stiffness is singular; likely the supports leave a rigid motion free, or this is "
                "a buckling load",
                result=q,
            ) from None
        return -solve(beam.residual(0.0, poses, still, still).ravel()).reshape(-1, 6), stress

    found = mixed_newton(
        q,
        correct,
        displacement_kernel(),
        beam.stress,
        lambda change: float(np.abs(change / scale).max()),
        lambda _: tolerance,
        max_iterations,
    )
    if found is None:
        raise NumericalError(
            f"beam: {where}: no balance after {max_iterations} iterations; likely more load steps are needed",
            result=q,
        )
    return found
