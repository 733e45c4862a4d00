"""Modal truncation, with the structure's own supports or with more of them: clamped, pinned, free modes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from articulus.structure.element.base import Node
from articulus.structure.reduction.base import Reduction
from articulus.structure.solution.normal_modes import normal_modes
from articulus.structure.solution.statics import rigid_motions
from articulus.structure.structure import Components, Structure


def modal(structure: Structure, count: int, supports: Mapping[Node, Components] | None = None) -> Reduction:
    """Return the structure on its elastic modes of lowest frequency.

    Parameters
    ----------
    structure : Structure
        The full one.
    count : int
        Number of modes; rigid motions do not count.
    supports : dict of node to components
        Degrees of freedom held while the modes are computed, beside those already fixed; for example ``{"tip": "translation"}``.
    """
    held = structure.fix(supports) if supports else structure
    rigid = rigid_motions(held).shape[1]
    shapes = normal_modes(held, count + rigid).shapes[:, rigid:]
    basis = np.zeros((structure.count, count))
    fixed = np.concatenate(
        [structure.where(n, c) for n, c in (supports or {}).items()] or [np.zeros(0, dtype=int)]
    )
    basis[np.setdiff1d(np.arange(structure.count), fixed)] = shapes
    return Reduction(structure, basis, tuple(f"mode{k + 1}" for k in range(count)))
