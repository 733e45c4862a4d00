"""Craig & Bampton 1968: constraint modes of the boundary and normal modes with the boundary fixed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from articulus.structure.element.base import Node
from articulus.structure.reduction.base import Reduction
from articulus.structure.reduction.boundary import boundary, constraint_shapes
from articulus.structure.reduction.modal import modal
from articulus.structure.structure import Components, Structure


def craig_bampton(structure: Structure, interface: Mapping[Node, Components], count: int) -> Reduction:
    """Return the structure on static shapes of the interface and `count` modes with the interface fixed.

    Loads on the interface meet the exact static compliance, whatever the number of modes.

    Parameters
    ----------
    structure : Structure
        The full one.
    interface : dict of node to components
        Degrees of freedom where something will be attached, for example ``{"tip": "all"}``.
    count : int
        Number of modes with the interface fixed.
    """
    kept, names = boundary(structure, interface)
    fixed = modal(structure, count, interface)
    basis = np.hstack([constraint_shapes(structure, kept), fixed.basis])
    return Reduction(structure, basis, (*names, *fixed.names))
