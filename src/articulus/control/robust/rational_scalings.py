"""Scalings D and G of finite order over all frequencies: what controllers with a small mu are designed with.

At frequencies w_i, with one D and one G for all of them,

    M* D M + j (G M - M* G) <= beta^2 D,   D = sum x_k a_k(w) > 0,   G = sum y_k b_k(w) of real blocks,

is convex in x and y for poles that are given: numerators are found by the method of centers, without a fit. Poles are those of a fit of D in
logarithms. With D = |n / d|^2 and j G / D = h = o / (n n~), o odd and n~(s) = n(-s), the condition is that T has no gain above beta,

    T = beta (N - h) c,   N = (n / d) M (n / d)^-1,   c = n n~ / b,   b~ b = beta^2 (n n~)^2 - o^2,

b stable (Young 1996; spectral factors instead of all-pass extensions). n~ in c keeps the poles of h from T: D^-1 c and h c are stable.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.optimize

from articulus.control.analysis.scaling import scale_states
from articulus.control.connect import side_by_side
from articulus.control.plant import of_matrices
from articulus.control.robust.blocks import Block, BlockStructure
from articulus.control.robust.centers import Basis, Cone, least_common_ratio
from articulus.control.robust.mu_upper import upper
from articulus.control.transfer import companion
from articulus.linear import LinearModel

FLAT = 1e-3
"""Change of the logarithm of a scaling over frequency below which it is constant."""
MOST_G = 1e2
"""Largest G of a real block, over D and the peak of mu."""
ON_AXIS = 1e-4
"""Zeros of a scaling keep this distance from the imaginary axis, over their size."""
LEAST_DAMPING = 0.1
"""Of poles of scalings with free numerators: less would be sharper than the frequencies at which these are kept positive."""
FELT = 0.3
"""Part of the peak of mu above which a frequency counts for where the poles of scalings are put."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """D = |n / d|^2 and G of one block, with polynomials in s over `unit`, highest power first.

    Parameters
    ----------
    block : Block
    n, d : arrays (m + 1,)
        Stable.
    o : array (2 m,)
        Odd polynomial: j G = D o / (n n~); zeros if the block has no G.
    unit : float [rad/s]
    """

    block: Block
    n: np.ndarray
    d: np.ndarray
    o: np.ndarray
    unit: float

    @staticmethod
    def one(block: Block) -> Scaling:
        """Return D = 1, G = 0."""
        return Scaling(block, np.ones(1), np.ones(1), np.zeros(0), 1.0)

    @property
    def out(self) -> LinearModel:
        """From an error of the block to that of T: n / d."""
        return self._system([self.n], self.d)

    def into(self, beta: float) -> LinearModel:
        """From a disturbance of T to that of the block, and to what is taken from the error of T: beta c d / n and beta c h."""
        if not self.o.any():
            return self._system([self.d, np.zeros(1)], self.n)
        square = np.polymul(self.n, _mirror(self.n))
        b = _spectral_factor(np.polysub(beta**2 * np.polymul(square, square), np.polymul(self.o, self.o)))
        return self._system([beta * np.polymul(self.d, _mirror(self.n)), beta * self.o], b)

    def _system(self, numerators: Sequence[np.ndarray], denominator: np.ndarray) -> LinearModel:
        rows = np.array([np.append(np.zeros(len(denominator) - len(row)), row) for row in numerators])
        A, B, C, D = companion(rows / denominator[0], denominator / denominator[0])
        return scale_states(of_matrices(self.unit * A, self.unit * B, C, D))[0]


@dataclass(frozen=True, eq=False)
class RationalScalings:
    """Scalings of all blocks of a structure, and the level that they are meant for."""

    each: tuple[Scaling, ...]
    beta: float

    @staticmethod
    def one(structure: BlockStructure) -> RationalScalings:
        return RationalScalings(tuple(Scaling.one(block) for block in structure.blocks), 1.0)

    @property
    def out(self) -> LinearModel:
        """From the errors to those of T."""
        return side_by_side(*(s.out for s in self.each for _ in range(s.block.columns)))

    @property
    def into(self) -> tuple[LinearModel, np.ndarray]:
        """From the disturbances of T to those of the blocks and, after them, to errors of T; and which errors these are."""
        parts = [s.into(self.beta) for s in self.each for _ in range(s.block.rows)]
        both = side_by_side(*parts)
        errors = np.cumsum([0, *(s.block.columns for s in self.each)])
        which = [
            int(errors[i]) + k if s.o.any() else -1
            for i, s in enumerate(self.each)
            for k in range(s.block.rows)
        ]
        order = np.r_[np.arange(0, len(both.C), 2), np.arange(1, len(both.C), 2)]
        return of_matrices(both.A, both.B, both.C[order], both.D[order]), np.array(which)

    @property
    def with_phase(self) -> bool:
        """Whether some block has a G."""
        return any(s.o.any() for s in self.each)


def one_by_one(structure: BlockStructure) -> BlockStructure:
    """Return the structure with repeated numbers as that many different ones."""
    blocks: list[Block] = []
    for b in structure.blocks:
        blocks += [Block(1, 1, True, b.real, b.name)] * b.rows if b.repeated else [b]
    return BlockStructure(tuple(blocks))


def rational_scalings(
    M: np.ndarray, omega: np.ndarray, structure: BlockStructure, order: int
) -> tuple[RationalScalings, float]:
    """Return scalings of an order for a closed loop M (f, columns, rows) at frequencies, which may be 0 and infinite.

    With them comes the largest bound of mu at these frequencies, each with scalings of its own. The structure has full blocks and
    single numbers. Without real blocks the scalings are those nearest to D at each frequency, in logarithms.
    """
    inner = (omega > 0.0) & np.isfinite(omega)
    M = structure.pad(M)
    free = upper(M, structure)
    peak = float(free.bound.max())
    if peak == 0.0:
        return RationalScalings.one(structure), peak
    felt = inner & (free.bound >= FELT * peak)
    band = omega[felt] if felt.any() else omega[inner]
    unit = float(np.sqrt(band.min() * band.max()))
    squares = np.array([free.D[:, s.start, s.start].real for s in structure.slices])
    squares = squares / squares[-1]
    counts = (free.bound / peak) ** 2
    fits = [_fit(omega[inner] / unit, np.sqrt(d[inner]), counts[inner], order) for d in squares]
    if not any(block.real for block in structure.blocks):
        return RationalScalings(tuple(f.scaling(b, unit) for f, b in zip(fits, structure.blocks)), peak), peak
    corners = np.geomspace(band.min(), band.max(), 2 * (order // 2) + 1)[1::2] / unit
    spread = np.array([[c, 1.0] for c in corners])
    found = []
    for own in (
        True,
        False,
    ):  # poles of real blocks: those of the fit, or spread over the frequencies that are felt
        poles = [f.smooth_poles if own or not b.real else spread for f, b in zip(fits, structure.blocks)]
        found.append(_numerators(M / peak, omega / unit, squares, structure, poles, unit))
    each, beta = min(found, key=lambda one: one[1])
    each = tuple(dataclasses.replace(s, o=peak * s.o) for s in each)
    return RationalScalings(each, peak * beta), peak


@dataclass(frozen=True, eq=False)
class _Fit:
    """Gain, zeros and poles (k, 2) as corners and dampings of terms of second order."""

    gain: float
    zeros: np.ndarray
    poles: np.ndarray

    @property
    def smooth_poles(self) -> np.ndarray:
        return np.maximum(self.poles, [0.0, LEAST_DAMPING])

    def scaling(self, block: Block, unit: float) -> Scaling:
        return Scaling(block, self.gain * _product(self.zeros), _product(self.poles), np.zeros(0), unit)


def _product(terms: np.ndarray) -> np.ndarray:
    """Return the product of s^2 + 2 damping corner s + corner^2, (2 k + 1,)."""
    found = np.ones(1)
    for corner, damping in terms:
        found = np.polymul(found, [1.0, 2.0 * damping * corner, corner**2])
    return found


def _fit(omega: np.ndarray, level: np.ndarray, counts: np.ndarray, order: int) -> _Fit:
    """Return the product of terms of second order that is nearest to a level over frequency, in logarithms.

    Every further term begins at several frequencies, and the best end counts.
    """
    wanted = np.log(level)
    found = np.array([np.average(wanted, weights=counts)])
    for _ in range(order // 2 if np.abs(wanted - found).max() >= FLAT else 0):
        corners = np.log(omega[np.linspace(5, len(omega) - 6, 6).astype(int)])
        ends = [
            scipy.optimize.least_squares(
                _misfit, np.r_[found, c, 0.0, c, 0.1], args=(omega, wanted, counts), max_nfev=60
            )
            for c in corners
        ]
        found = min(ends, key=lambda end: end.cost).x
    terms = np.exp(found[1:].reshape(-1, 4))
    return _Fit(float(np.exp(found[0])), terms[:, :2], terms[:, 2:])


def _misfit(p: np.ndarray, omega: np.ndarray, wanted: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return weighted differences of logarithms; p: gain, then corner and damping of zeros and of poles, as logarithms."""
    total = np.full(len(omega), p[0])
    for a, za, b, zb in np.exp(np.clip(p[1:], -30, 30).reshape(-1, 4)):
        for corner, damping, sign in ((a, za, 0.5), (b, zb, -0.5)):
            total += sign * np.log((corner**2 - omega**2) ** 2 + (2 * damping * corner * omega) ** 2 + 1e-300)
    limits = 0.01 * np.maximum(np.abs(p[2::2]) - 1.5, 0.0)  # dampings far from 1 are no smooth scaling
    return np.r_[counts * (total - wanted), limits]


def _numerators(
    M: np.ndarray,
    omega: np.ndarray,
    squares: np.ndarray,
    structure: BlockStructure,
    poles: list[np.ndarray],
    unit: float,
) -> tuple[tuple[Scaling, ...], float]:
    """Return the scalings with given poles that show the least level at all frequencies, and the level.

    M is over the peak of mu, omega over the unit; `squares` (blocks, f) are D at each frequency alone.
    """
    net = np.unique(np.r_[omega, 0.0, np.geomspace(1e-4, 1e4, 200)])
    forms = [_Form.of(p, b.real) for p, b in zip(poles, structure.blocks)]
    conjugate = M.conj().swapaxes(-1, -2)
    P, E, cones, start, first = [], [], [], [], 0
    for form, place, wanted in zip(forms, structure.slices, squares):
        one = np.zeros((structure.size, structure.size), dtype=complex)
        one[place, place] = np.eye(place.stop - place.start)
        D, G = form.values(omega)
        square, turned = conjugate @ one @ M, 1j * (one @ M - conjugate @ one)
        P += [d[:, None, None] * square for d in D] + [MOST_G * g[:, None, None] * turned for g in G]
        E += [d[:, None, None] * one for d in D] + [np.zeros_like(square) for _ in G]
        D, G = form.values(net)
        here = slice(first, first + len(D) + len(G))
        for sign in (1.0, -1.0) if len(G) else (1.0,):  # |G| < MOST_G D
            values = np.concatenate([D, sign * G]).T[:, :, None, None].astype(complex)
            cones.append(Cone(Basis(values), here))
        start += [*form.nearest(wanted, omega), *np.zeros(len(G))]
        first = here.stop
    x, beta = least_common_ratio(np.stack(P, axis=1), np.stack(E, axis=1), cones, np.array(start))
    each, first = [], 0
    for form, block in zip(forms, structure.blocks):
        each.append(form.scaling(x[first : first + form.count], block, unit))
        first += form.count
    return tuple(each), float(np.sqrt(max(beta, 0.0)))


@dataclass(frozen=True, eq=False)
class _Form:
    """D and G of a block over a common denominator |d|^2: even powers of frequency, and odd ones, times factors.

    The factors make the even terms sum to one where all poles are real: each is large in a band of its own.
    """

    d: np.ndarray
    even: np.ndarray
    odd: np.ndarray

    @staticmethod
    def of(poles: np.ndarray, real: bool) -> _Form:
        even = np.ones(1)
        for corner, _ in poles:
            even = np.polymul(even, [1.0, 2.0 * corner**2, corner**4])
        even = even[::-1]
        odd = np.sqrt(even[:-1] * even[1:]) if real else np.zeros(0)
        return _Form(_product(poles), even, odd)

    @property
    def count(self) -> int:
        return len(self.even) + len(self.odd)

    def values(self, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the terms of D and of G at frequencies, (k, f) each."""
        D, G = np.zeros((len(self.even), len(omega))), np.zeros((len(self.odd), len(omega)))
        finite = np.isfinite(omega)
        w = omega[finite]
        below = np.abs(np.polyval(self.d, 1j * w)) ** 2
        for k, factor in enumerate(self.even):
            D[k, finite] = factor * w ** (2 * k) / below
        for k, factor in enumerate(self.odd):
            G[k, finite] = factor * w ** (2 * k + 1) / below
        D[-1, ~finite] = 1.0
        return D, G

    def nearest(self, wanted: np.ndarray, omega: np.ndarray) -> np.ndarray:
        """Return positive factors of the terms of D that come near what is wanted at each frequency."""
        D = self.values(omega)[0].T / wanted[:, None]
        found = scipy.optimize.nnls(D, np.ones(len(D)))[0]
        return np.maximum(found, 1e-3 * float(np.median(wanted)))

    def scaling(self, x: np.ndarray, block: Block, unit: float) -> Scaling:
        """Return the scaling with these factors."""
        m = len(self.even)
        square = _in_s(x[:m] * self.even)
        n = _spectral_factor(square)
        odd = MOST_G * x[m:] * self.odd
        if not odd.any():
            return Scaling(block, n, self.d, np.zeros(0), unit)
        o = np.zeros(2 * len(odd))
        for k, factor in enumerate(odd):  # j w^(2 k + 1) = (-1)^k s^(2 k + 1)
            o[len(o) - 2 - 2 * k] = (-1.0) ** k * factor
        return Scaling(block, n, self.d, o, unit)


def _in_s(even: np.ndarray) -> np.ndarray:
    """Return sum even_k w^(2 k) as a polynomial in s = j w."""
    found = np.zeros(2 * len(even) - 1)
    for k, factor in enumerate(even):
        found[len(found) - 1 - 2 * k] = (-1.0) ** k * factor
    return found


def _mirror(p: np.ndarray) -> np.ndarray:
    """Return p(-s)."""
    return p * (-1.0) ** np.arange(len(p) - 1, -1, -1)


def _spectral_factor(even: np.ndarray) -> np.ndarray:
    """Return the stable polynomial b with b(-s) b(s) equal to an even polynomial that is positive on the imaginary axis."""
    squares = np.roots(even[::2])
    roots = -np.sqrt(squares.astype(complex))
    roots = np.where(roots.real > 0, -roots, roots)
    touching = np.flatnonzero(-roots.real < ON_AXIS * np.abs(roots))  # pairs between two frequencies of a net
    along = np.sort(np.abs(roots[touching].imag)) * (-1.0) ** np.arange(len(touching))
    roots[touching] = -ON_AXIS * np.abs(along) + 1j * along
    return np.sqrt(abs(even[0])) * np.atleast_1d(np.real(np.poly(roots)))


def magnitude_model(omega: np.ndarray, level: np.ndarray, order: int, least: float = 0.05) -> LinearModel:
    """Return the stable system of an even order whose size is nearest to a level over frequency, in logarithms.

    Damping ratios of zeros and poles are at least `least`: no peak is hidden between the frequencies.
    """
    fit = _fit(omega, level, np.ones(len(omega)), order)
    model = of_matrices(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[fit.gain]])
    for (a, za), (b, zb) in zip(np.maximum(fit.zeros, [0.0, least]), np.maximum(fit.poles, [0.0, least])):
        gains = [[a * a - b * b, 2 * (za * a - zb * b)]]
        model = of_matrices([[0.0, 1.0], [-b * b, -2 * zb * b]], [[0.0], [1.0]], gains, [[1.0]]) * model
    return model
