"""Whether the mass matrix of a mechanism with flexible bodies is positive definite.

That of a body is the Gram matrix of its displacement field whatever the deflection, if one constant matrix is positive
semidefinite: that of the functions 1, r and phi over the mass. A body whose numbers belong to no distribution of mass (a moment
of inertia larger than the sum of the other two, matrices of a finite-element program that lumps inertia in its own way) is
asked at each position instead.
"""

from __future__ import annotations

import functools
import itertools

import casadi as ca
import numpy as np

from articulus.dynamics.flexible.body import ElasticBody
from articulus.dynamics.flexible.data import BodyData
from articulus.dynamics.flexible.integrals import Integrals, mass_gram
from articulus.dynamics.quantities import function
from articulus.model.mechanism import Description
from articulus.model.mechanism.modes import Modes

ROUNDING = 1e-9
"""Eigenvalues that rounding makes of zero, beside the largest one, with coordinates of unit size."""


class Definite:
    """Asks for the mass matrix of one mechanism."""

    def __init__(self, description: Description):
        self.description = description
        found = [(description.mode_slices(b.name)[1], b.modes) for b in description.bodies]
        self._bodies = [(at, m) for at, m in found if m is not None and m.level != "ruthless"]
        self._place = {p.name: k for k, p in enumerate(description.parameters)}

    @functools.cached_property
    def doubtful(self) -> list[tuple[slice, Modes]]:
        """Bodies that can make the mass matrix indefinite, with the places of their coordinates in q."""
        return [(at, m) for at, m in self._bodies if not always_definite(m)]

    @functools.cached_property
    def _whole(self) -> ca.Function:
        """The mass matrix of the mechanism, made when first needed."""
        return function(self.description, "mass_matrix")

    def first_bad(self, q: np.ndarray, p: np.ndarray, singular: bool = False) -> int | None:
        """Return the first row at which the mass matrix is not positive definite.

        A mechanism has a positive definite mass matrix when each of its bodies has; only where one has not, the
        whole is asked.

        Parameters
        ----------
        q : array, (count, nq)
            Positions.
        p : array, (count, parameters) or (parameters,)
            Values of the parameters of the mechanism.
        singular : bool
            Whether bodies are asked, too, that can make it singular at most.
        """
        rows = np.flatnonzero(np.isfinite(q).all(axis=1))
        bodies = self._bodies if singular else self.doubtful
        parameters = np.broadcast_to(p, (len(q), len(self.description.parameters)))
        if not rows.size or all(
            _are_positive(_over(_mass_matrix(m), q[rows][:, at], parameters[rows][:, self._of(m)]))
            for at, m in bodies
        ):
            return None
        whole = _over(self._whole, q[rows], parameters[rows])
        if _are_positive(whole):
            return None
        return next(int(row) for row, M in zip(rows, whole) if not _are_positive(M))

    def _of(self, modes: Modes) -> list[int]:
        """Return the places of a body's parameters among those of the mechanism."""
        return [self._place[p.name] for p in modes.fit.parameters] if modes.fit is not None else []


@functools.lru_cache(maxsize=32)
def definite(description: Description) -> Definite:
    """Return what asks for the mass matrix of a mechanism, made once for each."""
    return Definite(description)


@functools.lru_cache(maxsize=256)
def always_definite(modes: Modes) -> bool:
    """Whether the mass matrix of a free body is positive semidefinite at any deflection."""
    if modes.level == "ruthless":
        return True
    if modes.fit is not None:
        ends = itertools.product(*(p.range or () for p in modes.fit.parameters))
        values = [[p.value for p in modes.fit.parameters], *ends]
        return all(always_definite(modes.with_numbers(modes.fit.at(x))) for x in values)
    gram, excess = mass_gram(modes)
    if any(particle.sign < 0 for particle in Integrals.of(modes).particles):
        return False
    return _lowest(gram) > -ROUNDING and excess < ROUNDING


def _lowest(gram: np.ndarray) -> float:
    """Return the lowest eigenvalue with coordinates of unit size."""
    size = np.sqrt(np.where(np.diag(gram) > 0, np.diag(gram), 1.0))
    return float(np.linalg.eigvalsh(gram / size / size[:, None])[0])


@functools.lru_cache(maxsize=64)
def _mass_matrix(modes: Modes) -> ca.Function:
    """Return (eta, values of its parameters, if any) -> mass matrix of a free body, (6 + n, 6 + n)."""
    eta = ca.SX.sym("eta", modes.count)
    symbols = {p.name: ca.SX.sym(p.name) for p in (modes.fit.parameters if modes.fit is not None else ())}
    body = ElasticBody.of(BodyData(modes, lambda p: symbols[p.name]), eta)
    M = ca.blockcat([[body.inertia.matrix(), body.rf], [body.rf.T, body.ff]])
    held = [eta, ca.vertcat(*symbols.values())] if symbols else [eta]
    return ca.Function("mass_matrix", held, [ca.densify(M)])


@functools.lru_cache(maxsize=64)
def _map_function(matrix: ca.Function, count: int) -> ca.Function:
    return matrix.map(count)


def _over(matrix: ca.Function, *inputs: np.ndarray) -> np.ndarray:
    """Return a square matrix at each row of its inputs, (count, n, n)."""
    count, n = len(inputs[0]), matrix.size1_out(0)
    held = [x.T for k, x in enumerate(inputs) if k == 0 or x.shape[1]]
    return np.asarray(_map_function(matrix, count).call(held)[0]).reshape(n, count, n).swapaxes(0, 1)


def _are_positive(M: np.ndarray) -> bool:
    """Whether matrices (..., n, n) are positive definite."""
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return False
    return True
