"""Lower bounds of mu: perturbations Delta that make I - M Delta singular, by power iteration on eigenvectors.

Of a perturbation k Q, Q of size 1, the real blocks are closed first, M_c(k); the complex ones then reach singularity when
k rho(M_c(k) Q_c) = 1, with a phase common to all of them. From the eigenvectors every block is turned to where the spectral
radius grows fastest (Packard, Fan & Doyle 1988; Young & Doyle 1990). Whatever Q is reached gives a bound; the start
is the eigenvector of the upper bound, which is already the solution where its largest singular value is simple.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.robust.blocks import BlockStructure
from articulus.control.robust.mu_upper import Scalings

GAIN = 1e-6
"""Relative gain of the spectral radius in a step, below which the iteration has ended."""
HALVINGS = 3
"""Of a step that does not raise the spectral radius."""
STEPS = 40
"""Steps of the iteration from one start."""
RESTARTS = 6
"""Further starts where bounds are far apart."""
APART = 1e-2
"""Distance of the bounds, over the upper one, from which on further starts are tried."""
COALESCED = 0.03
"""Eigenvalues this near to the largest, in parts of it, mix in the further starts."""
REACH = 4.0
"""Sizes of mixed perturbations up to this multiple of the least possible are searched."""


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small matrices: threads only wait for each other
def lower(M: np.ndarray, structure: BlockStructure, scalings: Scalings) -> tuple[np.ndarray, np.ndarray]:
    """Return lower bounds (f,) and the perturbations (f, n, n) of size 1 / bound that attain them; zeros where none was found."""
    root, inverse = _square_roots(scalings.D)
    N = root @ M @ inverse
    G = inverse @ scalings.G @ inverse
    values, vectors = np.linalg.eigh(_conjugate(N) @ N + 1j * (G @ N - _conjugate(N) @ G))
    search = PerturbationSearch(N, structure, np.maximum(scalings.bound, np.finfo(float).tiny))
    rng = np.random.default_rng(0)
    search.run(np.arange(len(M)), vectors[:, :, -1])
    for _ in range(RESTARTS):
        far = np.flatnonzero(search.best < (1.0 - APART) * scalings.bound)
        if not len(far):
            break
        mix = rng.normal(size=(len(far), N.shape[1])) + 1j * rng.normal(size=(len(far), N.shape[1]))
        mix *= values[far] >= values[far, -1:] - COALESCED * np.abs(values[far, -1:])
        search.run(far, (vectors[far] @ mix[:, :, None])[..., 0])
    return search.best, search.delta


@dataclass
class PerturbationSearch:
    """The best perturbations so far."""

    N: np.ndarray
    structure: BlockStructure
    upper: np.ndarray

    def __post_init__(self) -> None:
        self.real = np.repeat(
            [b.real for b in self.structure.blocks], [b.size for b in self.structure.blocks]
        )
        self.top: np.ndarray = np.zeros(len(self.N))
        self.best: np.ndarray = np.zeros(len(self.N))
        self.delta: np.ndarray = np.zeros(self.N.shape, dtype=complex)

    def run(self, active: np.ndarray, v: np.ndarray) -> None:
        """Search on from vectors v (f, n) at some of the matrices."""
        k = (1.0 - 1e-6) / self.upper[active]  # real blocks alone may be singular at 1 / upper
        a = (self.N[active] @ v[:, :, None])[..., 0]
        q = self._factors(a, v * self.upper[active, None])
        Q = align_perturbation(a, v, self.structure, q)
        top, chosen, going = np.zeros(len(active)), Q.copy(), np.arange(len(active))
        x, w, halved = np.zeros_like(v), np.zeros_like(v), np.zeros(len(active))
        for _ in range(STEPS):
            radius, x_new, w_new = self._turn(active[going], Q, k[going])
            better = radius > top[going] * (1.0 + GAIN)
            up = going[better]
            chosen[up], top[up], x[up], w[up] = Q[better], radius[better], x_new[better], w_new[better]
            halved[going] = np.where(better, 0.0, halved[going] + 1.0)
            going = going[halved[going] <= HALVINGS]
            if not len(going):
                break
            here, held = x[going], chosen[going]
            toward = self._shorten(w[going], (held @ here[:, :, None])[..., 0], halved[going])
            q_new = np.clip(q[going] + self._factors(here, w[going]) * 0.5 ** halved[going, None], -1.0, 1.0)
            Q = align_perturbation(here, toward, self.structure, q_new)
            q[going] = np.where(halved[going, None] > 0, q[going], q_new)
        new = top > self.top[active]
        self.top[active[new]] = top[new]
        self._keep(active[new], chosen[new])

    def _shorten(self, w: np.ndarray, b: np.ndarray, halved: np.ndarray) -> np.ndarray:
        """Return directions of blocks between w and b = Q x, the nearer to b the more often a step was halved."""
        w, b = (u / np.maximum(self._sizes(u), np.finfo(float).tiny) for u in (w, b))
        return w + (2.0**halved - 1.0)[:, None] * b

    def _sizes(self, u: np.ndarray) -> np.ndarray:
        """Return the norm of the block that each entry belongs to."""
        groups = self.structure.groups
        return np.sqrt(np.abs(u) ** 2 @ groups.T) @ groups

    def _factors(self, a: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return Re(a* w) / |a|^2 of each block, within -1 and 1."""
        groups = self.structure.groups
        size = np.maximum(np.abs(a) ** 2 @ groups.T, np.finfo(float).tiny)
        return np.clip(np.real((a.conj() * w) @ groups.T) / size, -1.0, 1.0)

    def _turn(
        self, active: np.ndarray, Q: np.ndarray, k: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return k rho(M_c(k) Q_c), and vectors x, w: the logarithm of the radius grows with Re(w* dQ x)."""
        N, c, r = self.N[active], ~self.real, self.real
        inner = self._closed(N, Q, k)
        values, vectors = np.linalg.eig(inner @ Q[:, c][:, :, c])
        at, f = np.argmax(np.abs(values), axis=1), np.arange(len(N))
        lam = np.where(np.abs(values[f, at]) > 0, values[f, at], 1.0)
        left = inverse(vectors)
        D = k[:, None, None] * Q
        D[:, c] /= (k * lam)[:, None, None]
        x, y = np.zeros(N.shape[:2], dtype=complex), np.zeros(N.shape[:2], dtype=complex)
        x[:, c], y[:, c] = vectors[f, :, at], left[f, at].conj()
        if r.any():  # rows of (I - N D) x = 0 and y* (I - N D) = 0 of the real channels
            ND = N @ D
            rr = np.eye(r.sum()) - ND[:, r][:, :, r]
            x[:, r] = solve_near_singular(rr, ND[:, r][:, :, c] @ x[:, c, None])[..., 0]
            left = y[:, None, c].conj() @ ND[:, c][:, :, r]
            y[:, r] = solve_near_singular(_conjugate(rr), _conjugate(left))[..., 0]
        w = (_conjugate(N) @ y[:, :, None])[..., 0]
        s = np.sum(w[:, c].conj() * (D[:, c][:, :, c] @ x[:, c, None])[..., 0], axis=1)
        w = w / np.where(np.abs(s) > 0, s, 1.0).conj()[:, None]
        x = np.where(c, x / lam[:, None], k[:, None] * x)
        return k * np.abs(values[f, at]), x, w

    def _closed(self, N: np.ndarray, Q: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Return M_c(k): N seen from the complex blocks when the real ones are k q."""
        c, r = ~self.real, self.real
        if not r.any():
            return N
        D = k[:, None, None] * Q[:, r][:, :, r]
        rr = np.eye(r.sum()) - N[:, r][:, :, r] @ D
        return N[:, c][:, :, c] + N[:, c][:, :, r] @ D @ solve_near_singular(rr, N[:, r][:, :, c])

    def _keep(self, active: np.ndarray, Q: np.ndarray) -> None:
        """Find the least k at which k Q, but for a phase of the complex blocks, makes I - N k Q singular; keep what is better."""
        c = ~self.real
        k, found = self._least(active, Q)
        values = np.linalg.eigvals(self._closed(self.N[active], Q, k) @ Q[:, c][:, :, c])
        lam = values[np.arange(len(active)), np.argmax(np.abs(values), axis=1)]
        delta = k[:, None, None] * Q
        delta[:, c] *= phase(lam).conj()[:, None, None]
        bound = np.where(found, 1.0 / k, 0.0)
        better = bound > self.best[active]
        self.best[active[better]], self.delta[active[better]] = bound[better], delta[better]

    def _least(self, active: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least k with k rho(M_c(k) Q_c) = 1, and whether there is one."""
        c, N = ~self.real, self.N[active]
        if c.all():
            radius = np.abs(np.linalg.eigvals(N @ Q)).max(axis=1)
            return 1.0 / np.maximum(radius, np.finfo(float).tiny), radius > 0

        def excess(k: np.ndarray) -> np.ndarray:
            inner = self._closed(N, Q, k) @ Q[:, c][:, :, c]
            return np.log(np.maximum(k * np.abs(np.linalg.eigvals(inner)).max(axis=1), 1e-300))

        grid = np.geomspace(0.8, REACH, 29)[:, None] / self.upper[active]
        height = np.array([excess(k) for k in grid])
        over = height >= 0.0
        found, first = over.any(axis=0), np.maximum(np.argmax(over, axis=0), 1)
        f = np.arange(len(active))
        low, high = grid[first - 1, f], grid[first, f]
        at_low, at_high = height[first - 1, f], height[first, f]
        for _ in range(40):  # regula falsi of Illinois, then what is left by halving
            k = np.where(
                np.isfinite(at_high) & (at_high > at_low),
                high - at_high * (high - low) / (at_high - at_low),
                0.5 * (low + high),
            )
            h = excess(k)
            up = h >= 0.0
            at_low = np.where(up, 0.5 * at_low, h)
            at_high = np.where(up, h, 0.5 * at_high)
            low, high = np.where(up, low, k), np.where(up, k, high)
            if np.all((np.abs(h) < 1e-13) | ~found):
                break
        return k, found & (np.abs(excess(k)) < 1e-9)


def align_perturbation(a: np.ndarray, w: np.ndarray, structure: BlockStructure, q: np.ndarray) -> np.ndarray:
    """Return Q (f, n, n) of the structure, of size 1, with the largest Re(w* Q a); q: (f, blocks), factors of real blocks."""
    inner = (a.conj() * w) @ structure.groups.T
    Q: np.ndarray = np.zeros((*a.shape, a.shape[-1]), dtype=complex)
    for i, (block, place) in enumerate(zip(structure.blocks, structure.slices)):
        if block.real:
            Q[:, place, place] = q[:, i, None, None] * np.eye(block.size)
        elif block.repeated:
            Q[:, place, place] = phase(inner[:, i])[:, None, None] * np.eye(block.size)
        else:
            Q[:, place, place] = unit(w[:, place])[:, :, None] * unit(a[:, place]).conj()[:, None, :]
    return Q


def phase(z: np.ndarray) -> np.ndarray:
    """Return z / |z|; 1 for zero."""
    size = np.abs(z)
    return np.where(size > 0, z / np.where(size > 0, size, 1.0), 1.0)


def unit(v: np.ndarray) -> np.ndarray:
    """Return v / |v|; the first unit vector for zero."""
    size = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.where(size > 0, v / np.where(size > 0, size, 1.0), np.eye(1, v.shape[-1])[0])


def solve_near_singular(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a^-1 b; of singular matrices, with rounding added to them: the answer is large, as it should be."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return np.linalg.solve(a + 1e-14 * (1 + 1j) * np.eye(a.shape[-1]), b)


def inverse(vectors: np.ndarray) -> np.ndarray:
    """Return inverses of matrices of eigenvectors; those of defective matrices by least squares."""
    try:
        return np.linalg.inv(vectors)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(vectors)


def _square_roots(D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = np.linalg.eigh(D)
    half = np.sqrt(values)[:, None, :]
    return (vectors * half) @ _conjugate(vectors), (vectors / half) @ _conjugate(vectors)


def _conjugate(a: np.ndarray) -> np.ndarray:
    return a.conj().swapaxes(-1, -2)
