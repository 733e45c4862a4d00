"""Adams-Moulton of order 4 as predictor and corrector."""

from __future__ import annotations

from articulus.simulation.integrate.ab4 import AB4
from articulus.simulation.integrate.adams import Adams
from articulus.simulation.integrate.base import Array, Rhs
from articulus.simulation.integrate.runge_kutta import combine


class AM4(Adams):
    """Adams-Moulton of order 4: AB4 predicts, one correction, and f again at the corrected point (PECE).

    x + h (9 f(t + h, predicted) + 19 f(t) - 5 f(t - h) + f(t - 2h)) / 24

    Source: Kasahara, Honda & Narita 1989, table I.
    """

    name, order, past, evaluations = "am4", 4, 3, 2
    weights = (9 / 24, 19 / 24, -5 / 24, 1 / 24)

    def look_back(self, f: Rhs, t: Array, x: Array, slopes: tuple[Array, ...], h: Array) -> Array:
        predicted = combine(x, h, AB4.weights, slopes)
        return combine(x, h, self.weights, (f(t + h, predicted), *slopes))
