"""Lower bounds of mu for real blocks only: singular perturbations at the corners and on the edges of the box of parameters.

det(I - M Delta) is complex at most frequencies and must vanish in both parts, so that all but one of the parameters are at
their limits k s and one is between, with s signs. On such an edge there are two real unknowns, k and the free parameter: the
solutions are eigenvalues (`_solutions`), all of them are found, and the least decides. Of a real M one equation is left: the corners
decide where no parameter is repeated, and else also the least k at which the free parameter becomes real.
"""

from __future__ import annotations

import itertools

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.robust.blocks import BlockStructure
from articulus.control.robust.mu_lower import inverse, solve_near_singular

MOST_EDGES = 128
"""Edges that are searched; of more, half as many by a fixed random choice."""
STARTS, EDGES, STEPS = 16, 4, 5
"""Of the descent: starts, edges from each, steps of Newton's method on each."""
SINGULAR = 1e-11
"""Distance of an eigenvalue of M Delta from 1 that counts as rounding."""
FAR = 1e6
"""Sizes up to this multiple of the least possible are searched."""
GRID = 60
"""Sizes on an edge of a real matrix at which the free parameter is examined, before bisection."""
MOST_SOLUTIONS = 64
"""Solutions on an edge up to which all are found; edges with more are left to the descent."""
TRIES = 3
"""Solutions of an edge that are polished, from the least on, until one is singular to rounding."""
IMAGINARY = 1e-5
"""Imaginary part of a solution, over its size, up to which Newton's method is asked whether it is real."""
SHIFT = 1.37
"""Number beside which solutions are found, over the upper bound: there is none so near to zero."""
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
        search.real_edges()
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
                self.edge(self._active(), signs, free)

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
        """Return the parameters to which Newton's method continues an edge, and keep them if they are within its limits."""
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
        """Look at an edge of each of some matrices: all its solutions, from the least on."""
        if not len(rows):
            return
        k, d = _solutions(self.M[rows], self.structure, self.upper[rows], signs, free)
        at = np.eye(self.count)[free]
        for column in range(min(TRIES, k.shape[1])):
            better = np.abs(k[:, column]) * np.maximum(self.best[rows], 1e-300) < 1.0 - 1e-9
            here = np.flatnonzero(better & np.isfinite(k[:, column]))
            if not len(here):
                return
            q = k[here, column, None] * signs * (1.0 - at) + d[here, column, None] * at
            self._on_edge(
                rows[here], q, np.tile(signs * (1.0 - at), (len(here), 1)), np.full(len(here), free)
            )

    def real_edges(self) -> None:
        """Look at all edges of real matrices for the least size at which the free parameter becomes real: repeated parameters only."""
        rows = np.flatnonzero(self.plain & (self.upper > 0))
        if not len(rows) or max(b.size for b in self.structure.blocks) == 1:
            return
        for free in range(self.count):
            for signs in _signs(self.count, free):
                bound, found = _real_edge(
                    self.M[rows].real, self.structure, self.upper[rows], self.best[rows], signs, free
                )
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


def _parts(M: np.ndarray, structure: BlockStructure, signs: np.ndarray, free: int) -> tuple[np.ndarray, ...]:
    """Return A, B, C, D: the free parameter d makes I - M Delta singular if 1 / d is an eigenvalue of D + C (I / k - A)^-1 B."""
    inside = structure.groups[free] > 0
    outside = ~inside
    side = (signs @ structure.groups)[outside]
    return (
        M[:, outside][:, :, outside] * side,
        M[:, outside][:, :, inside],
        M[:, inside][:, :, outside] * side,
        M[:, inside][:, :, inside],
    )


def _solutions(
    M: np.ndarray, structure: BlockStructure, upper: np.ndarray, signs: np.ndarray, free: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the real k, and the free parameter d with |d| <= |k|, that make I - M Delta singular on an edge, (f, n), the least first.

    With 1 / k = s and N(s) = D + C (s I - A)^-1 B, 1 / d is an eigenvalue of N(s). It is real, for a real s, if N and its conjugate
    share it: where N (x) I - I (x) conj(N) is singular. That has 2 a b states, a and b being the sizes of A and D, and its zeros are
    eigenvalues, found in t = 1 / (s - s0) because D is often zero. Rows are filled up with infinity.
    """
    A, B, C, D = _parts(M, structure, signs, free)
    a, b = A.shape[1], D.shape[1]
    if 2 * a * b > MOST_SOLUTIONS:
        return np.full((len(M), 0), np.inf), np.zeros((len(M), 0))
    one, none = np.eye(b), np.zeros((len(M), a * b, a * b))
    conj = [X.conj() for X in (A, B, C, D)]
    big = np.block([[_kron(A, one), none], [none, _kron(one, conj[0])]])
    into = np.concatenate([_kron(B, one), _kron(one, conj[1])], axis=1)
    out = np.concatenate([_kron(C, one), -_kron(one, conj[2])], axis=2)
    s0 = SHIFT * upper
    X = solve_near_singular(
        s0[:, None, None] * np.eye(2 * a * b) - big, np.eye(2 * a * b, dtype=complex)[None]
    )
    through = _kron(D, one) - _kron(one, conj[3]) + out @ X @ into
    rounding = 1e-13 * upper[:, None, None] * (1.0 + 0.3j) * np.diag(np.linspace(0.7, 1.3, b * b))
    t = np.linalg.eigvals(X @ into @ solve_near_singular(through + rounding, out @ X) - X)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        s = s0[:, None] + 1.0 / t
        k = 1.0 / s.real
        real = (np.abs(s.imag) <= IMAGINARY * np.abs(s)) & (np.abs(k) * upper[:, None] < FAR)
        k = np.where(real, k, 1.0 / s0[:, None])
        N = C[:, None] @ solve_near_singular(
            np.eye(a) / k[:, :, None, None] - A[:, None], np.broadcast_to(B[:, None], (*k.shape, a, b))
        )
        d = 1.0 / np.linalg.eigvals(np.nan_to_num(N + D[:, None]))
    nearest = np.argmin(np.abs(d.imag) / np.maximum(np.abs(d), 1e-300), axis=2)[..., None]
    d = np.take_along_axis(d, nearest, axis=2)[..., 0].real
    k = np.where(real & (np.abs(d) <= np.abs(k) * (1.0 + 1e-6)), k, np.inf)
    order = np.argsort(np.abs(k), axis=1, kind="stable")
    return np.take_along_axis(k, order, axis=1), np.take_along_axis(d, order, axis=1)


def _kron(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return Kronecker products of matrices, one of which may be one for all, (f, ...)."""
    product = a[..., :, None, :, None] * b[..., None, :, None, :]
    return product.reshape(len(product), a.shape[-2] * b.shape[-2], a.shape[-1] * b.shape[-1])


def _real_edge(
    M: np.ndarray,
    structure: BlockStructure,
    upper: np.ndarray,
    best: np.ndarray,
    signs: np.ndarray,
    free: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds 1 / k of the least k on an edge of real matrices at which the free parameter is real and not larger, and the parameters."""
    A, B, C, D = _parts(M, structure, signs, free)

    def missing(k: np.ndarray) -> np.ndarray:
        """Return the least real value of the free parameter that makes the matrices singular, infinite if there is none."""
        values = np.linalg.eigvals(D + C @ solve_near_singular(np.eye(A.shape[1]) / k[:, None, None] - A, B))
        real = np.where(values.imag == 0, values.real, 0.0)
        largest = np.take_along_axis(real, np.argmax(np.abs(real), axis=1)[:, None], axis=1)[:, 0]
        return 1.0 / np.where(largest != 0, largest, np.finfo(float).tiny)

    far = np.where(best > 0, 1.0 / np.maximum(best, 1e-300), 1e3 / upper)
    low = (1.0 - 1e-6) / upper
    grid = low * np.maximum(far / low, 1.0) ** (np.arange(GRID) / (GRID - 1))[:, None]
    holds = np.array([np.abs(missing(k)) <= k for k in grid])
    first, f = np.argmax(holds, axis=0), np.arange(len(M))
    low, high = grid[np.maximum(first - 1, 0), f], grid[first, f]
    for _ in range(50):
        middle = 0.5 * (low + high)
        inside = np.abs(missing(middle)) <= middle
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    some: np.ndarray = np.any(holds, axis=0)
    parameters = high[:, None] * signs
    parameters[:, free] = missing(high)
    return np.where(some, 1.0 / high, 0.0), np.where(some[:, None], parameters, 0.0)
