"""Whether the mass matrix of a mechanism with flexible bodies stayed positive definite over a run.

The terms of second order in the modal coordinates, right for small deformations, take inertia away from a body that is bent too
far; beyond some deflection its equations describe no body any more, although they can still be solved.
"""

from __future__ import annotations

import functools

import casadi as ca
import numpy as np

from articulus.dynamics.flexible.body import ElasticBody
from articulus.mechanism.modes import Modes
from articulus.simulate.system import System

SAMPLES = 64
"""Samples of a run that are looked at, evenly chosen."""


class Definite:
    """Asks for the mass matrix along runs of one system."""

    def __init__(self, system: System):
        self.system = system
        d = system.description
        found = [(d.mode_slices(b.name)[1], b.modes) for b in d.bodies]
        self._bodies = [(at, _mass_matrix(m)) for at, m in found if m is not None and m.level != "ruthless"]
        self._many = functools.lru_cache(maxsize=64)(lambda body, count: self._bodies[body][1].map(count))

    def first_bad(self, q: np.ndarray, p: np.ndarray) -> int | None:
        """Return the first looked-at row of positions (time, nq) at which the mass matrix is not positive definite.

        A mechanism has a positive definite mass matrix when each of its bodies has; only where one has not, the
        whole is asked.
        """
        rows = np.flatnonzero(np.isfinite(q).all(axis=1))
        rows = rows[np.unique(np.linspace(0, rows.size - 1, min(rows.size, SAMPLES)).round().astype(int))]
        if all(_are_positive(self._matrices(k, q[rows])) for k in range(len(self._bodies))):
            return None
        bad = (int(row) for row in rows if not _are_positive(self.system.mass_matrix(q[row], p)))
        return next(bad, None)

    def _matrices(self, body: int, q: np.ndarray) -> np.ndarray:
        """Return the mass matrices of a free body at positions (count, nq), (count, 6 + n, 6 + n)."""
        found = np.asarray(self._many(body, len(q))(q[:, self._bodies[body][0]].T))
        return found.reshape(len(found), len(q), -1).swapaxes(0, 1)


@functools.lru_cache(maxsize=32)
def definite(system: System) -> Definite:
    """Return what asks for the mass matrix of a system, made once for each."""
    return Definite(system)


def _mass_matrix(modes: Modes) -> ca.Function:
    """Return eta -> mass matrix of a free body, (6 + n, 6 + n)."""
    eta = ca.SX.sym("eta", modes.count)
    body = ElasticBody.of(modes, eta)
    M = ca.blockcat([[body.rr, body.rf], [body.rf.T, body.ff]])
    return ca.Function("mass_matrix", [eta], [ca.densify(M)])


def _are_positive(M: np.ndarray) -> bool:
    """Whether matrices (..., n, n) are positive definite."""
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return False
    return True
