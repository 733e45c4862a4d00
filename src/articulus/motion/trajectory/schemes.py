"""Collocation schemes: where the equations hold within an interval, and how states follow from rates there.

With states x_j and rates r_j at the points c_j of an interval of length h, a scheme is the linear relations
sum_j A_ij x_j + h sum_j B_ij r_j = 0 and the weights of its quadrature. The first and the last point are the ends, which neighbors share.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from articulus.errors import Finding, InputError

RICCATI = ("riccati", "riccati semi_implicit_euler")
"""Names of methods of `riccati_plan`, which take steps of equal length and no `Scheme` of collocation."""


@dataclass(frozen=True, eq=False)
class Scheme:
    """A collocation scheme.

    Parameters
    ----------
    name : str
    points : array, (s,)
        From 0 to 1.
    A, B : array, (k, s)
    weights : array, (s,)
    order : int
        Of the states at the ends of intervals.
    """

    name: str
    points: np.ndarray
    A: np.ndarray
    B: np.ndarray
    weights: np.ndarray
    order: int

    @property
    def to_start(self) -> np.ndarray:
        """Factors of the values at all points but the first, whose polynomial they continue to the start of the interval."""
        c = self.points[1:]
        return np.array([np.prod([-o / (p - o) for o in np.delete(c, k)]) for k, p in enumerate(c)])

    def own(self, values: np.ndarray) -> np.ndarray:
        """Return values at the points, (intervals, points, ...), of which the interval itself has the first: where the scheme uses no rate
        there, the first is that of the interval before and the polynomial of the others takes its place."""
        if self.B[:, 0].any() or len(self.points) < 2:
            return values
        out = values.copy()
        out[:, 0] = np.tensordot(self.to_start, values[:, 1:], (0, 1))
        return out


def hermite_simpson() -> Scheme:
    """Return the Hermite-Simpson scheme: ends and middle, order 4 (Hargraves & Paris 1987)."""
    return Scheme(
        "hermite_simpson",
        np.array([0, 0.5, 1]),
        np.array([[-1, 0, 1], [-0.5, 1, -0.5]]),
        np.array([[-1 / 6, -4 / 6, -1 / 6], [-1 / 8, 0, 1 / 8]]),
        np.array([1 / 6, 4 / 6, 1 / 6]),
        4,
    )


def weak() -> Scheme:
    """Return finite elements in time: states are their values in the elements and at the nodes, inputs constant in each element, order 2.

    The weak Hamiltonian form with linear virtual states and costates (Bless, Hodges & Calise 1989). Its equations are the conditions of
    optimality of this scheme, the midpoint rule.
    """
    return Scheme(
        "weak",
        np.array([0, 0.5, 1]),
        np.array([[-1.0, 0, 1], [-0.5, 1, -0.5]]),
        np.array([[0.0, -1, 0], [0, 0, 0]]),
        np.array([0.0, 1, 0]),
        2,
    )


def shooting() -> Scheme:
    """Return multiple shooting: nodes only, with inputs linear between them; `shooting.Steps` takes the place of A, B and weights."""
    return Scheme(
        "shooting",
        np.array([0.0, 1]),
        np.array([[-1.0, 1]]),
        np.array([[-0.5, -0.5]]),
        np.array([0.5, 0.5]),
        4,
    )


@lru_cache(maxsize=16)
def lobatto(points: int) -> Scheme:
    """Return the scheme on the Legendre-Gauss-Lobatto points of an interval, both ends among them, order 2 points - 2."""
    if points < 2:
        raise InputError(Finding("lobatto", f"{points} points", "2 or more"))
    inner = np.sort(np.polynomial.legendre.Legendre.basis(points - 1).deriv().roots().real)
    c = np.concatenate([[0.0], (inner + 1) / 2, [1.0]])
    integrals = _integrals(c, c)
    A = np.hstack([-np.ones((points - 1, 1)), np.eye(points - 1)])
    return Scheme(f"lobatto {points}", c, A, -integrals[1:], integrals[-1], 2 * points - 2)


@lru_cache(maxsize=16)
def radau(points: int) -> Scheme:
    """Return the scheme on the flipped Legendre-Gauss-Radau points of an interval, its end among them, order 2 points - 1.

    The rates at the start of an interval are those of the interval before; they do not enter.
    """
    if points < 1:
        raise InputError(Finding("radau", f"{points} points", "1 or more"))
    basis = np.polynomial.legendre.Legendre.basis
    roots = np.sort((basis(points) - basis(points - 1)).roots().real)
    c = (roots + 1) / 2
    c[-1] = 1.0
    integrals = _integrals(c, c)
    A = np.hstack([-np.ones((points, 1)), np.eye(points)])
    B = np.hstack([np.zeros((points, 1)), -integrals])
    weights = np.concatenate([[0.0], integrals[-1]])
    return Scheme(f"radau {points}", np.concatenate([[0.0], c]), A, B, weights, 2 * points - 1)


def _integrals(points: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the integrals from 0 to each end of the Lagrange polynomials on the points, (ends, points)."""
    x, w = np.polynomial.legendre.leggauss(len(points) + 1)
    out = np.zeros((len(ends), len(points)))
    for j in range(len(points)):
        others = np.delete(points, j)
        for i, end in enumerate(ends):
            at = end * (x + 1) / 2
            values = np.prod((at[:, None] - others) / (points[j] - others), axis=1)
            out[i, j] = end / 2 * (w @ values)
    return out


def scheme(name: str) -> Scheme:
    """Return a scheme by its name: "hermite_simpson", "shooting", "weak", "lobatto 5", "radau 3"."""
    kind, _, count = name.partition(" ")
    plain = {"hermite_simpson": hermite_simpson, "shooting": shooting, "weak": weak}
    if kind in plain and not count:
        return plain[kind]()
    if kind in ("lobatto", "radau") and count.isdigit():
        return {"lobatto": lobatto, "radau": radau}[kind](int(count))
    raise InputError(
        Finding(
            "",
            f'scheme "{name}"',
            '"hermite_simpson", "shooting", "weak", "lobatto <points>", "radau <points>", "riccati" or "riccati semi_implicit_euler"',
        )
    )
