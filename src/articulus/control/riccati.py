"""Algebraic Riccati equations with the reason when there is no solution."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from articulus.errors import InputError


def riccati(
    A: np.ndarray,
    B: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    S: np.ndarray | None = None,
    *,
    period: float | None,
    method: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the stabilizing solution X and gain K = R^-1 (B' X + S'), or its discrete counterpart.

    Continuous: A'X + XA - (XB + S) R^-1 (B'X + S') + Q = 0. Discrete: X = A'XA - (A'XB + S)(R + B'XB)^-1 (B'XA + S') + Q.
    """
    if not len(A):
        return np.zeros((0, 0)), np.zeros((len(R), 0))
    solve = scipy.linalg.solve_continuous_are if period is None else scipy.linalg.solve_discrete_are
    try:
        X = solve(A, B, Q, R, s=S)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise InputError(
            f"{method}: the Riccati equation has no stabilizing solution ({error}); likely a mode on the boundary of stability "
            "that the weight does not see, or a weight that is not definite"
        ) from error
    cross = 0.0 if S is None else S.T
    if period is None:
        return X, np.linalg.solve(R, B.T @ X + cross)
    return X, np.linalg.solve(R + B.T @ X @ B, B.T @ X @ A + cross)


def weight(value: object, size: int, name: str, method: str, definite: bool) -> np.ndarray:
    """Return a symmetric weight from a number, a diagonal or a matrix; raise InputError unless it is (semi)definite."""
    found = np.asarray(value, dtype=float)
    matrix = found * np.eye(size) if found.ndim == 0 else np.diag(found) if found.ndim == 1 else found
    if matrix.shape != (size, size):
        raise InputError(
            f"{method}: found {name} of shape {found.shape}; expected a number, ({size},) or ({size}, {size})"
        )
    if not np.isfinite(matrix).all() or np.abs(matrix - matrix.T).max(initial=0.0) > 1e-10 * np.abs(
        matrix
    ).max(initial=0.0):
        raise InputError(f"{method}: found {name} that is not finite and symmetric")
    least, most = np.linalg.eigvalsh(matrix)[[0, -1]] if size else (1.0, 1.0)
    if least < (1e-14 if definite else -1e-10) * max(most, 0.0) or (definite and least <= 0.0):
        wanted = "positive definite" if definite else "positive semidefinite"
        raise InputError(
            f"{method}: found {name} with the eigenvalue {least:.4g}; expected a {wanted} matrix"
        )
    return 0.5 * (matrix + matrix.T)
