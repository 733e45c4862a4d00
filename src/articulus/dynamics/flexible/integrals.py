"""The constants of a flexible body, freed of rounding, in the form that its equations take.

Of the spatial inertia nine numbers change with the deformation: first moment (3) and moments of inertia (upper triangle, 6).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.mechanism.modes import Modes

ROUNDING = 1e-11
"""What rounding leaves in place of zeros, beside the largest entry of an array: shapes are not more exact than that."""
NINE = np.array([(2, 4), (0, 5), (1, 3), (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]).T
"""Where the nine numbers stand in a spatial inertia."""


@dataclass(frozen=True, eq=False)
class Integrals:
    """See `Modes`; everything that its level leaves out is zero."""

    rr0: np.ndarray
    """(9,)"""
    rr1: np.ndarray
    """(9, n)"""
    rr2: np.ndarray
    """(n, 9, n)"""
    rf0: np.ndarray
    """(6, n)"""
    swept: np.ndarray
    """(n, 6, n) Half of rf1 that is symmetric in the two modal coordinates."""
    gyroscopic: np.ndarray
    """(n, 6, n) Half of rf1 that is antisymmetric in them; shortening has no share in it."""
    ff: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray

    @staticmethod
    def of(modes: Modes) -> Integrals:
        """Return the constants of a body; entries of rounding size are zero."""
        rr2, rf1 = (np.zeros_like(x) for x in (modes.rr2, modes.rf1))
        if modes.level != "ruthless":
            rr2, rf1 = rr2 + modes.rr2, rf1 + modes.rf1
        if modes.level == "consistent":
            rr2, rf1 = rr2 + modes.rr2_shortening, rf1 + modes.rf1_shortening
        rr0, rr1, rr2 = (x[..., NINE[0], NINE[1]] for x in (modes.rr0, modes.rr1, rr2))
        radius = np.sqrt(np.trace(modes.rr0[:3, :3]) / modes.rr0[3, 3])
        six, nine = np.repeat([radius, 1.0], 3), np.repeat([1.0, radius], (3, 6))
        one = _size(modes.ff)
        limit = ROUNDING * _weighed(rf1, one, six, one).max(initial=0.0)
        halves = ((rf1 + sign * rf1.T) / 2 for sign in (1, -1))
        return Integrals(
            _clean(rr0, nine),
            _clean(rr1.T, nine, one),
            _clean(rr2.transpose(0, 2, 1), one, nine, one),
            _clean(modes.rf0, six, one),
            *(_clean(half, one, six, one, limit=limit) for half in halves),
            *(_clean(x, _size(x), _size(x)) for x in (modes.ff, modes.stiffness, modes.damping)),
        )


def sparse(array: np.ndarray) -> SX:
    """Return a constant matrix; its zeros cost nothing."""
    return ca.sparsify(SX(ca.DM(array)))


def contracted(array: np.ndarray, x: SX) -> SX:
    """Return the matrix sum_k array[k, :, :] x_k."""
    n, rows, columns = array.shape
    return ca.reshape(ca.mtimes(sparse(array.T.reshape(columns * rows, n)), x), rows, columns)


def squared(array: np.ndarray, x: SX) -> SX:
    """Return the vector sum_kl array[k, :, l] x_k x_l of an array that is symmetric in k and l, by half of the products."""
    n = len(array)
    once = 2 * np.triu(np.ones((n, n))) - np.eye(n)
    return ca.mtimes(contracted(array * once[:, None, :], x), x)


def _size(matrix: np.ndarray) -> np.ndarray:
    """Return the unit in which each coordinate of a quadratic form is measured; one where it does not enter."""
    diagonal = np.abs(np.diag(matrix))
    return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))


def _weighed(array: np.ndarray, *units: np.ndarray) -> np.ndarray:
    return np.abs(array) / functools.reduce(np.multiply.outer, units)


def _clean(array: np.ndarray, *units: np.ndarray, limit: float | None = None) -> np.ndarray:
    """Return an array whose entries up to a limit, measured in the units of each axis, are zero."""
    weighed = _weighed(array, *units)
    limit = ROUNDING * weighed.max(initial=0.0) if limit is None else limit
    return np.where(weighed <= limit, 0.0, array)
