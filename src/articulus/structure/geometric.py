"""Geometric stiffness matrices of a structure for unit motions and unit loads, as finite-element codes export them.

They tell what mass and stiffness matrices do not: how motion and loads stiffen a body. With a(r) = a0 + A r the acceleration of
the points of the undeformed structure, its section forces are those of the loads -a dm, and a load does through the displacement of second
order h_kl the work that its section forces do on the strains of second order (see `flexible_body`), so that

    integral of a . h_kl over the mass = phi_k' K_G(a) phi_l

and the twelve motions here give the integrals of h_kl and of r h_kl'.

Source: Banerjee & Dickens 1990.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from articulus.errors import InputError
from articulus.structure.vectors import skew

MOTIONS = (
    *(f"acceleration_{i}" for i in "xyz"),
    *(f"angular_{i}" for i in "xyz"),
    *(f"rate_{ij}" for ij in ("xx", "yy", "zz", "xy", "xz", "yz")),
)
"""Unit motions of the frame: accelerations [m/s^2], angular accelerations [rad/s^2], squares and products of angular rates [rad^2/s^2]."""

PRODUCTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Axes of the rates, in the order of `MOTIONS`."""


@dataclass(frozen=True, eq=False)
class GeometricStiffness:
    """Geometric stiffness of a structure, on its degrees of freedom.

    Parameters
    ----------
    motions : dict of name to array, (n, n)
        One for each of `MOTIONS`: that of the section forces which hold the structure together, on its supports, while its frame has
        this motion. A frame that accelerates along x loads it as gravity along -x does; a structure that spins at the rates w has the sum of
        w_i w_j times those of the rates, each product counted once.
    loads : dict of node name to six arrays, (n, n)
        Those of unit forces along and unit moments about x, y, z at nodes where something may be attached.
    about : three floats [m]
        Point that angular motions leave in place.
    """

    motions: Mapping[str, sp.csr_array]
    loads: Mapping[str, Sequence[sp.csr_array]] = field(default_factory=dict)
    about: Sequence[float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        missing = [name for name in MOTIONS if name not in self.motions]
        unknown = [name for name in self.motions if name not in MOTIONS]
        if missing or unknown:
            raise InputError(
                f"geometric stiffness: motions missing: {missing or 'none'}, unknown: {unknown or 'none'}; expected a matrix for each "
                f"of {', '.join(MOTIONS)}; give zero matrices for motions that do not stress the structure"
            )
        for node, some in self.loads.items():
            if len(some) != 6:
                raise InputError(
                    f"geometric stiffness: {len(some)} matrices for loads at '{node}'; expected six: forces along and moments "
                    "about x, y, z"
                )

    def matrices(self) -> dict[str, sp.csr_array]:
        """Return all matrices by names for messages."""
        at = {f"load {k + 1} at {node}": m for node, some in self.loads.items() for k, m in enumerate(some)}
        return dict(self.motions) | at

    def over(self, T: sp.csr_array) -> GeometricStiffness:
        """Return the same for other degrees of freedom x, where the present ones are T x."""
        motions = {name: T.T @ m @ T for name, m in self.motions.items()}
        loads = {node: [T.T @ m @ T for m in some] for node, some in self.loads.items()}
        return GeometricStiffness(motions, loads, self.about)

    def mass_shortening(self, basis: np.ndarray, origin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the integrals of h_j over the mass, (3, k, k), and of r_i h_j, (3, 3, k, k), for shapes (n, k)."""
        work = np.array([basis.T @ (self.motions[name] @ basis) for name in MOTIONS])
        first, k = work[:3], basis.shape[1]
        second = np.linalg.solve(_fields(), work[3:].reshape(9, -1)).reshape(3, 3, k, k)
        shift = np.asarray(self.about, dtype=float) - origin
        return first, second + shift[:, None, None, None] * first

    def station_shortening(self, basis: np.ndarray, node: str) -> np.ndarray:
        """Return displacement and rotation of second order at a node, (6, k, k)."""
        if node not in self.loads:
            raise InputError(
                f"geometric stiffness: no matrices for loads at '{node}', found those at {sorted(self.loads) or 'no node'}; a station needs "
                "six, for unit forces and moments: add them, or leave the station out (stations=...)"
            )
        return -np.array([basis.T @ (m @ basis) for m in self.loads[node]])


def _fields() -> np.ndarray:
    """Return what each r_i e_j has of the accelerations A r of unit angular accelerations and rates, (9, 9)."""
    turns = [skew(e) for e in np.eye(3)]
    for i, j in PRODUCTS:
        both = np.zeros((3, 3))
        both[i, j] = both[j, i] = 1.0
        turns.append(both - np.eye(3) if i == j else both)
    return np.array([A.T.ravel() for A in turns])
