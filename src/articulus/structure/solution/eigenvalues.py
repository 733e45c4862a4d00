"""K phi = omega^2 M phi for matrices that may both be singular, by a shift that makes one of them definite."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from articulus.errors import InputError

NO_MASS = 1e-13
"""Largest 1 / (omega^2 + s), relative to that of the lowest mode, that counts as zero: a motion without mass."""


def shift(M: np.ndarray, K: np.ndarray) -> float:
    """Return a squared frequency s, small beside those of single degrees of freedom: K + s M is then definite.

    Parameters
    ----------
    M, K : arrays (n,)
        Diagonals of the mass and of the stiffness matrix.
    """
    heavy = M > 0
    if not heavy.any():
        raise InputError(
            "normal modes: no degree of freedom of this structure carries mass; give its elements mass"
        )
    return 1e-6 * float(np.median(K[heavy] / M[heavy])) or 1.0


def finite_modes(M: np.ndarray, K: np.ndarray, *, shapes: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the squares of all finite circular frequencies, rising, and their shapes with unit modal mass.

    The eigenvalues 1 / (omega^2 + s) of (M, K + s M) are zero for motions without mass, which are omitted.

    Parameters
    ----------
    M, K : arrays (n, n)
        Mass and stiffness matrix.
    shapes : bool
        Whether shapes are wanted; without them an array (n, 0) is returned, sooner.
    """
    s = shift(np.diag(M), np.diag(K))
    if shapes:
        inverse, vectors = eigh(M, K + s * M)
    else:
        inverse, vectors = eigh(M, K + s * M, eigvals_only=True), np.zeros((len(M), 0))
    inverse, vectors = inverse[::-1], vectors[:, ::-1]
    keep = inverse > NO_MASS * inverse[0]
    inverse = inverse[keep]
    if shapes:
        vectors = vectors[:, keep] / np.sqrt(inverse)
    return 1 / inverse - s, vectors
