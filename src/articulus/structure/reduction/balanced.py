"""Balanced reduction that keeps the second-order form.

Of the Gramians of x = (q, q') only the position block of controllability P and the velocity block of observability Q count;
their balancing gives position-velocity singular values (Reis & Stykel 2008). The reduced model is the full one on the
positions so chosen (Ritz), not the two-sided projection: it stays symmetric and therefore stable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from articulus.errors import InputError
from articulus.numerics.lyapunov import covariance
from articulus.structure.reduction.base import Reduction
from articulus.structure.reduction.modal import modal
from articulus.structure.structure import Structure


@dataclass(frozen=True, eq=False)
class BalancedReduction(Reduction):
    """With what each coordinate was worth.

    Parameters
    ----------
    values : array
        Position-velocity singular values of all candidates, largest first.
    """

    values: np.ndarray


def balanced(structure: Structure, count: int, *, candidates: int) -> BalancedReduction:
    """Return the structure on the `count` shapes that inputs reach most and outputs see most.

    Parameters
    ----------
    structure : Structure
        With inputs, outputs and damping in every mode; without rigid motions.
    count : int
        Coordinates to keep.
    candidates : int
        Normal modes of lowest frequency that represent the full structure.
    """
    if not (structure.inputs and structure.outputs):
        raise InputError(
            "balanced: the structure has no inputs or no outputs; name some by with_input and with_output"
        )
    if not 0 < count <= candidates:
        raise InputError(f"balanced: {count} coordinates of {candidates} candidates")
    full = modal(structure, candidates)
    K, D, n = full.K, full.D, candidates
    if np.linalg.eigvalsh(0.5 * (D + D.T))[0] <= 0:
        raise InputError(
            "balanced: some modes have no damping, and Gramians need it; use with_rayleigh_damping or with_modal_damping"
        )
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-K, -D]])
    B = np.vstack([np.zeros_like(full.B), full.B])
    C = np.hstack([full.H, full.H_rate])
    P = covariance(A, B @ B.T)[:n, :n]
    Q = covariance(A.T, C.T @ C)[n:, n:]
    reached, seen = _root(P), _root(Q)
    _, values, Vt = svd(seen.T @ reached)
    X = reached @ Vt[:count].T / np.sqrt(values[:count])
    names = tuple(f"balanced{k + 1}" for k in range(count))
    return BalancedReduction(structure, full.basis @ X, names, values)


def _root(P: np.ndarray) -> np.ndarray:
    """Return R with P = R R' of a semidefinite matrix."""
    values, vectors = np.linalg.eigh(0.5 * (P + P.T))
    return vectors * np.sqrt(np.maximum(values, 0.0))
