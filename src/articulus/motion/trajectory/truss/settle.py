"""`settle`: the nearest configuration that meets equations and keeps limits, by Newton steps with the null space (for few unknowns)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Rows = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Unknowns -> values and their derivatives."""

MET = 1e-12
"""Residual of the equations, over the size of the unknowns, at which they are met."""
SPARE = 1e-6
"""By how much more than needed a limit is stepped back from, over the size of the unknowns."""
SINGULAR = 1e-6
"""Singular value over the largest, below which a direction counts as out of control."""
ROUGH = 0.03
"""The same for limits: those of neighboring points are nearly the same, and their difference is not worth a long step."""
MOST = 40
"""Most Newton steps with a wish, and without."""


def settle(
    x: np.ndarray, equal: Rows, keep: Rows, *, longest: float = np.inf, wish: Rows | None = None
) -> tuple[np.ndarray, float, float]:
    """Return unknowns near x, the largest residual of the equations, and the least of what is to stay positive.

    Each step is the shortest that meets the equations to first order; in their null space, the shortest that leads back to the limits that are
    broken; and in what is left over, the one that comes nearest to a wish.

    Parameters
    ----------
    x : array, (n,)
    equal : callable
        Residuals that are to be zero.
    keep : callable
        Numbers that are to stay positive.
    longest : float
        Largest entry of a step.
    wish : callable
        Residuals that are to be small, as far as the others leave it open.
    """
    size = 1 + np.abs(x).max(initial=0.0)
    moved = np.inf
    for k in range(2 * MOST):
        if k == MOST or (k > 10 and moved < 1e-6 * size):
            wish = None  # limits come first: where a wish pulls against them it is left
        c, J = equal(x)
        g, G = keep(x)
        broken = g < 0
        fine = np.abs(c).max(initial=0.0) <= MET * size and not broken.any()
        if fine and (wish is None or moved < 1e-6 * size):
            break
        step, null = _least(J, -c, np.eye(len(x)))
        if broken.any():
            # what is near a limit must not be pushed over it by the way back from another
            near = g < SPARE * size
            more, null = _least(
                G[near] @ null, np.maximum(SPARE * size - g[near], 0.0) - G[near] @ step, null, ROUGH
            )
            step = step + more
        if wish is not None:
            w, W = wish(x)
            near = g < SPARE * size
            if near.any() and not broken.any():
                _, null = _least(G[near] @ null, np.zeros(near.sum()), null)
            step = step + _least(W @ null, -w - W @ step, null)[0]
        moved = float(np.abs(step).max(initial=0.0))
        x = x + step * min(1.0, longest / max(moved, 1e-300))
    for _ in range(MOST):  # whatever became of limits and wishes, the equations hold
        c, J = equal(x)
        if np.abs(c).max(initial=0.0) <= MET * size:
            break
        step = _least(J, -c, np.eye(len(x)))[0]
        x = x + step * min(1.0, longest / max(float(np.abs(step).max(initial=0.0)), 1e-300))
    c, _ = equal(x)
    g, _ = keep(x)
    return x, float(np.abs(c).max(initial=0.0)), float(g.min(initial=np.inf))


def _least(
    A: np.ndarray, b: np.ndarray, basis: np.ndarray, cut: float = SINGULAR
) -> tuple[np.ndarray, np.ndarray]:
    """Return the shortest step within the basis with A y = b, A given for its coordinates; and a basis of what leaves A alone."""
    if not basis.shape[1]:
        return np.zeros(len(basis)), basis
    U, s, V = np.linalg.svd(A, full_matrices=True)
    rank = int((s > cut * max(s.max(initial=0.0), 1e-300)).sum())
    y = V[:rank].T @ ((U[:, :rank].T @ b) / s[:rank])
    return basis @ y, basis @ V[rank:].T
