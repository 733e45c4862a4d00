"""Modal truncation that keeps the modes which a moving support excites."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from articulus.errors import InputError
from articulus.structure.reduction.base import Reduction
from articulus.structure.solution.normal_modes import NormalModes, normal_modes
from articulus.structure.solution.participation import participation
from articulus.structure.solution.statics import rigid_motions
from articulus.structure.structure import Structure


def by_effective_mass(
    structure: Structure,
    share: float,
    *,
    origin: Sequence[float] = (0.0, 0.0, 0.0),
    candidates: int | None = None,
) -> Reduction:
    """Return the structure on the fewest modes that together hold `share` of the effective inertia in all six motions.

    Modes are taken in the order of their largest share in any of the six; what counts is the sum over all candidates.

    Parameters
    ----------
    structure : Structure
        With supports.
    share : float [-]
        Between 0 and 1.
    origin : three floats [m]
        About which the supports turn.
    candidates : int
        Modes to choose from; all if not given.
    """
    if not 0 < share <= 1:
        raise InputError(f"by_effective_mass: share = {share}; expected more than 0 and at most 1")
    rigid = rigid_motions(structure).shape[1]
    found = normal_modes(structure, None if candidates is None else candidates + rigid)
    modes = NormalModes(found.omega[rigid:], found.shapes[:, rigid:])
    effective = participation(structure, modes, origin).effective
    total = effective.sum(axis=1, keepdims=True)
    relative = np.divide(effective, total, out=np.zeros_like(effective), where=total > 1e-12 * total.max())
    order = np.argsort(-relative.max(axis=0), kind="stable")
    held = np.cumsum(relative[:, order], axis=1)
    enough = (held >= share * (1 - 1e-9)) | (relative.sum(axis=1, keepdims=True) == 0)
    count = int(np.argmax(enough.all(axis=0))) + 1
    kept = np.sort(order[:count])
    return Reduction(structure, modes.shapes[:, kept], tuple(f"mode{k + 1}" for k in kept))
