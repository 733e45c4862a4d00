"""Frequency responses from the Schur form: n^2 operations and a few vectors of memory for each frequency (Laub 1981)."""

from __future__ import annotations

import numpy as np

AT_ONCE = 2_000_000
"""Numbers of one array of states over frequencies; more frequencies are taken in turns."""
BLOCK = 32
"""Rows of the triangular matrix that are solved one by one before all others are updated by one product."""

ROUNDS, GOOD = 5, 1e-8
"""Most improvements by the residual, and the relative change after which the next one would be rounding."""


class Transfer:
    """C (s I - A)^-1 B + D, prepared for many places s.

    The triangular Schur form of A, in states scaled by powers of two, is solved at each s, and the solution is improved by its
    residual with A itself: as accurate as a solution with s I - A, also where slow and fast poles meet.

    Parameters
    ----------
    A, B, C, D : arrays, (n, n), (n, m), (p, n), (p, m)
    """

    def __init__(self, A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray):
        import scipy.linalg  # slow to import, and runs that need no response import this module

        self.D, self.known = D, bool(np.isfinite(A).all() and np.isfinite(B).all())
        if not len(A) or not self.known:
            self.A, self.B, self.C = A, B, C
            return
        self.A, (d, _) = scipy.linalg.matrix_balance(A, permute=False, separate=True)
        self.B, self.C = B / d[:, None], C * d
        self.T, self.Z = scipy.linalg.schur(self.A, output="complex")
        self.back, self._triangular = self.Z.conj().T, scipy.linalg.solve_triangular

    def __call__(self, s: np.ndarray) -> np.ndarray:
        """Return the values at places s (k,), (k, p, m) complex; infinite at a pole."""
        s = np.asarray(s, dtype=complex)
        found = np.empty((len(s), *self.D.shape), dtype=complex)
        if not self.known:
            found[:] = np.nan
            return found
        if not len(self.A):
            found[:] = self.D
            return found
        each = max(1, AT_ONCE // max(self.B.size, 1))
        for first in range(0, len(s), each):
            part = slice(first, first + each)
            x = self.states(s[part])
            found[part] = np.moveaxis(np.tensordot(self.C, x, 1), 1, 0) + self.D
            found[part][~np.isfinite(x).all(axis=(0, 2))] = np.inf
        return found

    def states(self, s: np.ndarray) -> np.ndarray:
        """Return (s I - A)^-1 B in the scaled states, (n, k, m)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            gaps = s - self.T.diagonal()[:, None]
            # the eigenvalue of an undamped mode is known to its last digit only
            gaps[np.abs(gaps) <= 2 * np.finfo(float).eps * np.abs(s)] = 0.0
            x = self._product(self.Z, self._solve(gaps, self.back @ self.B))
            left = np.flatnonzero(np.isfinite(x).all(axis=(0, 2)))
            for _ in range(ROUNDS):
                if not len(left):
                    return x
                held = np.ascontiguousarray(x[:, left])
                rest = self.B[:, None] - s[left, None] * held + self._product(self.A, held)
                change = self._product(self.Z, self._solve(gaps[:, left], self._product(self.back, rest)))
                x[:, left] = held + change
                small = np.abs(change).max(axis=(0, 2)) <= GOOD * np.abs(held).max(axis=(0, 2))
                left = left[~small]
        for k in left:  # the Schur form has lost a slow pole beside the fastest ones
            x[:, k] = np.linalg.solve(s[k] * np.eye(len(self.A)) - self.A, self.B)
        return x

    def _solve(self, gaps: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Solve (s I - T) x = right, (n, k, m), for all s at once from the last row upwards."""
        n, k = gaps.shape
        m = right.shape[-1]
        if k == 1 and gaps.all():  # a search asks one by one
            matrix = -self.T
            matrix[np.diag_indices(n)] = gaps[:, 0]
            return self._triangular(matrix, right.reshape(n, m), check_finite=False)[:, None]
        x = np.empty((n, k, m), dtype=complex)
        x[:] = right if right.ndim == 3 else right[:, None]
        flat = x.reshape(n, k * m)
        for low in range((n - 1) // BLOCK * BLOCK, -1, -BLOCK):
            high = min(low + BLOCK, n)
            for i in range(high - 1, low - 1, -1):
                flat[i] += self.T[i, i + 1 : high] @ flat[i + 1 : high]
                x[i] /= gaps[i][:, None]
            flat[:low] += self.T[:low, low:high] @ flat[low:high]
        return x

    @staticmethod
    def _product(matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
        flat = np.ascontiguousarray(x.reshape(len(x), -1))
        if np.isrealobj(matrix):  # half the work: real and imaginary parts are columns
            return (matrix @ flat.view(float)).view(complex).reshape(x.shape)
        return (matrix @ flat).reshape(x.shape)
