"""Proof of an inverse: the plant itself, moved from rest by the inputs that were found."""

from __future__ import annotations

from math import factorial

import numpy as np
import scipy.linalg

from articulus.linear import LinearModel


def response(model: LinearModel, t: np.ndarray, u: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the outputs (N, p) from a state x, with the cubic spline through the inputs (of a sampled plant: held), exactly."""
    Phi, force = _steps(model, t, u)
    states = np.empty((len(t), len(x)))
    states[0] = x
    for i, f in enumerate(force):
        states[i + 1] = Phi @ states[i] + f
    return states @ model.C.T + u @ model.D.T


def defect(model: LinearModel, t: np.ndarray, u: np.ndarray, x: np.ndarray) -> float:
    """Return by how much states (N, n) miss those that a step leads to, over the largest value of each state."""
    Phi, force = _steps(model, t, u)
    missed = np.abs(x[1:] - x[:-1] @ Phi.T - force).max(0)
    size = np.abs(x).max(0)
    return float((missed / np.maximum(size, 1e-9 * size.max(initial=1e-300))).max(initial=0.0))


def _steps(model: LinearModel, t: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Phi and the forces (N - 1, n) of x_next = Phi x + force."""
    if model.period is not None:
        return model.A, u[:-1] @ model.B.T
    from scipy.interpolate import CubicSpline

    n, m = model.B.shape
    step = t[1] - t[0]
    powers = CubicSpline(t, u).c[::-1]  # (4, N - 1, m)
    whole = np.zeros((n + 4 * m,) * 2)
    whole[:n, :n], whole[:n, n : n + m] = step * model.A, step * model.B
    whole[n:-m, n + m :] = np.eye(3 * m)
    moved = scipy.linalg.expm(whole)[:n]
    force = sum(
        powers[k] * (factorial(k) * step**k) @ moved[:, n + k * m : n + (k + 1) * m].T for k in range(4)
    )
    return moved[:, :n], np.asarray(force)
