"""Timoshenko beam: bending with shear, shape functions exact for end loads, free of locking.

Source: Friedman & Kosmatka 1993, equations 13-16; with no shear they are Hermite's cubics.
"""

from __future__ import annotations

import numpy as np

from articulus.structure.element.slender import ShapeRows, Slender, linear_rows


class Timoshenko(Slender):
    """A beam with shear deformation."""

    def rows(self, xi: float, length: float) -> ShapeRows:
        s = self.section
        return beam_rows(xi, length, 12 * s.EIz / (s.GAy * length**2), 12 * s.EIy / (s.GAz * length**2))

    def stiffness(self) -> np.ndarray:
        s = self.section
        return np.array([s.EA, *(0.0 if np.isinf(GA) else GA for GA in (s.GAy, s.GAz)), s.GJ, s.EIy, s.EIz])


def beam_rows(xi: float, length: float, shear_y: float = 0.0, shear_z: float = 0.0) -> ShapeRows:
    """Return the shape functions of a beam.

    Parameters
    ----------
    xi : float
        x / length.
    length : float [m]
        Length of the element.
    shear_y, shear_z : float
        12 EI / (GA length^2) for the deflections along y and z; zero makes Hermite's cubics.
    """
    out = linear_rows(xi, length)
    planes = (
        (1, 5, np.array([1.0, 1.0, 1.0, 1.0]), shear_y, 5),
        (2, 4, np.array([1.0, -1.0, 1.0, -1.0]), shear_z, 4),
    )
    for across, about, sign, shear, bend in planes:
        columns = [across, about, across + 6, about + 6]
        deflection, slope, angle, bending, rate = (row * sign for row in _bending(xi, length, shear))
        turned = sign[1]
        for rows in (out.displacement, out.derivative):
            rows[[across, about], :] = 0.0
        out.displacement[across, columns], out.displacement[about, columns] = deflection, turned * angle
        out.derivative[across, columns], out.derivative[about, columns] = slope, turned * bending
        out.strain[across, columns] = slope - angle
        out.strain[bend, columns] = turned * bending
        out.bending_rate[bend - 4, columns] = turned * rate
    return out


def _bending(xi: float, L: float, s: float) -> tuple[np.ndarray, ...]:
    """Return deflection v, slope v', angle of the section and its two derivatives for unit (v1, angle1, v2, angle2)."""
    deflection = np.array([
        2 * xi**3 - 3 * xi**2 - s * xi + 1 + s,
        L * (xi**3 - (2 + s / 2) * xi**2 + (1 + s / 2) * xi),
        -2 * xi**3 + 3 * xi**2 + s * xi,
        L * (xi**3 - (1 - s / 2) * xi**2 - s / 2 * xi),
    ])  # fmt: skip
    slope = np.array([
        (6 * xi**2 - 6 * xi - s) / L,
        3 * xi**2 - (4 + s) * xi + 1 + s / 2,
        (-6 * xi**2 + 6 * xi + s) / L,
        3 * xi**2 - (2 - s) * xi - s / 2,
    ])  # fmt: skip
    angle = np.array([
        6 * (xi**2 - xi) / L,
        3 * xi**2 - (4 + s) * xi + 1 + s,
        -6 * (xi**2 - xi) / L,
        3 * xi**2 - (2 - s) * xi,
    ])  # fmt: skip
    bending = np.array([
        6 * (2 * xi - 1) / L**2,
        (6 * xi - 4 - s) / L,
        -6 * (2 * xi - 1) / L**2,
        (6 * xi - 2 + s) / L,
    ])  # fmt: skip
    rate = np.array([12 / L**3, 6 / L**2, -12 / L**3, 6 / L**2])
    return tuple(row / (1 + s) for row in (deflection, slope, angle, bending, rate))
