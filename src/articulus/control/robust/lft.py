"""Matrices that are polynomials of parameters, as linear fractions of few repetitions of them (M-Delta form)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError

Polynomial = Mapping[tuple[int, ...], np.ndarray]
"""Coefficient matrices by the exponents of the parameters."""
ORDERS = 24
"""Orders of the parameters that are tried when there are too many for all."""


@dataclass(frozen=True, eq=False)
class Fraction:
    """S(delta) = S0 + L Delta (I - N Delta)^-1 R with Delta = diag(delta_i I), each repeated as often as `counts` says."""

    S0: np.ndarray
    L: np.ndarray
    R: np.ndarray
    N: np.ndarray
    counts: tuple[int, ...]

    def at(self, delta: Sequence[float]) -> np.ndarray:
        """Return the matrix for values of the parameters."""
        D = np.diag(np.repeat(np.asarray(delta, dtype=float), self.counts))
        return self.S0 + self.L @ D @ np.linalg.solve(np.eye(len(D)) - self.N @ D, self.R)


def fraction(polynomial: Polynomial, tolerance: float = 1e-11) -> Fraction:
    """Return a polynomial matrix as a linear fraction with as few repetitions as were found.

    One parameter after the other is taken out: the coefficients of its powers, in a Hankel matrix, are factored by rank with
    either the left or the right factor free of the other parameters, and what depends on these is stacked beside the rest
    (so that rows and columns that several parameters share are realized once). Orders of the parameters are tried, the
    smallest is kept, and what no signal reaches or shows is removed.

    Parameters
    ----------
    polynomial : dict of exponents to matrices
    tolerance : float
        Singular values below this part of the largest coefficient count as zero.
    """
    if not polynomial:
        raise InputError("fraction: found no coefficients; expected at least the constant one")
    count = len(next(iter(polynomial)))
    size = max((np.abs(c).max(initial=0.0) for c in polynomial.values()), default=0.0)
    floor = tolerance * max(size, np.finfo(float).tiny)
    least = sum(any(e[i] for e in polynomial) for i in range(count))
    best: Fraction | None = None
    for order in _orders(count):
        found = _reduced(_in_order(polynomial, order, floor), floor)
        if best is None or sum(found.counts) < sum(best.counts):
            best = found
        if sum(best.counts) <= least:
            break
    assert best is not None
    return best


def _orders(count: int) -> list[tuple[int, ...]]:
    if count <= 4:
        return list(itertools.permutations(range(count)))
    rng = np.random.default_rng(0)
    given = [tuple(range(count)), tuple(reversed(range(count)))]
    return given + [tuple(int(i) for i in rng.permutation(count)) for _ in range(ORDERS)]


def _in_order(polynomial: Polynomial, order: Sequence[int], floor: float) -> Fraction:
    current = dict(polynomial)
    rows, columns = next(iter(current.values())).shape
    counts = [0] * len(order)
    for parameter in order:
        current, counts[parameter] = _taken_out(current, parameter, floor)
    zero = (0,) * len(order)
    T = current.get(zero, np.zeros(next(iter(current.values())).shape))
    # Delta has the order in which parameters were taken out; sort it by parameter
    starts = np.concatenate([[0], np.cumsum([counts[p] for p in order])])
    where = {p: np.arange(starts[i], starts[i + 1]) for i, p in enumerate(order)}
    sort = np.concatenate([where[p] for p in range(len(order))]).astype(int)
    return Fraction(
        T[:rows, :columns],
        T[:rows, columns:][:, sort],
        T[rows:, :columns][sort],
        T[rows:, columns:][np.ix_(sort, sort)],
        tuple(counts),
    )


def _taken_out(polynomial: Polynomial, parameter: int, floor: float) -> tuple[dict, int]:
    """Return [[T0, L], [R, N]], free of a parameter: T = T0 + L d (I - N d)^-1 R; and the size of N."""
    degree = max(e[parameter] for e in polynomial)
    shape = next(iter(polynomial.values())).shape
    rest = sorted({_without(e, parameter) for e in polynomial})
    if degree == 0:
        return dict(polynomial), 0
    powers, places = np.zeros((degree, len(rest), *shape)), {e: i for i, e in enumerate(rest)}
    constant = {}
    for exponents, matrix in polynomial.items():
        place = places[_without(exponents, parameter)]
        if exponents[parameter]:
            powers[exponents[parameter] - 1, place] = matrix
        else:
            constant[rest[place]] = matrix
    zero = (0,) * len(rest[0])
    left, right = _realize(powers, floor), _realize(powers.swapaxes(-1, -2), floor)
    sides: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
    if len(left[2]) <= len(right[2]):
        fixed, terms, N = left
        varying = dict(zip(rest, terms))
        for e in {zero, *rest}:
            L = fixed if e == zero else np.zeros(fixed.shape)
            sides[e] = (L, varying.get(e, np.zeros((len(N), shape[1]))))
    else:
        fixed, terms, N = right[0].T, right[1].transpose(0, 2, 1), right[2].T
        varying = dict(zip(rest, terms))
        for e in {zero, *rest}:
            R = fixed if e == zero else np.zeros(fixed.shape)
            sides[e] = (varying.get(e, np.zeros((shape[0], len(N)))), R)
    out = {}
    for e in sorted(sides):
        T0 = constant.get(e, np.zeros(shape))
        whole = np.block([[T0, sides[e][0]], [sides[e][1], N if e == zero else np.zeros(N.shape)]])
        if e == zero or np.abs(whole).max(initial=0.0) > 0:
            out[e] = whole
    return out, len(N)


def _without(exponents: tuple[int, ...], parameter: int) -> tuple[int, ...]:
    """Return exponents with zero at a parameter."""
    return (*exponents[:parameter], 0, *exponents[parameter + 1 :])


def _realize(powers: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return constant L, R (terms, n, columns) and nilpotent N with L N^(k-1) R = powers[k-1]; powers: (degree, terms, p, m)."""
    degree, terms, p, m = powers.shape
    hankel = np.zeros((degree * p, degree * terms * m))
    for a in range(degree):
        for b in range(degree - a):
            block = powers[a + b].transpose(1, 0, 2).reshape(p, terms * m)
            hankel[a * p : (a + 1) * p, b * terms * m : (b + 1) * terms * m] = block
    U, s, Vh = np.linalg.svd(hankel, full_matrices=False)
    rank = int(np.sum(s > floor))
    root = np.sqrt(s[:rank])
    seen, reached = U[:, :rank] * root, root[:, None] * Vh[:rank]
    shifted = np.vstack([seen[p:], np.zeros((p, rank))])
    N = (U[:, :rank] / root).T @ shifted if rank else np.zeros((0, 0))
    return seen[:p], reached[:, : terms * m].reshape(rank, terms, m).transpose(1, 0, 2), N


def _reduced(f: Fraction, floor: float) -> Fraction:
    """Return a fraction without what no input of Delta reaches or no output of it shows."""
    once = _reach(f, floor)
    turned = Fraction(once.S0.T, once.R.T, once.L.T, once.N.T, once.counts)
    back = _reach(turned, floor)
    return Fraction(back.S0.T, back.R.T, back.L.T, back.N.T, back.counts)


def _reach(f: Fraction, floor: float) -> Fraction:
    ends = np.cumsum(f.counts)
    places = [slice(int(e) - n, int(e)) for n, e in zip(f.counts, ends)]
    bases = [np.zeros((n, 0)) for n in f.counts]
    for _ in range(sum(f.counts) + 1):
        whole = _diagonal(bases)
        grown = [_range(np.hstack([f.R[s], f.N[s] @ whole]), floor) for s in places]
        if [b.shape for b in grown] == [b.shape for b in bases]:
            break
        bases = grown
    V = _diagonal(bases)
    return Fraction(f.S0, f.L @ V, V.T @ f.R, V.T @ f.N @ V, tuple(b.shape[1] for b in bases))


def _range(matrix: np.ndarray, floor: float) -> np.ndarray:
    if not matrix.size:
        return np.zeros((len(matrix), 0))
    U, s, _ = np.linalg.svd(matrix, full_matrices=False)
    return U[:, s > max(floor, 1e-12 * s[0])]


def _diagonal(bases: Sequence[np.ndarray]) -> np.ndarray:
    out = np.zeros((sum(len(b) for b in bases), sum(b.shape[1] for b in bases)))
    row = column = 0
    for b in bases:
        out[row : row + len(b), column : column + b.shape[1]] = b
        row, column = row + len(b), column + b.shape[1]
    return out
