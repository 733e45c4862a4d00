"""Transverse shear of shells with straight edges: discrete Kirchhoff-Mindlin elements, and a measure of what thin ones leave out.

The middle of an edge of length l leans. With the mean shear strain g = (w_2 - w_1) / l + (beta_1 + beta_2) / 2 of straight edges, the
quadratic part of beta_s has the amplitude -3/2 g / (1 + phi) and the shear strain along the edge is g phi / (1 + phi), where

    phi = 12 D_s / (S_s l^2)

is the ratio of shear to bending flexibility of a Timoshenko beam along it (equilibrium, Q = M_s). Thin edges (phi = 0) are those of the
discrete Kirchhoff elements, short ones (phi infinite) have linear rotations. Within the element the shear strain is the field of least degree
that has these components along the edges (that of MITC4, Dvorkin & Bathe 1984). The thin limit is exact, so that nothing locks.

Sources: Katili 1993, parts I (DKMT) and II (DKMQ).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.structure.element.shell_points import massless, principal
from articulus.structure.plate import Plate
from articulus.structure.samples import Samples


def require_shear(name: str, plate: Plate) -> np.ndarray:
    """Return the transverse shear stiffness of a plate, (2, 2); raise InputError for the element `name` if there is none."""
    if plate.shear is None:
        raise InputError(
            f"{name}: its plate has no transverse shear stiffness (shear = None); give `shear` [N/m], plies with G13 and G23, or take a "
            "thin shell, which does not yield to it"
        )
    least, most = np.linalg.eigvalsh(plate.shear)
    if not least > 1e-12 * most:
        raise InputError(
            f"{name}: the transverse shear stiffness of its plate is zero in some direction (from {least:g} to {most:g} N/m); expected it "
            "above zero in all: G13 and G23 of each ply are G12 if not given; was that zero for the core?"
        )
    return plate.shear


def edge_ratios(named: Sequence[tuple[str, Plate]], edges: np.ndarray, tangents: np.ndarray) -> np.ndarray:
    """Return phi of each edge, (E, k).

    Parameters
    ----------
    named : sequence of (name, plate)
        Name of each element.
    edges : array, (E, k, 3) [m]
    tangents : array, (E, 2, 3)
        Axes of each plate.
    """
    S = np.array([require_shear(name, plate) for name, plate in named])
    D = per_plate([plate for _, plate in named], lambda plate: plate.bending)
    along = np.einsum("eix,eax->eia", edges, tangents)  # with its length
    a, b = along[..., 0], along[..., 1]
    square = a**2 + b**2
    kappa = np.stack([a * a, b * b, 2 * a * b], axis=-1) / square[..., None]
    bend = np.einsum("eim,emn,ein->ei", kappa, D, kappa)
    return 12 * np.maximum(bend, 0.0) / np.einsum("eia,eab,eib->ei", along, S, along)


def shear_points(
    gamma: np.ndarray, S: np.ndarray, area: np.ndarray, position: np.ndarray, columns: np.ndarray, count: int
) -> Samples:
    """Return points that hold transverse shear strains.

    Parameters
    ----------
    gamma : array, (E, P, 2, c)
        Rows of gamma_x, gamma_y on the degrees of freedom of each element.
    S : array, (E, 2, 2) [N/m]
    area : array, (E, P) [m^2]
    position : array, (E, P, 3) [m]
    columns : array, (E, c)
        Numbers of the degrees of freedom of each element among `count` ones.
    """
    E, P, _, c = gamma.shape
    modes, energy = principal(S)
    strain, stiffness = np.zeros((E, P, 6, c)), np.zeros((E, P, 6))
    strain[:, :, :2], stiffness[..., :2] = modes[:, None] @ gamma, area[..., None] * energy[:, None]
    return massless(position.reshape(-1, 3), strain, stiffness.reshape(-1, 6), columns, count)


def lags(plates: Sequence[Plate]) -> np.ndarray:
    """Return sqrt(mass D) / S of plates [s], in the direction where it is largest; zero where S is not known or zero."""
    return per_plate(plates, _lag)


def per_plate(plates: Sequence[Plate], value: Callable[[Plate], Any]) -> np.ndarray:
    """Return a value of each plate, computed once for those that several elements share."""
    known = {id(plate): plate for plate in plates}
    values = {key: value(plate) for key, plate in known.items()}
    return np.array([values[id(plate)] for plate in plates])


def _lag(plate: Plate) -> float:
    if plate.shear is None or not np.linalg.eigvalsh(plate.shear)[0] > 0:
        return 0.0
    D = plate.bending
    each = [np.sqrt(max(D[i, i], 0.0)) / plate.shear[i, i] for i in range(2)]
    return float(np.sqrt(plate.mass) * max(each))
