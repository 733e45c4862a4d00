"""Static displacements; a structure that can move rigidly is loaded together with its inertia (inertia relief)."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import null_space, orth
from scipy.sparse.linalg import SuperLU, splu

from articulus.errors import InputError, NumericalError
from articulus.structure.structure import Structure

RIGID = 1e-12
"""Elastic energy of a rigid motion, beside the sum of its terms, that rounding explains in matrices made here."""

RIGID_READ = 1e-7
"""The same for matrices that were read, perhaps with few digits."""


def rigid_motions(structure: Structure) -> np.ndarray:
    """Return the rigid motions that the supports leave free, (n, r): no elastic energy, orthonormal in M.

    They are those combinations of the six rigid motions of all nodes that neither support nor spring resists.
    """
    center = structure.positions.mean(axis=0)
    R, held = structure.rigid(center), structure.held_rigid(center)
    size = np.maximum(np.abs(R).max(axis=0), np.abs(held).max(axis=0, initial=0.0))
    size[size == 0] = 1.0
    if len(held):
        R = (R / size) @ null_space(np.linalg.qr(held / size, mode="r"))
    else:
        R = R / size
    terms = np.sqrt(np.einsum("ni,ni->i", np.abs(R), abs(structure.K) @ np.abs(R)))
    terms[terms == 0] = 1.0
    energies, shapes = np.linalg.eigh((R.T @ (structure.K @ R)) / np.outer(terms, terms))
    free = energies < (RIGID if structure.samples is not None else RIGID_READ)
    N = orth((R / terms) @ shapes[:, free]) if free.any() else np.zeros((structure.count, 0))
    return N @ np.linalg.inv(np.linalg.cholesky(N.T @ (structure.M @ N))).T


@dataclass(frozen=True, eq=False)
class Statics:
    """Static solutions of one structure; the factorization is kept.

    Parameters
    ----------
    structure : Structure
        With supports, or free to move.
    """

    structure: Structure

    @functools.cached_property
    def rigid(self) -> np.ndarray:
        """Rigid motions that the supports leave free, (n, r), orthonormal in M."""
        return rigid_motions(self.structure)

    def relieve(self, forces: np.ndarray) -> np.ndarray:
        """Return forces (n, ...) minus the inertia forces of the rigid acceleration they cause."""
        return forces - self.structure.M @ (self.rigid @ (self.rigid.T @ forces))

    def solve(self, forces: np.ndarray) -> np.ndarray:
        """Return displacements (n, ...) under forces (n, ...), without rigid part (orthogonal in M)."""
        n, r = self.rigid.shape
        forces = np.asarray(forces, dtype=float)
        if forces.shape[0] != n:
            raise InputError(
                f"statics: forces of shape {forces.shape}; expected {n} rows, one for each degree of freedom"
            )
        bordered = np.concatenate([self.relieve(forces), np.zeros((r, *forces.shape[1:]))])
        found = self._factors.solve(bordered)[:n]
        if not np.isfinite(found).all():
            raise NumericalError(
                "statics: the stiffness matrix is singular; a part of the structure is not connected"
            )
        return found

    @functools.cached_property
    def _factors(self) -> SuperLU:
        """Return the factors of [[K, M N], [N' M, 0]]: the border keeps rigid motion out."""
        K, MN = self.structure.K, self.structure.M @ self.rigid
        MN = MN * (abs(K).max() / (np.abs(MN).max(initial=0.0) or 1.0))
        A = sp.block_array([[K, sp.csr_array(MN)], [sp.csr_array(MN.T), None]]) if MN.shape[1] else K
        try:
            return splu(sp.csc_array(A))
        except RuntimeError:
            raise InputError(
                "statics: the stiffness matrix is singular although no rigid motion of the whole is free; a node or a part "
                "is not connected (a mechanism): fix its degrees of freedom or join it by elements"
            ) from None
