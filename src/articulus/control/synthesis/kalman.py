"""Steady Kalman filters (`kalman`, `lqe`, `dlqe` in MATLAB)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.control.design import Check
from articulus.control.modes import require_detectable, require_no_idle_boundary
from articulus.control.plant import Group, as_plant, of_matrices, places
from articulus.control.riccati import residual_check, stabilizing, weight
from articulus.errors import NumericalError
from articulus.linear import LinearModel
from articulus.numerics.lyapunov import Lyapunov


@dataclass(frozen=True, eq=False)
class Estimator:
    """A filter x^' = A x^ + B u + L (y - C x^ - D u); sampled: the next x^ from the newest y.

    Parameters
    ----------
    model : LinearModel
        From the commands and the measured outputs to the estimated states. Of a sampled plant they use the newest
        measurement: x^ + M (y - C x^ - D u).
    gain : array, (n, p)
        L.
    innovation : array, (n, p)
        M of a sampled plant; zeros for a continuous one.
    covariance : array, (n, n)
        Covariance of the error x - x^, before the newest measurement.
    checks : tuple of Check
    """

    model: LinearModel
    gain: np.ndarray
    innovation: np.ndarray
    covariance: np.ndarray
    checks: tuple[Check, ...]

    @property
    def poles(self) -> np.ndarray:
        """Poles of the error [rad/s]."""
        return self.model.poles

    def __str__(self) -> str:
        sigma = np.sqrt(np.diag(self.covariance))
        lines = [f"kalman: {len(self.gain)} states from {', '.join(self.model.inputs[:6])}"]
        lines += [f"  standard deviation of {x}: {s:.6g}" for x, s in zip(self.model.states[:12], sigma)]
        return "\n".join(lines + [f"  {check}" for check in self.checks])


@dataclass(frozen=True)
class NoiseCovariance:
    """What drives the states and spoils the measurements: covariances W of x', V of y and S of both."""

    W: np.ndarray
    V: np.ndarray
    S: np.ndarray


def noise_of(
    model: LinearModel, y: np.ndarray, W: Any, V: Any, noise: Group, method: str
) -> tuple[NoiseCovariance, np.ndarray]:
    """Return the covariances, and the numbers of the inputs that are noise (none if W acts on the states)."""
    v = weight(V, len(y), "V", method, True)
    if noise is None:
        w = weight(W, len(model.A), "W", method, False)
        return NoiseCovariance(w, v, np.zeros((len(model.A), len(y)))), np.zeros(0, dtype=int)
    which = places(model.inputs, noise, "input", method)
    w = weight(W, len(which), "W", method, False)
    G, H = model.B[:, which], model.D[np.ix_(y, which)]
    return NoiseCovariance(G @ w @ G.T, v + H @ w @ H.T, G @ w @ H.T), which


@dataclass(frozen=True)
class FilterGains:
    """Covariance P of the error before the newest measurement, gains L and M, covariance of the innovation, eigenvalues and flow of A - L C."""

    P: np.ndarray
    L: np.ndarray
    M: np.ndarray
    innovation: np.ndarray
    flow: Lyapunov
    check: Check

    @property
    def poles(self) -> np.ndarray:
        """Eigenvalues of A - L C."""
        return self.flow.eigenvalues


def gains(
    model: LinearModel,
    y: np.ndarray,
    noise: NoiseCovariance,
    method: str,
    modes: np.ndarray | None = None,
) -> FilterGains:
    """Return the gains of the filter; raise InputError naming an unstable mode (`modes` where they are known) that it cannot follow."""
    C = model.C[y]
    require_detectable(model, C, method, tuple(model.outputs[i] for i in y), modes)

    def name_idle() -> None:
        free, moved = model, noise.W
        if noise.S.any():  # what is left of the noise of the states when that of the measurements is known
            known = np.linalg.solve(noise.V, noise.S.T).T
            free, moved = dataclasses.replace(model, A=model.A - known @ C), noise.W - known @ noise.S.T
        require_no_idle_boundary(free, moved, method, "no noise W moves it", dual=True)

    found = stabilizing(
        *(model.A.T, C.T, noise.W, noise.V, noise.S),
        period=model.period,
        method=method,
        name_idle=name_idle,
    )
    P, L, check = found.X, found.gain.T, residual_check(found, "filter")
    flow = found.flow.transposed
    if model.period is None:
        return FilterGains(P, L, np.zeros_like(L), noise.V, flow, check)
    innovation = noise.V + C @ P @ C.T
    return FilterGains(P, L, np.linalg.solve(innovation, C @ P).T, innovation, flow, check)


def kalman(plant: Any, W: Any, V: Any, *, noise: Group = None, measured: Group = None) -> Estimator:
    """Return the filter with the least mean square error of every state.

    Parameters
    ----------
    plant : see `as_plant`
    W : number, vector or matrix
        Intensity of the white noise at the inputs `noise` (covariance, of a sampled plant); if none are named, of noise
        that acts on each state derivative. Positive semidefinite.
    V : number, vector or matrix
        Intensity of the noise of the measured outputs; positive definite.
    noise : names or number of inputs
    measured : names or number of outputs
        All if not given.
    """
    model = as_plant(plant, "kalman")
    y = places(model.outputs, measured, "output", "kalman")
    covariances, which = noise_of(model, y, W, V, noise, "kalman")
    g = gains(model, y, covariances, "kalman")
    P, L, M = g.P, g.L, g.M
    u = np.setdiff1d(np.arange(len(model.inputs)), which)
    A, B, C, D = model.A, model.B[:, u], model.C[y], model.D[np.ix_(y, u)]
    filtered = of_matrices(
        A - L @ C,
        np.hstack([B - L @ D, L]),
        np.eye(len(A)) - M @ C,
        np.hstack([-M @ D, M]),
        model.period,
        states=model.states,
        inputs=tuple(model.inputs[i] for i in u) + tuple(model.outputs[i] for i in y),
        outputs=model.states,
        name=f"filter of {model.name}".strip(),
    )
    most = float(max(g.poles.real if model.period is None else np.abs(g.poles), default=-np.inf))
    bound = 0.0 if model.period is None else 1.0
    bad = not most < bound
    check = Check("poles of the error", most, bound, not bad)
    estimator = Estimator(filtered, L, M, P, (check, g.check))
    if bad:
        raise NumericalError(f"kalman: the error of the filter does not fade: {check}", result=estimator)
    return estimator
