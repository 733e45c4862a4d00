"""Inversion in the frequency domain: for each frequency the inputs that give the spectrum of the wanted accelerations.

The window is long enough for the inputs to have died away at both ends, so that its repetition does no harm. Accelerations are
transformed, since they are zero outside the motion; the constant that they do not tell comes from the rest at the beginning.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.linear import LinearModel, SecondOrder
from articulus.motion.inversion.linear.two_sided import MOST, InverseSolution
from articulus.motion.inversion.paths import Path

QUIET = 1e-15
"""Part of the largest amplitude below which a frequency is omitted."""
DENSE = 100
"""Degrees of freedom of a structure above which its sparse equations are solved frequency by frequency."""
BLOCK = 256
"""Frequencies solved at once."""


def solve(
    model: LinearModel,
    structure: SecondOrder | None,
    path: Path,
    step: float,
    lengths: tuple[float, float],
    weights: tuple[np.ndarray, np.ndarray],
    method: str,
) -> InverseSolution:
    """Return the inputs and the states.

    Parameters
    ----------
    model : LinearModel
    structure : SecondOrder or None
        The same plant where it was given second order: its sparse equations are solved.
    path : Path
    step : float [s]
    lengths : (float, float) [s]
        Before and after the motion.
    weights : arrays, (m, m), (p, p)
        Weights of the inputs and of the errors.
    """
    sampled = model.period is not None
    pre, post = (int(np.ceil(x / step)) for x in lengths)
    count = pre + post + int(np.ceil((path.t_end - path.t0) / step - 1e-9)) + 1
    if count > MOST:
        raise InputError(f"{method}: found {count} steps of {step:g} s; expected at most {MOST}")
    t = path.t0 + step * np.arange(-pre, count - pre)
    period = count * step
    y = path.position(t)
    first, last = y[0], y[-1]
    omega = 2 * np.pi * np.fft.rfftfreq(count, step)
    if sampled:  # what is left of the path after a ramp has the same value at both ends of the window
        slope = (last - first) / count
        spectrum = np.fft.rfft(y - slope * np.arange(count)[:, None], axis=0)
    else:
        slope = (last - first) / period
        acceleration = path.derivatives(t, 2)[2]
        spectrum = np.fft.rfft(acceleration - acceleration.mean(0), axis=0)
        spectrum[1:] /= -(omega[1:, None] ** 2)
    size = np.linalg.norm(spectrum, axis=1)
    loud = np.flatnonzero(size > QUIET * size[1:].max(initial=0.0))
    loud = loud[
        (loud > 0) & (2 * loud < count)
    ]  # the constant and the highest frequency are told apart by no sample
    n, m = len(model.A), len(model.inputs)
    found = np.zeros((len(omega), n + m), dtype=complex)
    for block in np.array_split(loud, max(1, -(-len(loud) // BLOCK))):
        found[block] = _at(model, structure, omega[block], spectrum[block], weights)
    motion = np.fft.irfft(found, count, axis=0)
    motion += _static(model, weights, slope) * np.arange(count)[:, None] * (1.0 if sampled else step)
    motion += _static(model, weights, first) - motion[0]
    return InverseSolution(t, motion[:, :0], motion[:, :n], motion[:, n:], y, motion[0, :n])


def _at(
    model: LinearModel,
    structure: Any,
    omega: np.ndarray,
    y: np.ndarray,
    weights: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Return (states, inputs) for spectra of outputs, (N, n + m)."""
    n, m, p = len(model.A), len(model.inputs), len(model.outputs)
    if m != p:
        G = model.response(omega) if structure is None else structure.response(omega)
        u = _weighted(G, y, weights)
        return np.hstack([_states(model, structure, omega, u), u])
    if structure is not None and structure.count > DENSE:
        return _second_order(structure, omega, y, n)
    whole = np.block([[model.A, model.B], [model.C, model.D]]).astype(complex)[None].repeat(len(omega), 0)
    whole[:, range(n), range(n)] -= _places(model, omega)[:, None]
    right = np.concatenate([np.zeros((len(omega), n)), y], axis=1)
    return np.linalg.solve(whole, right[..., None])[..., 0]


def _states(model: LinearModel, structure: Any, omega: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the states for spectra of inputs, (N, n)."""
    import scipy.sparse as sp
    from scipy.sparse.linalg import splu

    if structure is None or structure.count <= DENSE:
        s = _places(model, omega)[:, None, None]
        return np.linalg.solve(s * np.eye(len(model.A)) - model.A, (u @ model.B.T)[..., None])[..., 0]
    found = []
    for w, force in zip(omega, u @ structure.B.T):
        q = splu(sp.csc_array(structure.K + 1j * w * structure.D - w * w * structure.M)).solve(force)
        found.append(np.concatenate([q, 1j * w * q]))
    return np.array(found)


def _places(model: LinearModel, omega: np.ndarray) -> np.ndarray:
    """Return s, or z of a sampled plant, at frequencies."""
    return 1j * omega if model.period is None else np.exp(1j * omega * model.period)


def _second_order(structure: SecondOrder, omega: np.ndarray, y: np.ndarray, n: int) -> np.ndarray:
    """Solve the equations of a structure for accelerations: (M + D / (i w) - K / w^2) q'' = B u, with the outputs y = H q + ..."""
    import scipy.sparse as sp
    from scipy.sparse.linalg import splu

    count, m = structure.B.shape
    found = np.zeros((len(omega), n + m), dtype=complex)
    for i, w in enumerate(omega):
        H = (structure.H + 1j * w * structure.H_rate) / -(w * w)
        whole = sp.bmat(
            [[structure.M + structure.D / (1j * w) - structure.K / (w * w), -structure.B], [H, None]], "csc"
        )
        solved = splu(whole).solve(np.concatenate([np.zeros(count), y[i]]).astype(complex))
        q = -solved[:count] / (w * w)
        found[i] = np.concatenate([q, 1j * w * q, solved[count:]])
    return found


def _weighted(G: np.ndarray, y: np.ndarray, weights: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the inputs of least weighted size, or of least weighted errors, (N, m)."""
    R, Q = weights
    p, m = G.shape[1:]
    adjoint = G.conj().transpose(0, 2, 1)
    if m > p:
        inner = np.linalg.solve(R, adjoint)
        return (inner @ np.linalg.solve(G @ inner, y[..., None]))[..., 0]
    return np.linalg.solve(adjoint @ Q @ G, adjoint @ (Q @ y[..., None]))[..., 0]


def _static(model: LinearModel, weights: tuple[np.ndarray, np.ndarray], y: np.ndarray) -> np.ndarray:
    """Return (states, inputs) at rest with the outputs y, by the same weights, (n + m,)."""
    n, m, p = len(model.A), len(model.inputs), len(model.outputs)
    A = model.A if model.period is None else model.A - np.eye(n)
    rates, outputs = np.hstack([A, model.B]), np.hstack([model.C, model.D])
    if m == p:
        return np.linalg.solve(np.vstack([rates, outputs]), np.concatenate([np.zeros(n), y]))
    cost = np.zeros((n + m, n + m))
    if m > p:
        cost[n:, n:] = weights[0]
        tied, right = np.vstack([rates, outputs]), np.concatenate([np.zeros(n), y])
        pull = np.zeros(n + m)
    else:
        cost = outputs.T @ weights[1] @ outputs
        tied, right = rates, np.zeros(n)
        pull = outputs.T @ weights[1] @ y
    k = len(tied)
    whole = np.block([[cost, tied.T], [tied, np.zeros((k, k))]])
    return np.linalg.lstsq(whole, np.concatenate([pull, right]), rcond=None)[0][: n + m]
