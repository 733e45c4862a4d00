"""Bounded internal motion by a two-sided Picard iteration.

With A of the zero dynamics at the equilibrium before the motion, split into a stable and an unstable block, each sweep solves

    z' = A z + n(t),   n = p(t, eta) - r' - A z  of the last sweep,   eta = r + z

the stable block forward from the beginning, the unstable one backward from the end. In every interval n is a quadratic through its values
at the Gauss points and the solution for it is exact (matrix exponentials). The recursion over intervals of one length is a scan that
doubles its reach, without a loop over the intervals.

r is the equilibrium; where the motion ends at another one, a smooth way from the one to the other.

The sweeps converge where the zero dynamics is linear enough over the motion; their ratio is watched.
"""

from __future__ import annotations

import itertools

import numpy as np
import scipy.linalg

from articulus.errors import NumericalError
from articulus.motion.inversion.stable.collocation import Internal, collocation
from articulus.motion.inversion.stable.gauss import C
from articulus.motion.inversion.stable.problem import BoundedProblem
from articulus.numerics.subspaces import split_spectrum

SWEEPS = 200
REACH = 0.25
"""Length of an interval times the largest zero, at first."""
MOST_POINTS = 60_000


def picard(problem: BoundedProblem, tolerance: float) -> Internal:
    """Return the bounded internal motion; the intervals are halved until the result changes by less than the tolerance.

    Parameters
    ----------
    problem : BoundedProblem
    tolerance : float [-]
        Error of eta, over its largest distance from rest.
    """
    if not problem.form.internal:  # nothing inside, nothing to sweep
        return collocation(problem, tolerance)
    fastest = np.abs(problem.before.zeros).max()
    length = problem.wanted.t_end - problem.wanted.t0
    h = min(REACH / fastest, length / 24)
    old, total, meshes, finer = None, 0, 0, 1
    while True:
        grid = Sweep(problem, h, finer)
        start = None if old is None else old.between(grid.times)
        eta, count = _iterate(grid, start, tolerance)
        total, meshes = total + count, meshes + 1
        if old is not None:
            nodes = grid.nodes_of(eta)
            size = np.abs(nodes - problem.before.eta).max() or 1.0
            error = np.abs(nodes[::2] - old.nodes).max() / size / 15
            if error <= tolerance:
                K = problem.rate(grid.times.ravel(), eta.reshape(-1, eta.shape[2]))[0].reshape(eta.shape)
                return Internal(grid.t, nodes, K, float(error), total, meshes)
        old = _Old(grid, eta)
        finer *= 2
        if 3 * 2 * len(grid.t) > MOST_POINTS:
            raise NumericalError(
                f"stable_inversion: Picard's iteration has not reached the error {tolerance:g} with {len(grid.t) - 1} intervals; take method='collocation', which "
                "refines where it is needed"
            )


def _iterate(grid: Sweep, eta: np.ndarray | None, tolerance: float) -> tuple[np.ndarray, int]:
    """Sweep until eta (N, 3, k) at the Gauss points no longer changes."""
    eta = grid.rest() if eta is None else eta
    last = np.inf
    for count in range(1, SWEEPS + 1):
        new = grid.sweep(eta)
        change = np.abs(new - eta).max()
        size = np.abs(new - grid.problem.before.eta).max() or 1.0
        eta = new
        if change <= 1e-2 * tolerance * size or change <= 1e-14 * (1 + np.abs(eta).max()):
            return eta, count
        if not np.isfinite(change) or (count > 5 and change > last):
            break
        last = change
    raise NumericalError(
        f"stable_inversion: Picard's iteration does not converge: after {count} sweeps the change is {change:.3g}, before {last:.3g} (ratio {change / last:.3g}); the "
        "internal motion is too nonlinear for it: take method='collocation' (Newton's method), or a smaller motion"
    )


class Sweep:
    """Forward and backward recursion on even intervals in each part of the time: before, parts of the motion, after."""

    def __init__(self, problem: BoundedProblem, h: float, finer: int):
        self.problem = problem
        marks = sorted({problem.first, *problem.wanted.marks, problem.last})
        self.parts = [(a, b, finer * int(np.ceil((b - a) / h))) for a, b in itertools.pairwise(marks)]
        pieces = [np.linspace(a, b, n + 1) for a, b, n in self.parts]
        self.t = np.concatenate([pieces[0], *(p[1:] for p in pieces[1:])])
        self.times = self.t[:-1, None] + C * np.diff(self.t)[:, None]
        self._x: np.ndarray | None = None
        self.reference, self.reference_rate = self._way(self.times)
        self.blocks = [SpectralBlock(*split, self.parts) for split in _split(problem.before.A)]

    def rest(self) -> np.ndarray:
        """Return eta of rest along the motion at the Gauss points."""
        eta = self.problem.first_eta(self.times.ravel())
        return eta.reshape(*self.times.shape, -1)

    def forcing(self, eta: np.ndarray) -> np.ndarray:
        """Return n (N, 3, k) for eta (N, 3, k)."""
        k = eta.shape[2]
        p, _, self._x = self.problem.rate(self.times.ravel(), eta.reshape(-1, k), self._x)
        linear = (eta - self.reference) @ self.problem.before.A.T
        return p.reshape(eta.shape) - self.reference_rate - linear

    def _way(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return r and its rate at times (..., 1): 35 s^4 - 84 s^5 + 70 s^6 - 20 s^7 of the way during the motion."""
        w, change = self.problem.wanted, self.problem.after.eta - self.problem.before.eta
        s = np.clip((t - w.t0) / (w.t_end - w.t0), 0.0, 1.0)[..., None]
        share = s**4 * (35 + s * (-84 + s * (70 - 20 * s)))
        rate = 140 * s**3 * (1 - s) ** 3 / (w.t_end - w.t0)
        return self.problem.before.eta + share * change, rate * change

    def sweep(self, eta: np.ndarray) -> np.ndarray:
        """Return the next eta at the Gauss points."""
        n = self.forcing(eta)
        return self.reference + sum(block.inside(n) for block in self.blocks)

    def nodes_of(self, eta: np.ndarray) -> np.ndarray:
        """Return eta (N + 1, k) at the ends of the intervals."""
        n = self.forcing(eta)
        return self._way(self.t)[0] + sum(block.nodes(n) for block in self.blocks)


class SpectralBlock:
    """z' = a z + left n for one block: stable forward or unstable backward; what it gives to eta is right z."""

    def __init__(self, a: np.ndarray, left: np.ndarray, right: np.ndarray, parts: list):
        self.a, self.left, self.right = a, left, right
        self.forward = not len(a) or bool(np.linalg.eigvals(a).real.max() < 0)
        self.parts = [(n, (b - s) / n) for s, b, n in parts]
        self.weights = [exponentials(a, h) for _, h in self.parts]

    def nodes(self, n: np.ndarray) -> np.ndarray:
        """Return the part of eta at the nodes, (N + 1, k)."""
        return self._nodes(n @ self.left.T) @ self.right.T

    def inside(self, n: np.ndarray) -> np.ndarray:
        """Return the part of eta at the Gauss points, (N, 3, k)."""
        n = n @ self.left.T
        z, out, i = self._nodes(n)[:-1], [], 0
        for (count, _), (_, _, at, within) in zip(self.parts, self.weights):
            here = slice(i, i + count)
            out.append(np.einsum("jab,nb->nja", at, z[here]) + np.einsum("jlab,nlb->nja", within, n[here]))
            i += count
        return np.concatenate(out) @ self.right.T

    def _nodes(self, n: np.ndarray) -> np.ndarray:
        """Return z at the nodes for n (N, 3, size of the block)."""
        z = np.zeros((len(n) + 1, len(self.a)))
        ends = np.cumsum([0] + [count for count, _ in self.parts])
        order = list(zip(ends[:-1], ends[1:], self.weights))
        for first, last, (E, gain, _, _) in order if self.forward else order[::-1]:
            b = np.einsum("jab,njb->na", gain, n[first:last])
            if self.forward:
                z[first + 1 : last + 1] = _scan(E, b, z[first])
            else:
                back = np.linalg.inv(E)
                z[first:last] = _scan(back, -b[::-1] @ back.T, z[last])[::-1]
        return z


def _scan(E: np.ndarray, b: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return z_1 .. z_N of z_{i+1} = E z_i + b_i by doubling the reach, (N, k)."""
    z = np.array(b)
    z[0] += E @ start
    reach = 1
    while reach < len(z):
        z[reach:] += z[:-reach] @ E.T
        E, reach = E @ E, 2 * reach
    return z


def exponentials(a: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what an interval of length h does: E, gain (3, k, k) at its end; at (3, k, k), within (3, 3, k, k) at the stages.

    z(c h) = e^(a c h) z(0) + sum_l integral of e^(a (c h - s)) L_l(s / h) ds n_l, with L_l the quadratics through the Gauss points.
    """
    k = len(a)
    lagrange = np.array([np.poly(np.delete(C, j)) / np.prod(C[j] - np.delete(C, j)) for j in range(3)])
    out = []
    for c in (1.0, *C):
        # states z, then n, n', n'' / of a quadratic in s / h: one exponential holds all integrals
        big = np.zeros((4 * k, 4 * k))
        big[:k, :k] = a * h
        big[:k, k : 2 * k] = h * np.eye(k)
        big[k : 2 * k, 2 * k : 3 * k] = np.eye(k)
        big[2 * k : 3 * k, 3 * k :] = np.eye(k)
        e = scipy.linalg.expm(c * big)[:k]
        powers = [e[:, k : 2 * k], e[:, 2 * k : 3 * k], 2 * e[:, 3 * k :]]  # integrals for 1, s, s^2
        weights = np.array([sum(q * m for q, m in zip(poly[::-1], powers)) for poly in lagrange])
        out.append((e[:, :k], weights))
    E, gain = out[0]
    return E, gain, np.array([e for e, _ in out[1:]]), np.array([w for _, w in out[1:]])


def _split(A: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return (a, left, right) of the stable and of the unstable block: A = sum right a left."""
    values = np.linalg.eigvals(A)
    split = split_spectrum(A, values, values.real < 0)
    k = len(split.A1)
    parts = (slice(0, k), split.A1), (slice(k, len(A)), split.A2)
    return [(block, split.left[i], split.right[:, i]) for i, block in parts if len(block)]


class _Old:
    """The result on intervals twice as long."""

    def __init__(self, grid: Sweep, eta: np.ndarray):
        self.t, self.times, self.eta = grid.t, grid.times, eta
        self.nodes = grid.nodes_of(eta)

    def between(self, times: np.ndarray) -> np.ndarray:
        """Return an estimate at other times, straight between the Gauss points."""
        flat, points = times.ravel(), self.times.ravel()
        columns = [np.interp(flat, points, c) for c in self.eta.reshape(-1, self.eta.shape[2]).T]
        return np.array(columns).T.reshape(*times.shape, -1)
