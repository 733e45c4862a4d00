"""The method of Hilber, Hughes and Taylor."""

from __future__ import annotations

import dataclasses

from articulus.simulation.integrate.alpha import AlphaMethod, Coefficients


@dataclasses.dataclass(frozen=True)
class HHT(AlphaMethod):
    """HHT-alpha: order 2, forces taken between the ends of the step; alpha = (1 - rho_inf) / (1 + rho_inf).

    Source: Hilber, Hughes & Taylor 1977.
    """

    name = "hht"
    order = 2
    lowest = 0.5

    @property
    def coefficients(self) -> Coefficients:
        alpha = (1 - self.rho_inf) / (1 + self.rho_inf)
        return Coefficients(0.0, alpha, (1 + alpha) ** 2 / 4, 0.5 + alpha)
