"""Unstable poles of a loop with exact delays: the turns of det(I + L) around zero (Nyquist)."""

from __future__ import annotations

import numpy as np

from articulus.control.analysis.delay import DelayedModel
from articulus.errors import InputError, NumericalError

TURN = 0.7
"""Largest change of phase between neighboring frequencies [rad]."""
ROUNDS = 40


def unstable_poles(loop: DelayedModel, grid: np.ndarray) -> int:
    """Return how many poles of (I + L)^-1 are not stable.

    The contour is a little to the right of the imaginary axis, so that integrators lie to its left.

    Parameters
    ----------
    loop : DelayedModel
        L, with as many outputs as inputs.
    grid : array [rad/s]
        Frequencies to begin with; more are put in where the phase changes fast.
    """
    plain = loop.without_delay
    through = float(np.linalg.norm(plain.D, 2))
    if through >= 1.0:
        raise InputError(
            f"margins: found a loop with delay and a gain of {through:.4g} at infinite frequency; expected less than one: such "
            "a loop has infinitely many unstable poles"
        )
    poles = np.linalg.eigvals(plain.A)
    shift = 1e-6 * grid[0]
    w = np.concatenate([[0.0], np.geomspace(1e-2 * shift, grid[0], 60)[:-1], grid])
    values = _determinants(loop, shift + 1j * w)
    for _ in range(ROUNDS):
        steps = np.abs(np.angle(values[1:] / values[:-1]))
        coarse = np.flatnonzero(steps > TURN)
        if not len(coarse):
            break
        middle = 0.5 * (w[coarse] + w[coarse + 1])
        w, values = (
            np.insert(w, coarse + 1, middle),
            np.insert(values, coarse + 1, _determinants(loop, shift + 1j * middle)),
        )
    else:
        raise NumericalError(
            "margins: the closed loop has a pole on the boundary of stability, or too close to decide"
        )
    turn = np.angle(values[1:] / values[:-1]).sum() - np.angle(
        values[-1]
    )  # at last det(I + L) returns to the positive axis
    inside = int(np.count_nonzero(poles.real > shift))
    return inside - round(float(turn) / np.pi)


def _determinants(loop: DelayedModel, s: np.ndarray) -> np.ndarray:
    return np.linalg.det(np.eye(len(loop.inputs)) + loop.at(s))
