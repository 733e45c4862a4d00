"""A proof mass tuned to a mode of a structure: spring and damper of a passive absorber.

C. Minas, E. Garcia and D. J. Inman, Control of a Flexible Planar Truss Using Proof Mass Actuators, 3rd Annual Conference on Aerospace
Computational Control, JPL, 1989, eq. 5, with the mass of the housing counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from articulus.errors import InputError, did_you_mean
from articulus.linear import SecondOrder
from articulus.structure import normal_modes


@dataclass(frozen=True, eq=False)
class TunedAbsorber:
    """Spring and damper of a proof mass, and the structure that carries it.

    Parameters
    ----------
    frequency : float [rad/s]
        Frequency of the proof mass on its spring, the structure held.
    stiffness, damping : float [N/m, N s/m]
    ratios : two floats [-]
        Least damping ratio of the two modes that the tuned one becomes, and of that mode before.
    model : articulus.linear.SecondOrder
        The structure with housing and proof mass; the last degree of freedom is the proof mass, the last input a force between it and the
        housing, positive on the structure (an active proof-mass actuator).
    """

    frequency: float
    stiffness: float
    damping: float
    ratios: tuple[float, float]
    model: SecondOrder


def tuned_absorber(structure: Any, place: str, mode: int, mass: float, housing: float = 0.0) -> TunedAbsorber:
    """Return the absorber at an input of a structure, tuned to one of its modes.

    Parameters
    ----------
    structure : Structure
        With an input `place`: the force that the absorber exerts, one newton for a unit input.
    place : str
    mode : int
        1 for the lowest frequency.
    mass, housing : float [kg]
        Masses of the proof mass, and of the part that is fixed to the structure.
    """
    if place not in structure.inputs:
        raise InputError(f"tuned_absorber: no input '{place}'; {did_you_mean(place, structure.inputs)}")
    if not (mass > 0 and housing >= 0 and np.isfinite(mass + housing)):
        raise InputError(
            f"tuned_absorber: found masses {mass}, {housing} kg; expected a proof mass above 0, a housing of 0 or more"
        )
    if mode < 1:
        raise InputError(f"tuned_absorber: found mode {mode}; expected 1 for the lowest, 2 for the next, ...")
    known = normal_modes(structure, mode)
    w = known.omega[mode - 1]
    e = structure.B[:, structure.inputs.index(place)]
    square = float(known.shapes[:, mode - 1] @ e) ** 2
    if w == 0.0 or square * mass < 1e-9:
        raise InputError(
            f"tuned_absorber: mode {mode} has no frequency or does not move at '{place}'; expected an elastic mode that does"
        )
    mu_t, mu_a = housing * square, mass * square
    tuned = w * np.sqrt(1 + mu_t) / (1 + mu_t + mu_a)
    c = mass * w * np.sqrt(mu_a * (1 + mu_t) / (1 + mu_t + mu_a) ** 3)
    k = mass * tuned**2
    model = _carrying(SecondOrder.of(structure), e, mass, housing, k, c)
    before = float(known.shapes[:, mode - 1] @ (structure.D @ known.shapes[:, mode - 1])) / (2 * w)
    return TunedAbsorber(float(tuned), float(k), float(c), (_least(model, w), before), model)


def _carrying(s: SecondOrder, e: np.ndarray, mass: float, housing: float, k: float, c: float) -> SecondOrder:
    """Return the structure with housing and proof mass (eq. 3)."""
    own = np.append(e, -1.0)
    link = sp.csc_array(np.outer(own, own))
    one = np.append(e, 0.0)
    M = sp.block_diag([s.M, sp.csc_array([[mass]])]) + housing * sp.csc_array(np.outer(one, one))
    D, K = (sp.block_diag([x, sp.csc_array((1, 1))]) + by * link for x, by in ((s.D, c), (s.K, k)))
    B = np.column_stack([np.vstack([s.B, np.zeros((1, s.B.shape[1]))]), own])
    H, H_rate = (np.hstack([x, np.zeros((len(x), 1))]) for x in (s.H, s.H_rate))
    return SecondOrder(M, D, K, B, H, H_rate, (*s.inputs, "proof mass"), s.outputs, s.name)


def _least(model: SecondOrder, w: float) -> float:
    """Return the least damping ratio of the two modes nearest to a frequency."""
    poles = model.first_order().poles
    waves = poles[poles.imag > 0]
    pair = waves[np.argsort(np.abs(np.abs(waves) - w), kind="stable")[:2]]
    return float((-pair.real / np.abs(pair)).min())
