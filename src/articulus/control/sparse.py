"""Regulators, filters and norms of structures with thousands of states, without a dense matrix of that size.

    from articulus.control import sparse
    design = sparse.lqr(plate)          # u = -design.gain (q, q')

The structure M q'' + D q' + K q = B u, y = H q + H_rate q' stays sparse: solutions of its Riccati and Lyapunov equations are
factors X = Z Z' with few columns (`articulus.numerics.low_rank`). What it asks for: no rigid-body motion (K has an inverse), mass
at every degree of freedom, and damping of every mode that is seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import Finding, InputError
from articulus.numerics.low_rank import TOLERANCE, SecondOrderPencil, low_rank_care
from articulus.structure import Structure

__all__ = ["SparseFilter", "SparseRegulator", "h2norm", "kalman", "lqr"]


@dataclass(frozen=True)
class SparseRegulator:
    """A state feedback u = -gain x, x = (q, q').

    Parameters
    ----------
    gain : array, (m, 2 n)
    factor : array, (2 n, r)
        The least cost from x is |factor' x|^2.
    residual : float
        Residual of the Riccati equation, over its constant term, in the norm of energy.
    shifts : int
        Sparse factorizations that it took.
    """

    gain: np.ndarray
    factor: np.ndarray
    residual: float
    shifts: int

    def cost(self, x: Any) -> np.ndarray:
        """Return the least cost from states x, (..., 2 n)."""
        return ((np.asarray(x, dtype=float) @ self.factor) ** 2).sum(axis=-1)


@dataclass(frozen=True)
class SparseFilter:
    """A steady filter x' = ... + gain (y - C x), x = (q, q').

    Parameters
    ----------
    gain : array, (2 n, p)
    factor : array, (2 n, r)
        The covariance of the error is factor factor'.
    residual : float
    shifts : int
    """

    gain: np.ndarray
    factor: np.ndarray
    residual: float
    shifts: int


def lqr(structure: Structure, R: Any = 1.0, *, tolerance: float = TOLERANCE) -> SparseRegulator:
    """Return the state feedback that makes the integral of y'y + u'R u least.

    Parameters
    ----------
    structure : Structure
        Its inputs are the commands, its outputs (displacements and rates) what is to be small, in units of their weight.
    R : number, (m,) or (m, m)
        Weight of the commands, positive definite.
    tolerance : float
        Residual of the Riccati equation, over its constant term.

    Notes
    -----
    Cost: about a sparse complex factorization of the structure for every mode that matters. 10,080 states of a plate with two
    inputs and outputs take 148 of them.

    Source: Benner, Bujanovic, Kürschner & Saak 2018.
    """
    pencil, B, C = _matrices(structure)
    inverse = np.linalg.inv(_root("R", R, len(structure.inputs)))
    solution = low_rank_care(pencil, B @ inverse.T, C, tolerance=tolerance)
    factor = pencil.apply_mass(solution.Z)
    return SparseRegulator(inverse.T @ solution.gain, factor, solution.residual, solution.shifts)


def kalman(structure: Structure, V: Any = 1.0, *, tolerance: float = TOLERANCE) -> SparseFilter:
    """Return the steady Kalman filter of a structure whose inputs are white noise of unit density.

    Parameters
    ----------
    structure : Structure
        Its outputs are measured.
    V : number, (p,) or (p, p)
        Density of the noise of the outputs, positive definite.
    tolerance : float
    """
    pencil, B, C = _matrices(structure)
    root = _root("V", V, len(structure.outputs))
    # the equation of the filter is that of the regulator with displacements of the other sign
    measured = _mirror(np.linalg.solve(root, C).T)
    solution = low_rank_care(pencil, measured, _mirror(B).T, tolerance=tolerance)
    factor = _mirror(solution.Z)
    gain = factor @ (factor.T @ np.linalg.solve(root, C).T)
    return SparseFilter(np.linalg.solve(root.T, gain.T).T, factor, solution.residual, solution.shifts)


def h2norm(structure: Structure, *, tolerance: float = TOLERANCE) -> float:
    """Return the H2 norm from inputs to outputs: root of the variance of y for white noise of unit density."""
    pencil, B, C = _matrices(structure)
    solution = low_rank_care(pencil, np.zeros((pencil.size, 0)), C, tolerance=tolerance)
    return float(np.linalg.norm(solution.Z.T @ B))


def _matrices(structure: Structure) -> tuple[SecondOrderPencil, np.ndarray, np.ndarray]:
    """Return the pencil in the form of energy, B (2 n, m) and C (p, 2 n)."""
    if not isinstance(structure, Structure):
        raise InputError(
            Finding(
                "structure", type(structure).__name__, "a Structure", "For a LinearModel take control.lqr."
            )
        )
    for what, ports in (("inputs", structure.inputs), ("outputs", structure.outputs)):
        if not ports:
            raise InputError(
                Finding(f"structure.{what}", "none", "at least one", f"Take `with_{what[:-1]}`.")
            )
    if structure.D is None or not structure.D.nnz:
        raise InputError(
            Finding(
                "structure.D",
                "no damping",
                "damping of every mode",
                "Take `with_rayleigh_damping` or `with_modal_damping`.",
            )
        )
    try:
        pencil = SecondOrderPencil(structure.M, structure.D, structure.K)
    except RuntimeError:
        raise InputError(
            Finding(
                "structure",
                "a singular stiffness or mass matrix",
                "no rigid-body motion, and mass at every degree of freedom",
                "Fix the structure (`fix`) or reduce it to its modes first.",
            )
        ) from None
    n, m = structure.count, structure.B.shape[1]
    B = np.concatenate([np.zeros((n, m)), structure.B])
    return pencil, B, np.concatenate([structure.H, structure.H_rate], axis=1)


def _mirror(columns: np.ndarray) -> np.ndarray:
    """Return states with displacements of the other sign."""
    n = len(columns) // 2
    return np.concatenate([-columns[:n], columns[n:]])


def _root(name: str, weight: Any, size: int) -> np.ndarray:
    """Return the lower Cholesky factor of a weight that is a number, a diagonal or a matrix."""
    matrix = np.asarray(weight, dtype=float)
    matrix = matrix * np.eye(size) if matrix.ndim == 0 else np.diag(matrix) if matrix.ndim == 1 else matrix
    if matrix.shape != (size, size):
        raise InputError(
            Finding(name, f"shape {np.shape(weight)}", f"a number, ({size},) or ({size}, {size})")
        )
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise InputError(
            Finding(name, "a matrix that is not positive definite", "a positive definite one")
        ) from None
