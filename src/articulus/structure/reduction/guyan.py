"""Static condensation to some degrees of freedom (Guyan 1965): the others follow as if they had no mass."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from articulus.structure.element.base import Node
from articulus.structure.reduction.base import Reduction
from articulus.structure.reduction.boundary import boundary, constraint_shapes
from articulus.structure.structure import Components, Structure


def guyan(structure: Structure, masters: Mapping[Node, Components]) -> Reduction:
    """Return the structure condensed to `masters`: T = [1; -K_ss^-1 K_sm].

    Parameters
    ----------
    structure : Structure
        The full one.
    masters : dict of node to components
        Degrees of freedom that stay.
    """
    kept, names = boundary(structure, masters)
    return Reduction(structure, np.asarray(constraint_shapes(structure, kept)), names)
