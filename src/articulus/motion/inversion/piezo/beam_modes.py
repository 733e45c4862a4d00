"""`BeamModes`: bending modes of a straight beam with their slopes at any place, in closed form or of finite elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from articulus.errors import InputError
from articulus.structure.solution.normal_modes import normal_modes
from articulus.structure.structure import Structure

FAMILY = {"y": (1, 5, 1.0), "z": (2, 4, -1.0)}
"""Deflection, rotation, and the sign of the rotation for a positive slope, by plane."""


@dataclass(frozen=True, eq=False)
class BeamModes:
    """Elastic bending modes of unit modal mass, by rising frequency.

    Parameters
    ----------
    length : float [m]
    omega : array, (n,) [rad/s]
    damping : array, (n,) [-]
        Damping ratios.
    shapes, slopes : functions of x (...,) [m] to (..., n)
        Deflection [1/sqrt(kg)] and its derivative along the beam [1/(m sqrt(kg))].
    """

    length: float
    omega: np.ndarray
    damping: np.ndarray
    shapes: Callable[[np.ndarray], np.ndarray]
    slopes: Callable[[np.ndarray], np.ndarray]

    @property
    def count(self) -> int:
        """Number of modes."""
        return len(self.omega)

    def only(self, *modes: int) -> BeamModes:
        """Return some of the modes, counted from 1."""
        k = np.array(modes) - 1
        if not len(k) or k.min() < 0 or k.max() >= self.count:
            raise InputError(f"BeamModes.only: found modes {modes}; expected numbers from 1 to {self.count}")
        return BeamModes(
            self.length,
            self.omega[k],
            self.damping[k],
            lambda x: self.shapes(x)[..., k],
            lambda x: self.slopes(x)[..., k],
        )

    @staticmethod
    def simply_supported(
        length: float, *, EI: float, mass_per_length: float, modes: int, damping: float = 0.0
    ) -> BeamModes:
        """Return the modes of a uniform beam on two simple supports, in closed form.

        Parameters
        ----------
        length : float [m]
        EI : float [N m^2]
        mass_per_length : float [kg/m]
        modes : int
            How many.
        damping : float [-]
            Ratio of every mode.
        """
        for name, value in (("length", length), ("EI", EI), ("mass_per_length", mass_per_length)):
            if not value > 0:
                raise InputError(f"BeamModes, {name}: found {value!r}; expected a positive number")
        wave = np.arange(1, modes + 1) * np.pi / length
        size = np.sqrt(2 / (length * mass_per_length))
        return BeamModes(
            length,
            wave**2 * np.sqrt(EI / mass_per_length),
            _ratios(damping, modes),
            lambda x: size * np.sin(np.multiply.outer(x, wave)),
            lambda x: size * wave * np.cos(np.multiply.outer(x, wave)),
        )

    @staticmethod
    def of(
        structure: Structure, modes: int, *, damping: float = 0.0, plane: Literal["y", "z"] = "y"
    ) -> BeamModes:
        """Return the elastic bending modes of a beam of finite elements along x, with any supports and any masses on it.

        Between the nodes, deflections and rotations are cubic splines.

        Parameters
        ----------
        structure : Structure
            Such as `articulus.structure.beam` gives.
        modes : int
            How many.
        damping : float [-]
            Ratio of every mode.
        plane : str
            Direction of the deflection, "y" or "z".
        """
        from scipy.interpolate import CubicSpline

        x = _places(structure)
        if plane not in FAMILY:
            raise InputError(f"BeamModes.of, plane: found {plane!r}; expected 'y' or 'z'")
        across, about, sign = FAMILY[plane]
        mine = np.flatnonzero(np.isin(structure.dofs[:, 1], (across, about)))
        bending = structure.keep(mine)
        rigid = int((normal_modes(bending, min(2, bending.count)).omega == 0).sum())
        found = normal_modes(bending, modes + rigid).elastic
        rows = np.stack([bending.rows(k) @ found.shapes for k in range(len(x))])
        order = np.argsort(x)
        deflection = CubicSpline(x[order], rows[order, across])
        rotation = CubicSpline(x[order], sign * rows[order, about])
        return BeamModes(float(x.max() - x.min()), found.omega, _ratios(damping, modes), deflection, rotation)


def _places(structure: Structure) -> np.ndarray:
    """Return the places of the nodes along the beam; raise InputError unless it is a straight line along x from the origin."""
    at = structure.positions
    x = at[:, 0]
    if np.abs(at[:, 1:]).max() > 1e-9 * np.ptp(x) or len(np.unique(x)) < len(x) or x.min() != 0.0:
        raise InputError(
            "BeamModes.of: found nodes that are not on a line along x from the origin; expected a straight beam such as "
            "`articulus.structure.beam` gives"
        )
    return x


def _ratios(damping: float, count: int) -> np.ndarray:
    ratios = np.broadcast_to(np.asarray(damping, dtype=float), (count,)).copy()
    if not (ratios >= 0).all():
        raise InputError(f"BeamModes, damping: found {damping!r}; expected ratios >= 0")
    return ratios
