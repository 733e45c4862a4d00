"""Minimal realization (`minreal` in MATLAB): states that no input moves or no output shows are omitted.

By orthogonal staircase forms, so that it works for stable, integrating and unstable models alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.scaling import scale_states
from articulus.control.plant import as_plant
from articulus.control.reduction.reduced import like
from articulus.linear import LinearModel


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small steps: threads only wait for each other
def minreal(plant: Any, tolerance: float = 1e-10) -> LinearModel:
    """Return the plant without the states that its inputs do not move or its outputs do not show.

    Parameters
    ----------
    plant : see `as_plant`
    tolerance : float
        Size over that of the whole matrices, in scaled states, below which an influence counts as none.
    """
    full = as_plant(plant, "minreal")
    model = scale_states(full)[0]
    least = [tolerance * max(float(np.linalg.norm(x)), 1e-300) for x in (model.A, model.B, model.C)]
    T = reachable(model.A, model.B, least[0], least[1])
    A, B, C = T.T @ model.A @ T, T.T @ model.B, model.C @ T
    T = reachable(A.T, C.T, least[0], least[2])
    if T.shape[1] == len(full.A):
        return full
    return like(full, T.T @ A @ T, T.T @ B, C @ T, full.D)


def reachable(A: np.ndarray, B: np.ndarray, least_A: float, least_B: float) -> np.ndarray:
    """Return an orthonormal basis (n, r) of the states that the inputs can move.

    The blocks of the staircase one after another: what B moves, what those move next, ... Singular values below the least ones
    count as zero.
    """
    n = len(A)
    basis, rest = np.zeros((n, 0)), np.eye(n)
    block, least = B, least_B
    while rest.shape[1]:
        U, values, _ = np.linalg.svd(rest.T @ block)
        rank = int(np.count_nonzero(values > least))
        if not rank:
            break
        new, rest = rest @ U[:, :rank], rest @ U[:, rank:]
        basis = np.hstack([basis, new])
        block, least = A @ new, least_A
    return basis
