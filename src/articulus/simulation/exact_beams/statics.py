"""Beams at rest: Newton's method with load steps."""

from __future__ import annotations

import dataclasses

import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.simulation.exact_beams.assembly import BeamAssembly, displacement_kernel
from articulus.simulation.exact_beams.beam import Beam

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
        Of each step.

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
        parts, where = ((k - 1) / steps, k / steps), f"load step {k} of {steps}"
        q = _continue_loading(beam, q, parts, tolerance, max_iterations, where)
    return q


def _continue_loading(
    beam: Beam, q: np.ndarray, parts: tuple[float, float], tolerance: float, max_iterations: int, where: str,
    halvings: int = MOST_HALVINGS,
) -> np.ndarray:  # fmt: skip
    """Return the poses under the second part of the loads, from those under the first; halfway first where need be."""
    first, last = parts
    try:
        return _balanced(BeamAssembly(_scale_loads(beam, last)), q, tolerance, max_iterations, where)
    except NumericalError:
        if not halvings:
            raise
    middle, rest = (first + last) / 2, (tolerance, max_iterations, where, halvings - 1)
    return _continue_loading(beam, _continue_loading(beam, q, (first, middle), *rest), (middle, last), *rest)


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
    """Return the poses where the forces balance.

    Newton's method on poses and stresses as independent unknowns, the stresses eliminated in each element: the
    geometric stiffness is that of the stress which the last correction predicted, not of the stress at the corrected
    poses. Both have the same solution; but a rotation of a slender beam stretches it by a second-order error, which,
    times EA, is a stress without meaning, and a tangent with it leads astray.

    Source: Magisano, Leonetti & Garcea 2017 (mixed integration points).
    """
    still, before = np.zeros((beam.nodes, 6)), q
    scale = np.array([1.0] * 3 + [beam.lengths.sum()] * 3)
    stress = beam.stress(q)
    for _ in range(max_iterations):
        try:
            solve = beam.factor(beam.blocks(0.0, q, still, still, 0.0, 0.0, stress=stress))
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
        part = min(1.0, 0.5 / size)
        stress = (1 - part) * stress + part * beam.stress(q, change)
        q = displacement_kernel()(q, change * part)
        if size <= tolerance:
            return q
    raise NumericalError(
        f"beam: {where}: no balance after {max_iterations} iterations; likely more load steps are needed",
        result=before,
    )
