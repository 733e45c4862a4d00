"""Newmark's method."""

from __future__ import annotations

import dataclasses

from articulus.simulation.integrate.alpha import AlphaMethod, Coefficients


@dataclasses.dataclass(frozen=True)
class Newmark(AlphaMethod):
    """Newmark: the trapezoidal rule (gamma = 1/2, beta = 1/4) for rho_inf = 1; damped, and of order 1 then, below.

    gamma = (3 - rho_inf) / (2 (1 + rho_inf)),  beta = (gamma + 1/2)^2 / 4

    Source: Newmark 1959.
    """

    rho_inf: float = 1.0
    name = "newmark"

    @property
    def order(self) -> int:  # type: ignore[override]
        """Return 2 for the trapezoidal rule, else 1."""
        return 2 if self.rho_inf == 1 else 1

    @property
    def coefficients(self) -> Coefficients:
        gamma = (3 - self.rho_inf) / (2 * (1 + self.rho_inf))
        return Coefficients(0.0, 0.0, (gamma + 0.5) ** 2 / 4, gamma)
