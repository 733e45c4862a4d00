"""Balanced truncation without balancing (`schmr`, `schurmr` in MATLAB; Safonov & Chiang 1989).

The right and left eigenspaces of P Q that belong to its largest eigenvalues are found by ordered Schur forms. No balancing
transformation is computed, which does not exist for a model that is not minimal. The transfer function is that of `balred`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from articulus.control.reduction.balanced import Balance, reduce_stable_part
from articulus.control.reduction.reduced import ReducedModel, like
from articulus.linear import LinearModel


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small steps: threads only wait for each other
def schmr(plant: Any, order: int | None = None, *, max_error: float | None = None) -> ReducedModel:
    """Return a plant reduced by Schur balanced truncation; poles that are not asymptotically stable stay.

    Parameters
    ----------
    plant : see `as_plant`
    order : int
        States of the reduced model.
    max_error : float
        Instead: the smallest order whose bound is at most this.
    """
    return reduce_stable_part("schmr", plant, order, max_error, _on_eigenspaces)


def _on_eigenspaces(model: LinearModel, balance: Balance, k: int, method: str) -> LinearModel:
    P, Q = balance.R @ balance.R.T, balance.L @ balance.L.T
    return on_eigenspaces(model, P, Q, k)


def on_eigenspaces(model: LinearModel, P: np.ndarray, Q: np.ndarray, k: int) -> LinearModel:
    """Return the model on the eigenspaces of the k largest eigenvalues of P Q."""
    right, left = _dominant(P @ Q, k), _dominant(Q @ P, k)
    U, sizes, Vt = np.linalg.svd(left.T @ right)
    root = np.sqrt(sizes)
    left, right = left @ U / root, right @ Vt.T / root
    return like(model, left.T @ model.A @ right, left.T @ model.B, model.C @ right, model.D)


def _dominant(product: np.ndarray, k: int) -> np.ndarray:
    """Return an orthonormal basis of the eigenspace of the k largest eigenvalues, which are real and not negative."""
    n = len(product)
    if k in (0, n):
        return np.eye(n)[:, :k]
    sizes = np.sort(np.linalg.eigvals(product).real)[::-1]
    border = 0.5 * (sizes[k - 1] + sizes[k])
    _, Z, count = scipy.linalg.schur(product, output="real", sort=lambda re, im: re > border)
    if count != k:  # a tie, or values that rounding makes complex: any basis of the right size serves
        Z = scipy.linalg.schur(product, output="real", sort=lambda re, im: re >= sizes[k - 1] * (1 - 1e-10))[
            1
        ]
    return Z[:, :k]
