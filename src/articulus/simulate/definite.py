"""Whether the mass matrix of a mechanism with flexible bodies stayed positive definite over a run.

The terms of second order in the modal coordinates, right for small deformations, take inertia away from a body that is bent too
far; beyond some deflection its equations describe no body any more, although they can still be solved.
"""

from __future__ import annotations

import functools

import casadi as ca
import numpy as np

from articulus import dynamics
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
        self._maps: dict[tuple[int | None, int], ca.Function] = {}

    def first_bad(self, q: np.ndarray, p: np.ndarray) -> int | None:
        """Return the first looked-at row of positions (time, nq) at which the mass matrix is not positive definite.

        A mechanism has a positive definite mass matrix when each of its bodies has; only where one has not, the
        whole is asked.
        """
        rows = np.flatnonzero(np.isfinite(q).all(axis=1))
        rows = rows[np.unique(np.linspace(0, rows.size - 1, min(rows.size, SAMPLES)).round().astype(int))]
        if all(_are_positive(self._matrices(k, q[rows])) for k in range(len(self._bodies))):
            return None
        whole = self._whole(q[rows], p)
        if _are_positive(whole):
            return None
        return next(int(row) for row, M in zip(rows, whole) if not _are_positive(M))

    def _whole(self, q: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Return the mass matrices of the mechanism at positions (count, nq), (count, nv, nv)."""
        d = self.system.description
        inputs = [q.T, np.repeat(p[: len(d.parameters), None], len(q), axis=1)][: 2 if d.parameters else 1]
        return _stacked(self._mapped(None, len(q)).call(inputs)[0], len(q))

    def _mapped(self, body: int | None, count: int) -> ca.Function:
        """Return the mass matrix of a body, or of the mechanism, over so many positions; made once."""
        if (body, count) not in self._maps:
            one = self._whole_matrix if body is None else self._bodies[body][1]
            self._maps[body, count] = one.map(count)
        return self._maps[body, count]

    @functools.cached_property
    def _whole_matrix(self) -> ca.Function:
        return dynamics.function(self.system.description, "mass_matrix")

    def _matrices(self, body: int, q: np.ndarray) -> np.ndarray:
        """Return the mass matrices of a free body at positions (count, nq), (count, 6 + n, 6 + n)."""
        return _stacked(self._mapped(body, len(q))(q[:, self._bodies[body][0]].T), len(q))


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


def _stacked(side_by_side: ca.DM, count: int) -> np.ndarray:
    """Return square matrices that stand side by side as (count, n, n)."""
    found = np.asarray(side_by_side)
    return found.reshape(len(found), count, found.shape[1] // max(count, 1)).swapaxes(0, 1)


def _are_positive(M: np.ndarray) -> bool:
    """Whether matrices (..., n, n) are positive definite."""
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return False
    return True
