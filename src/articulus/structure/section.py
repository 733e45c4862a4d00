"""The cross-section of a slender element or beam: stiffness and inertia per unit length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.errors import InputError
from articulus.model.mechanism.numbers import require_plain


@dataclass(frozen=True)
class Section:
    """A cross-section in its principal axes: x along the element, y and z across.

    Parameters
    ----------
    mass : float [kg/m]
        Mass per unit length.
    EA : float [N]
        Stiffness against stretching.
    EIy, EIz : float [N m^2]
        Stiffness against bending about y (deflection along z) and about z (deflection along y).
    GJ : float [N m^2]
        Stiffness against twisting.
    GAy, GAz : float [N]
        Stiffness against shear along y and z, shear coefficient included; only Timoshenko beams and beams of large deflection
        (`articulus.simulation.exact_beams`) read it. Infinite: no shear.
    rotary : three floats [kg m]
        Moments of inertia per unit length about x, y and z.
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
                f"section: rotary = {self.rotary}; expected three moments of inertia per unit length, about x, y, z"
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
            Density of the material.
        area : float [m^2]
            Area of the section.
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

    @staticmethod
    def rectangle(
        width: float, height: float, E: float, G: float, density: float, shear: float = 5 / 6
    ) -> Section:
        """Return a solid rectangle.

        Parameters
        ----------
        width, height : float [m]
            Along y and along z.
        E, G : float [Pa]
            Moduli.
        density : float [kg/m^3]
        shear : float [-]
            Shear coefficient.
        """
        require_plain("section", (0,), width=width, height=height, E=E, G=G, density=density, shear=shear)
        Iy, Iz = width * height**3 / 12, height * width**3 / 12
        long, short = max(width, height), min(width, height)
        n = np.arange(1, 200, 2)
        series = np.sum(np.tanh(n * np.pi * long / (2 * short)) / n**5)
        J = long * short**3 / 3 * (1 - 192 * short / (np.pi**5 * long) * series)
        return Section.of_material(
            E=E, density=density, area=width * height, Iy=Iy, Iz=Iz, J=J, G=G, shear=shear
        )

    @staticmethod
    def tube(outer: float, inner: float, E: float, G: float, density: float) -> Section:
        """Return a round tube of outer and inner radius [m], solid if the inner one is 0; moduli [Pa], density [kg/m^3].

        The shear coefficient is that of Cowper 1966 for a Poisson ratio of 0.3.
        """
        require_plain("section", (0,), outer=outer, inner=inner, E=E, G=G, density=density)
        if not 0 <= inner < outer:
            raise InputError(
                f"section: radii {outer!r} and {inner!r}; expected the outer one first, the inner less"
            )
        area, about = np.pi * (outer**2 - inner**2), np.pi / 4 * (outer**4 - inner**4)
        m2 = (inner / outer) ** 2
        shear = 6 * 1.3 * (1 + m2) ** 2 / ((7 + 6 * 0.3) * (1 + m2) ** 2 + (20 + 12 * 0.3) * m2)
        return Section.of_material(E=E, density=density, area=area, Iy=about, Iz=about, G=G, shear=shear)

    @property
    def compliance(self) -> np.ndarray:
        """Strains by section forces, (6,): torsion, bending about y, z, stretch, shear along y, z; all stiffnesses positive."""
        return 1 / np.array([self.GJ, self.EIy, self.EIz, self.EA, self.GAy, self.GAz])
