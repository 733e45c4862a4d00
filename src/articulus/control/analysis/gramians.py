"""Gramians, their factors, and Hankel singular values (`gram`, `hsvd` in MATLAB).

The factors are computed without ever forming the Gramians (Hammarling 1982), so that singular values far below the largest
one keep their digits: of nearly non-minimal models these decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from articulus.control.analysis.scaling import scale_states
from articulus.control.analysis.stable import require_stable
from articulus.control.plant import as_plant
from articulus.linear import LinearModel


def gram(plant: Any, which: str = "c") -> np.ndarray:
    """Return a Gramian, (n, n): controllability ("c"), A P + P A' + B B' = 0, or observability ("o"), A'Q + Q A + C'C = 0.

    Of a sampled plant: A P A' - P + B B' = 0 and A'Q A - Q + C'C = 0. The plant must be asymptotically stable.
    """
    model, d = scale_states(as_plant(plant, "gram"))
    require_stable(model, "gram")
    if which == "c":
        root = d[:, None] * controllability_root(model)
    else:
        root = observability_root(model) / d[:, None]
    return root @ root.T


def hankel_values(plant: Any) -> np.ndarray:
    """Return the Hankel singular values of an asymptotically stable plant, largest first (`hsvd`, `hankelsv` in MATLAB)."""
    model, _ = scale_states(as_plant(plant, "hankel_values"))
    require_stable(model, "hankel_values")
    return np.linalg.svd(observability_root(model).T @ controllability_root(model), compute_uv=False)


def controllability_root(model: LinearModel) -> np.ndarray:
    """Return R (n, n) with the controllability Gramian P = R R'."""
    return gramian_root(model.A, model.B, model.period)


def observability_root(model: LinearModel) -> np.ndarray:
    """Return L (n, n) with the observability Gramian Q = L L'."""
    return gramian_root(model.A.T, model.C.T, model.period)


def gramian_root(A: np.ndarray, B: np.ndarray, period: float | None) -> np.ndarray:
    """Return R (n, n) with A R R' + R R' A' + B B' = 0, or A R R' A' - R R' + B B' = 0 of a sampled model; A is stable."""
    n = len(A)
    if not n:
        return np.zeros((0, 0))
    T, Z = scipy.linalg.schur(A, output="complex")
    solve = _continuous_column if period is None else _discrete_column
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
