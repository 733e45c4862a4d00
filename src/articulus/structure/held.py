"""Matrices from which held grids were removed: their mass is missing."""

from __future__ import annotations

import warnings

import numpy as np

from articulus.structure.structure import COMPONENTS, Structure

HELD = 1e-6
"""Stiffness against a rigid motion, beside that of all degrees of freedom each for itself, above which something holds it."""


def warn_if_held(structure: Structure) -> None:
    """Warn where matrices without elements resist rigid motions: grids that held them are not in the matrices."""
    whole = structure.whole or structure
    if whole.samples is not None:
        return
    R = whole.rigid(whole.positions.mean(axis=0))
    against = np.einsum("na,na->a", R, whole.K @ R)
    each = np.einsum("na,n,na->a", R, whole.K.diagonal(), R)
    held = [name for name, a, b in zip((*COMPONENTS[3:], *COMPONENTS[:3]), against, each) if a > HELD * b]
    if held:
        mass = np.einsum("na,na->a", R, whole.M @ R)[3:]
        told = ", ".join(f"{m:.6g}" for m in mass)
        warnings.warn(
            f"flexible body of matrices: their stiffness resists rigid motion ({', '.join(held)}), so that grids were held "
            f"when they were made. The mass of these grids is missing: found {told} kg along x, y and z; compare it with the "
            "mass of the body. Export the matrices with all grids free and fix the clamped ones here (`Structure.fix`)",
            stacklevel=4,
        )
