"""Damping of modal coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from articulus.errors import InputError
from articulus.model.mechanism.numbers import require_plain
from articulus.structure.structure import Structure

Damping = float | Sequence[float] | str | None
"""Damping ratio of all modes or of each [-], "structure" for the structure's own D, None for none."""


def damping_matrix(
    structure: Structure, basis: np.ndarray, mass: np.ndarray, stiffness: np.ndarray, damping: Damping
) -> np.ndarray:
    """Return the damping matrix of modal coordinates, (n, n).

    Ratios are those of the normal modes that the coordinates have among themselves, by rising frequency:
    D = M X diag(2 zeta omega) X' M with X' M X = 1.
    """
    n = len(mass)
    if damping is None or n == 0:
        return np.zeros((n, n))
    if isinstance(damping, str):
        if damping != "structure":
            raise InputError(
                f"damping {damping!r}; expected a ratio, one ratio for each mode, 'structure' or None"
            )
        return basis.T @ (structure.D @ basis)
    require_plain("modes", (0, n), damping=damping)
    ratios = np.asarray(damping, dtype=float)
    if ratios.shape not in ((), (n,)) or not (ratios >= 0).all():
        raise InputError(f"damping ratios {damping}; expected one number or {n}, none of them negative")
    squares, X = eigh(stiffness, mass)
    MX = mass @ X
    return (MX * (2 * ratios * np.sqrt(np.maximum(squares, 0.0)))) @ MX.T
