"""Small motions of a beam about a state at rest."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import eigsh

from articulus.errors import InputError
from articulus.simulation.exact_beams.assembly import BeamAssembly
from articulus.simulation.exact_beams.beam import Beam


def modes(beam: Beam, count: int, at: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies [rad/s], (count,), and shapes, (count, nodes, 6), of small motions about poses at rest.

    M x'' + K x = 0 with K the symmetric part of the tangent, prestress and loads included. An instability has a negative
    number: minus the rate of growth [1/s]. Shapes are displacements in the nodes' axes, of unit modal mass.

    Parameters
    ----------
    beam : Beam
    count : int
    at : array, (nodes, 7)
        Poses in balance, as from `static`; undeformed if not given.
    """
    whole = BeamAssembly(beam)
    if not isinstance(count, (int, np.integer)) or not 1 <= count < whole.free.size:
        raise InputError(
            f"beam: count = {count!r} modes; expected 1 to {whole.free.size - 1}, fewer than degrees of freedom"
        )
    q = whole.at(0.0)[0] if at is None else np.array(at, dtype=float)
    still = np.zeros((whole.nodes, 6))
    K = whole.sparse(whole.blocks(0.0, q, still, still, 0.0, 0.0))
    none = np.zeros((whole.nodes - 1, 6, 6))
    M = whole.sparse((whole.inertia, none, none))
    first = min(min(s.EIy, s.EIz) / s.mass for s in beam.sections) / whole.lengths.sum() ** 4
    values, vectors = eigsh((K + K.T) / 2, count, M, sigma=-first, v0=np.ones(K.shape[0]))
    order = np.argsort(values)
    values, vectors = values[order], vectors[:, order]
    shapes = np.zeros((len(values), 6 * whole.nodes))
    shapes[:, whole.free] = vectors.T
    return np.sign(values) * np.sqrt(np.abs(values)), shapes.reshape(len(values), whole.nodes, 6)
