"""Modes with free interface, and the flexibility that the modes left out would have had (MacNeal 1971, Rubin 1975)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from articulus.structure.element.base import Node
from articulus.structure.reduction.base import Reduction
from articulus.structure.reduction.boundary import boundary
from articulus.structure.reduction.modal import modal
from articulus.structure.solution.statics import Statics
from articulus.structure.structure import Components, Structure


def residual_flexibility(structure: Structure, interface: Mapping[Node, Components], count: int) -> Reduction:
    """Return the structure on rigid motions, `count` elastic modes and the residual shapes of unit interface forces.

    The residual shape of a force is its static displacement (with inertia relief where rigid motions are free) minus the
    share of the modes kept: G f - sum phi phi' f / omega^2.

    Parameters
    ----------
    structure : Structure
        The full one.
    interface : dict of node to components
        Degrees of freedom where something will be attached.
    count : int
        Number of elastic modes.
    """
    kept, names = boundary(structure, interface)
    statics, low = Statics(structure), modal(structure, count)
    forces = np.zeros((structure.count, len(kept)))
    forces[kept, np.arange(len(kept))] = 1.0
    squares = np.einsum("nk,nk->k", low.basis, structure.K @ low.basis)
    residual = statics.solve(forces) - (low.basis / squares) @ (low.basis.T @ forces)
    rigid = tuple(f"rigid{i + 1}" for i in range(statics.rigid.shape[1]))
    basis = np.hstack([statics.rigid, low.basis, residual])
    return Reduction(structure, basis, (*rigid, *low.names, *(f"residual {name}" for name in names)))
