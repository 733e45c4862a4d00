"""Linear quadratic regulator (`lqr`, `dlqr` in MATLAB)."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.control.design import Check, Design, checked, law_of, static
from articulus.control.modes import require_stabilizable
from articulus.control.plant import Group, as_plant, places, with_states
from articulus.control.riccati import riccati, weight
from articulus.linear import LinearModel


def lqr(plant: Any, Q: Any, R: Any, N: Any = None, *, commands: Group = None) -> Design:
    """Return the state feedback u = -K x with the least integral of x'Qx + u'Ru + 2 x'Nu; of a sampled plant, the least sum.

    Parameters
    ----------
    plant : see `as_plant`
    Q : number, (n,) or (n, n)
        Weight of the states, positive semidefinite.
    R : number, (m,) or (m, m)
        Weight of the commands, positive definite.
    N : (n, m)
        Weight of products of states and commands.
    commands : str, int or sequence of str
        Names of the inputs that the regulator drives, or how many of the last; all if not given.

    Returns
    -------
    Design
        Its plant has the states as outputs. Figures: `gain` K (m, n), `cost` X (n, n): the cost from x is x'Xx.
    """
    model = as_plant(plant, "lqr")
    u = places(model.inputs, commands, "input", "lqr")
    n, B = len(model.A), model.B[:, u]
    weights = weight(Q, n, "Q", "lqr", False), weight(R, len(u), "R", "lqr", True)
    require_stabilizable(model, B, "lqr", tuple(model.inputs[i] for i in u))
    cross = None if N is None else np.asarray(N, dtype=float).reshape(n, len(u))
    X, K = riccati(model.A, B, *weights, cross, period=model.period, method="lqr")
    seen = with_states(model)
    law = law_of(seen, static(-K), u, np.arange(n), "lqr")
    off = _residual(model, B, *weights, cross, X, K)
    residual = Check("residual of the Riccati equation", off, 1e-6, off < 1e-6)
    return checked("lqr", seen, law, u, np.arange(n), {"gain": K, "cost": X}, [residual])


def _residual(
    model: LinearModel,
    B: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    N: np.ndarray | None,
    X: np.ndarray,
    K: np.ndarray,
) -> float:
    """Return the residual of the Riccati equation over the size of X."""
    cross = np.zeros((len(Q), len(R))) if N is None else N
    if model.period is None:
        off = model.A.T @ X + X @ model.A - (X @ B + cross) @ K + Q
    else:
        off = model.A.T @ X @ model.A - X - (model.A.T @ X @ B + cross) @ K + Q
    return float(
        np.abs(off).max(initial=0.0)
        / max(np.abs(X).max(initial=0.0) * max(1.0, np.abs(model.A).max(initial=0.0)), np.finfo(float).tiny)
    )
