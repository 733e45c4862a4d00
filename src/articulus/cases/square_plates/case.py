"""Frequencies of thin square plates of quadrilaterals, and how they converge."""

import numpy as np

from articulus.structure import Plate, normal_modes, panel
from articulus.structure.ties import Components

PLATE = Plate.isotropic(0.002, 7e10, 0.3, 2700.0)
UNIT = np.sqrt(PLATE.ABD[3, 3] / PLATE.mass)
"""sqrt(D / rho h) [m^2/s]; the sides are 1 m."""
CLAMPED: Components = ("z", "rx", "ry")
EDGES = ("root", "tip", "right", "left")


def compute() -> dict:
    supported: dict[str, Components] = {e: ("z", "rx") if e in EDGES[:2] else ("z", "ry") for e in EDGES}
    first = {n: parameters(supported, 1, n)[0] for n in (8, 16)}
    exact = 2 * np.pi**2
    return {
        "supported at all sides: omega a^2 sqrt(rho h / D), modes 1-4": parameters(supported, 4),
        "clamped at all sides: the same, modes 1-4": parameters(dict.fromkeys(EDGES, CLAMPED), 4),
        "clamped at one side: the same, modes 1-5": parameters({"root": CLAMPED}, 5),
        "free: the same, modes 1-3": parameters({}, 6)[3:],
        "order of convergence of the first supported frequency": np.log2(
            (exact - first[8]) / (exact - first[16])
        ),
    }


def parameters(supports: dict[str, Components], count: int, elements: int = 20) -> np.ndarray:
    """Return omega a^2 sqrt(rho h / D) of the modes of bending."""
    whole = panel(1.0, 1.0, PLATE, elements=(elements, elements), supports=supports)
    bending = whole.keep(np.flatnonzero(np.isin(whole.dofs[:, 1], (2, 3, 4))))
    return normal_modes(bending, count).omega / UNIT
