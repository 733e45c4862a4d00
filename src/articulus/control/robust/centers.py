"""Smallest ratio of two matrices that depend linearly on scalings: the method of centers, for many problems at once.

minimize lam over x:  P(x) <= lam E(x),  cones K(x) > 0,  with P(x) = sum x_k P_k Hermitian and so on (a generalized eigenvalue
problem in the sense of Boyd, El Ghaoui, Feron & Balakrishnan 1994, section 2.2.3). It is quasi-convex: every local minimum is
global. The barrier weighs all eigenvalues near the largest by their distance, so that coalescing ones, where the largest has
only a generalized gradient, need no special treatment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import threadpool_limits

SHRINK = 0.1
"""Part of the distance from the level to the ratio that is kept when the level is lowered."""
CENTERED = 0.5
"""Newton decrement below which a problem is near enough to its center for a lower level."""
CLOSE = 1e-7
"""Distance of level and ratio, over the ratio, at which it counts as found."""
CLOSE_TOGETHER = 1e-5
"""The same for scalings that are common to many problems."""
MOST_STEPS = 150
"""Newton steps; whatever has been reached then is a bound, too."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Hermitian matrices whose sums with real factors are taken, (f, k, n, n), for f problems or one for all."""

    matrices: np.ndarray

    def __getitem__(self, active: np.ndarray) -> Basis:
        return Basis(self.matrices[active]) if len(self.matrices) > 1 else self

    def sum(self, x: np.ndarray) -> np.ndarray:
        """Return sum x_k times matrix k, (f, n, n), for x (f, k)."""
        f, k, n, _ = self.matrices.shape
        flat = np.ascontiguousarray(self.matrices).reshape(f, k, n * n).view(float)
        return (x[:, None, :] @ flat).reshape(-1, 2 * n * n).view(complex).reshape(-1, n, n)

    def between(self, root: np.ndarray) -> Basis:
        """Return root times each matrix times the conjugate transpose of root, (f, n, n)."""
        f, k, n, _ = self.matrices.shape
        wide = np.ascontiguousarray(self.matrices.swapaxes(1, 2)).reshape(f, n, k * n)
        left = (root @ wide).reshape(len(root), n * k, n)
        both = (left @ _conjugate(root)).reshape(len(root), n, k, n)
        return Basis(np.ascontiguousarray(both.swapaxes(1, 2)))


@dataclass(frozen=True, eq=False)
class Cone:
    """A matrix that must stay positive: a basis, and which of the factors x it has (neighbors)."""

    basis: Basis
    factors: slice = field(default_factory=lambda: slice(None))


def ratio(P: Basis, E: Basis, x: np.ndarray) -> np.ndarray:
    """Return the largest eigenvalues of P(x) v = lam E(x) v, (f,)."""
    root = np.linalg.inv(np.linalg.cholesky(E.sum(x)))
    return np.linalg.eigvalsh(root @ P.sum(x) @ _conjugate(root))[:, -1]


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small matrices: threads only wait for each other
def least_ratio(
    P: np.ndarray, E: np.ndarray, cones: Sequence[Cone], x: np.ndarray, floor: float | np.ndarray = -np.inf
) -> tuple[np.ndarray, np.ndarray]:
    """Return scalings x (f, k) and their ratios (f,); each ratio is attained by its scalings.

    Parameters
    ----------
    P : complex array, (f, k, n, n)
        Of f problems; entries about 1.
    E : complex array, (k, n, n)
    cones : sequence of Cone
        What must stay positive; E(x) > 0 must follow from it.
    x : array, (f, k)
        Where to begin, inside the cones.
    floor : float or array, (f,)
        A ratio below is not lowered further.
    """
    along = np.real(np.trace(E, axis1=-2, axis2=-1))  # the scale of x is free: trace E(x) stays
    free = np.linalg.svd(along[None])[2][1:].T
    above, below = Basis(P), Basis(E[None])
    x, lam = x.copy(), ratio(above, below, x)
    if not free.shape[1] or not len(x):
        return x, lam
    level, active = lam + np.maximum(0.1 * np.abs(lam), 1e-3), np.arange(len(x))
    held, y, now = above, x.copy(), lam.copy()
    for _ in range(MOST_STEPS):
        gap = Cone(Basis(level[active, None, None, None] * E - held.matrices))
        try:
            moved, decrement = _newton((gap, *cones), y[active], free)
            y[active], now[active] = moved, ratio(held, below, moved)
        except np.linalg.LinAlgError:  # some are at the end of what rounding allows: they keep what they have
            active = active[_possible(gap, cones, held, below, y[active], free)]
            held = above[active]
            if not len(active):
                break
            continue
        better = active[now[active] < lam[active]]
        lam[better], x[better] = now[better], y[better]
        near = active[decrement < CENTERED]
        level[near] = now[near] + SHRINK * (level[near] - now[near])
        found = (level - now < CLOSE * np.abs(now)) | (now < floor)
        if found[active].any():
            active = active[~found[active]]
            held = above[active]
        if not len(active):
            break
    return x, lam


@threadpool_limits.wrap(limits=1, user_api="blas")
def least_common_ratio(
    P: np.ndarray, E: np.ndarray, cones: Sequence[Cone], x: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the scalings x (k,), the same for f problems, with the least of the largest of their ratios, and that.

    Parameters
    ----------
    P, E : complex arrays, (f, k, n, n)
        E(x) > 0 must follow from the cones.
    cones : sequence of Cone
        What must stay positive, each of any number of matrices.
    x : array, (k,)
        Where to begin, inside the cones.
    """
    along = np.real(np.trace(E, axis1=-2, axis2=-1)).sum(axis=0)  # the scale of x is free
    free = np.linalg.svd(along[None])[2][1:].T
    above, below, y = Basis(P), Basis(E), x[None]
    best, lam = x, float(ratio(above, below, y).max())
    level, now = lam + max(0.1 * abs(lam), 1e-3), lam
    for _ in range(MOST_STEPS if free.shape[1] else 0):
        try:
            y, decrement = _newton((Cone(Basis(level * E - P)), *cones), y, free, together=True)
            now = float(ratio(above, below, y).max())
        except np.linalg.LinAlgError:  # the end of what rounding allows
            break
        if now < lam:
            best, lam = y[0], now
        if decrement[0] < CENTERED:
            level = now + SHRINK * (level - now)
        if level - now < CLOSE_TOGETHER * abs(now):
            break
    return best, lam


def _newton(
    cones: tuple[Cone, ...], x: np.ndarray, free: np.ndarray, together: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return x after a Newton step of the best length on the sum of -log det of the cones, and the Newton decrement before.

    Together: x (1, k) is that of all matrices of all cones.
    """
    gradient: np.ndarray = np.zeros(x.shape)
    hessian: np.ndarray = np.zeros((*x.shape, x.shape[1]))
    scaled = []
    for cone in cones:
        k = cone.factors
        b = cone.basis.between(np.linalg.inv(np.linalg.cholesky(cone.basis.sum(x[:, k]))))
        flat = b.matrices.reshape(*b.matrices.shape[:2], -1).view(float)
        slope, curve = -np.real(np.trace(b.matrices, axis1=-2, axis2=-1)), flat @ flat.swapaxes(-1, -2)
        gradient[:, k] += slope.sum(axis=0) if together else slope
        hessian[:, k, k] += curve.sum(axis=0) if together else curve
        scaled.append(Cone(b, k))
    slope, curve = (gradient @ free)[..., None], free.T @ hessian @ free
    curve += 1e-14 * np.trace(curve, axis1=-2, axis2=-1)[:, None, None] * np.eye(free.shape[1])
    step = -np.linalg.solve(curve, slope)
    decrement = np.sqrt(np.maximum(-np.sum(slope * step, axis=(1, 2)), 0.0))
    direction = step[..., 0] @ free.T
    values = [np.linalg.eigvalsh(c.basis.sum(direction[:, c.factors])) for c in scaled]
    if together:
        values = [v.reshape(1, -1) for v in values]
    return x + _length(np.concatenate(values, axis=-1))[:, None] * direction, decrement


def _possible(
    gap: Cone, cones: Sequence[Cone], P: Basis, E: Basis, x: np.ndarray, free: np.ndarray
) -> np.ndarray:
    """Return for which problems a step can be taken, by trying one at a time."""
    found: np.ndarray = np.zeros(len(x), dtype=bool)
    for i in range(len(x)):
        one = slice(i, i + 1)
        try:
            moved, _ = _newton((Cone(Basis(gap.basis.matrices[one])), *cones), x[one], free)
            ratio(Basis(P.matrices[one]), E, moved)
            found[i] = True
        except np.linalg.LinAlgError:
            continue
    return found


def _length(values: np.ndarray) -> np.ndarray:
    """Return the a > 0 of the least -sum log(1 + a values), by damped Newton steps that stay where it is defined."""
    a = np.zeros(len(values))
    for _ in range(12):
        r = values / (1.0 + a[:, None] * values)
        slope, curve = -r.sum(axis=1), (r * r).sum(axis=1)
        a = a - slope / np.maximum(curve + np.abs(slope) * np.sqrt(curve), np.finfo(float).tiny)
    return a


def _conjugate(a: np.ndarray) -> np.ndarray:
    return a.conj().swapaxes(-1, -2)
