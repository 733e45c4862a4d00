"""Density of the air over altitude."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import Finding, InputError


@dataclass(frozen=True)
class Atmosphere:
    """Density by altitude: exponential between the rows of a table, and on from the last one by its scale height.

    Parameters
    ----------
    altitudes : tuple of float [m]
        Ascending.
    densities : tuple of float [kg/m^3]
        Above zero.
    scale_height : float [m]
        H beyond the last row: density falls as exp(-h / H).
    """

    altitudes: tuple[float, ...]
    densities: tuple[float, ...]
    scale_height: float

    def __post_init__(self) -> None:
        h, rho = np.asarray(self.altitudes, float), np.asarray(self.densities, float)
        good = h.shape == rho.shape and h.size > 0 and (np.diff(h) > 0).all() and (rho > 0).all()
        if not (good and 0 < self.scale_height < math.inf):
            raise InputError(
                Finding(
                    "atmosphere",
                    f"{h.size} altitudes, {rho.size} densities, scale height {self.scale_height:g} m",
                    "ascending altitudes [m], as many densities above zero [kg/m^3], a scale height above zero",
                )
            )

    def density(self, altitude: Any) -> SX:
        """Return the density [kg/m^3]; below the first altitude that of the first row, as `altitude` is then below the table."""
        h, rho = self.altitudes, self.densities
        falls = [math.log(a / b) / (y - x) for a, b, x, y in zip(rho, rho[1:], h, h[1:])]
        bends = [*falls, 1 / self.scale_height]
        bends = [bends[0], *(b - a for a, b in itertools.pairwise(bends))]
        exponent = sum(bend * ca.fmax(altitude - x, 0) for bend, x in zip(bends, h))
        return rho[0] * ca.exp(-exponent)


def _rows(rows: Sequence[tuple[float, float]], scale_height: float) -> Atmosphere:
    return Atmosphere(tuple(1e3 * h for h, _ in rows), tuple(rho for _, rho in rows), 1e3 * scale_height)


EXPONENTIAL = _rows(
    (
        (0, 1.225), (25, 3.899e-2), (30, 1.774e-2), (40, 3.972e-3), (50, 1.057e-3), (60, 3.206e-4), (70, 8.770e-5), (80, 1.905e-5),
        (90, 3.396e-6), (100, 5.297e-7), (110, 9.661e-8), (120, 2.438e-8), (130, 8.484e-9), (140, 3.845e-9), (150, 2.070e-9),
        (180, 5.464e-10), (200, 2.789e-10), (250, 7.248e-11), (300, 2.418e-11), (350, 9.518e-12), (400, 3.725e-12),
        (450, 1.585e-12), (500, 6.967e-13), (600, 1.454e-13), (700, 3.614e-14), (800, 1.170e-14), (900, 5.245e-15), (1000, 3.019e-15),
    ),
    268.0,
)  # fmt: skip
"""CIRA-72 at mean solar activity. Source: Vallado 2013, table 8-4. Real density differs by a factor of two to ten with the Sun's activity."""
