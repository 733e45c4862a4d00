"""Points of shells from rows on the degrees of freedom of each element, for all elements of a kind at once."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from articulus.structure.samples import Samples


def sparse_rows(values: np.ndarray, columns: np.ndarray, count: int) -> sp.csr_array:
    """Return rows (E, P, R, c) as a sparse array (E P R, count); `columns` (E, c) are those of each element."""
    E, P, R, c = values.shape
    places = np.broadcast_to(columns[:, None, None, :], values.shape)
    there = values != 0
    ends = np.concatenate([[0], np.cumsum(there.reshape(-1, c).sum(axis=1))])
    return sp.csr_array((values[there], places[there], ends), (E * P * R, count))


def massless(
    position: np.ndarray, strain: np.ndarray, stiffness: np.ndarray, columns: np.ndarray, count: int
) -> Samples:
    """Return points that have strains and nothing else.

    Parameters
    ----------
    position : array, (E P, 3) [m]
    strain : array, (E, P, 6, c)
        Rows of strains on the degrees of freedom of each element.
    stiffness : array, (E P, 6)
        Against each, times the share of the point.
    columns : array, (E, c)
        Numbers of the degrees of freedom of each element among `count` ones.
    """
    n = len(position)
    none, rows = sp.csr_array((3 * n, count)), sp.csr_array((6 * n, count))
    return Samples(
        position=position,
        mass=np.zeros(n),
        inertia=np.zeros((n, 3, 3)),
        lever=np.zeros((n, 3)),
        translation=none,
        rotation=none,
        strain=sparse_rows(strain, columns, count),
        stiffness=stiffness.ravel(),
        length=np.zeros(n),
        direction=np.zeros((n, 3)),
        derivative=rows,
        force=rows,
        own=sp.csr_array((6 * n, 3 * n)),
        area=np.zeros(n),
        lag=np.zeros(n),
    )


def principal(C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return V' (E, n, n) and c (E, n) with C = V diag(c) V' for stiffness matrices (E, n, n), which may be singular."""
    size = np.sqrt(np.maximum(np.diagonal(C, axis1=1, axis2=2), 0.0))
    size = np.where(size > 0, size, 1.0)
    energy, V = np.linalg.eigh(C / (size[:, :, None] * size[:, None, :]))
    return (V * size[:, :, None]).swapaxes(1, 2), np.maximum(energy, 0.0)
