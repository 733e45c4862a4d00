"""Invariant subspaces by the ordered real Schur form (Golub & Van Loan, Matrix Computations, 7.6.2; LAPACK trsen)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg


@dataclass(frozen=True, eq=False)
class InvariantSubspace:
    """An orthonormal basis of an invariant subspace, and the matrix T of the flow in it: A basis = basis T."""

    basis: np.ndarray
    T: np.ndarray


@dataclass(frozen=True, eq=False)
class SpectralSplit:
    """A = right diag(A1, A2) left with left = right^-1: a state in two groups of modes that do not act on each other.

    Parameters
    ----------
    A1, A2 : arrays, (k, k), (n - k, n - k)
    right, left : arrays, (n, n)
        The first k columns of `right` are orthonormal, and so are the last n - k rows of `left`.
    """

    A1: np.ndarray
    A2: np.ndarray
    right: np.ndarray
    left: np.ndarray


def invariant_subspace(A: np.ndarray, values: np.ndarray, chosen: np.ndarray) -> InvariantSubspace:
    """Return the invariant subspace that belongs to some of the eigenvalues of A.

    Parameters
    ----------
    A : array, (n, n)
    values : complex array, (n,)
        Eigenvalues of A.
    chosen : bool array, (n,)
        Which of them; both of a complex pair, or none.

    Raises
    ------
    numpy.linalg.LinAlgError
        If rounding does not let them be told from the others.

    Rows that span a left invariant subspace are the transposed basis of one of A'.
    """
    T, Z, k = _ordered_schur(A, values, chosen)
    return InvariantSubspace(Z[:, :k], T[:k, :k])


def split_spectrum(A: np.ndarray, values: np.ndarray, chosen: np.ndarray) -> SpectralSplit:
    """Return A divided into the flow of some of its eigenvalues and that of the others, by a Sylvester equation; see `invariant_subspace`."""
    T, Z, k = _ordered_schur(A, values, chosen)
    first, rest = Z[:, :k], Z[:, k:]
    X = np.zeros((k, len(A) - k))
    if X.size:
        X = scipy.linalg.solve_sylvester(T[:k, :k], -T[k:, k:], -T[:k, k:])
    right = np.hstack([first, first @ X + rest])
    left = np.vstack([first.T - X @ rest.T, rest.T])
    return SpectralSplit(T[:k, :k], T[k:, k:], right, left)


def stable_subspace(H: np.ndarray) -> InvariantSubspace | None:
    """Return the invariant subspace of a Hamiltonian matrix that belongs to its eigenvalues left of the imaginary axis.

    Parameters
    ----------
    H : array, (2n, 2n)
        With as many eigenvalues left of the axis as right of it.

    Returns
    -------
    InvariantSubspace or None
        Of n columns; None if n eigenvalues cannot be told from the others: some lie on the axis.
    """
    n = len(H) // 2
    if not n:
        return InvariantSubspace(np.zeros((0, 0)), np.zeros((0, 0)))
    try:
        T, Z, count = scipy.linalg.schur(H, output="real", sort="lhp", check_finite=False)
    except np.linalg.LinAlgError:  # rounding in the exchange moved an eigenvalue across the axis
        return None
    return InvariantSubspace(Z[:, :n], T[:n, :n]) if count == n else None


def near_axis(values: np.ndarray, share: float, floor: float = 0.0) -> np.ndarray:
    """Return which values have a real part of at most this share of their own size, or at most the floor, in size."""
    return np.abs(values.real) <= np.maximum(share * np.abs(values), floor)


def _ordered_schur(
    A: np.ndarray, values: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return T, Z and k: A = Z T Z', the k chosen eigenvalues first. Those of T differ from `values` by rounding: the nearest counts."""
    good, other = values[chosen], values[~chosen]
    if not len(good) or not len(other):
        return A, np.eye(len(A)), len(good)

    def first(re: float, im: float) -> bool:
        s = complex(re, im)
        return bool(np.abs(good - s).min() < np.abs(other - s).min())

    T, Z, count = scipy.linalg.schur(A, output="real", sort=first)
    if count != len(good):
        raise np.linalg.LinAlgError(
            f"{len(good)} or {count} of {len(values)} eigenvalues belong to the subspace: rounding decides"
        )
    return T, Z, count
