"""Lower bounds of mu for real blocks only: singular perturbations at the corners and on the edges of the box of parameters.

det(I - M Delta) is complex at most frequencies and must vanish in both parts, so that all but one of the parameters are at
their limits k s and one is between, with s signs: for each edge the least k at which the one that is missing is real and not
larger than k. Of a real M one equation is left, and the corners alone decide where no parameter is repeated.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.robust.blocks import BlockStructure
from articulus.control.robust.mu_lower import inverse

MOST_EDGES = 128
"""Edges that are searched; of more, half as many by a fixed random choice."""
STARTS, EDGES, STEPS = 16, 4, 5
"""Of the descent: starts, edges from each, steps of Newton's method on each."""
SINGULAR = 1e-11
"""Distance of an eigenvalue of M Delta from 1 that counts as rounding."""
REACH, FAR = 4.0, 1000.0
"""Sizes up to this multiple of the least possible are searched on edges, and at all."""
GRID = 25
TRIES = 4
"""Sizes of an edge at which the missing parameter is real that are looked at, until one is not larger than the others."""
NEAR = 1e-3
"""Distance of the bounds, over the upper one, from which on nothing better is searched."""
REAL = 1e-12
"""Part of the size of M below which its imaginary part counts as rounding."""


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small matrices: threads only wait for each other
def lower_real(M: np.ndarray, structure: BlockStructure, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return lower bounds (f,) and perturbations (f, n, n) of size 1 / bound that attain them; zeros where none was found."""
    search = _Search(M, structure, upper)
    for signs in _signs(len(structure.blocks), 0):
        search.corner(signs)
    if len(structure.blocks) > 1:
        search.edges()
        search.descend()
    return search.best, (search.factors @ structure.groups)[:, :, None] * np.eye(structure.size)


class _Search:
    """The best parameters of each matrix so far, and the edge on which they are."""

    def __init__(self, M: np.ndarray, structure: BlockStructure, upper: np.ndarray):
        f, n = len(M), len(structure.blocks)
        self.M, self.structure, self.upper, self.count = M, structure, upper, n
        self.best, self.factors = np.zeros(f), np.zeros((f, n))
        self.plain = np.abs(M.imag).max(axis=(1, 2)) <= REAL * np.abs(M).max(axis=(1, 2))

    def corner(self, signs: np.ndarray) -> None:
        """Look at a corner."""
        bound, found = _corner(self.M, self.structure, signs, self.plain)
        self._take(np.arange(len(self.M)), bound, found)

    def edges(self) -> None:
        """Look at all edges, or at some of them."""
        for free in range(self.count):
            for signs in _signs(self.count, free):
                rows = self._active()
                self.edge(rows, np.tile(signs, (len(rows), 1)), free)

    def descend(self) -> None:
        """Go from random parameters, and from the best, from edge to edge to where singular ones are least (locally).

        The eigenvalue of M diag(q) nearest to 1 is homogeneous in q: on its tangent, g q = 1, the least q has all parameters at a
        limit but one. On that edge the singular point is found by Newton's method.
        """
        rng = np.random.default_rng(0)
        for start in range(STARTS):
            rows = self._active()
            if not len(rows):
                return
            q = rng.uniform(-2.0, 2.0, size=(len(rows), self.count)) / self.upper[rows, None]
            q = np.where((start == 0) & (self.best[rows, None] > 0), self.factors[rows], q)
            for _ in range(EDGES):
                signs, free = _least(_slopes(self.M[rows], self.structure, q)[1])
                q = self._on_edge(rows, q, signs, free)

    def _on_edge(self, rows: np.ndarray, q: np.ndarray, signs: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return the parameters to which Newton's method goes on an edge, and keep them if they are within its limits."""
        at = np.eye(self.count)[free]
        for _ in range(STEPS):
            value, g = _slopes(self.M[rows], self.structure, q)
            along, across = (g * signs).sum(axis=1), (g * at).sum(axis=1)
            turn = np.imag(along.conj() * across)  # k along + d across = 1, both numbers real
            turn = np.where(turn != 0, turn, 1e-300)
            k, d = across.imag / turn, -along.imag / turn
            k, d = (np.clip(x, *(FAR * np.array([[-1.0], [1.0]]) / self.upper[rows])) for x in (k, d))
            q = k[:, None] * signs + d[:, None] * at
        value = _slopes(self.M[rows], self.structure, q)[0]
        sizes = np.abs(q).max(axis=1)
        singular = (np.abs(value - 1.0) <= SINGULAR) & (sizes > 0)
        self._take(rows, np.where(singular, 1.0 / np.maximum(sizes, 1e-300), 0.0), q)
        return q

    def _active(self) -> np.ndarray:
        """Return the matrices of which something better may be found."""
        return np.flatnonzero(~self.plain & (self.best < (1.0 - NEAR) * self.upper))

    def edge(self, rows: np.ndarray, signs: np.ndarray, free: int) -> None:
        """Look at an edge of each of some matrices for sizes below the best."""
        if not len(rows):
            return
        far = np.where(self.best[rows] > 0, 1.0 / np.maximum(self.best[rows], 1e-300), np.inf)
        limits = (1.0 - 1e-6) / self.upper[rows], np.minimum(far, REACH / self.upper[rows])
        bound, found = _edge(self.M[rows], self.structure, limits, signs, free)
        self._take(rows, bound, found)

    def _take(self, rows: np.ndarray, bound: np.ndarray, found: np.ndarray) -> None:
        better = bound > self.best[rows]
        self.best[rows[better]], self.factors[rows[better]] = bound[better], found[better]


def _signs(count: int, free: int) -> list[np.ndarray]:
    """Return signs of the parameters, +1 for the free one: all, or a choice of them."""
    most = max(MOST_EDGES // count, 1)
    if 2 ** (count - 1) <= most:
        rows = [np.array(s) for s in itertools.product((1.0, -1.0), repeat=count - 1)]
    else:
        rows = list(np.random.default_rng(0).choice([1.0, -1.0], size=(max(most // 2, 1), count - 1)))
    return [np.insert(s, free, 1.0) for s in rows]


def _slopes(M: np.ndarray, structure: BlockStructure, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalue of M diag(q) nearest to 1, (f,), and its derivatives by the parameters, (f, blocks)."""
    values, right = np.linalg.eig(M * (q @ structure.groups)[:, None, :])
    left = inverse(right)
    f, at = np.arange(len(M)), np.argmin(np.abs(values - 1.0), axis=1)
    parts = (left[f, None, at] @ M)[:, 0] * right[f, :, at]
    return values[f, at], parts @ structure.groups.T


def _least(g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the edge on which the real q with g q = 1 is whose largest entry is least: signs (f, n), 0 of the free one, and which it is.

    The dual problem, in two numbers, has a vertex for each entry that may be free.
    """
    cross = np.imag(g[:, :, None] * g[:, None, :].conj())  # of the free entry and the others
    total = np.abs(cross).sum(axis=2)
    free = np.argmax(np.where(total > 0, np.abs(g.imag) / np.maximum(total, 1e-300), 0.0), axis=1)
    f = np.arange(len(g))
    return np.sign(cross[f, free]) * np.sign(g.imag[f, free])[:, None], free


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
    M: np.ndarray,
    structure: BlockStructure,
    limits: tuple[np.ndarray, np.ndarray],
    signs: np.ndarray,
    free: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bound 1 / k of the least k between limits on an edge (signs: (f, blocks)), 0 where there is none, and the parameters."""
    inside = structure.groups[free] > 0
    outside = ~inside
    side = (signs @ structure.groups)[:, outside]
    inner_M, inward = M[:, inside][:, :, inside], M[:, outside][:, :, inside]
    outward, rest = M[:, inside][:, :, outside], M[:, outside][:, :, outside]

    def missing(k: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the values of the free parameter that make the matrices of some rows singular, sorted, (rows, r)."""
        D = (k[:, None] * side[rows])[:, None, :]
        rr = np.eye(side.shape[1]) - rest[rows] * D
        inner = inner_M[rows] + (outward[rows] * D) @ np.linalg.solve(rr, inward[rows])
        values = np.linalg.eigvals(inner)
        return np.sort_complex(1.0 / np.where(np.abs(values) > 0, values, np.finfo(float).tiny))

    everything = np.arange(len(M))
    grid = limits[0] * (limits[1] / limits[0]) ** (np.arange(GRID) / (GRID - 1))[:, None]
    bound, parameters = np.zeros(len(M)), np.zeros(signs.shape)
    try:
        path = np.array([missing(k, everything) for k in grid])
    except np.linalg.LinAlgError:  # a corner on the grid is itself singular: the corners find it
        return bound, parameters
    within = np.abs(path.real) <= 1.2 * grid[:, :, None]
    crossing = (path.imag[:-1] * path.imag[1:] <= 0) & (within[1:] | within[:-1])
    left = np.flatnonzero(crossing.any(axis=(0, 2)))
    for _ in range(TRIES):
        if not len(left):
            break
        first = np.argmax(crossing[:, left].any(axis=2), axis=0)
        which = np.argmax(crossing[first, left], axis=1)
        ends = path[first, left, which], path[first + 1, left, which]
        k, value = _root(partial(missing, rows=left), grid[first, left], grid[first + 1, left], *ends)
        good = (np.abs(value.imag) <= 1e-10 * k) & (np.abs(value.real) <= k * (1 + 1e-12))
        at = left[good]
        bound[at], parameters[at] = 1.0 / k[good], k[good, None] * signs[at]
        parameters[at, free] = value.real[good]
        crossing[first, left, which] = False
        left = left[~good]
        left = left[crossing[:, left].any(axis=(0, 2))]
    return bound, parameters


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
