"""Lyapunov equations by the Schur form (Bartels & Stewart 1972).

A sampled equation becomes a continuous one by the bilinear transformation z = (1 + s) / (1 - s), which has a unique solution where it has.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

import numpy as np
import scipy.linalg
from threadpoolctl import ThreadpoolController

from articulus.errors import InputError

SINGULAR = 1e-14
"""Size of a sum of two poles, over their own sizes, that counts as zero."""
UNSURE = 1e-3
"""Correction by iterative refinement, over X, from which on rounding decides about the solution."""


class Lyapunov:
    """The operator X -> A X + X A' (sampled: A X A' - X) with A in Schur form; solves for many right sides.

    Parameters
    ----------
    A : array, (n, n)
    sampled : bool

    Attributes
    ----------
    poles : array, (n,)
        Eigenvalues of A; of a sampled equation s = (z - 1) / (z + 1) of its poles z, stable where their real parts are negative.
    """

    def __init__(self, A: np.ndarray, sampled: bool = False):
        even, (self.scale, _) = scipy.linalg.matrix_balance(A, permute=False, separate=True)  # powers of two
        self.sum = None
        if sampled:
            eye = np.eye(len(A))
            lu, pivots, singular = scipy.linalg.lapack.dgetrf(even + eye)
            if singular:
                raise InputError("found a pole at z = -1; expected none: the solution is not unique")
            self.sum = lu, pivots
            even = scipy.linalg.lu_solve(self.sum, even - eye, check_finite=False)
        self.T, self.Z = scipy.linalg.schur(even, output="real", check_finite=False)
        self.poles = _eigenvalues(self.T)

    def least(self) -> tuple[float, complex, complex]:
        """Return the smallest |s_i + s_j| / (|s_i| + |s_j|), and the two poles."""
        s, sizes = self.poles, np.abs(self.poles)
        sums = np.abs(s[:, None] + s) / np.maximum(sizes[:, None] + sizes, np.finfo(float).tiny)
        i, j = np.unravel_index(int(np.argmin(sums)), sums.shape)
        return float(sums[i, j]), complex(s[i]), complex(s[j])

    def solve(self, Q: np.ndarray) -> np.ndarray:
        """Return X with A X + X A' + Q = 0 (sampled: A X A' - X + Q = 0)."""
        outer = self.scale[:, None] * self.scale
        right = Q / outer
        if self.sum is not None:
            half = scipy.linalg.lu_solve(self.sum, right, check_finite=False)
            right = 2.0 * scipy.linalg.lu_solve(self.sum, half.T, check_finite=False).T
        found, scale, _ = scipy.linalg.lapack.dtrsyl(self.T, self.T, -self.Z.T @ right @ self.Z, tranb="T")
        return outer * (self.Z @ (found / scale) @ self.Z.T)

    def solve_transposed(self, Q: np.ndarray) -> np.ndarray:
        """Return Y with A' Y + Y A + Q = 0, the adjoint of `solve`; not of sampled equations."""
        inner = 1.0 / (self.scale[:, None] * self.scale)
        right = -self.Z.T @ (Q / inner) @ self.Z
        found, scale, _ = scipy.linalg.lapack.dtrsyl(self.T, self.T, right, trana="T")
        return inner * (self.Z @ (found / scale) @ self.Z.T)


def covariance(A: np.ndarray, Q: np.ndarray, sampled: bool = False) -> np.ndarray:
    """Return X with A X + X A' + Q = 0 (sampled: A X A' - X + Q = 0) of a stable A, refined once."""
    if not len(A):
        return np.zeros((0, 0))
    with one_thread():
        operator = Lyapunov(A, sampled)
        X = operator.solve(Q)
        return X + operator.solve(_residual(A, X, Q, sampled)[0])


def lyap(A: np.ndarray, Q: np.ndarray, sampled: bool = False) -> tuple[np.ndarray, float]:
    """Return X with A X + X A' + Q = 0 (sampled: A X A' - X + Q = 0), and its relative residual.

    One step of iterative refinement is taken. InputError if two poles add up to zero (multiply to one): then there is no unique X.
    """
    if not len(A):
        return np.zeros((0, 0)), 0.0
    with one_thread():
        operator = Lyapunov(A, sampled)
        least, s, t = operator.least()
        X = step = np.ones_like(A)
        if least > SINGULAR:
            X = operator.solve(Q)
            step = operator.solve(_residual(A, X, Q, sampled)[0])
    if not np.abs(step).max() <= UNSURE * np.abs(X).max():
        what = "multiply to one" if sampled else "add up to zero"
        s, t = ((1 + s) / (1 - s), (1 + t) / (1 - t)) if sampled else (s, t)
        raise InputError(
            f"found the poles {s:.6g} and {t:.6g}, which {what}; expected none such: the solution is not unique"
        )
    X = X + step
    off, sizes = _residual(A, X, Q, sampled)
    units = operator.scale[:, None] * operator.scale
    return X, float(np.abs(off / units).max() / max((sizes / units).max(), np.finfo(float).tiny))


def one_thread() -> AbstractContextManager:
    """Return a context without threads of BLAS, which only wait for each other in Schur forms and in triangular systems of any size."""
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _residual(A: np.ndarray, X: np.ndarray, Q: np.ndarray, sampled: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the residual and the sizes of the terms that add up to it."""
    if sampled:
        return A @ X @ A.T - X + Q, np.abs(A) @ np.abs(X) @ np.abs(A).T + np.abs(X) + np.abs(Q)
    return A @ X + X @ A.T + Q, np.abs(A) @ np.abs(X) + np.abs(X) @ np.abs(A).T + np.abs(Q)


def _eigenvalues(T: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of a real Schur form, whose blocks of two have equal diagonal entries."""
    values = np.diag(T).astype(complex)
    for i in np.flatnonzero(np.diag(T, -1)):
        imaginary = np.sqrt(complex(T[i, i + 1] * T[i + 1, i]))
        values[i], values[i + 1] = values[i] + imaginary, values[i + 1] - imaginary
    return values
