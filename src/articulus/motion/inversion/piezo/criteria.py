"""How well an actuator is placed, as one number to be made small: passive damping, linear regulator, controllability Gramian.

The structure is given by its modes of unit mass, eta'' + C eta' + Omega^2 eta = b u, with b eta the collocated measurement. States
are (Omega eta, eta'), so that their squares are twice the energy: with (eta, eta') instead, the criteria would look only at
the mode whose numbers are the largest.

Source: Devasia, Meressi, Paden & Bayo 1993.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from articulus.errors import InputError
from articulus.numerics.gramians import modal_gramians
from articulus.numerics.riccati import care_batch

Criterion = Literal["passive", "lqr", "gramian"]

ZOOMS = 4
"""Searches for the best passive gain, each six times finer; the first goes from exp(-9) to exp(3) times that of the highest mode."""
UNREACHED = 1e-6
"""Part of the largest entry of b below which a mode without damping counts as not reached."""


@dataclass(frozen=True, eq=False)
class Modal:
    """Modes of unit mass.

    Parameters
    ----------
    omega : array, (n,) [rad/s]
    damping : array, (n, n) [rad/s]
        2 zeta omega on the diagonal where damping is modal.
    """

    omega: np.ndarray
    damping: np.ndarray

    @property
    def A(self) -> np.ndarray:
        """Of x' = A x + B u with x = (Omega eta, eta')."""
        W = np.diag(self.omega)
        return np.block([[np.zeros_like(W), W], [-W, -self.damping]])


def cost_of(
    criterion: Criterion, modal: Modal, *, feedback: float | None = None, R: float = 1.0
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the costs of actuators as a function of b (m, n), to be made small, (m,).

    Parameters
    ----------
    criterion : str
        "passive": largest real part of a pole with u = -feedback b eta' [1/s]; "lqr": largest eigenvalue of the Riccati solution, the
        integral of x'x + R u^2 from the worst state of unit size [s]; "gramian": minus the smallest eigenvalue of the
        controllability Gramian.
    modal : Modal
    feedback : float
        Gain of "passive", >= 0; the best for each actuator if not given.
    R : float
        Weight of the input for "lqr", > 0.
    """
    if criterion == "passive":
        if feedback is not None and not feedback >= 0:
            raise InputError(f"placement, feedback: found {feedback!r}; expected a number >= 0")
        return lambda b: passive(modal, b, feedback)[0]
    if criterion == "lqr":
        if not R > 0:
            raise InputError(f"placement, R: found {R!r}; expected a positive number")
        return lambda b: regulator(modal, b, R)
    if criterion == "gramian":
        if np.linalg.eigvals(modal.A).real.max() > -1e-12 * modal.omega.max():
            raise InputError(
                "placement, criterion 'gramian': found a mode without damping, whose Gramian is infinite; give every mode some damping"
            )
        return lambda b: -smallest_gramian(modal, b)
    raise InputError(f"placement, criterion: found {criterion!r}; expected 'passive', 'lqr' or 'gramian'")


def passive(modal: Modal, b: np.ndarray, feedback: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest real parts of the poles with u = -k b eta' (m,) [1/s], and k (m,): that given, or the best."""
    n = len(modal.omega)
    push = np.zeros((len(b), 2 * n, 2 * n))
    push[:, n:, n:] = b[:, :, None] * b[:, None, :]

    def slowest(k: np.ndarray) -> np.ndarray:
        return np.linalg.eigvals(modal.A - k[..., None, None] * push).real.max(-1)

    if feedback is not None:
        k = np.full(len(b), float(feedback))
        return slowest(k), k
    size = np.maximum((b**2).sum(1), np.finfo(float).tiny)
    best, spacing = np.log(modal.omega.max() / size), 0.25
    steps = np.arange(-36, 13)
    for _ in range(ZOOMS):
        tried = best + spacing * steps[:, None]
        found = slowest(np.exp(tried))
        at = found.argmin(0)
        best = np.take_along_axis(tried, at[None], 0)[0]
        steps, spacing = np.arange(-6, 7), spacing / 6
    return found.min(0), np.where((b == 0).all(1), 0.0, np.exp(best))


def regulator(modal: Modal, b: np.ndarray, R: float) -> np.ndarray:
    """Return the costs of the worst unit state under the linear regulator with Q = I (m,) [s]; infinite if a mode is not reached.

    The Riccati solutions of all actuators at once.
    """
    n, size = len(modal.omega), np.abs(b).max(1, initial=0.0)
    costs = np.full(len(b), np.inf)
    undamped = np.diag(modal.damping) <= 1e-12 * modal.omega
    missed = (np.abs(b) <= UNREACHED * np.abs(b).max(1, keepdims=True)) & undamped
    some = np.flatnonzero((size > 0) & ~missed.any(1))
    B = np.concatenate([np.zeros_like(b), b], axis=1)[some, :, None]
    values = np.linalg.eigvalsh(care_batch(modal.A, B, np.eye(2 * n), np.array([[R]])))
    costs[some] = np.where(values[:, 0] > 0, values[:, -1], np.inf)
    return costs


def smallest_gramian(modal: Modal, b: np.ndarray) -> np.ndarray:
    """Return the smallest eigenvalues of the controllability Gramians, (m,)."""
    B = np.concatenate([np.zeros_like(b), b], axis=1)
    return np.linalg.eigvalsh(modal_gramians(modal.A, B))[:, 0]
