"""Modal truncation that keeps the modes which the inputs move and the outputs see."""

from __future__ import annotations

import numpy as np

from articulus.errors import InputError
from articulus.structure.reduction.base import Reduction
from articulus.structure.reduction.modal import modal
from articulus.structure.structure import Structure


def modal_measures(structure: Structure, shapes: np.ndarray, damping: float) -> np.ndarray:
    """Return the Hankel singular values that lightly damped modes nearly have, (k,).

    gamma = |b| |c| / (4 zeta omega) with b = phi' B and c the rows of H phi / omega and H_rate phi (Gawronski 2004, chapter 4).

    Parameters
    ----------
    structure : Structure
        With inputs and outputs.
    shapes : array, (n, k)
        Elastic normal modes of unit modal mass.
    damping : float [-]
        Damping ratio of the modes.
    """
    if not (structure.inputs and structure.outputs):
        raise InputError(
            "modal measures: the structure has no inputs or no outputs; name some by with_input and with_output"
        )
    omega = np.sqrt(np.einsum("nk,nk->k", shapes, structure.K @ shapes))
    b = np.linalg.norm(structure.B.T @ shapes, axis=0)
    c = np.hypot(
        np.linalg.norm(structure.H @ shapes, axis=0) / omega,
        np.linalg.norm(structure.H_rate @ shapes, axis=0),
    )
    return b * c / (4 * damping * omega)


def by_controllability(
    structure: Structure, count: int, *, candidates: int, damping: float = 0.01
) -> Reduction:
    """Return the structure on the `count` modes of largest controllability and observability (see `modal_measures`).

    Parameters
    ----------
    structure : Structure
        With inputs and outputs.
    count : int
        Modes to keep.
    candidates : int
        Elastic modes of lowest frequency to choose from.
    damping : float [-]
        Damping ratio of the modes.
    """
    if count > candidates:
        raise InputError(f"by_controllability: {count} modes of {candidates} candidates")
    whole = modal(structure, candidates)
    measures = modal_measures(structure, whole.basis, damping)
    kept = np.sort(np.argsort(-measures, kind="stable")[:count])
    return Reduction(structure, whole.basis[:, kept], tuple(whole.names[k] for k in kept))
