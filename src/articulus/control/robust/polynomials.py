"""Stability of families of polynomials: Kharitonov's theorem, the edge theorem, polynomic dependence on parameters.

Coefficients are in falling powers of s, as in NumPy. A polynomial is stable here if all roots have negative real parts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulus.errors import InputError, doubtful

SMALLEST_BOX = 2.0**-18
"""Side of a box, over that of the whole, at which the search gives up on it."""


@dataclass(frozen=True, eq=False)
class FamilyStability:
    """Whether all polynomials of a family are stable.

    Parameters
    ----------
    stable : bool or None
        None: not decided: a limit of the search, Ctrl-C, or a polynomial too near to the boundary.
    root : complex
        Root farthest to the right that was seen [rad/s].
    polynomial : array
        The member of the family that has it.
    values : dict of name to float
        Its parameters, where the family has named ones.
    """

    stable: bool | None
    root: complex
    polynomial: np.ndarray
    values: Mapping[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.stable)

    def __str__(self) -> str:
        text = {True: "stable", False: "not stable", None: "not decided"}[self.stable]
        at = ", ".join(f"{n} = {v:.6g}" for n, v in self.values.items())
        return f"{text}; root farthest to the right {self.root:.6g}{' at ' + at if at else ''}"


def kharitonov(lower: Any, upper: Any) -> FamilyStability:
    """Return whether all polynomials whose coefficients lie anywhere between two are stable (Kharitonov 1978): four decide.

    Parameters
    ----------
    lower, upper : arrays, (n + 1,)
        Coefficients by falling powers; the first ones have one sign.
    """
    low, high = (np.asarray(x, dtype=float) for x in (lower, upper))
    if low.ndim != 1 or low.shape != high.shape or len(low) < 2 or not (low <= high).all():
        raise InputError(
            f"kharitonov: found coefficients {low.tolist()} and {high.tolist()}; expected as many in both, lower <= upper"
        )
    if low[0] * high[0] <= 0.0:
        raise InputError(
            f"kharitonov: found leading coefficients from {low[0]:g} to {high[0]:g}; expected one sign: the degree must not change"
        )
    corners = []
    for pattern in ("llhh", "hhll", "lhhl", "hllh"):  # by rising powers of s, repeating
        rising = [(low if pattern[i % 4] == "l" else high)[::-1][i] for i in range(len(low))]
        corners.append(np.array(rising[::-1]))
    return _worst(corners)


def edges(polynomials: Sequence[Any]) -> FamilyStability:
    """Return whether all convex combinations of polynomials of one degree are stable (edge theorem of Bartlett, Hollot & Huang 1988).

    They are if those on the lines between each two of them are: a line from p to q is stable if both are and the matrix
    -H(p)^-1 H(q) of their Hurwitz matrices has no negative real eigenvalue (Bialas 1985).

    Parameters
    ----------
    polynomials : sequence of arrays, (n + 1,)
        The corners of the polytope.
    """
    corners = [np.atleast_1d(np.asarray(p, dtype=float)) for p in polynomials]
    if not corners or len({len(p) for p in corners}) > 1 or len(corners[0]) < 2:
        raise InputError(
            "edges: found polynomials of different lengths, or none; expected coefficients of one degree"
        )
    if len({np.sign(p[0]) for p in corners}) > 1 or corners[0][0] == 0.0:
        raise InputError(
            f"edges: found leading coefficients {[float(p[0]) for p in corners]}; expected one sign: the degree must not change"
        )
    found = _worst(corners)
    if not found:
        return found
    for p, q in itertools.combinations(corners, 2):
        ratios = np.linalg.eigvals(np.linalg.solve(hurwitz(p), hurwitz(q)))
        real = ratios[(np.abs(ratios.imag) <= 1e-9 * np.abs(ratios)) & (ratios.real < 0)].real
        if len(real):  # (1 - t) H(p) + t H(q) is singular at t = 1 / (1 - ratio)
            t = 1.0 / (1.0 - real[0])
            bad = (1 - t) * p + t * q
            return FamilyStability(False, _right(bad), bad)
    return found


def hurwitz(p: np.ndarray) -> np.ndarray:
    """Return the Hurwitz matrix of a polynomial, (n, n)."""
    n = len(p) - 1
    padded = np.concatenate([np.zeros(n), p, np.zeros(n + 1)])
    return np.array([[padded[n + 2 * (j + 1) - (i + 1)] for j in range(n)] for i in range(n)])


def polynomic(
    family: Callable[..., Any], ranges: Mapping[str, tuple[float, float]], *, parts: int = 100_000
) -> FamilyStability:
    """Return whether a polynomial whose coefficients are polynomials of parameters is stable for all values in a box.

    The box is divided until each part is decided: coefficients are put into Bernstein form over the part, which bounds the
    values p(j w) takes there; Kharitonov's four polynomials of these bounds show stability, a corner with a root to the right
    the opposite. Multilinear and any other polynomial dependence is treated alike.

    Parameters
    ----------
    family : function
        Takes the parameters by name, returns coefficients by falling powers, polynomials of the parameters.
    ranges : dict of name to (low, high)
    parts : int
        Largest number of parts of the box; some 2000 take a second. After them, and on Ctrl-C, the answer is that it is not
        decided, with a warning.
    """
    if parts < 1:
        raise InputError(f"polynomic: found parts = {parts!r}; expected at least 1")
    box = np.array([[float(x) for x in r] for r in ranges.values()])
    names = tuple(ranges)
    if box.ndim != 2 or box.shape[1:] != (2,) or not (box[:, 0] < box[:, 1]).all():
        raise InputError(
            f"polynomic: found ranges {dict(ranges)}; expected (low, high) with low < high for each name"
        )
    bernstein = _Bernstein(lambda x: np.asarray(family(**dict(zip(names, x))), dtype=float), box)
    worst: tuple[complex, np.ndarray, np.ndarray] | None = None
    left, looked_at = [np.array([[0.0, 1.0]] * len(names))], 0
    decided: bool | None = True
    cause = "interrupted by Ctrl-C"
    try:
        while left:
            if looked_at >= parts:
                decided, cause = None, f"{len(left)} parts of the box are left after {parts}; raise parts"
                break
            part = left.pop()
            looked_at += 1
            middle = part.mean(axis=1)
            for x in [middle, part[:, 0], part[:, 1]]:
                p = bernstein.at(x)
                right = _right(p)
                if worst is None or right.real > worst[0].real:
                    worst = (right, p, x)
            if worst is not None and worst[0].real >= 0:
                decided = False
                break
            low, high = bernstein.bounds(part)
            if low[0] * high[0] > 0 and kharitonov(low, high):
                continue
            side = int(np.argmax(part[:, 1] - part[:, 0]))
            if part[side, 1] - part[side, 0] < SMALLEST_BOX:
                decided, cause = None, "a polynomial there is too near to the boundary of stability"
                break
            for half in ((part[side, 0], middle[side]), (middle[side], part[side, 1])):
                child = part.copy()
                child[side] = half
                left.append(child)
    except KeyboardInterrupt:
        decided = None
    assert worst is not None
    if decided is None:
        doubtful(f"polynomic: not decided: {cause}; the rightmost root found is {worst[0]:.4g}")
    values = box[:, 0] + worst[2] * (box[:, 1] - box[:, 0])
    return FamilyStability(decided, worst[0], worst[1], dict(zip(names, map(float, values))))


class _Bernstein:
    """Coefficients of a polynomial in s that are polynomials of parameters on the unit box; their bounds over parts of it."""

    def __init__(self, take: Callable[[np.ndarray], np.ndarray], box: np.ndarray) -> None:
        self._take, self.box = take, box
        self.degrees = [self._degree(i) for i in range(len(box))]
        grids = [0.5 - 0.5 * np.cos(np.pi * (np.arange(d + 1) + 0.5) / (d + 1)) for d in self.degrees]
        values = np.array([self.at(np.array(x)) for x in itertools.product(*grids)])
        tensor = values.reshape(*(d + 1 for d in self.degrees), -1)
        for axis, nodes in enumerate(grids):
            inverse = np.linalg.inv(np.vander(nodes, increasing=True))
            tensor = np.moveaxis(np.tensordot(inverse, tensor, axes=(1, axis)), 0, axis)
        self.monomials = tensor
        check = np.random.default_rng(0).uniform(size=(5, len(box)))
        for x in check:
            if np.abs(self._polynomial(x) - self.at(x)).max() > 1e-7 * np.abs(self.at(x)).max():
                raise InputError(
                    "polynomic: found coefficients that are not polynomials of the parameters, of degree up to 6"
                )

    def at(self, x: np.ndarray) -> np.ndarray:
        return self._take(self.box[:, 0] + x * (self.box[:, 1] - self.box[:, 0]))

    def _degree(self, axis: int) -> int:
        """Return the degree in one parameter."""
        nodes = np.linspace(0, 1, 9)
        place = np.random.default_rng(axis).uniform(size=len(self.box))
        rows = []
        for x in nodes:
            place[axis] = x
            rows.append(self.at(place))
        values = np.array(rows)
        for degree in range(7):
            V = np.vander(nodes, degree + 1)
            off = np.abs(values - V @ np.linalg.lstsq(V, values, rcond=None)[0]).max()
            if off < 1e-10 * np.abs(values).max():
                return degree
        raise InputError(
            "polynomic: found coefficients that are not polynomials of the parameters, of degree up to 6"
        )

    def _polynomial(self, x: np.ndarray) -> np.ndarray:
        tensor = self.monomials
        for value, degree in zip(x, self.degrees):
            tensor = np.tensordot(value ** np.arange(degree + 1), tensor, axes=(0, 0))
        return tensor

    def bounds(self, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return least and largest Bernstein coefficients over a part: bounds of each coefficient of s."""
        tensor = self.monomials
        for axis, ((low, high), degree) in enumerate(zip(part, self.degrees)):
            change = _to_bernstein(degree) @ _shift(degree, low, high - low)
            tensor = np.moveaxis(np.tensordot(change, tensor, axes=(1, axis)), 0, axis)
        flat = tensor.reshape(-1, tensor.shape[-1])
        return flat.min(axis=0), flat.max(axis=0)


def _shift(degree: int, start: float, width: float) -> np.ndarray:
    """Return the matrix from coefficients of x^k to those of t^k, x = start + width t."""
    from math import comb

    out = np.zeros((degree + 1, degree + 1))
    for k in range(degree + 1):
        for j in range(k + 1):
            out[j, k] = comb(k, j) * start ** (k - j) * width**j
    return out


def _to_bernstein(degree: int) -> np.ndarray:
    from math import comb

    return np.array(
        [
            [comb(i, k) / comb(degree, k) if k <= i else 0.0 for k in range(degree + 1)]
            for i in range(degree + 1)
        ]
    )


def _right(p: np.ndarray) -> complex:
    """Return the root farthest to the right."""
    roots = np.roots(p)
    return complex(roots[np.argmax(roots.real)]) if len(roots) else complex(-np.inf)


def _worst(corners: Sequence[np.ndarray]) -> FamilyStability:
    rights = [_right(p) for p in corners]
    k = int(np.argmax([r.real for r in rights]))
    return FamilyStability(bool(rights[k].real < 0.0), rights[k], corners[k])
