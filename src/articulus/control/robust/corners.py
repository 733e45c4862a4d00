"""Real parameters that destabilize a system at the corners of their box, at whatever frequency.

A real singular perturbation exists at single frequencies only, between those of any grid. With the frequency free, the least one has
all parameters at their limits: for every choice of signs the least size k at which a pole of the system with Delta = k S crosses the
boundary of stability.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from threadpoolctl import threadpool_limits

from articulus.control.analysis.scaling import scale_states
from articulus.control.robust.blocks import BlockStructure
from articulus.control.robust.mu_lower import solve_near_singular
from articulus.linear import LinearModel
from articulus.linear.model import rates

MOST = 7
"""Parameters up to which all corners are examined."""
NEAR, REACH, GRID = 0.2, 6.0, 60
"""Sizes from this to this multiple of the least possible are examined, this many of them at first: the least possible may be wrong
by the rounding of an ill-conditioned model."""
CROSSES = 1e-3
"""Real part of a pole over its size that counts as zero: far above rounding, far below that of a pole that comes from infinity."""


@dataclass(frozen=True)
class Corner:
    """A destabilizing corner: its size, Delta, and the frequency of the pole on the boundary [rad/s]."""

    size: float
    delta: np.ndarray
    omega: float


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small matrices: threads only wait for each other
def least_corner(model: LinearModel, structure: BlockStructure, upper: float) -> Corner | None:
    """Return the least destabilizing corner of a structure of real parameters; None if none was found, or of other structures."""
    count = len(structure.blocks)
    if not all(b.real for b in structure.blocks) or count > MOST or not upper > 0:
        return None
    model = scale_states(model)[0]
    sizes, best = np.geomspace(NEAR, REACH, GRID) / upper, None
    for signs in itertools.product((1.0, -1.0), repeat=count):
        diagonal = np.array(signs) @ structure.groups
        below = sizes if best is None else sizes[sizes < best.size]
        over = np.array([_outermost(model, k * diagonal).real > 0 for k in below])
        if not over.any() or not np.argmax(over):
            continue
        at = int(np.argmax(over))
        k = brentq(lambda x, d=diagonal: _outermost(model, x * d).real, below[at - 1], below[at], xtol=1e-15)
        pole = _outermost(model, k * diagonal)
        if abs(pole.real) <= CROSSES * max(abs(pole), np.finfo(float).tiny) or pole == 0:
            best = Corner(float(k), k * np.diag(diagonal).astype(complex), abs(pole.imag))
    return best


def _outermost(model: LinearModel, diagonal: np.ndarray) -> complex:
    """Return the pole with the largest real part of a system with Delta = diag(diagonal) [rad/s]."""
    inner = solve_near_singular(np.eye(len(diagonal)) - model.D * diagonal, model.C.astype(complex))
    poles = rates(np.linalg.eigvals(model.A + (model.B * diagonal) @ inner.real), model.period)
    return complex(poles[np.argmax(poles.real)])
