"""Invariant subspaces by the ordered real Schur form (Golub & Van Loan, Matrix Computations, 7.6.2; LAPACK trsen)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg


@dataclass(frozen=True)
class Subspace:
    """An orthonormal basis of an invariant subspace, and the matrix T of the flow in it: M basis = basis T."""

    basis: np.ndarray
    T: np.ndarray


def stable_subspace(H: np.ndarray) -> Subspace | None:
    """Return the invariant subspace of a Hamiltonian matrix that belongs to its eigenvalues left of the imaginary axis.

    Parameters
    ----------
    H : array, (2n, 2n)
        With as many eigenvalues left of the axis as right of it.

    Returns
    -------
    Subspace or None
        Of n columns; None if n eigenvalues cannot be told from the others: some lie on the axis.
    """
    n = len(H) // 2
    if not n:
        return Subspace(np.zeros((0, 0)), np.zeros((0, 0)))
    try:
        T, Z, count = scipy.linalg.schur(H, output="real", sort="lhp", check_finite=False)
    except np.linalg.LinAlgError:  # rounding in the exchange moved an eigenvalue across the axis
        return None
    return Subspace(Z[:, :n], T[:n, :n]) if count == n else None
