"""Contact joints between the tip of a chain and what it holds: which relative motions they stop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError

UNIT = np.eye(6)


@dataclass(frozen=True)
class GeneralJoint:
    """A general joint by its constraint space phi^c, constant in the axes of the chain's tip.

    Parameters
    ----------
    name : str
    constrained : tuple of rows, (n_c, 6)
        Directions of relative motion, angular part first, that the contact stops and in which it transmits forces;
        orthonormal.

    Source: Lilly & Orin 1989, section 2.
    """

    name: str
    constrained: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        rows = np.asarray(self.constrained, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != 6 or not 1 <= len(rows) <= 6:
            raise InputError(
                f"contact '{self.name}': found shape {rows.shape}; expected 1 to 6 rows of six numbers"
            )
        if not np.allclose(rows @ rows.T, np.eye(len(rows)), rtol=0, atol=1e-12):
            raise InputError(f"contact '{self.name}': expected orthonormal rows, found {rows.tolist()}")

    @property
    def n_c(self) -> int:
        """Return how many directions are constrained."""
        return len(self.constrained)

    def constraint_space(self) -> np.ndarray:
        """Return phi^c, (6, n_c)."""
        return np.array(self.constrained).T

    def motion_space(self) -> np.ndarray:
        """Return phi, an orthonormal basis of the motions left free, (6, 6 - n_c)."""
        from scipy.linalg import null_space  # slow to import

        return null_space(np.array(self.constrained))


def _stops(name: str, *axes: int) -> GeneralJoint:
    return GeneralJoint(name, tuple(tuple(row) for row in UNIT[list(axes)]))


RIGID = _stops("rigid", 0, 1, 2, 3, 4, 5)
"""A firm grasp or a weld, n_c = 6."""
HINGE = _stops("hinge", 0, 1, 3, 4, 5)
"""Turns about z, n_c = 5."""
SOFT_FINGER = _stops("soft finger", 2, 3, 4, 5)
"""Rolls, but neither slips nor turns about the normal z, n_c = 4."""
HARD_POINT = _stops("hard point", 3, 4, 5)
"""A point that does not slip, n_c = 3."""
SLIDING_PLANE = _stops("sliding plane", 0, 1, 5)
"""A face that slides on a plane with normal z, n_c = 3."""
SLIDING_LINE = _stops("sliding line", 1, 5)
"""An edge along x that slides on a plane with normal z, n_c = 2."""
SLIDING_POINT = _stops("sliding point", 5)
"""A point that slides without friction, normal z, n_c = 1."""
