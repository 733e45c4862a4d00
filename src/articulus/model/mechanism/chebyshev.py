"""Many numbers that change smoothly with a few parameters, as polynomials that are fitted to samples of them.

Each parameter is scaled to -1 .. 1 over its range, itself or by its logarithm, whichever gives the shorter series: masses are
linear in a density and stiffnesses cubic in a thickness, but powers of a length need the logarithm. Samples at Chebyshev points give the coefficients of Chebyshev polynomials; the degree in
each parameter grows until the last coefficients are small. Most numbers are multiples or short sums of a few of them, so that
only those few are kept as polynomials (interpolative decomposition by a pivoted QR factorisation). How far the polynomials are
from further samples is measured.

Source: Trefethen 2019, chapters 3 and 8; Cheng, Gimbutas, Martinsson & Rokhlin 2005.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism.expression import Parameter

TOLERANCE = 1e-10
"""Size of coefficients that are omitted, in units of the scale of each number."""
SEVERAL = 1e-8
"""The same for the degrees of a fit over several parameters, whose samples are as many as their product."""
DEGREES = (4, 8, 16)
"""Degrees that are tried along one parameter, one after another; the points of each are among those of the next."""
MOST = 600
"""Most samples of a fit."""
WORST = 1e-6
"""Largest error of a fit that is used, in units of the scale of each number."""

Sample = Callable[[Mapping[str, float]], tuple[np.ndarray, np.ndarray]]
"""Numbers at values of the parameters, (n,), and the scale of each, (n,)."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Numbers as functions of parameters: constant + mixing @ functions(parameters).

    Parameters
    ----------
    parameters : tuple of Parameter
        Each with its range.
    constant : array, (n,)
    mixing : array, (n, r)
    coefficients : array, (r, degree + 1, ...)
        Coefficients of products of Chebyshev polynomials, an axis per parameter.
    logarithmic : tuple of bool
        Which parameters are scaled by their logarithm.
    error : float
        Largest difference from samples that the fit does not go through, in units of the scale of each number.
    """

    parameters: tuple[Parameter, ...]
    constant: np.ndarray
    mixing: np.ndarray
    coefficients: np.ndarray
    logarithmic: tuple[bool, ...]
    error: float

    def functions(self, values: Sequence[Any], module: Any = np) -> list[Any]:
        """Return the r functions at values of the parameters: floats, arrays or symbols; `module` holds `log` for them."""
        held = zip(self.parameters, values, self.logarithmic)
        scaled = [_to_unit_interval(p, x, logarithmic, module) for p, x, logarithmic in held]
        series = [_polynomials(x, n) for x, n in zip(scaled, self.coefficients.shape[1:])]
        products: dict[tuple[int, ...], Any] = {}
        out = []
        for own in self.coefficients:
            total: Any = 0.0
            for at in map(tuple, np.argwhere(own)):
                if at not in products:
                    products[at] = math.prod(
                        (axis[k] for axis, k in zip(series[1:], at[1:])), start=series[0][at[0]]
                    )
                total = total + float(own[at]) * products[at]
            out.append(total)
        return out

    def at(self, values: Sequence[float]) -> np.ndarray:
        """Return the numbers at values of the parameters, (n,)."""
        return np.asarray(self.constant + self.mixing @ np.array(self.functions(values), dtype=float))


def fit(sample: Sample, parameters: Sequence[Parameter], what: str) -> Fit:
    """Return the fit of numbers over the ranges of parameters; raise InputError where it is not good enough.

    Parameters
    ----------
    sample : callable
        Gives the numbers at values of the parameters, and the scale of each.
    parameters : sequence of Parameter
        Each with a range.
    what : str
        How messages call the numbers.
    """
    known = _Samples(sample, tuple(parameters), what)
    degrees = known.degrees()
    while True:
        count = math.prod(d + 1 for d in degrees)
        if count > MOST:
            raise InputError(
                f"{what}: {count} samples over the ranges of {known.names} would be needed; expected at most {MOST}. Fewer "
                "parameters, or narrower ranges, need fewer"
            )
        found = known.fit(degrees)
        if found.error <= WORST or max(degrees) >= DEGREES[-1]:
            break
        degrees = tuple(d + 2 if d else 0 for d in degrees)
    if found.error > WORST:
        raise InputError(
            f"{what}: polynomials over the ranges of {known.names} differ from it by {found.error:.2g} of its size; expected at "
            f"most {WORST:g}. A mode that leaves the set of modes within the range does this: take a narrower range, or one "
            "mode more or less"
        )
    return found


def no_range(p: Parameter) -> str:
    """Return what is wrong with a parameter without range in a flexible body."""
    return (
        f"parameter '{p.name}' has no range; expected Parameter('{p.name}', {p.value:g}, range=(low, high)), over which the data "
        "of the flexible body are prepared"
    )


class _Samples:
    """Samples that are kept, and fits to them."""

    def __init__(self, sample: Sample, parameters: tuple[Parameter, ...], what: str):
        for p in parameters:
            if p.range is None:
                raise InputError(f"{what}: {no_range(p)}")
        self._sample, self._parameters = sample, parameters
        self._known: dict[tuple[float, ...], tuple[np.ndarray, np.ndarray]] = {}
        self.names = ", ".join(f"'{p.name}'" for p in parameters)
        self._scale = self._of(tuple(p.value for p in parameters))[1]
        self.logarithmic = tuple(self._is_shorter(k) for k in range(len(parameters)))

    def _of(self, values: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
        key = tuple(float(f"{x:.12g}") for x in values)
        if key not in self._known:
            self._known[key] = self._sample({p.name: x for p, x in zip(self._parameters, values)})
        return self._known[key]

    def values(self, scaled: Sequence[float]) -> tuple[float, ...]:
        """Return the values of the parameters at places from -1 to 1."""
        held = zip(self._parameters, scaled, self.logarithmic)
        return tuple(_from_unit_interval(p, x, logarithmic) for p, x, logarithmic in held)

    def at(self, scaled: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        return self._of(self.values(scaled))

    def _along(self, k: int, degree: int, logarithmic: bool) -> np.ndarray:
        """Return the sizes of the coefficients along one parameter while the others stay, (degree + 1,)."""
        values = [p.value for p in self._parameters]
        places = [_from_unit_interval(self._parameters[k], x, logarithmic) for x in _points(degree)]
        rows = [self._of((*values[:k], x, *values[k + 1 :]))[0] for x in places]
        return np.asarray(np.abs(_coefficients(np.array(rows)) / self._scale).max(axis=1, initial=0.0))

    def _is_shorter(self, k: int) -> bool:
        """Whether the series in the logarithm of a parameter is the shorter one, by the last of few coefficients."""
        p = self._parameters[k]
        assert p.range is not None
        if p.range[0] <= 0:
            return False
        plain, logarithmic = (self._along(k, DEGREES[0], x)[-1] for x in (False, True))
        return bool(logarithmic < plain and plain > TOLERANCE)

    def degrees(self) -> tuple[int, ...]:
        """Return the degree that each parameter needs while the others stay."""
        out = []
        for k in range(len(self._parameters)):
            for degree in DEGREES:
                sizes = self._along(k, degree, self.logarithmic[k])
                if sizes[-2:].max() < TOLERANCE:
                    break
            out.append(int(np.flatnonzero(sizes >= SEVERAL).max(initial=0)))
        return (
            tuple(out) if len(out) > 1 else (degree,)
        )  # of a single parameter all samples are there already

    def fit(self, degrees: tuple[int, ...]) -> Fit:
        grids = [_points(d) for d in degrees]
        rows = np.array([self.at(x)[0] for x in itertools.product(*grids)])
        coefficients = rows.reshape(*(d + 1 for d in degrees), -1)
        for axis in range(len(degrees)):
            coefficients = np.moveaxis(_coefficients(np.moveaxis(coefficients, axis, 0)), 0, axis)
        shape = coefficients.shape[:-1]
        scaled = coefficients.reshape(-1, coefficients.shape[-1]) / self._scale
        scaled = np.where(np.abs(scaled) < TOLERANCE, 0.0, scaled)
        constant, scaled = scaled[0] * self._scale, scaled[1:]
        chosen, mixing = _few(scaled)
        functions = np.concatenate([np.zeros((1, len(chosen))), scaled[:, chosen]]).T.reshape(-1, *shape)
        functions = _trim(functions)
        found = Fit(
            self._parameters, constant, mixing * self._scale[:, None], functions, self.logarithmic, 0.0
        )
        return dataclasses.replace(found, error=self._error(found))

    def _error(self, found: Fit) -> float:
        """Return the largest error at points between those of the fit, and at the ends of all ranges together."""
        irrational = [0.618033988749895, 0.414213562373095, 0.732050807568877, 0.236067977499790]
        k = len(self._parameters)
        between = [
            tuple(2 * ((m * irrational[i % 4] + 0.37 * i) % 1) - 1 for i in range(k)) for m in (1, 2, 3)
        ]
        worst = 0.0
        for x in (*between, (1.0,) * k, (-1.0,) * k):
            exact, scale = self.at(x)
            there = found.at(self.values(x))
            worst = max(worst, float(np.abs((there - exact) / scale).max(initial=0.0)))
        return worst


def _few(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which columns all others are combinations of, and the coefficients of these combinations, (n, r)."""
    from scipy.linalg import qr, solve_triangular  # late: SciPy is slow to import

    n = columns.shape[1]
    if not columns.any():
        return np.zeros(0, dtype=int), np.zeros((n, 0))
    R, order = qr(columns, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.count_nonzero(diagonal > TOLERANCE))
    mixing = np.zeros((n, rank))
    mixing[order[:rank]] = np.eye(rank)
    mixing[order[rank:]] = solve_triangular(R[:rank, :rank], R[:rank, rank:]).T
    size = np.abs(columns).max(axis=0)
    mixing[np.abs(mixing) * size[order[:rank]] < TOLERANCE] = 0.0
    return order[:rank], mixing


def _trim(coefficients: np.ndarray) -> np.ndarray:
    """Return coefficients (r, ...) without the high degrees that all functions lack."""
    ends = [int(k.max(initial=0)) + 1 for k in np.nonzero(coefficients)[1:]]
    return coefficients[(slice(None), *(slice(end) for end in ends))]


def _points(degree: int) -> list[float]:
    """Return the Chebyshev points of a degree, from 1 to -1; the middle for degree 0."""
    return [math.cos(math.pi * k / degree) for k in range(degree + 1)] if degree else [0.0]


def _coefficients(rows: np.ndarray) -> np.ndarray:
    """Return Chebyshev coefficients, by rows, of functions that are given at the Chebyshev points (degree + 1, ...)."""
    degree = len(rows) - 1
    if degree == 0:
        return rows
    k = np.arange(degree + 1)
    ends = np.where((k == 0) | (k == degree), 0.5, 1.0)
    transform = 2 / degree * ends[:, None] * np.cos(np.pi * np.outer(k, k) / degree) * ends
    return np.tensordot(transform, rows, axes=1)


def _polynomials(x: Any, count: int) -> list[Any]:
    """Return the first Chebyshev polynomials at x."""
    out = [1.0, x]
    while len(out) < count:
        out.append(2 * x * out[-1] - out[-2])
    return out[:count]


def _to_unit_interval(p: Parameter, value: Any, logarithmic: bool, module: Any) -> Any:
    """Return a value of a parameter on the scale from -1 to 1."""
    assert p.range is not None
    low, high = p.range
    if logarithmic:
        low, high, value = math.log(low), math.log(high), module.log(value)
    return (2 * value - (low + high)) / (high - low)


def _from_unit_interval(p: Parameter, x: float, logarithmic: bool) -> float:
    assert p.range is not None
    low, high = p.range
    if logarithmic:
        value = math.exp((math.log(low) + math.log(high) + x * (math.log(high) - math.log(low))) / 2)
    else:
        value = (low + high + x * (high - low)) / 2
    return min(max(value, low), high)
