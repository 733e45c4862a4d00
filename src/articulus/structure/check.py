"""What is wrong with the matrices of a structure, named with what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from articulus.errors import InputError

if TYPE_CHECKING:
    from articulus.structure.structure import Structure

SYMMETRY = 1e-8
"""Largest entry of A - A' beside the largest of A that rounded digits in a file explain."""

DEFINITENESS = 1e-9
"""Smallest eigenvalue below zero, beside the largest, that rounding explains."""

DENSE = 400
"""Degrees of freedom up to which eigenvalues are computed by the dense solver."""


def check_matrices(structure: Structure) -> None:
    """Raise if sizes disagree, or a matrix is not symmetric, not finite or indefinite."""
    n = structure.count
    shapes = {
        "M": (n, n), "K": (n, n), "D": (n, n), "B": (n, len(structure.inputs)),
        "H": (len(structure.outputs), n), "H_rate": (len(structure.outputs), n),
    }  # fmt: skip
    for name, shape in shapes.items():
        found = getattr(structure, name).shape
        if found != shape:
            raise InputError(
                f"structure: {name} has shape {found}; expected {shape} for {n} degrees of freedom, {len(structure.inputs)} inputs and "
                f"{len(structure.outputs)} outputs"
            )
    for name in ("M", "K", "D"):
        _check_symmetric(name, getattr(structure, name))
    for name, matrix in (structure.geometric.matrices() if structure.geometric else {}).items():
        if matrix.shape != (n, n):
            raise InputError(
                f"structure: the geometric stiffness '{name}' has shape {matrix.shape}; expected {(n, n)}, that of M and K"
            )
        _check_symmetric(f"geometric stiffness '{name}'", sp.csr_array(matrix))
    if structure.samples is None:
        _check_semidefinite(
            "M",
            structure.M,
            "a mass matrix has none: check the order of its degrees of freedom and its units",
        )
        _check_semidefinite(
            "K",
            structure.K,
            "a stable structure has none: was K read with the wrong sign, or under a buckling load?",
        )


def _check_symmetric(name: str, A: sp.csr_array) -> None:
    if not np.isfinite(A.data).all():
        raise InputError(f"structure: {name} holds numbers that are not finite")
    size = abs(A).max() if A.nnz else 0.0
    excess = abs(A - A.T).max() if A.nnz else 0.0
    if excess > SYMMETRY * size:
        row, column = np.unravel_index(int(abs(A - A.T).toarray().argmax()), A.shape)
        raise InputError(
            f"structure: {name} is not symmetric: {name}[{row}, {column}] = {A[row, column]:.6g}, {name}[{column}, {row}] = "
            f"{A[column, row]:.6g}; if only one triangle was stored, add the other"
        )


def _check_semidefinite(name: str, A: sp.csr_array, hint: str) -> None:
    if A.nnz == 0:
        return
    size = abs(A).max()
    if A.shape[0] <= DENSE:
        lowest = float(np.linalg.eigvalsh(A.toarray())[0])
    else:
        lowest = float(eigsh(A, k=1, which="SA", tol=1e-3, return_eigenvectors=False)[0])
    if lowest < -DEFINITENESS * size * max(1, A.shape[0] ** 0.5):
        raise InputError(f"structure: {name} is indefinite: an eigenvalue is {lowest:.6g}; {hint}")
