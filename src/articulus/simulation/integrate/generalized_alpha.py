"""The generalized-alpha method."""

from __future__ import annotations

import dataclasses

from articulus.simulation.integrate.alpha import AlphaMethod, Coefficients


@dataclasses.dataclass(frozen=True)
class GeneralizedAlpha(AlphaMethod):
    """Generalized-alpha: order 2, and of all such methods the least damping of slow motion for a given rho_inf.

    Source: Chung & Hulbert 1993.
    """

    name = "generalized_alpha"
    order = 2

    @property
    def coefficients(self) -> Coefficients:
        rho = self.rho_inf
        alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        gamma = 0.5 + alpha_f - alpha_m
        return Coefficients(alpha_m, alpha_f, (gamma + 0.5) ** 2 / 4, gamma)
