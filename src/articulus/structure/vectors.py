"""Vector algebra on arrays of vectors."""

from __future__ import annotations

import numpy as np

LEVI_CIVITA = np.array(
    [[[(i - j) * (j - k) * (k - i) / 2 for k in range(3)] for j in range(3)] for i in range(3)]
)
"""Permutation symbol: (a x b)_i = LEVI_CIVITA_ijk a_j b_k."""


def skew(a: np.ndarray) -> np.ndarray:
    """Return the matrices a x of vectors (..., 3), (..., 3, 3)."""
    return np.einsum("iaj,...a->...ij", LEVI_CIVITA, a)
