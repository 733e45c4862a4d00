"""Cross-sections: stiffness and inertia per length."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from articulus.errors import InputError
from articulus.mechanism.numbers import require_plain


@dataclasses.dataclass(frozen=True)
class Section:
    """Stiffness and inertia of a cross-section with x along the beam and y, z its principal axes.

    Parameters
    ----------
    axial : float [N]
        E A.
    bending : (float, float) [N m^2]
        E I about y and about z.
    torsion : float [N m^2]
        G J.
    mass : float [kg/m]
        Per length.
    rotary : (float, float) [kg m]
        Moment of inertia per length about y and about z; about x it is their sum.
    shear : (float, float) [N]
        k G A along y and along z; infinite for a beam that does not shear.
    """

    axial: float
    bending: tuple[float, float]
    torsion: float
    mass: float
    rotary: tuple[float, float]
    shear: tuple[float, float] = (math.inf, math.inf)

    def __post_init__(self) -> None:
        names = ("axial", "bending", "torsion", "mass", "rotary", "shear")
        require_plain("section", (0, 2), **{name: getattr(self, name) for name in names})
        for name in names:
            values = np.atleast_1d(getattr(self, name))
            pair = name in ("bending", "rotary", "shear")
            finite = name == "shear" or bool(np.isfinite(values).all())
            if values.shape != ((2,) if pair else (1,)) or not (finite and (values > 0).all()):
                wanted = "two positive numbers, for y and z" if pair else "a positive number"
                raise InputError(f"section: {name} = {getattr(self, name)!r}; expected {wanted}")

    @staticmethod
    def rectangle(
        width: float, height: float, modulus: float, shear_modulus: float, density: float, k: float = 5 / 6
    ) -> Section:
        """Return a solid rectangle.

        Parameters
        ----------
        width, height : float [m]
            Along y and along z.
        modulus, shear_modulus : float [Pa]
        density : float [kg/m^3]
        k : float
            Shear correction factor.
        """
        area, about = width * height, np.array([width * height**3, height * width**3]) / 12
        long, short = max(width, height), min(width, height)
        n = np.arange(1, 200, 2)
        series = np.sum(np.tanh(n * np.pi * long / (2 * short)) / n**5)
        J = long * short**3 / 3 * (1 - 192 * short / (np.pi**5 * long) * series)
        return Section(
            axial=modulus * area,
            bending=(modulus * about[0], modulus * about[1]),
            torsion=shear_modulus * J,
            mass=density * area,
            rotary=(density * about[0], density * about[1]),
            shear=(k * shear_modulus * area,) * 2,
        )

    @staticmethod
    def tube(outer: float, inner: float, modulus: float, shear_modulus: float, density: float) -> Section:
        """Return a round tube of outer and inner radius [m], solid if the inner one is 0; moduli [Pa], density [kg/m^3].

        The shear correction is that of Cowper 1966 for a Poisson ratio of 0.3.
        """
        if not 0 <= inner < outer:
            raise InputError(
                f"section: radii {outer!r} and {inner!r}; expected the outer one first, the inner less"
            )
        area, about = np.pi * (outer**2 - inner**2), np.pi / 4 * (outer**4 - inner**4)
        m2 = (inner / outer) ** 2
        k = 6 * 1.3 * (1 + m2) ** 2 / ((7 + 6 * 0.3) * (1 + m2) ** 2 + (20 + 12 * 0.3) * m2)
        return Section(
            axial=modulus * area,
            bending=(modulus * about,) * 2,
            torsion=2 * shear_modulus * about,
            mass=density * area,
            rotary=(density * about,) * 2,
            shear=(k * shear_modulus * area,) * 2,
        )

    @property
    def compliance(self) -> np.ndarray:
        """Return strains by section forces, (6,): torsion, bending about y, z, stretch, shear along y, z."""
        return 1 / np.array([self.torsion, *self.bending, self.axial, *self.shear])
