"""LU factors of banded matrices (LAPACK gbtrf, gbtrs; Golub & Van Loan, Matrix Computations, 4.3)."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgbtrf, dgbtrs


def band_storage(n: int, lower: int, upper: int) -> np.ndarray:
    """Return zeros for an (n, n) matrix with so many diagonals below and above its own, (2 lower + upper + 1, n).

    Entry (i, j) of the matrix belongs to entry (lower + upper + i - j, j). The first `lower` rows are space for the factors. Columns
    lie one after another in memory: entry (i, j) is number (2 lower + upper + 1) j + lower + upper + i - j.
    """
    return np.zeros((n, 2 * lower + upper + 1)).T


class BandedLU:
    """P A = L U of a banded matrix A.

    Parameters
    ----------
    band : array, (2 lower + upper + 1, n)
        A as in `band_storage`; overwritten if it has that order in memory.
    lower, upper : int
        Diagonals below and above that of A.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a pivot is zero: A is singular.
    """

    def __init__(self, band: np.ndarray, lower: int, upper: int):
        self.lower, self.upper = lower, upper
        self.factors, self.pivots, zero = band, None, 0
        if band.size:
            self.factors, self.pivots, zero = dgbtrf(band, lower, upper, overwrite_ab=True)
        if zero:
            raise np.linalg.LinAlgError(f"banded matrix: pivot {zero} of {band.shape[1]} is zero")

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return X with A X = right, (n,) or (n, m)."""
        if self.pivots is None:
            return np.zeros_like(right)
        return dgbtrs(self.factors, self.lower, self.upper, right, self.pivots)[0]
