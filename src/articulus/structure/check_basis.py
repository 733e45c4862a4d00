"""What is wrong with the shapes of a flexible body."""

from __future__ import annotations

import numpy as np

from articulus.errors import InputError
from articulus.structure.solution.statics import rigid_motions
from articulus.structure.structure import Structure

RIGID_SHARE = 1e-6
"""Share of the kinetic energy of a shape in rigid motion from which it counts as rigid."""

HIGHEST = 1e9
"""Highest believable frequency [rad/s]."""

LOWEST = 1e-7
"""Lowest believable frequency of an elastic shape [rad/s]."""


def check_basis(structure: Structure, basis: np.ndarray) -> None:
    """Raise if the shapes do not fit the structure, depend on each other, move it rigidly or vibrate absurdly."""
    if basis.ndim != 2 or basis.shape[0] != structure.count or not np.isfinite(basis).all():
        raise InputError(
            f"basis of shape {basis.shape}; expected finite numbers of shape ({structure.count}, modes): a column for each "
            "mode, a row for each free degree of freedom of the structure"
        )
    mass, stiffness = basis.T @ (structure.M @ basis), basis.T @ (structure.K @ basis)
    _check_independent(mass)
    _check_rigid(structure, basis, mass)
    _check_frequencies(mass, stiffness)


def _check_independent(mass: np.ndarray) -> None:
    size = np.sqrt(np.diag(mass))
    if not (size > 0).all():
        raise InputError(
            f"basis: shape {int(np.argmin(size))} moves no mass; a flexible body needs an inertia for each of its coordinates"
        )
    if len(mass) and np.linalg.eigvalsh(mass / np.outer(size, size))[0] < 1e-12:
        raise InputError("basis: its shapes depend on each other; leave out those that others make up")


def _check_rigid(structure: Structure, basis: np.ndarray, mass: np.ndarray) -> None:
    N = rigid_motions(structure)
    if not N.shape[1]:
        return
    share = ((N.T @ (structure.M @ basis)) ** 2).sum(axis=0) / np.diag(mass)
    worst = int(np.argmax(share)) if len(share) else 0
    if len(share) and share[worst] > RIGID_SHARE:
        raise InputError(
            f"basis: {100 * share[worst]:.3g} % of the kinetic energy of shape {worst} is rigid motion of the whole structure, "
            "which the body frame already has; leave rigid modes out, or fix the node that carries the frame"
        )


def _check_frequencies(mass: np.ndarray, stiffness: np.ndarray) -> None:
    if not len(mass):
        return
    omega = np.sqrt(np.abs(np.diag(stiffness)) / np.diag(mass))
    for k in np.flatnonzero((omega > HIGHEST) | (omega < LOWEST)):
        raise InputError(
            f"basis: shape {k} has the frequency {omega[k]:.3g} rad/s; expected {LOWEST:g} to {HIGHEST:g}: are lengths in "
            "metres, masses in kilogrammes and stiffnesses in newtons per metre (not mm, t or MPa)?"
        )
