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

import dataclasses
import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from articulus.errors import InputError, did_you_mean

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

    def __post_init__(self) -> None:
        n = len(self.names)
        shapes = {
            "rr0": (6, 6), "rr1": (n, 6, 6), "rr2": (n, n, 6, 6), "rr2_shortening": (n, n, 6, 6), "rf0": (6, n),
            "rf1": (n, 6, n), "rf1_shortening": (n, 6, n), "ff": (n, n), "stiffness": (n, n), "damping": (n, n),
        }  # fmt: skip
        for name, shape in shapes.items():
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
                "modes: level 'consistent' of a body whose shortening is not known: mass and stiffness matrices do not tell how "
                "motion stiffens it. Choose 'ruthless' (right while angular rates stay below a tenth of the first frequency) or "
                "'inconsistent' (softens as it spins), or give the elements or geometric "
                "stiffness matrices (`GeometricStiffness`)"
            )
        for name, station in self.stations.items():
            held = dataclasses.astuple(station)
            found, expected = tuple(x.shape for x in held), ((3,), (3, n), (3, n), (3, n, n), (3, n, n))
            if found != expected or not all(np.isfinite(x).all() for x in held):
                raise InputError(
                    f"modes: station '{name}' has shapes {found}; expected finite numbers of shapes {expected}"
                )

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
        for array in arrays:
            if isinstance(array, np.ndarray):
                digest.update(np.ascontiguousarray(array).tobytes())
        return f"Modes({self.count}, {digest.hexdigest()})"


def _symmetric(name: str, matrix: np.ndarray) -> np.ndarray:
    """Return a matrix that is symmetric but for rounding as an exactly symmetric one."""
    excess, size = np.abs(matrix - matrix.T).max(initial=0.0), np.abs(matrix).max(initial=0.0)
    if excess > 1e-8 * size:
        raise InputError(f"modes: '{name}' is not symmetric, by {excess / size:.2g} of its largest entry")
    return 0.5 * (matrix + matrix.T)
