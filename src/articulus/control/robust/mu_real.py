"""Lower bounds of mu for real blocks only: singular perturbations at the corners and on the edges of the box of parameters.

det(I - M Delta) is complex at most frequencies and must vanish in both parts, so that all but one of the parameters are at
their limits k s and one is between, with s signs: for each edge the least k at which the one that is missing is real and not
larger than k. Of a real M one equation is left, and the corners alone decide where no parameter is repeated.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.robust.blocks import BlockStructure

MOST_EDGES = 128
"""Edges that are searched; of more, as many are taken by a fixed random choice."""
REACH = 4.0
"""Sizes up to this multiple of the least possible are searched."""
GRID = 25
REAL = 1e-12
"""Part of the size of M below which its imaginary part counts as rounding."""


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small matrices: threads only wait for each other
def lower_real(M: np.ndarray, structure: BlockStructure, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return lower bounds (f,) and perturbations (f, n, n) of size 1 / bound that attain them; zeros where none was found."""
    best, factors = np.zeros(len(M)), np.zeros((len(M), len(structure.blocks)))
    plain = np.abs(M.imag).max(axis=(1, 2)) <= REAL * np.abs(M).max(axis=(1, 2))
    for signs in _signs(len(structure.blocks), 0):
        _take(best, factors, *_corner(M, structure, signs, plain))
    if len(structure.blocks) > 1:
        active = np.flatnonzero(~plain & (upper > 0))
        for free in range(len(structure.blocks)):
            for signs in _signs(len(structure.blocks), free):
                bound, found = _edge(M[active], structure, upper[active], signs, free)
                whole, at = np.zeros(len(M)), np.zeros(factors.shape)
                whole[active], at[active] = bound, found
                _take(best, factors, whole, at)
    return best, (factors @ structure.groups)[:, :, None] * np.eye(structure.size)


def _signs(count: int, free: int) -> list[np.ndarray]:
    """Return signs of the parameters, +1 for the free one: all, or a choice of them."""
    most = max(MOST_EDGES // count, 1)
    if 2 ** (count - 1) <= most:
        rows = [np.array(s) for s in itertools.product((1.0, -1.0), repeat=count - 1)]
    else:
        rows = list(np.random.default_rng(0).choice([1.0, -1.0], size=(most, count - 1)))
    return [np.insert(s, free, 1.0) for s in rows]


def _take(best: np.ndarray, factors: np.ndarray, bound: np.ndarray, found: np.ndarray) -> None:
    better = bound > best
    best[better], factors[better] = bound[better], found[better]


def _corner(
    M: np.ndarray, structure: BlockStructure, signs: np.ndarray, plain: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest real eigenvalue in size of M diag(signs), 0 if there is none, and the parameters at that corner."""
    matrices = M * (signs @ structure.groups)
    values = np.linalg.eigvals(np.where(plain[:, None, None], matrices.real, matrices))
    real = np.where(np.abs(values.imag) <= 1e-10 * np.abs(values), values.real, 0.0)
    at = np.argmax(np.abs(real), axis=1)
    found = real[np.arange(len(M)), at]
    k = np.where(found != 0, 1.0 / np.where(found != 0, found, 1.0), 0.0)
    return np.abs(found), k[:, None] * signs


def _edge(
    M: np.ndarray, structure: BlockStructure, upper: np.ndarray, signs: np.ndarray, free: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bound 1 / k of the least k on an edge, 0 where there is none, and the parameters there."""
    inside = structure.groups[free] > 0
    outside = ~inside
    side = (signs @ structure.groups)[outside]

    def missing(k: np.ndarray) -> np.ndarray:
        """Return the values of the free parameter that make the matrix singular, sorted, (f, r)."""
        D = k[:, None, None] * side * np.eye(len(side))
        rr = np.eye(len(side)) - M[:, outside][:, :, outside] @ D
        inner = M[:, inside][:, :, inside] + M[:, inside][:, :, outside] @ D @ np.linalg.solve(
            rr, M[:, outside][:, :, inside]
        )
        values = np.linalg.eigvals(inner)
        return np.sort_complex(1.0 / np.where(np.abs(values) > 0, values, np.finfo(float).tiny))

    grid = np.geomspace(1.0 - 1e-6, REACH, GRID)[:, None] / upper
    try:
        path = np.array([missing(k) for k in grid])
    except np.linalg.LinAlgError:  # a corner on the grid is itself singular: the corners find it
        return np.zeros(len(M)), np.zeros((len(M), len(signs)))
    crossing = (path.imag[:-1] * path.imag[1:] <= 0) & (np.abs(path.real[1:]) <= 1.2 * grid[1:, :, None])
    flat = crossing.any(axis=2)
    first, f = np.argmax(flat, axis=0), np.arange(len(M))
    which = np.argmax(crossing[first, f], axis=1)
    k, value = _root(
        missing, grid[first, f], grid[first + 1, f], path[first, f, which], path[first + 1, f, which]
    )
    good = flat.any(axis=0) & (np.abs(value.imag) <= 1e-10 * k) & (np.abs(value.real) <= k)
    found = k[:, None] * signs
    found[:, free] = value.real
    return np.where(good, 1.0 / k, 0.0), found


def _root(
    missing: Callable[[np.ndarray], np.ndarray],
    low: np.ndarray,
    high: np.ndarray,
    at_low: np.ndarray,
    at_high: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return k between low and high where the imaginary part of the missing value vanishes, and the value."""
    a, b = at_low.imag.copy(), at_high.imag.copy()
    f, near, k = np.arange(len(low)), at_low, low
    for _ in range(30):  # regula falsi of Illinois
        slope = np.where(a != b, b - a, 1.0)
        k = np.clip(low - a * (high - low) / slope, low, high)
        values = missing(k)
        near = values[f, np.argmin(np.abs(values - near[:, None]), axis=1)]
        same = near.imag * b > 0
        a, b = np.where(same, 0.5 * a, b), near.imag
        low, high = np.where(same, low, high), k
        low, high, a, b = (
            np.where(low <= high, low, high),
            np.where(low <= high, high, low),
            np.where(low <= high, a, b),
            np.where(low <= high, b, a),
        )
    return k, near
