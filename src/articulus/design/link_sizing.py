"""Sizes of links by strength, stiffness and bandwidth: the radius of a round bar, and limits for optimizations.

Source: King 1988, chapter 1 (Book & Majette: R > R_strength, R > R_stiffness, and the bandwidth that a stiff enough link allows).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from articulus.errors import InputError

CLAMPED = 1.8751040687119611
"""First root of 1 + cos x cosh x = 0: of a clamped bar without load."""
PART = 1.0 / 3.0
"""Largest crossover of a loop around a flexible link, over the natural frequency with a clamped actuator, for which plain feedback damps well."""


@dataclass(frozen=True)
class RoundLink:
    """A round bar of a robot's link, solid or a tube.

    Parameters
    ----------
    length : float [m]
    young : float [Pa]
    density : float [kg/m^3]
    yield_stress : float [Pa]
    hollow : float [-]
        Inner over outer radius.
    """

    length: float
    young: float = 70e9
    density: float = 2700.0
    yield_stress: float = 200e6
    hollow: float = 0.0

    def __post_init__(self) -> None:
        numbers = (self.length, self.young, self.density, self.yield_stress)
        if not (all(np.isfinite(x) and x > 0 for x in numbers) and 0 <= self.hollow < 1):
            raise InputError(
                f"RoundLink: found {self}; expected positive numbers, and hollow from 0 to below 1"
            )

    def mass(self, radius: Any) -> Any:
        """Return the mass [kg]."""
        return self.density * self.length * np.pi * radius**2 * (1 - self.hollow**2)

    def bending_stiffness(self, radius: Any) -> Any:
        """Return E I [N m^2]."""
        return self.young * np.pi * radius**4 / 4 * (1 - self.hollow**4)

    def stress(self, radius: Any, moment: Any) -> Any:
        """Return the largest bending stress [Pa], 4 M R / (pi (R^4 - r^4))."""
        return 4 * moment / (np.pi * radius**3 * (1 - self.hollow**4))

    def deflection(self, radius: Any, force: Any) -> Any:
        """Return the deflection of the tip by a force across it [m]."""
        return force * self.length**3 / (3 * self.bending_stiffness(radius))

    def frequency(self, radius: Any, payload: float = 0.0) -> Any:
        """Return the first natural frequency with a clamped actuator and a mass at the tip [rad/s].

        Exact without a payload and for a heavy one; between, the bar counts as 3 / 1.8751^4 of its mass at the tip (0.243; Rayleigh: 33/140), 1.5 % off at most.
        """
        own = 3 / CLAMPED**4 * self.mass(radius)
        root = ca.sqrt if isinstance(radius, (ca.SX, ca.MX)) else np.sqrt
        return root(3 * self.bending_stiffness(radius) / (self.length**3 * (own + payload)))

    def strength_radius(self, moment: float, safety: float = 1.5) -> float:
        """Return the least radius that bears a bending moment [m]."""
        return float(
            (4 * abs(moment) * safety / (np.pi * self.yield_stress * (1 - self.hollow**4))) ** (1 / 3)
        )

    def stiffness_radius(self, force: float, deflection: float) -> float:
        """Return the least radius whose tip deflects no more under a force [m]."""
        return float(
            (4 * abs(force) * self.length**3 / (3 * np.pi * self.young * deflection * (1 - self.hollow**4)))
            ** 0.25
        )

    def bandwidth_radius(self, crossover: float, payload: float = 0.0) -> float:
        """Return the least radius for which plain feedback may cross over at a frequency [rad/s], a third of the first natural one [m]."""
        low, high = 1e-9 * self.length, self.length
        for _ in range(200):
            middle = float(np.sqrt(low * high))
            low, high = (
                (middle, high) if PART * self.frequency(middle, payload) < crossover else (low, middle)
            )
        if PART * self.frequency(high, payload) < crossover:
            raise InputError(
                f"bandwidth_radius: found crossover = {crossover:g} rad/s; no radius up to the length gives it"
            )
        return high

    def limits(
        self,
        radius: Callable[[Any], Any],
        *,
        moment: float | None = None,
        force: float | None = None,
        deflection: float | None = None,
        crossover: float | None = None,
        payload: float = 0.0,
        safety: float = 1.5,
    ) -> tuple:
        """Return limits for `art.design.optimize`: strength, stiffness and bandwidth, those whose numbers are given.

        Parameters
        ----------
        radius : function of the signals
            Such as `lambda s: s.p["radius"]`.
        moment : float [N m]
            Largest bending moment.
        force, deflection : float [N], [m]
            Across the tip, and how far it may go.
        crossover : float [rad/s]
        payload : float [kg]
        safety : float
            Of the stress.
        """
        from articulus.design.optimize import AtMost

        out = []
        if moment is not None:
            allowed = self.yield_stress / safety
            out.append(AtMost("strength", lambda s: self.stress(radius(s), abs(moment)) / allowed, 1.0))
        if (force is None) != (deflection is None):
            raise InputError("RoundLink.limits: found one of force and deflection; expected both")
        if force is not None and deflection is not None:
            out.append(
                AtMost("stiffness", lambda s: self.deflection(radius(s), abs(force)) / deflection, 1.0)
            )
        if crossover is not None:
            out.append(
                AtMost("bandwidth", lambda s: crossover / (PART * self.frequency(radius(s), payload)), 1.0)
            )
        return tuple(out)
