"""What a flexible body is: a floating frame, modal coordinates, and integrals of its shape functions computed once.

With the modal coordinates eta, the velocity V = (w, v) of the body frame in body axes, and u(r, eta) = sum_k phi_k eta_k +
1/2 sum_kl h_kl eta_k eta_l the displacement of the point r (the second part is the shortening that bending brings), the
kinetic energy is, up to second order in eta and eta_dot,

    T = 1/2 V' Mrr(eta) V + V' Mrf(eta) eta_dot + 1/2 eta_dot' Mff eta_dot
    Mrr(eta) = rr0 + sum_k rr1[k] eta_k + 1/2 sum_kl rr2[k, l] eta_k eta_l
    Mrf(eta) = rf0 + sum_k rf1[k] eta_k

(terms of higher order follow from these numbers, see `dynamics.flexible.shortening`) and the elastic energy 1/2 eta' K eta. The parts of rr2 and rf1 that come from h make motion stiffen the body; they are
kept apart so that each of the three levels of Padilla & von Flotow 1989 can be had.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism.chebyshev import Fit

Level = Literal["consistent", "inconsistent", "ruthless"]
LEVELS: tuple[Level, ...] = ("consistent", "inconsistent", "ruthless")


@dataclass(frozen=True, eq=False)
class Station:
    """A point of a flexible body where something may be attached.

    Parameters
    ----------
    position : array, (3,) [m]
        Undeformed, in the body frame.
    translation : array, (3, n) [m]
        Displacement for each unit modal coordinate.
    rotation : array, (3, n) [rad]
        Rotation vector for each unit modal coordinate.
    shortening : array, (3, n, n) [m]
        Second derivative of the displacement by two modal coordinates; symmetric in them.
    turning : array, (3, n, n) [rad]
        Second derivative of the rotation vector; zero if not given, and for bodies that deform in one plane.
    """

    position: np.ndarray
    translation: np.ndarray
    rotation: np.ndarray
    shortening: np.ndarray
    turning: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.turning is None:
            object.__setattr__(self, "turning", np.zeros_like(self.shortening))
        for name in ("position", "translation", "rotation", "shortening", "turning"):
            array = np.array(getattr(self, name), dtype=float)
            array.setflags(write=False)
            object.__setattr__(self, name, array)


@dataclass(frozen=True, eq=False)
class Modes:
    """Everything that the equations of a flexible body need.

    Parameters
    ----------
    names : tuple of str
        One for each modal coordinate.
    rr0 : array, (6, 6)
        Spatial inertia of the undeformed body about the origin of its frame, angular part first.
    rr1 : array, (n, 6, 6)
        Its derivative by each modal coordinate.
    rr2 : array, (n, n, 6, 6)
        Its second derivatives with displacements of first order.
    rr2_shortening : array, (n, n, 6, 6)
        What shortening adds to them.
    rf0 : array, (6, n)
        Momentum (angular, linear) of the body for each unit modal rate.
    rf1 : array, (n, 6, n)
        Its derivative by each modal coordinate (first index), with displacements of first order.
    rf1_shortening : array, (n, 6, n)
        What shortening adds to it.
    ff : array, (n, n)
        Modal mass matrix.
    stiffness, damping : array, (n, n)
    stations : dict of name to Station
    level : str
        "consistent": all terms of first order in the equations, motion-induced stiffness among them; "inconsistent": without
        shortening; "ruthless": nothing depends on the deformation but the elastic forces.
    knows_shortening : bool
        Whether the integrals of shortening are known. Those of mass and stiffness matrices alone are not: such a body cannot
        have the level "consistent".
    fit : Fit
        All numbers as functions of named parameters (`articulus.structure.varying_body`), in the order of `numbers`; the arrays
        above are then those at the values that the parameters start from.
    """

    names: tuple[str, ...]
    rr0: np.ndarray
    rr1: np.ndarray
    rr2: np.ndarray
    rr2_shortening: np.ndarray
    rf0: np.ndarray
    rf1: np.ndarray
    rf1_shortening: np.ndarray
    ff: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    stations: Mapping[str, Station] = field(default_factory=dict)
    level: Level = "consistent"
    knows_shortening: bool = True
    fit: Fit | None = None

    def __post_init__(self) -> None:
        n = len(self.names)
        if self.fit is not None:
            self._take(self.fit.at([p.value for p in self.fit.parameters]))
        for field_, shape in zip(dataclasses.fields(self)[1:], _shapes(n)):
            name = field_.name
            array = np.array(getattr(self, name), dtype=float)
            if array.shape != shape or not np.isfinite(array).all():
                raise InputError(
                    f"modes: '{name}' has shape {array.shape}; expected finite numbers of shape {shape}"
                )
            if name in ("rr0", "ff", "stiffness", "damping"):
                array = _symmetric(name, array)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        least, size = np.linalg.eigvalsh(self.ff)[:1], np.abs(self.ff).max(initial=0.0)
        if (least < -1e-9 * size).any():
            raise InputError(
                f"modes: 'ff' has the negative eigenvalue {least[0]:.3g}; expected a mass matrix"
            )
        if self.level not in LEVELS:
            raise InputError(f"modes: level {self.level!r}; {did_you_mean(str(self.level), LEVELS)}")
        if self.level == "consistent" and not self.knows_shortening:
            raise InputError(
                "modes: level 'consistent' of a body whose shortening is not known: mass and stiffness matrices do not determine how "
                "motion stiffens it. Choose 'ruthless' (right while angular rates stay below a tenth of the first frequency) or "
                "'inconsistent' (softens as it spins), or give the elements or geometric "
                "stiffness matrices (`GeometricStiffness`)"
            )
        for name, station in self.stations.items():
            arrays = dataclasses.astuple(station)
            shapes, expected = tuple(x.shape for x in arrays), tuple(_station_shapes(n))
            if shapes != expected or not all(np.isfinite(x).all() for x in arrays):
                raise InputError(
                    f"modes: station '{name}' has shapes {shapes}; expected finite numbers of shapes {expected}"
                )

    @functools.cached_property
    def first_frequency(self) -> float:
        """The first angular frequency above zero of the body held at its frame [rad/s]; 0 where there is none."""
        root = np.linalg.cholesky(self.ff + 1e-14 * np.trace(self.ff) * np.eye(self.count))
        half = np.linalg.inv(root)
        squares = np.linalg.eigvalsh(half @ self.stiffness @ half.T)
        stiff = squares[squares > 1e-10 * squares.max(initial=0.0)]
        return float(np.sqrt(stiff.min(initial=np.inf))) if stiff.size else 0.0

    @functools.cached_property
    def extent(self) -> float:
        """The extent of the stations, or the length of a rod with the body's largest moment of inertia, whichever is more [m]."""
        mass = self.rr0[3, 3]
        places = np.array([np.zeros(3), *(s.position for s in self.stations.values())])
        com = np.array([self.rr0[2, 4], self.rr0[0, 5], self.rr0[1, 3]]) / mass
        about_com = self.rr0[:3, :3] - mass * (com @ com * np.eye(3) - np.outer(com, com))
        rod = np.sqrt(12 * max(np.linalg.eigvalsh(about_com)[-1], 0.0) / mass)
        return max(float(np.ptp(places, axis=0).max()), float(rod))

    @property
    def layout(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """Station (empty for the body itself), name and shape of all arrays, in the order of `numbers`."""
        n = len(self.names)
        own = [("", f.name, shape) for f, shape in zip(dataclasses.fields(self)[1:], _shapes(n))]
        held = ("position", "translation", "rotation", "shortening", "turning")
        return own + [
            (s, name, shape) for s in self.stations for name, shape in zip(held, _station_shapes(n))
        ]

    @property
    def numbers(self) -> np.ndarray:
        """All numbers of the body in one row."""
        return np.concatenate([self.array(station, name).ravel() for station, name, _ in self.layout])

    def array(self, station: str, name: str) -> np.ndarray:
        """Return an array of the body, or of a station."""
        return np.asarray(getattr(self.stations[station] if station else self, name))

    def with_numbers(self, numbers: np.ndarray) -> Modes:
        """Return a body with other numbers, in the order of `numbers`, that do not depend on parameters."""
        out = copy.copy(self)
        out.__dict__.pop("_text", None)
        object.__setattr__(out, "fit", None)
        out._take(numbers)
        return dataclasses.replace(out)

    def _take(self, numbers: np.ndarray) -> None:
        """Take all numbers, in the order of `numbers`."""
        stations: dict[str, dict[str, np.ndarray]] = {name: {} for name in self.stations}
        at = 0
        for station, name, shape in self.layout:
            array = numbers[at : at + math.prod(shape)].reshape(shape)
            at += array.size
            if station:
                stations[station][name] = array
            else:
                object.__setattr__(self, name, array)
        object.__setattr__(self, "stations", {name: Station(**held) for name, held in stations.items()})

    @property
    def count(self) -> int:
        """Number of modal coordinates."""
        return len(self.names)

    def at_level(self, level: Level) -> Modes:
        """Return the same body with the terms of another level."""
        return dataclasses.replace(self, level=level)

    def station(self, name: str) -> Station:
        """Return a station by name."""
        if name not in self.stations:
            raise InputError(
                f"no station '{name}' on this flexible body; {did_you_mean(name, self.stations)}"
            )
        return self.stations[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Modes) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        """Return a text that differs whenever a number does: it is part of a mechanism's fingerprint."""
        return self._text

    @functools.cached_property
    def _text(self) -> str:
        said = (
            self.names,
            self.level,
            tuple(self.stations),
            *(() if self.knows_shortening else ("matrices",)),
        )
        digest = hashlib.sha256(repr(said).encode())
        arrays = [getattr(self, f.name) for f in dataclasses.fields(self)]
        arrays += [x for s in self.stations.values() for x in dataclasses.astuple(s)]
        parameters = ""
        if self.fit is not None:
            parameters = "".join(f", {p!r}" for p in self.fit.parameters)
            about = [(p.name, p.range) for p in self.fit.parameters], self.fit.logarithmic
            digest.update(repr(about).encode())
            arrays = [self.fit.constant, self.fit.mixing, self.fit.coefficients]
        for array in arrays:
            if isinstance(array, np.ndarray):
                digest.update(np.ascontiguousarray(array).tobytes())
        return f"Modes({self.count}, {digest.hexdigest()}{parameters})"


def _shapes(n: int) -> list[tuple[int, ...]]:
    """Return the shapes of the arrays of a body, in the order of its fields."""
    pair = (n, n)
    return [
        (6, 6), (n, 6, 6), (n, n, 6, 6), (n, n, 6, 6), (6, n), (n, 6, n), (n, 6, n), pair, pair, pair,
    ]  # fmt: skip


def _station_shapes(n: int) -> list[tuple[int, ...]]:
    return [(3,), (3, n), (3, n), (3, n, n), (3, n, n)]


def _symmetric(name: str, matrix: np.ndarray) -> np.ndarray:
    """Return a matrix that is symmetric but for rounding as an exactly symmetric one."""
    excess, size = np.abs(matrix - matrix.T).max(initial=0.0), np.abs(matrix).max(initial=0.0)
    if excess > 1e-8 * size:
        raise InputError(f"modes: '{name}' is not symmetric, by {excess / size:.2g} of its largest entry")
    return 0.5 * (matrix + matrix.T)
