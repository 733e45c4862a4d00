"""Beams in a plane whose elements have areas or nodal depths as sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from articulus.design.sized_structure import Terms

Shapes = Callable[[np.ndarray], np.ndarray]


def stepped_beam(
    length: float, count: int, density: float, modulus: float
) -> tuple[Terms, Terms, np.ndarray]:
    """Return mass, stiffness and weights of a free beam of `count` elements with square sections, whose areas are the sizes.

    Degrees of freedom are deflection and slope of each node, from the root. Mass grows with the area, stiffness with its square
    (I = a^2 / 12).

    Parameters
    ----------
    length : float [m]
        Length of the whole.
    count : int
    density : float [kg/m^3]
    modulus : float [Pa]

    Returns
    -------
    Terms, Terms, array (count,) [kg/m^2]
    """
    h, n = length / count, 2 * (count + 1)
    mass, bend = _integrals(h, lambda s: np.ones((1, *s.shape)), lambda s: np.ones((1, *s.shape)))
    eye = np.eye(count)
    M = Terms(np.array([_place(density * mass[0], j, n) for j in range(count)]), eye)
    K = Terms(np.array([_place(modulus / 12 * bend[0], j, n) for j in range(count)]), 2 * eye)
    return M, K, np.full(count, density * h)


def tapered_beam(
    length: float, count: int, width: float, density: float, modulus: float
) -> tuple[Terms, Terms, np.ndarray]:
    """Return mass, stiffness and weights of a free beam whose depth is linear between `count` + 1 nodes: the nodal depths are the sizes.

    Sections are rectangles of constant width: mass grows with the depth, stiffness with its cube.

    Parameters
    ----------
    length, width : float [m]
    count : int
    density : float [kg/m^3]
    modulus : float [Pa]

    Returns
    -------
    Terms, Terms, array (count + 1,) [kg/m]
    """
    h, n = length / count, 2 * (count + 1)
    mass, bend = _integrals(
        h,
        lambda s: np.array([1 - s, s]),
        lambda s: np.array([math.comb(3, k) * (1 - s) ** (3 - k) * s**k for k in range(4)]),
    )
    unit = np.eye(count + 1)
    M, K, powers_M, powers_K = [], [], [], []
    for j, k in itertools.product(range(count), range(2)):
        M.append(_place(density * width * mass[k], j, n))
        powers_M.append(unit[j + k])
    for j, k in itertools.product(range(count), range(4)):
        K.append(_place(modulus * width / 12 * bend[k], j, n))
        powers_K.append((3 - k) * unit[j] + k * unit[j + 1])
    weights = density * width * h * np.array([0.5 if j in (0, count) else 1.0 for j in range(count + 1)])
    return Terms(np.array(M), np.array(powers_M)), Terms(np.array(K), np.array(powers_K)), weights


def _integrals(h: float, of_mass: Shapes, of_bending: Shapes) -> tuple[np.ndarray, np.ndarray]:
    """Return integrals over an element of cubic shapes N N' and of curvatures N'' N''', weighted by functions of the place 0 to 1."""
    s, w = np.polynomial.legendre.leggauss(6)
    s, w = (s + 1) / 2, h * w / 2
    N = np.array([1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, h * (s**3 - s**2)])
    curved = np.array([12 * s - 6, h * (6 * s - 4), 6 - 12 * s, h * (6 * s - 2)]) / h**2
    mass = np.einsum("kp,ip,jp,p->kij", of_mass(s), N, N, w)
    return mass, np.einsum("kp,ip,jp,p->kij", of_bending(s), curved, curved, w)


def _place(element: np.ndarray, j: int, n: int) -> np.ndarray:
    out = np.zeros((n, n))
    out[2 * j : 2 * j + 4, 2 * j : 2 * j + 4] = element
    return out


def constrain(terms: Terms, free: np.ndarray, more: np.ndarray | None = None) -> Terms:
    """Return a matrix with only some degrees of freedom, and a constant one added, (free, free)."""
    kept = terms.matrices[:, free][:, :, free]
    if more is None:
        return Terms(kept, terms.powers)
    return Terms(
        np.concatenate([kept, more[None]]), np.vstack([terms.powers, np.zeros(terms.powers.shape[1])])
    )
