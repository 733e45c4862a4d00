"""Gramians of stable systems, and their roots.

The roots are computed without ever forming the Gramians (Hammarling 1982), so that singular values far below the largest one keep their
digits: of nearly non-minimal models these decide.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg


def gramian_root(A: np.ndarray, B: np.ndarray, sampled: bool = False) -> np.ndarray:
    """Return R (n, n) with A R R' + R R' A' + B B' = 0, or A R R' A' - R R' + B B' = 0 of a sampled model; A is stable."""
    n = len(A)
    if not n:
        return np.zeros((0, 0))
    T, Z = scipy.linalg.schur(A, output="complex")
    solve = _discrete_column if sampled else _continuous_column
    G, U = (Z.conj().T @ B).astype(complex), np.zeros((n, n), dtype=complex)
    for k in range(n - 1, -1, -1):
        row = G[k].conj()
        length = float(np.linalg.norm(row))
        if length > 0.0:
            U[k, k], U[:k, k], change = solve(T[:k, :k], T[:k, k], T[k, k], G[:k], row / length, length)
            G[:k] += np.outer(change, row.conj() / length)
    # the Gramian is real: that of the real and imaginary parts side by side
    full = Z @ U
    return scipy.linalg.qr(np.hstack([full.real, full.imag]).T, mode="r")[0][:n].T


def modal_gramians(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return W with A W + W A' + b b' = 0 for many inputs at once, (batch, n, n), by the eigenvectors of A.

    Parameters
    ----------
    A : array, (n, n)
        Stable, with a well-conditioned basis of eigenvectors, such as that of damped modes.
    b : array, (batch, n)
    """
    values, V = np.linalg.eig(A)
    w = np.linalg.solve(V, b.T).T
    inner = -w[:, :, None] * w[:, None, :].conj() / (values[:, None] + values[None, :].conj())
    W = (V @ inner @ V.conj().T).real
    return (W + W.swapaxes(1, 2)) / 2


def _continuous_column(
    T: np.ndarray, t: np.ndarray, s: complex, G: np.ndarray, unit: np.ndarray, length: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the diagonal element and the column above it of the factor, and the change of the rows above along `unit`."""
    rate = np.sqrt(-2.0 * s.real)
    corner = length / rate
    right = rate * (G @ unit) + t * corner
    u = -_triangular(T, np.conj(s), 1.0, right)
    return corner, u, -rate * u


def _discrete_column(
    T: np.ndarray, t: np.ndarray, s: complex, G: np.ndarray, unit: np.ndarray, length: float
) -> tuple[float, np.ndarray, np.ndarray]:
    rate = np.sqrt((1.0 - abs(s)) * (1.0 + abs(s)))
    corner = length / rate
    along = G @ unit
    u = -_triangular(T, -1.0, np.conj(s), rate * along + t * corner * np.conj(s))
    return corner, u, rate * (T @ u + t * corner) - (1.0 + s) * along


def _triangular(T: np.ndarray, shift: complex, factor: complex, right: np.ndarray) -> np.ndarray:
    """Solve (factor T + shift I) u = right, T upper triangular."""
    matrix = factor * T
    matrix[np.diag_indices(len(T))] += shift
    return scipy.linalg.solve_triangular(matrix, right) if len(T) else right
