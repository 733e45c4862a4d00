"""Internal dynamics divided: what is integrated forwards from the start, and what backwards from the end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from articulus.errors import InputError, NumericalError, doubtful
from articulus.linear import LinearModel
from articulus.numerics.subspaces import near_axis, split_spectrum

ON_AXIS = 1e-9
"""Distance from the boundary of stability over the size of a zero that rounding can account for."""
AT_ZERO = 1e-8
"""Size of a zero, over the largest one, that rounding can account for at a multiple zero at the origin."""
NEARLY = 1e-2
"""Damping ratio of a zero below which the inputs ring long."""
NYQUIST = 1e-4
"""Distance from -1 within which the zero that sampling adds to a plant of relative degree 2 lies, over its size."""


@dataclass(frozen=True, eq=False)
class Halves:
    """z = F a + G b: a' = A a is integrated forwards, b' = B b backwards; `rows` gives (a, b) = rows z.

    `values` are the eigenvalues of the whole: zeros [rad/s], or values of z of a sampled plant.
    """

    A: np.ndarray
    B: np.ndarray
    F: np.ndarray
    G: np.ndarray
    rows: np.ndarray
    values: np.ndarray


def halves(A: np.ndarray, model: LinearModel, hidden: np.ndarray, method: str) -> Halves:
    """Divide internal dynamics.

    Parameters
    ----------
    A : array, (n, n)
    model : LinearModel
        The plant.
    hidden : complex array
        Eigenvalues of modes that the outputs do not show: on the boundary of stability they are integrated forwards.
    method : str
        For messages.
    """
    values = np.linalg.eigvals(A).astype(complex) if len(A) else np.zeros(0, complex)
    forward = _forward(values, model, hidden, method)
    try:
        split = split_spectrum(A, values, forward)
    except np.linalg.LinAlgError:
        raise NumericalError(
            f"{method}: zeros too close to each other to be divided: {_list(values)}"
        ) from None
    k = len(split.A1)
    return Halves(split.A1, split.A2, split.right[:, :k], split.right[:, k:], split.left, values)


def symplectic_zeros(model: LinearModel, weights: tuple[np.ndarray, np.ndarray], method: str) -> np.ndarray:
    """Return the zeros z, in pairs z and 1 / z, of the least inputs or the least errors of a sampled plant; refuse those on the circle.

    Finite eigenvalues of x+ = A x + B u, p = A' p+ + (...): the conditions of the least integral, with the desired motion zero.
    """
    n, m, q = len(model.A), len(model.inputs), len(model.outputs)
    A, B, C, D = model.A, model.B, model.C, model.D
    fat = m > q
    count = 2 * n + m + q
    left, right = np.zeros((count, count)), np.zeros((count, count))
    x, p, u, e = (slice(a, b) for a, b in ((0, n), (n, 2 * n), (2 * n, 2 * n + m), (2 * n + m, count)))
    left[x, x], left[x, u], right[x, x] = A, B, np.eye(n)
    left[p, p], left[p, e], right[p, p] = np.eye(n), -C.T, A.T
    left[u, e], right[u, p] = D.T, -B.T
    left[e, x], left[e, u] = C, D
    if fat:  # e are multipliers of the outputs; the inputs have a cost
        left[u, u] = weights[0]
    else:  # e are weighted errors
        left[e, e] = np.linalg.inv(weights[1])
    alpha, beta = scipy.linalg.eig(left, right, right=False, homogeneous_eigvals=True)
    size = np.hypot(np.abs(alpha), np.abs(beta))
    finite = (np.abs(beta) > 1e-8 * size) & (np.abs(alpha) > 1e-8 * size)
    values = alpha[finite] / beta[finite]
    _forward(values, model, np.zeros(0), method)
    return values


def _forward(values: np.ndarray, model: LinearModel, hidden: np.ndarray, method: str) -> np.ndarray:
    """Return which eigenvalues are integrated forwards; refuse those on the boundary, warn of those near it."""
    size, period = (
        max(np.abs(values).max(initial=0.0), np.abs(np.linalg.eigvals(model.A)).max(initial=0.0)),
        model.period,
    )
    if period is None:
        inside = -values.real
        on = near_axis(values, ON_AXIS)
        on |= np.abs(values) <= AT_ZERO * size
        near = near_axis(values, NEARLY)
        boundary, unit = "the imaginary axis", " rad/s"
    else:
        inside = 1.0 - np.abs(values)
        on = np.abs(inside) <= ON_AXIS
        near = np.abs(inside) < NEARLY * np.abs(np.angle(values))
        sampling = np.abs(values + 1) < NYQUIST  # a smooth motion hardly moves it, see two_sided
        on, near = on & ~sampling, near & (np.abs(values + 1) > 0.05)
        inside = np.where(sampling, 1.0, inside)
        boundary, unit = "the unit circle", ""
    unseen = np.array(
        [np.abs(hidden - s).min(initial=np.inf) <= 1e-6 * max(size, 1e-300) for s in values], bool
    )
    refused = values[on & ~unseen]
    if len(refused):
        zero = ", ".join(f"{s:.6g}{unit}" for s in refused[:4])
        why = (
            "the inputs do not hold the outputs at rest in one state only: ask for the integral of an output that is a rate"
            if np.abs(refused).min() <= AT_ZERO * size and period is None
            else "the inputs would ring for ever: choose other outputs, or another place of the actuators, or add damping"
        )
        if period is not None:
            why += "; sample faster than twice the highest frequency of the model"
        raise InputError(f"{method}: found zeros on {boundary}: {zero}; expected none, {why}")
    if (on & unseen).any():
        doubtful(
            f"{method}: modes that the outputs do not show, {_list(values[on & unseen])}{unit}, are moved by the inputs and are not damped; "
            "they continue to vibrate after the motion"
        )
    if (near & ~on).any():
        doubtful(
            f"{method}: zeros near {boundary}: {_list(values[near & ~on])}{unit}; the inputs ring long before or after the motion"
        )
    return (inside > 0) | (on & unseen)


def _list(values: np.ndarray) -> str:
    return ", ".join(f"{s:.6g}" for s in values[:6])
