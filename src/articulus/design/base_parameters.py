"""Base parameters: the combinations of inertial parameters that joint forces can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from articulus.design.regression import Regression
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.numerics.streams import stream

RANK = 1e-8
"""Part of a column, relative to its size, that must lie outside the columns before it for it to count as independent: far above the
rounding of a regressor (1e-14), far below what independent columns have at random states (1e-3)."""
ORDER = (4, 5, 6, 7, 8, 9, 1, 2, 3, 0)
"""Order in which the parameters of a body are asked for: moments of inertia, first moments, mass, so that masses join the inner body."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The combinations beta = K phi of the standard parameters phi that the joint forces depend on: tau = Y[:, independent] beta.

    Parameters
    ----------
    names : tuple of str, (n)
        Standard parameters, "upper.m", ..., and those of the joints.
    independent : array of int, (nb,)
        Columns of Y that span all of them.
    combination : array, (nb, n)
        K; the columns `independent` are the identity.
    condition : float
        Condition number of the base regressor at the states that were used, columns of unit length.
    """

    names: tuple[str, ...]
    independent: np.ndarray
    combination: np.ndarray
    condition: float

    def __len__(self) -> int:
        return len(self.independent)

    @property
    def base_names(self) -> tuple[str, ...]:
        """Each combination as a text: "upper.Jzz + 0.25 fore.m", (nb)."""
        return tuple(self._text(k) for k in range(len(self)))

    @property
    def unseen(self) -> tuple[str, ...]:
        """Standard parameters without any effect on joint forces."""
        return tuple(name for name, column in zip(self.names, self.combination.T) if not column.any())

    @property
    def null_space(self) -> np.ndarray:
        """Directions of phi that change no joint force, one per column, (n, n - nb)."""
        rest = np.setdiff1d(np.arange(len(self.names)), self.independent)
        N = np.zeros((len(self.names), len(rest)))
        N[rest, np.arange(len(rest))] = 1.0
        N[self.independent] = -self.combination[:, rest]
        return N

    def of(self, phi: np.ndarray) -> np.ndarray:
        """Return beta of standard parameters, (..., nb)."""
        return np.asarray(phi, float) @ self.combination.T

    def _text(self, k: int) -> str:
        first = int(self.independent[k])
        rest = [(self.names[i], x) for i, x in enumerate(self.combination[k]) if x and i != first]
        sizes = ("" if f"{abs(x):.4g}" == "1" else f"{abs(x):.4g} " for _, x in rest)
        return self.names[first] + "".join(
            f" {'-' if x < 0 else '+'} {s}{name}" for s, (name, x) in zip(sizes, rest)
        )


def base_parameters(
    mechanism: Mechanism, terms: str | Sequence[str] = (), *, seed: int = 0
) -> BaseParameters:
    """Return which combinations of the inertial parameters (and joint terms) any motion of the mechanism can tell apart.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism of rigid bodies, without closed loops.
    terms : str or sequence of str
        Of "armature", "damping", "coulomb", "offset": what is unknown for every joint as well.
    seed : int
        Seed of the random states. The combinations do not depend on it but for rounding.

    Notes
    -----
    The columns of the regressor at random states are orthogonalized one after another, bodies from the ground outward, of each
    body moments of inertia before first moments before mass; a column within the span of those before it joins them.
    Source: Gautier 1991.
    """
    regression = Regression(mechanism, tuple(terms) if not isinstance(terms, str) else (terms,))
    if mechanism.nv == 0:
        raise InputError(
            f"base_parameters: '{mechanism.name}' has no degree of freedom; expected a joint that moves"
        )
    rows = max(60, 4 * len(regression.names) // mechanism.nv + 1)
    scales, random = mechanism.description.scales(), stream(seed)
    q = mechanism.random_position(random, rows, reach=scales.length)
    v, vdot = random.normal(size=(2, rows, mechanism.nv)) * scales.displacement
    Y = regression.matrix(q, v / scales.time, vdot / scales.time**2)
    return independent_combinations(regression, Y * scales.displacement[:, None])


def independent_combinations(
    regression: Regression, Y: np.ndarray, tolerance: float = RANK
) -> BaseParameters:
    """Return the base parameters that the rows of Y, (..., nv, n), can tell."""
    n = len(regression.names)
    W = Y.reshape(-1, n)
    size = np.linalg.norm(W, axis=0)
    seen = size > 1e-12 * _largest_of_kind(regression, size)
    W = np.where(seen, W, 0.0) / np.where(seen, size, 1.0)
    independent, Q, R = _orthogonalize(W, [i for i in _order(regression) if seen[i]], tolerance)
    K = scipy.linalg.solve_triangular(R, Q.T @ W)
    K[np.abs(K) < 1e-9] = 0.0
    K *= size[None, :] * seen / size[independent][:, None]
    K[:, independent] = np.eye(len(independent))
    by_place = np.argsort(independent)
    values = np.linalg.svd(R, compute_uv=False)
    return BaseParameters(
        regression.names, np.array(independent)[by_place], K[by_place], float(values[0] / values[-1])
    )


def _order(regression: Regression) -> list[int]:
    bodies = len(regression.mechanism.description.bodies)
    return [10 * b + k for b in range(bodies) for k in ORDER] + list(
        range(10 * bodies, len(regression.names))
    )


def _largest_of_kind(regression: Regression, size: np.ndarray) -> np.ndarray:
    """Return for each column the largest size among those of its unit: what rounding is compared with."""
    units = regression.units
    largest = {unit: max(s for s, u in zip(size, units) if u == unit) for unit in set(units)}
    return np.array([largest[unit] for unit in units])


def _orthogonalize(
    W: np.ndarray, order: list[int], tolerance: float
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Return the independent columns in `order`, and Q, R with W[:, independent] = Q R (Gram-Schmidt, each column twice)."""
    Q = np.zeros((len(W), min(W.shape)))
    R = np.zeros((Q.shape[1], Q.shape[1]))
    independent: list[int] = []
    for i in order:
        k = len(independent)
        if k == Q.shape[1]:
            break
        once = Q[:, :k].T @ W[:, i]
        rest = W[:, i] - Q[:, :k] @ once
        twice = Q[:, :k].T @ rest
        rest -= Q[:, :k] @ twice
        size = np.linalg.norm(rest)
        if size > tolerance:
            Q[:, k], R[:k, k], R[k, k] = rest / size, once + twice, size
            independent.append(i)
    k = len(independent)
    return independent, Q[:, :k], R[:k, :k]
