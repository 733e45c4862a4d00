"""Linear models as python-control objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import control


def state_space(
    names: Sequence[str],
    turning: np.ndarray,
    by_q: np.ndarray,
    by_v: np.ndarray,
    inverse_mass: np.ndarray,
    name: str,
) -> control.StateSpace:
    """Return x' = A x + B u, y = x for x = (small displacements, velocities), u = joint forces.

    A = [[G, I], [d vdot/d q, d vdot/d v]], B = [0; M^-1], with G from `kinematics.tangent_rate`.
    """
    import control

    n = len(names)
    A = np.block([[turning, np.eye(n)], [by_q, by_v]])
    B = np.vstack([np.zeros((n, n)), inverse_mass])
    labels = _labels(names)
    states = [*labels, *(f"d_{s}" for s in labels)]
    inputs = [f"tau_{s}" for s in labels]
    return control.StateSpace(
        A,
        B,
        np.eye(2 * n),
        np.zeros((2 * n, n)),
        states=states,
        inputs=inputs,
        outputs=states,
        name=name.replace(".", "_"),
    )


def _labels(names: Sequence[str]) -> list[str]:
    """Return signal names without the dots that python-control keeps for itself, all different."""
    plain = [s.replace(".", "_") for s in names]
    return [s if plain.count(s) == 1 else f"{s}_{i}" for i, s in enumerate(plain)]
