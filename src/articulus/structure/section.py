"""The cross-section of a slender element: stiffnesses and inertia of a unit of length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError
from articulus.mechanism.numbers import require_plain


@dataclass(frozen=True)
class Section:
    """A cross-section in its principal axes: x along the element, y and z across.

    Parameters
    ----------
    mass : float [kg/m]
        Mass of a unit of length.
    EA : float [N]
        Stiffness against stretching.
    EIy, EIz : float [N m^2]
        Stiffness against bending about y (deflection along z) and about z (deflection along y).
    GJ : float [N m^2]
        Stiffness against twisting.
    GAy, GAz : float [N]
        Stiffness against shear along y and z, shear coefficient included; only Timoshenko beams read it.
    rotary : three floats [kg m]
        Moments of inertia of a unit of length about x, y and z.
    """

    mass: float
    EA: float
    EIy: float = 0.0
    EIz: float = 0.0
    GJ: float = 0.0
    GAy: float = np.inf
    GAz: float = np.inf
    rotary: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        names = ("mass", "EA", "EIy", "EIz", "GJ", "GAy", "GAz")
        require_plain("section", (0,), **{name: getattr(self, name) for name in names})
        require_plain("section", (3,), rotary=self.rotary)
        for name in names:
            value = getattr(self, name)
            if not value >= 0:
                raise InputError(f"section: {name} = {value}; expected a number that is not negative")
        if len(self.rotary) != 3 or not min(self.rotary) >= 0:
            raise InputError(
                f"section: rotary = {self.rotary}; expected three moments of inertia a unit of length about x, y, z"
            )

    @staticmethod
    def of_material(
        *,
        E: float,
        density: float,
        area: float,
        Iy: float,
        Iz: float,
        J: float | None = None,
        G: float | None = None,
        shear: float = 5 / 6,
    ) -> Section:
        """Return the section of one material, rotary inertia included.

        Parameters
        ----------
        E, G : float [Pa]
            Moduli; G = E / 2.6 (Poisson's ratio 0.3) if not given.
        density : float [kg/m^3]
            Of the material.
        area : float [m^2]
            Of the section.
        Iy, Iz, J : float [m^4]
            Second moments about y and z, and torsion constant; J = Iy + Iz, that of a circle, if not given.
        shear : float [-]
            Shear coefficient.
        """
        require_plain("section", (0,), E=E, density=density, area=area, Iy=Iy, Iz=Iz, shear=shear)
        G = E / 2.6 if G is None else G
        J = Iy + Iz if J is None else J
        require_plain("section", (0,), G=G, J=J)
        rotary = (density * (Iy + Iz), density * Iy, density * Iz)
        GA = shear * G * area
        return Section(density * area, E * area, E * Iy, E * Iz, G * J, GA, GA, rotary)
