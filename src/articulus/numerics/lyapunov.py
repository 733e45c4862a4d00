"""Lyapunov equations by the Schur form (Bartels & Stewart 1972).

A sampled equation becomes a continuous one by the bilinear transformation z = (1 + s) / (1 - s), which has a unique solution where it has.
The triangular equation is halved until its parts are small, so that nearly all of the work is products of matrices (Jonsson & Kagstrom 2002).
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
PARTS = 1e-10
"""Difference of a matrix from one that is made up of parts, over its size, that a step of refinement takes away."""
SMALL = 64
"""Rows of a triangular equation that is not halved further."""
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
    T, right, left : arrays, (n, n)
        A = right T left, T a real Schur form (sampled: that of (A + I)^-1 (A - I)); left = right^-1.
    poles : array, (n,)
        Eigenvalues of A; of a sampled equation s = (z - 1) / (z + 1) of its poles z, stable where their real parts are negative.
    """

    def __init__(self, A: np.ndarray, sampled: bool = False):
        even, self.scale = balance(A)
        T, Z = scipy.linalg.schur(_continuous(even) if sampled else even, output="real", check_finite=False)
        self._set(T, self.scale[:, None] * Z, Z.T / self.scale, sampled)

    def _set(self, T: np.ndarray, right: np.ndarray, left: np.ndarray, sampled: bool) -> None:
        self.T, self.right, self.left, self.sampled = T, right, left, sampled
        self.poles = _eigenvalues(T)

    @property
    def transposed(self) -> Lyapunov:
        """The operator of A'."""
        other = object.__new__(Lyapunov)
        other.scale = 1.0 / self.scale
        # T' is triangular from below, and from above with its states in reverse order
        other._set(
            np.ascontiguousarray(self.T.T[::-1, ::-1]), self.left.T[:, ::-1], self.right.T[::-1], self.sampled
        )
        return other

    def before(
        self, other: Lyapunov, A: np.ndarray, change: np.ndarray, inverse: np.ndarray
    ) -> Lyapunov | None:
        """Return the operator of a larger A, of which this and the other one are parts; None if it is not made up like that but for rounding.

        In states z, x = change z, the second part does not feel the first: A = change [A1, A12; 0, A2] inverse.
        """
        n = len(self.T)
        right, left = change.copy(), inverse.copy()
        right[:, :n], right[:, n:] = change[:, :n] @ self.right, change[:, n:] @ other.right
        left[:n], left[n:] = self.left @ inverse[:n], other.left @ inverse[n:]
        T = left @ (_continuous(A) if self.sampled else A) @ right
        whole = T.copy()
        whole[:n, :n], whole[n:, n:], whole[n:, :n] = self.T, other.T, 0.0
        if not np.linalg.norm(whole - T) <= PARTS * np.linalg.norm(T):
            return None
        joined = object.__new__(Lyapunov)
        joined.scale = np.ones(len(A))
        joined._set(whole, right, left, self.sampled)
        return joined

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of A, (n,), real if all are."""
        values = self.poles if not self.sampled else (1.0 + self.poles) / (1.0 - self.poles)
        return values if values.imag.any() else values.real

    def least(self) -> tuple[float, complex, complex]:
        """Return the smallest |s_i + s_j| / (|s_i| + |s_j|), and the two poles."""
        s, sizes = self.poles, np.abs(self.poles)
        sums = np.abs(s[:, None] + s) / np.maximum(sizes[:, None] + sizes, np.finfo(float).tiny)
        i, j = np.unravel_index(int(np.argmin(sums)), sums.shape)
        return float(sums[i, j]), complex(s[i]), complex(s[j])

    def solve(self, Q: np.ndarray) -> np.ndarray:
        """Return X with A X + X A' + Q = 0 (sampled: A X A' - X + Q = 0)."""
        source = self.left @ Q @ self.left.T
        if self.sampled:  # (A + I)^-1 = (I - S) / 2 for S = (A + I)^-1 (A - I)
            half = np.eye(len(self.T)) - self.T
            source = 0.5 * half @ source @ half.T
        return self.right @ _solve_triangular(self.T, self.T, -source) @ self.right.T

    def solve_transposed(self, Q: np.ndarray) -> np.ndarray:
        """Return Y with A' Y + Y A + Q = 0 (sampled: A' Y A - Y + Q = 0), the adjoint of `solve`."""
        return self.transposed.solve(Q)


def _continuous(A: np.ndarray) -> np.ndarray:
    """Return (A + I)^-1 (A - I)."""
    eye = np.eye(len(A))
    try:
        return np.linalg.solve(A + eye, A - eye)
    except np.linalg.LinAlgError:
        raise InputError("found a pole at z = -1; expected none: the solution is not unique") from None


def balance(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return A in states scaled by powers of two, rows and columns of like size, and the scales d (n,), x = d z.

    It is `matrix_balance` of SciPy, in a twentieth of its time for few states.
    """
    if not len(A):
        return A, np.ones(0)
    even, _, _, scale, _ = scipy.linalg.lapack.dgebal(A, scale=1, permute=0)
    return np.asarray(even), np.asarray(scale)


def covariance(
    A: np.ndarray, Q: np.ndarray, sampled: bool = False, operator: Lyapunov | None = None
) -> np.ndarray:
    """Return X with A X + X A' + Q = 0 (sampled: A X A' - X + Q = 0) of a stable A, whose operator may be known, refined once."""
    if not len(A):
        return np.zeros((0, 0))
    with one_thread():
        operator = operator or Lyapunov(A, sampled)
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


def _solve_triangular(S: np.ndarray, T: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return X with S X + X T' = right; S and T are real Schur forms."""
    if not right.size:
        return right
    if max(right.shape) <= SMALL:
        found, scale, _ = scipy.linalg.lapack.dtrsyl(S, T, right, tranb="T")
        return found / scale
    if len(S) >= len(T):
        k = _half(S)
        low = _solve_triangular(S[k:, k:], T, right[k:])
        return np.vstack([_solve_triangular(S[:k, :k], T, right[:k] - S[:k, k:] @ low), low])
    k = _half(T)
    last = _solve_triangular(S, T[k:, k:], right[:, k:])
    return np.hstack([_solve_triangular(S, T[:k, :k], right[:, :k] - last @ T[:k, k:].T), last])


def _half(T: np.ndarray) -> int:
    """Return about half of the rows of a Schur form; a block of two is not cut."""
    k = len(T) // 2
    return k + 1 if T[k, k - 1] else k


def _eigenvalues(T: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of a real Schur form, whose blocks of two have equal diagonal entries."""
    values = np.diag(T).astype(complex)
    for i in np.flatnonzero(np.diag(T, -1)):
        imaginary = np.sqrt(complex(T[i, i + 1] * T[i + 1, i]))
        values[i], values[i + 1] = values[i] + imaginary, values[i + 1] - imaginary
    return values
