"""Linear quadratic Gaussian control (`lqg` in MATLAB): regulator and Kalman filter."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.control.analysis.norms import h2norm
from articulus.control.connect import close, select
from articulus.control.design import Check, Design, checked, law_of
from articulus.control.modes import require_no_idle_boundary, require_stabilizable
from articulus.control.plant import Group, as_plant, of_matrices, places
from articulus.control.riccati import riccati, weight
from articulus.control.synthesis.hinf_problem import without_feedthrough
from articulus.control.synthesis.kalman import Noise, gains, noise_of
from articulus.errors import InputError
from articulus.linear import LinearModel

AGREE = 1e-5
"""Relative difference between the cost by the Riccati solutions and that of the closed loop."""


def lqg(
    plant: Any,
    Q: Any,
    R: Any,
    W: Any,
    V: Any,
    *,
    noise: Group = None,
    commands: Group = None,
    measured: Group = None,
    current: bool = False,
) -> Design:
    """Return the controller with the least mean of x'Qx + u'Ru under white noise.

    Parameters
    ----------
    plant : see `as_plant`
    Q, R : number, vector or matrix
        Weights of the states and of the commands; see `lqr`.
    W, V : number, vector or matrix
        Noise of the states (or of the inputs `noise`) and of the measured outputs; see `kalman`.
    noise, commands : names or number of inputs
        Commands are all that are not noise, if not given.
    measured : names or number of outputs
        All if not given.
    current : bool
        Of a sampled plant, use the newest measurement at once instead of one period later.

    Returns
    -------
    Design
        Figures: `cost`, the mean of x'Qx + u'Ru; `gain` K of u = -K x^; `filter_gain` L; `regulator_poles`, `filter_poles`
        [rad/s], which together are the poles of the closed loop.
    """
    model = as_plant(plant, "lqg")
    y = places(model.outputs, measured, "output", "lqg")
    covariances, which = noise_of(model, y, W, V, noise, "lqg")
    u = command_places(model, which, commands, "lqg")
    q, r = weight(Q, len(model.A), "Q", "lqg", False), weight(R, len(u), "R", "lqg", True)
    return joined("lqg", model, u, y, (q, r, None), covariances, current)


def command_places(model: LinearModel, which: np.ndarray, commands: Group, method: str) -> np.ndarray:
    """Return the numbers of the commands: those named, or all inputs that are not noise."""
    if commands is not None:
        return places(model.inputs, commands, "input", method)
    u = np.setdiff1d(np.arange(len(model.inputs)), which)
    if not len(u):
        raise InputError(f"{method}: found no commands beside the noise; expected at least one")
    return u


def joined(
    method: str,
    model: LinearModel,
    u: np.ndarray,
    y: np.ndarray,
    weights: tuple[np.ndarray, np.ndarray, np.ndarray | None],
    noise: Noise,
    current: bool,
    figures: dict[str, Any] | None = None,
) -> Design:
    """Return regulator and filter as one controller, with the mean cost of its closed loop."""
    if current and model.period is None:
        raise InputError(f"{method}: found current=True of a continuous plant; expected a sampled one")
    Q, R, N = weights
    A, B, C, D = model.A, model.B[:, u], model.C[y], model.D[np.ix_(y, u)]
    require_stabilizable(model, B, method, tuple(model.inputs[i] for i in u))
    if N is None:
        require_no_idle_boundary(model, Q, method, "no weight Q sees it", dual=False)
    X, K = riccati(A, B, Q, R, N, period=model.period, method=method)
    P, L, M = gains(model, y, noise, method)
    M = M if current else np.zeros_like(M)
    now = K - K @ M @ C
    matrices = without_feedthrough(A - L @ C - B @ now, L - B @ K @ M, -now, -K @ M, D)
    law = law_of(model, matrices, u, y, method)
    error = P - M @ (noise.V + C @ P @ C.T) @ M.T
    size = R if model.period is None else R + B.T @ X @ B
    promised = float(np.trace(X @ noise.W) + np.trace(K.T @ size @ K @ error))
    if current and noise.S.any():  # the newest measurement also tells of the noise that moves the states next
        promised = np.nan
    cost = _mean_cost(model, law, u, y, weights, noise)
    agree = bool(np.isnan(promised) or abs(cost - promised) <= AGREE * promised + np.finfo(float).tiny)
    check = Check("mean cost of the closed loop beside that of the Riccati solutions", cost, promised, agree)
    found = {
        "cost": cost,
        "gain": K,
        "filter_gain": L,
        "regulator_poles": of_matrices(A - B @ K, B, period=model.period).poles,
        "filter_poles": of_matrices(A - L @ C, L, period=model.period).poles,
        **(figures or {}),
    }
    return checked(method, model, law, u, y, found, [check])


def _mean_cost(
    model: LinearModel,
    law: LinearModel,
    u: np.ndarray,
    y: np.ndarray,
    weights: tuple[np.ndarray, np.ndarray, np.ndarray | None],
    noise: Noise,
) -> float:
    """Return the square of the H2 norm from unit white noise to [Q, N; N', R]^1/2 [x; u]."""
    Q, R, N = weights
    n, m, p = len(Q), len(R), len(y)
    cross = np.zeros((n, m)) if N is None else N
    root = _root(np.block([[Q, cross], [cross.T, R]])).T
    spread = _root(np.block([[noise.W, noise.S], [noise.S.T, noise.V]]))
    k = n + p
    whole = of_matrices(
        model.A,
        np.hstack([spread[:n], model.B[:, u]]),
        np.vstack([root[:, :n], model.C[y]]),
        np.block([[np.zeros((n + m, k)), root[:, n:]], [spread[n:], model.D[np.ix_(y, u)]]]),
        model.period,
    )
    loop = close(whole, law, range(k, k + m), range(n + m, n + m + p))
    return float(h2norm(select(loop, range(k), range(n + m)))) ** 2


def _root(matrix: np.ndarray) -> np.ndarray:
    """Return F with F F' = a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(values, 0.0))
