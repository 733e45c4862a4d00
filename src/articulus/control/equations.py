"""Riccati and Lyapunov equations of matrices (`icare`, `idare`, `lyap`, `dlyap` in MATLAB)."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.control.plant import of_matrices
from articulus.control.riccati import regulator
from articulus.errors import InputError, NumericalError
from articulus.numerics import lyapunov
from articulus.numerics.riccati import ACCURATE, RiccatiSolution


def care(A: Any, B: Any, Q: Any, R: Any = None, S: Any = None) -> RiccatiSolution:
    """Return the stabilizing solution of A'X + XA - (XB + S) R^-1 (B'X + S') + Q = 0.

    Parameters
    ----------
    A, B : (n, n), (n, m)
    Q : (n, n)
        Symmetric.
    R : (m, m)
        Symmetric, with an inverse; unit matrix if not given.
    S : (n, m)
        Zero if not given.

    Returns
    -------
    RiccatiSolution
        `X`; `gain` K = R^-1 (B'X + S'), for u = -K x; `poles` of A - B K; `residual`, relative.

    Raises
    ------
    InputError
        Naming the mode that stands in the way: one that is not stable and that B does not move, or one on the imaginary axis
        that Q does not see.
    """
    return _solve_riccati("care", A, B, Q, R, S, None)


def dare(A: Any, B: Any, Q: Any, R: Any = None, S: Any = None) -> RiccatiSolution:
    """Return the stabilizing solution of X = A'XA - (A'XB + S)(R + B'XB)^-1 (B'XA + S') + Q.

    R may be singular; `gain` is (R + B'XB)^-1 (B'XA + S'). See `care` for the rest.
    """
    return _solve_riccati("dare", A, B, Q, R, S, 1.0)


def lyap(A: Any, Q: Any) -> np.ndarray:
    """Return X (n, n) of A X + X A' + Q = 0; with a stable A and Q = B B', the covariance of the states under white noise.

    InputError if two poles of A add up to zero: then there is no solution, or more than one.
    """
    return _covariance("lyap", A, Q, False)


def dlyap(A: Any, Q: Any) -> np.ndarray:
    """Return X (n, n) of A X A' - X + Q = 0; InputError if two poles of A multiply to one."""
    return _covariance("dlyap", A, Q, True)


def _solve_riccati(
    method: str, A: Any, B: Any, Q: Any, R: Any, S: Any, period: float | None
) -> RiccatiSolution:
    a = _matrix(method, "A", A, (None, None))
    n = len(a)
    b = _matrix(method, "B", B, (n, None))
    m = b.shape[1]
    r = np.eye(m) if R is None else _symmetric(method, "R", R, m)
    s = None if S is None else _matrix(method, "S", S, (n, m))
    model = of_matrices(a, b, period=period)
    return regulator(model, np.arange(m), _symmetric(method, "Q", Q, n), r, s, method)


def _covariance(method: str, A: Any, Q: Any, sampled: bool) -> np.ndarray:
    a = _matrix(method, "A", A, (None, None))
    q = _matrix(method, "Q", Q, a.shape)
    try:
        X, residual = lyapunov.lyap(a, q, sampled)
    except InputError as error:
        raise InputError(f"{method}: {error}") from None
    if not residual <= ACCURATE:
        raise NumericalError(
            f"{method}: the equation was not solved: relative residual {residual:.3g} (bound {ACCURATE:g}); two poles nearly "
            f"{'multiply to one' if sampled else 'add up to zero'}",
            result=X,
        )
    return X


def _matrix(method: str, name: str, value: Any, shape: tuple[int | None, int | None]) -> np.ndarray:
    try:
        found = np.atleast_2d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        raise InputError(
            f"{method}: found {name} of type {type(value).__name__}; expected a matrix"
        ) from None
    square = shape == (None, None)
    fits = found.ndim == 2 and all(want in (None, have) for want, have in zip(shape, found.shape))
    if not fits or (square and found.shape[0] != found.shape[1]):
        wanted = "a square matrix" if square else f"({shape[0]}, {'m' if shape[1] is None else shape[1]})"
        raise InputError(f"{method}: found {name} of shape {np.shape(value)}; expected {wanted}")
    if not np.isfinite(found).all():
        raise InputError(f"{method}: found numbers in {name} that are not finite; expected finite ones")
    return found


def _symmetric(method: str, name: str, value: Any, size: int) -> np.ndarray:
    found = _matrix(method, name, value, (size, size))
    if np.abs(found - found.T).max(initial=0.0) > 1e-10 * np.abs(found).max(initial=0.0):
        raise InputError(f"{method}: found {name} that is not symmetric; expected a symmetric matrix")
    return 0.5 * (found + found.T)
