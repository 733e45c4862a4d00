"""The constants of a flexible body, freed of rounding, in the form that its equations take.

Of the spatial inertia nine numbers change with the deformation: first moment (3) and moments of inertia (upper triangle, 6).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.model.mechanism.modes import Modes, Station

LEVI_CIVITA = np.cross(np.eye(3)[:, None], np.eye(3))
"""Permutation symbol."""

ROUNDING = 1e-11
"""What rounding leaves in place of zeros, beside the largest entry of an array: shapes are not more exact than that."""
SMALL = 1e-3
"""Least size of an array, in natural units, by which errors of its entries are measured."""
INDEPENDENT = 1e-8
"""Least part of a function's square that is not of the functions before it."""
NINE = np.array([(2, 4), (0, 5), (1, 3), (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]).T
"""Where the nine numbers stand in a spatial inertia."""


@dataclass(frozen=True, eq=False)
class Particle:
    """Share of one function b of the material point, of unit norm over the mass, in the places of all points."""

    sign: int
    """-1 if its norm is negative: only with moments of inertia that no mass can have."""
    weight: float
    """Integral of b over the mass [kg^(1/2)]."""
    place: np.ndarray
    """(3,) Of the undeformed body."""
    first: np.ndarray
    """(3, n) Derivative by the modal coordinates."""
    second: np.ndarray
    """(n, 3, n) Second derivative."""

    def second_order(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what its second derivative adds to rr2 and rf1 of `Integrals`, (n, 9, n) and (n, 6, n)."""
        h = self.sign * self.second.transpose(0, 2, 1)
        rr2, rf1 = np.zeros((*h.shape[:2], 6, 6)), np.zeros((len(h), 6, len(h)))
        moment = h[..., None] * self.place + h[..., None, :] * self.place[:, None]
        rr2[..., :3, :3] = np.trace(moment, axis1=2, axis2=3)[..., None, None] * np.eye(3) - moment
        across = self.weight * np.einsum("iaj,...a->...ij", LEVI_CIVITA, h)
        rr2[..., :3, 3:], rr2[..., 3:, :3] = across, -across
        rf1[:, :3] = np.cross(self.place, h).transpose(0, 2, 1)
        rf1[:, 3:] = self.weight * h.transpose(0, 2, 1)
        return _nine(rr2).transpose(0, 2, 1), rf1


@dataclass(frozen=True, eq=False)
class Integrals:
    """See `Modes`; everything that its level leaves out is zero.

    Where numbers follow named parameters, the arrays hold expressions (`data`).
    """

    mass: float
    """[kg]"""
    rr0: np.ndarray
    """(9,)"""
    rr1: np.ndarray
    """(9, n)"""
    rr2: np.ndarray
    """(n, 9, n)"""
    rf0: np.ndarray
    """(6, n)"""
    swept: np.ndarray
    """(n, 6, n) Half of rf1 that is symmetric in the two modal coordinates."""
    gyroscopic: np.ndarray
    """(n, 6, n) Half of rf1 that is antisymmetric in them."""
    ff: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    particles: tuple[Particle, ...]
    """All that the displacement of second order does; see `shortening`."""

    @staticmethod
    def of(modes: Modes) -> Integrals:
        """Return the constants of a body; entries of rounding size are zero."""
        rr2, rf1 = (np.zeros_like(x) for x in (modes.rr2, modes.rf1))
        particles: tuple[Particle, ...] = ()
        if modes.level != "ruthless":
            rr2, rf1 = rr2 + modes.rr2, rf1 + modes.rf1
        if modes.level == "consistent":
            particles = _particles(modes, _size(modes.ff))
            rr2, rf1 = rr2 + modes.rr2_shortening, rf1 + modes.rf1_shortening
        rr0, rr1, rr2 = map(_nine, (modes.rr0, modes.rr1, rr2))
        rr2 = rr2.transpose(0, 2, 1)
        radius = np.sqrt(np.trace(modes.rr0[:3, :3]) / modes.rr0[3, 3])
        six, nine = np.repeat([radius, 1.0], 3), np.repeat([1.0, radius], (3, 6))
        one = _size(modes.ff)
        limits = [
            ROUNDING * _relative_size(x, one, unit, one).max(initial=0.0)
            for x, unit in ((rr2, nine), (rf1, six))
        ]
        for particle in particles:
            more_rr2, more_rf1 = particle.second_order()
            rr2, rf1 = rr2 - more_rr2, rf1 - more_rf1
        swept, gyroscopic = ((rf1 + sign * rf1.T) / 2 for sign in (1, -1))
        ff, stiffness, damping = (
            _clean(x, _size(x), _size(x)) for x in (modes.ff, modes.stiffness, modes.damping)
        )
        return Integrals(
            float(modes.rr0[3, 3]),
            _clean(rr0, nine),
            _clean(rr1.T, nine, one),
            _clean(rr2, one, nine, one, limit=limits[0]),
            _clean(modes.rf0, six, one),
            _clean(swept, one, six, one, limit=limits[1]),
            _clean(gyroscopic, one, six, one, limit=limits[1]),
            ff,
            stiffness,
            damping,
            particles,
        )

    def arrays(self) -> list[Any]:
        """Return all numbers as arrays, in a fixed order."""
        own = [getattr(self, f.name) for f in dataclasses.fields(self)[:-1]]
        return own + [
            x for each in self.particles for x in (each.weight, each.place, each.first, each.second)
        ]

    def with_arrays(self, arrays: Sequence[Any]) -> Integrals:
        """Return the same body with other arrays, in the order of `arrays`."""
        own = len(arrays) - 4 * len(self.particles)
        held = iter(arrays[own:])
        particles = tuple(Particle(each.sign, *(next(held) for _ in range(4))) for each in self.particles)
        names = [f.name for f in dataclasses.fields(self)[:-1]]
        return Integrals(**dict(zip(names, arrays[:own])), particles=particles)


@functools.lru_cache(maxsize=256)
def station_of(modes: Modes, name: str) -> Station:
    """Return a station whose shapes have zeros where rounding left something.

    Entries are measured by the largest of all stations of the body; those of second order by products of two of first order too.
    """
    one, held, all_stations = _size(modes.ff), modes.station(name), modes.stations.values()
    shift, turn = (
        max(_relative_size(getattr(each, x), np.ones(3), one).max(initial=0.0) for each in all_stations)
        for x in ("translation", "rotation")
    )
    sizes = {"translation": shift, "rotation": turn, "shortening": shift * turn, "turning": turn * turn}

    def clean(x: str, size: float) -> np.ndarray:
        array = getattr(held, x)
        units = (np.ones(3), *(one,) * (array.ndim - 1))
        size = max(size, _relative_size(array, *units).max(initial=0.0))
        array = _clean(array, *units, limit=ROUNDING * size)
        return _even(array) if array.ndim == 3 else array

    return dataclasses.replace(held, **{x: clean(x, size) for x, size in sizes.items()})


def _nine(inertia: np.ndarray) -> np.ndarray:
    """Return first moment and moments of inertia of a spatial inertia (..., 6, 6), (..., 9)."""
    return inertia[..., NINE[0], NINE[1]]


def _particles(modes: Modes, one: np.ndarray) -> tuple[Particle, ...]:
    """Return the shares of orthonormal functions in the places of the points; those without second order are omitted.

    The functions are 1 and the coordinates r. Integrals over the mass of their products with displacements stand in the
    inertia integrals of a body.
    """
    moment = modes.rr0[NINE[0, :3], NINE[1, :3]]
    places = np.vstack([moment, _second_moment(modes.rr0)])
    gram = np.column_stack([[modes.rr0[3, 3], *moment], places])
    rows, signs = _orthonormal(gram)
    first = _products(modes.rf0.T, modes.rr1)
    second = _products(modes.rf1_shortening.transpose(0, 2, 1), modes.rr2_shortening)
    even = np.ones(len(rows)), np.ones(3)
    first = _clean(np.einsum("af,kfj->ajk", rows, first), *even, one)
    second = _even(_clean(np.einsum("af,klfj->ajkl", rows, second), *even, one, one))
    weights = _clean(rows @ gram[:, 0], even[0])
    held = zip(signs, weights, _clean(rows @ places, *even), first, second.transpose(0, 2, 1, 3))
    return tuple(Particle(*each) for each in held if each[-1].any())


def mass_gram(modes: Modes) -> tuple[np.ndarray, float]:
    """Return the integrals over the mass of products of 1, r and the shapes phi_kj, (4 + 3 n, 4 + 3 n).

    Beside them what modal mass, momentum and inertia integrals say otherwise, as a part of the largest: zero for a body
    whose numbers are integrals over one distribution of mass.
    """
    n, one = modes.count, _size(modes.ff)
    moment = modes.rr0[NINE[0, :3], NINE[1, :3]]
    gram = np.zeros((4 + 3 * n, 4 + 3 * n))
    gram[0, 0], gram[0, 1:4], gram[1:4, 0] = modes.rr0[3, 3], moment, moment
    gram[1:4, 1:4] = _second_moment(modes.rr0)
    with_shapes = _products(modes.rf0.T, modes.rr1).transpose(1, 0, 2).reshape(4, 3 * n)
    gram[:4, 4:], gram[4:, :4] = with_shapes, with_shapes.T
    pairs = _products(modes.rf1.transpose(0, 2, 1), modes.rr2)[..., 1:, :]
    gram[4:, 4:] = pairs.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n)
    others = (np.trace(pairs, axis1=2, axis2=3) - modes.ff) / np.outer(one, one)
    return gram, float(np.abs(others).max(initial=0.0))


def _products(momentum: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Return the integrals over the mass of u_j and of r_i u_j, where u are displacements, (..., 4, 3).

    Parameters
    ----------
    momentum : array, (..., 6)
        Angular and linear momentum at the velocities u: angular, the antisymmetric part of r u'.
    inertia : array, (..., 6, 6)
        Change of the spatial inertia with u: the symmetric part.
    """
    turned = np.einsum("aij,...a->...ij", LEVI_CIVITA, momentum[..., :3])
    return np.concatenate([momentum[..., None, 3:], 0.5 * (_second_moment(inertia) + turned)], axis=-2)


def _second_moment(inertia: np.ndarray) -> np.ndarray:
    """Return the second moment of the mass of a spatial inertia (..., 6, 6), (..., 3, 3)."""
    about = inertia[..., :3, :3]
    return 0.5 * np.trace(about, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - about


def _orthonormal(gram: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Return the rows that make functions of a Gram matrix orthonormal, in their order, and the signs of their norms.

    Functions that depend on those before them are omitted.
    """
    rows = np.zeros((0, len(gram)))
    signs: list[int] = []
    for k, row in enumerate(np.eye(len(gram))):
        for _ in range(2):  # twice is enough
            row = row - rows.T @ (signs * (rows @ gram @ row))
        norm = row @ gram @ row
        if abs(norm) > INDEPENDENT * np.abs(gram[k, k]):
            rows, signs = np.vstack([rows, row / np.sqrt(abs(norm))]), [*signs, int(np.sign(norm))]
    return rows, signs


def scales(found: Integrals) -> np.ndarray:
    """Return the size by which each number of `Integrals.arrays` is measured, in one row.

    That is the largest entry of its array, measured in units of mass, radius of gyration and modal mass (for stiffness and
    damping, of their own diagonal), or a small part of such a unit where the array is next to zero.
    """
    mass = found.mass or 1.0
    radius = float(np.sqrt((found.rr0[3] + found.rr0[6] + found.rr0[8]) / mass)) or 1.0
    root = np.full((), np.sqrt(mass))
    one, K, D = _size(found.ff), _size(found.stiffness), _size(found.damping)
    strain, across = one / (root * radius), np.full(3, root * radius)
    six, nine = root * np.repeat([radius, 1.0], 3), mass * np.repeat([radius, radius**2], (3, 6))
    axes = [
        (root**2,), (nine,), (nine, strain), (strain, nine, strain), (six, one), (strain, six, one), (strain, six, one),
        (one, one), (K, K), (D, D),
    ]  # fmt: skip
    axes += [(root,), (across,), (across, strain), (strain, across, strain)] * len(found.particles)
    out = []
    for array, units in zip(found.arrays(), axes):
        unit = functools.reduce(np.multiply.outer, units)
        out.append(np.ravel(unit * max((np.abs(array) / unit).max(initial=0.0), SMALL)))
    return np.concatenate(out)


def sparse(array: np.ndarray) -> SX:
    """Return a matrix of constants, or of expressions of named parameters; its zeros cost nothing."""
    if array.dtype != object:
        return ca.sparsify(SX(ca.DM(array)))
    table = array.reshape(len(array), -1)
    out = SX(*table.shape)
    for i, j in np.argwhere(nonzero(table)):
        out[int(i), int(j)] = table[i, j]
    return out


def nonzero(array: np.ndarray) -> np.ndarray:
    """Return which entries are not plainly zero."""
    if array.dtype != object:
        return array != 0
    found = [not x.is_zero() if isinstance(x, SX) else x != 0 for x in array.ravel()]
    return np.array(found, dtype=bool).reshape(array.shape)


def contract(array: np.ndarray, x: SX) -> SX:
    """Return the matrix sum_k array[k, :, :] x_k."""
    n, rows, columns = array.shape
    return ca.reshape(ca.mtimes(sparse(array.T.reshape(columns * rows, n)), x), rows, columns)


def quadratic_form(array: np.ndarray, x: SX) -> SX:
    """Return the vector sum_kl array[k, :, l] x_k x_l of an array that is symmetric in k and l, by half of the products."""
    n = len(array)
    once = 2 * np.triu(np.ones((n, n))) - np.eye(n)
    return ca.mtimes(contract(array * once[:, None, :], x), x)


def _size(matrix: np.ndarray) -> np.ndarray:
    """Return the unit in which each coordinate of a quadratic form is measured; one where it does not enter."""
    diagonal = np.abs(np.diag(matrix))
    return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))


def _relative_size(array: np.ndarray, *units: np.ndarray) -> np.ndarray:
    return np.abs(array) / functools.reduce(np.multiply.outer, units)


def _even(array: np.ndarray) -> np.ndarray:
    """Return an array of second derivatives (..., n, n), symmetric bit for bit: what equal entries have in common is then computed once."""
    return 0.5 * (array + array.swapaxes(-1, -2))


def _clean(array: np.ndarray, *units: np.ndarray, limit: float | None = None) -> np.ndarray:
    """Return an array whose entries up to a limit, measured in the units of each axis, are zero."""
    weighed = _relative_size(array, *units)
    limit = ROUNDING * weighed.max(initial=0.0) if limit is None else limit
    return np.where(weighed <= limit, 0.0, array)
