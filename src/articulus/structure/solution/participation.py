"""How much each mode takes part in rigid motion of the supports: participation factors and effective masses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from articulus.structure.flexible_body import rigid_inertia
from articulus.structure.solution.normal_modes import NormalModes
from articulus.structure.structure import Structure


@dataclass(frozen=True, eq=False)
class Participation:
    """Shares of modes in the six rigid motions (rotations first).

    Parameters
    ----------
    factors : array, (6, k)
        Momentum for unit modal rates: R' M phi / (phi' M phi).
    effective : array, (6, k) [kg m^2, kg]
        Effective inertia of each mode; over all modes they sum up to that of the moving part of the structure.
    total : array, (6,) [kg m^2, kg]
        Inertia of the whole structure.
    """

    factors: np.ndarray
    effective: np.ndarray
    total: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Effective inertia over that of the whole structure, (6, k); zero where the structure has none."""
        total = self.total[:, None]
        return np.divide(self.effective, total, out=np.zeros_like(self.effective), where=total > 0)


def participation(
    structure: Structure, modes: NormalModes, origin: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0)
) -> Participation:
    """Return participation factors and effective masses of modes for motion of the supports about `origin` [m]."""
    total, momentum = rigid_inertia(structure, modes.shapes, np.asarray(origin, dtype=float))
    mass = np.einsum("nk,nk->k", modes.shapes, structure.M @ modes.shapes)
    return Participation(momentum / mass, momentum**2 / mass, np.diag(total))
