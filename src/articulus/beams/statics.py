"""Beams at rest: Newton's method with load steps."""

from __future__ import annotations

import dataclasses

import numpy as np

from articulus.beams.assembly import Assembly, displace
from articulus.beams.beam import Beam
from articulus.errors import InputError, NumericalError


def static(
    beam: Beam,
    steps: int = 1,
    start: np.ndarray | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 50,
) -> np.ndarray:
    """Return the poses of the nodes at rest under loads and gravity, (nodes, 7).

    Loads and gravity grow in equal steps, each from the solution before; large deflections need several.

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
        Of each step.

    Raises
    ------
    NumericalError
        The iteration did not converge; `result` holds the poses of the last load step that did.
    """
    if not isinstance(steps, (int, np.integer)) or steps < 1:
        raise InputError(f"beam: steps = {steps!r}; expected an integer of at least 1")
    whole = Assembly(beam)
    q = whole.at(0.0)[0] if start is None else np.array(start, dtype=float)
    for k in range(1, steps + 1):
        q = _balanced(
            Assembly(_loaded(beam, k / steps)), q, tolerance, max_iterations, f"load step {k} of {steps}"
        )
    return q


def _loaded(beam: Beam, part: float) -> Beam:
    """Return the beam with a part of its loads and of its gravity."""
    loads = tuple(
        dataclasses.replace(
            load, force=tuple(part * x for x in load.force), moment=tuple(part * x for x in load.moment)
        )
        for load in beam.loads
    )
    return dataclasses.replace(beam, loads=loads, gravity=tuple(part * x for x in beam.gravity))


def _balanced(beam: Assembly, q: np.ndarray, tolerance: float, max_iterations: int, where: str) -> np.ndarray:
    """Return the poses where the forces balance."""
    still, before = np.zeros((beam.nodes, 6)), q
    scale = np.array([1.0] * 3 + [beam.lengths.sum()] * 3)
    for _ in range(max_iterations):
        try:
            solve = beam.factored(beam.blocks(0.0, q, still, still, 0.0, 0.0))
        except np.linalg.LinAlgError:
            raise NumericalError(
                f"beam: {where}: the stiffness is singular; likely the supports leave a rigid motion free, or this is "
                "a buckling load",
                result=before,
            ) from None
        change = -solve(beam.residual(0.0, q, still, still).ravel()).reshape(-1, 6)
        size = np.abs(change / scale).max()
        if not size < 1e3:
            break
        q = displace()(q, change * min(1.0, 0.5 / size))
        if size <= tolerance:
            return q
    raise NumericalError(
        f"beam: {where}: no balance after {max_iterations} iterations; likely more load steps are needed",
        result=before,
    )
