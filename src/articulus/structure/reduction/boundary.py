"""Boundary degrees of freedom, and the static shapes that their unit displacements give."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from articulus.errors import InputError
from articulus.structure.element.base import Node
from articulus.structure.structure import COMPONENTS, Components, Structure


def boundary(structure: Structure, chosen: Mapping[Node, Components]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the numbers of the free degrees of freedom chosen, and their names such as "tip.rz"."""
    found = [structure.where(node, which) for node, which in chosen.items()]
    kept = np.concatenate(found) if found else np.zeros(0, dtype=int)
    if not len(kept):
        raise InputError(
            f"reduction: none of the degrees of freedom {dict(chosen)} is free in this structure"
        )
    names = tuple(f"{structure.names[n]}.{COMPONENTS[c]}" for n, c in structure.dofs[kept])
    return kept, names


def constraint_shapes(structure: Structure, kept: np.ndarray) -> np.ndarray:
    """Return static displacements for unit displacements of the kept degrees of freedom, (n, kept)."""
    others = np.setdiff1d(np.arange(structure.count), kept)
    out = np.zeros((structure.count, len(kept)))
    out[kept, np.arange(len(kept))] = 1.0
    if len(others):
        K = sp.csc_array(structure.K)
        try:
            out[others] = -splu(sp.csc_array(K[np.ix_(others, others)])).solve(
                K[np.ix_(others, kept)].toarray()
            )
        except RuntimeError:
            raise InputError(
                "reduction: with the chosen degrees of freedom fixed the rest still moves without resistance; choose degrees of freedom that hold it"
            ) from None
    return out
