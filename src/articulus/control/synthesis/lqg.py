"""Linear quadratic Gaussian control (`lqg` in MATLAB): regulator and Kalman filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.control.connect import close, select
from articulus.control.design import Check, Design, check_design, named_controller
from articulus.control.modes import unstable_modes
from articulus.control.plant import Group, as_plant, of_matrices, places
from articulus.control.riccati import cross_weight, regulator, residual_check, weight
from articulus.control.synthesis.hinf_problem import without_feedthrough
from articulus.control.synthesis.kalman import NoiseCovariance, gains, noise_of
from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.linear.model import rates
from articulus.numerics.lyapunov import Lyapunov, covariance, one_thread

AGREE = 1e-5
"""Relative difference between the cost by the Riccati solutions and that of the closed loop."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LqgDesign(Design):
    """A linear-quadratic regulator on the states that a Kalman filter estimates.

    Parameters
    ----------
    cost : float
        Mean of x'Qx + u'Ru of the closed loop.
    gain : array, (commands, states)
        Gain of the regulator.
    filter_gain : array, (states, measured)
        Gain of the filter.
    regulator_poles : complex array
        [rad/s]
    filter_poles : complex array
        [rad/s]
    """

    cost: float
    gain: np.ndarray
    filter_gain: np.ndarray
    regulator_poles: np.ndarray
    filter_poles: np.ndarray


def lqg(
    plant: Any,
    Q: Any,
    R: Any,
    W: Any,
    V: Any,
    N: Any = None,
    *,
    noise: Group = None,
    commands: Group = None,
    measured: Group = None,
    current: bool = False,
) -> LqgDesign:
    """Return the controller with the least mean of x'Qx + u'Ru + 2 x'Nu under white noise.

    Parameters
    ----------
    plant : see `as_plant`
    Q, R : number, vector or matrix
        Weights of the states and of the commands; see `lqr`.
    W, V : number, vector or matrix
        Noise of the states (or of the inputs `noise`) and of the measured outputs; see `kalman`. Inputs `noise` that pass into measured
        outputs make the two correlated.
    N : (n, m)
        Weight of products of states and commands; [Q, N; N', R] is positive semidefinite.
    noise, commands : names or number of inputs
        Commands are all that are not noise, if not given.
    measured : names or number of outputs
        All if not given.
    current : bool
        For a sampled plant: use the newest measurement at once instead of one period later.

    Returns
    -------
    Design
        Figures: `cost`, the mean of x'Qx + u'Ru + 2 x'Nu; `gain` K of u = -K x^; `filter_gain` L; `regulator_poles`, `filter_poles`
        [rad/s], which together are the poles of the closed loop.
    """
    model = as_plant(plant, "lqg")
    y = places(model.outputs, measured, "output", "lqg")
    covariances, which = noise_of(model, y, W, V, noise, "lqg")
    u = command_places(model, which, commands, "lqg")
    q, r = weight(Q, len(model.A), "Q", "lqg", False), weight(R, len(u), "R", "lqg", True)
    cross = cross_weight(N, q, r, "lqg", definite=True)
    return join_regulator_and_filter("lqg", model, u, y, (q, r, cross), covariances, current)


def command_places(model: LinearModel, which: np.ndarray, commands: Group, method: str) -> np.ndarray:
    """Return the numbers of the commands: those named, or all inputs that are not noise."""
    if commands is not None:
        return places(model.inputs, commands, "input", method)
    u = np.setdiff1d(np.arange(len(model.inputs)), which)
    if not len(u):
        raise InputError(f"{method}: found no commands beside the noise; expected at least one")
    return u


def join_regulator_and_filter(
    method: str,
    model: LinearModel,
    u: np.ndarray,
    y: np.ndarray,
    weights: tuple[np.ndarray, np.ndarray, np.ndarray | None],
    noise: NoiseCovariance,
    current: bool,
) -> LqgDesign:
    """Return regulator and filter as one controller, with the mean cost of its closed loop."""
    if current and model.period is None:
        raise InputError(f"{method}: found current=True of a continuous plant; expected a sampled one")
    Q, R, N = weights
    A, B, C, D = model.A, model.B[:, u], model.C[y], model.D[np.ix_(y, u)]
    modes = unstable_modes(model)
    gain = regulator(model, u, Q, R, N, method, modes)
    X, K, g = gain.X, gain.gain, gains(model, y, noise, method, modes)
    L = g.L
    size = R if model.period is None else R + B.T @ X @ B
    # u = -K x^ - J (y - C x^ - D u): the newest measurement tells of the states, and of the noise that moves them next
    J = np.zeros((len(u), len(y)))
    if current:
        J = K @ g.M + np.linalg.solve(size, B.T @ X @ noise.S) @ np.linalg.inv(g.innovation)
    now = K - J @ C
    matrices = without_feedthrough(A - L @ C - B @ now, L - B @ J, -now, -J, D)
    controller = named_controller(model, matrices, u, y, method)
    promised = float(np.trace(X @ noise.W) + np.trace(size @ (K @ g.P @ K.T - J @ g.innovation @ J.T)))
    flow = _join_flows(gain.flow, g.flow, close(model, controller, u, y).A)
    cost = _mean_cost(model, controller, u, y, weights, noise, flow)
    agree = bool(abs(cost - promised) <= AGREE * promised + np.finfo(float).tiny)
    check = Check("mean cost of the closed loop beside that of the Riccati solutions", cost, promised, agree)
    checks = [check, residual_check(gain, "regulator"), g.check]
    figures = {
        "cost": cost,
        "gain": K,
        "filter_gain": L,
        "regulator_poles": rates(gain.poles, model.period),
        "filter_poles": rates(g.poles, model.period),
    }
    return check_design(LqgDesign, method, model, controller, u, y, figures, checks, flow=flow)


def _join_flows(regulator: Lyapunov, estimator: Lyapunov, closed: np.ndarray) -> Lyapunov | None:
    """Return the flow of a closed loop whose states are x and x^: with those of the regulator and of the filter, since x - x^ does not feel x."""
    eye = np.eye(len(regulator.T))
    apart = np.block([[eye, np.zeros_like(eye)], [eye, -eye]])  # its own inverse
    with one_thread():
        return regulator.before(estimator, closed, apart, apart)


def _mean_cost(
    model: LinearModel,
    controller: LinearModel,
    u: np.ndarray,
    y: np.ndarray,
    weights: tuple[np.ndarray, np.ndarray, np.ndarray | None],
    noise: NoiseCovariance,
    flow: Lyapunov | None,
) -> float:
    """Return the mean square of [Q, N; N', R]^1/2 [x; u] under the noise, by the Lyapunov equation of the closed loop."""
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
    loop = close(whole, controller, range(k, k + m), range(n + m, n + m + p))
    noisy = select(loop, range(k), range(n + m))
    spread = covariance(noisy.A, noisy.B @ noisy.B.T, model.period is not None, flow)
    return float(np.sum((noisy.C @ spread) * noisy.C) + np.sum(noisy.D**2))


def _root(matrix: np.ndarray) -> np.ndarray:
    """Return F with F F' = a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(values, 0.0))
