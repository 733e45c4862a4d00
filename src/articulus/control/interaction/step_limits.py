"""Longest stable steps of control and structure that are solved in turn, for one mode.

Mode y'' + w^2 y = -u under the feedback u = eta w_c^2 y + zeta w_c y', each solved by the mid-point rule with what the other was
predicted to be. Park, in the final report of NASA grant NAG 9-574 (1993), eqs. 9.47 to 9.61.
"""

from __future__ import annotations

import math

import numpy as np

from articulus.errors import InputError


def feedback_step_limit(eta: float, w_c: float, zeta: float = 0.0, w: float = 0.0) -> float:
    """Return the longest stable step of the stabilized partition [s]; infinite where every step is stable.

    The smallest h with d^3 zeta w_c w^2 - d^2 eta w_c^2 + 1 = 0, d = h/2 (eq. 9.57); 2 / (sqrt(eta) w_c) without velocity feedback
    (eq. 9.58).

    Parameters
    ----------
    eta, zeta : float
        Strength of the feedback of displacement and of velocity.
    w_c : float [rad/s]
        Frequency of the controller.
    w : float [rad/s]
        Frequency of the structure, which matters with velocity feedback only.
    """
    _require(eta=eta, zeta=zeta, w_c=w_c, w=w)
    roots = np.roots([zeta * w_c * w**2, -eta * w_c**2, 0.0, 1.0])
    real = roots.real[(np.abs(roots.imag) < 1e-9 * np.abs(roots)) & (roots.real > 0)]
    return 2.0 * float(real.min()) if real.size else math.inf


def direct_step_limit(eta: float, w_c: float, zeta: float) -> float:
    """Return min(2 / (zeta w_c), 2 zeta / (eta w_c)), the longest stable step without stabilization [s] (eq. 9.59).

    The feedback is taken from the law itself, with the displacement of the last step. It is 0 without velocity feedback.

    Parameters
    ----------
    eta, zeta : float
        Strength of the feedback of displacement and of velocity.
    w_c : float [rad/s]
        Frequency of the controller.
    """
    _require(eta=eta, zeta=zeta, w_c=w_c)
    damping, stiffness = zeta * w_c, eta * w_c**2
    if stiffness == 0.0:
        return 2.0 / damping if damping else math.inf
    return min(2.0 / damping, 2.0 * damping / stiffness) if damping else 0.0


def observer_step_limit(eta: float, w_c: float, l21: float, l22: float = 0.0, w: float = 0.0) -> float:
    """Return the longest stable step with a second-order observer [s] (eq. 9.61).

    The smaller one of those of the feedback and of the error of the observer, e'' + l22 e' + (w^2 + l21) e = 0, in which l21 stands
    in the place of eta w_c^2 and l22 in that of zeta w_c: min(2 / (sqrt(eta) w_c), 2 / sqrt(l21)) with displacements alone. The
    second term of the print cannot be read; this one is that of the scheme itself (`Partitioned.spectral_radius`).

    Parameters
    ----------
    eta : float
        Strength of the feedback of displacement.
    w_c, w : float [rad/s]
        Frequencies of controller and structure.
    l21, l22 : float [1/s^2], [1/s]
        Gains of the observer's acceleration on displacement and velocity.
    """
    _require(l21=l21, l22=l22)
    return min(feedback_step_limit(eta, w_c), feedback_step_limit(l21, 1.0, l22, w))


def _require(**numbers: float) -> None:
    for name, value in numbers.items():
        if not (np.ndim(value) == 0 and math.isfinite(value) and value >= 0.0):
            raise InputError(f"step limit, {name}: found {value!r}; expected a finite number, at least 0")
