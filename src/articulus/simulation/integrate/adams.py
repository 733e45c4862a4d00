"""Adams methods: a polynomial through earlier derivatives is integrated over the step."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from articulus.simulation.integrate.base import Array, IntegrationState, Method, Rhs
from articulus.simulation.integrate.runge_kutta import RK4, ExplicitRungeKutta, combine, runge_kutta_step
from articulus.simulation.integrate.runge_kutta_8 import RK8


class Adams(Method):
    """A method that looks back; the first steps, and those after a change of h, are steps of `starter`.

    The starter's own error is of an order that keeps the order of the Adams method: the steps are as many as the history is long,
    however small they are. The first derivative of a starting step serves as the history too.
    """

    starter: ClassVar[ExplicitRungeKutta] = RK4()

    def advance(
        self, f: Rhs, t: Array, x: Array, slopes: tuple[Array, ...], h: Array
    ) -> tuple[Array, tuple[Array, ...]]:
        slopes = (f(t, x), *slopes)
        return self.look_back(f, t, x, slopes, h), slopes[: self.past]

    def step(self, f: Rhs, state: IntegrationState, h: float) -> IntegrationState:
        earlier = state.earlier(h)
        if len(earlier) == self.past:
            x, slopes = self.advance(f, state.t, state.x, earlier, h)
        else:
            slope = f(state.t, state.x)
            x = runge_kutta_step(self.starter.tableau, _reusing(slope, f, state.t), state.t, state.x, h)
            slopes = (slope, *earlier)
        return IntegrationState(state.t + h, x, slopes, h)

    @abc.abstractmethod
    def look_back(self, f: Rhs, t: Array, x: Array, slopes: tuple[Array, ...], h: Array) -> Array:
        """Return x at t + h from the slopes at t, t - h, ..."""


class AdamsBashforth(Adams):
    """Explicit: x + h sum_i weights_i f(t - i h); a subclass sets `weights`."""

    weights: ClassVar[tuple[float, ...]]
    evaluations = 1

    def look_back(self, f: Rhs, t: Array, x: Array, slopes: tuple[Array, ...], h: Array) -> Array:
        return combine(x, h, self.weights, slopes)


def adams_weights(points: Sequence[int]) -> tuple[float, ...]:
    """Return the integral from 0 to 1 of each Lagrange polynomial through the given points, exact before rounding."""
    found = []
    for here in points:
        polynomial = [Fraction(1)]  # ascending powers
        for other in points:
            if other != here:
                risen = [Fraction(0), *polynomial]
                polynomial = [
                    (up - other * low) / (here - other) for up, low in zip(risen, [*polynomial, Fraction(0)])
                ]
        found.append(float(sum(a / (k + 1) for k, a in enumerate(polynomial))))
    return tuple(found)


def _reusing(slope: Array, f: Rhs, t0: float) -> Rhs:
    """Return f that knows its value at t0 already (the first stage of a starting step)."""
    return lambda t, x: slope if t == t0 else f(t, x)


class AB2(AdamsBashforth):
    """Adams-Bashforth of order 2. Source: Kasahara, Honda & Narita 1989, table I. Printed there under the name "Trapezoidal"."""

    name, order, past = "ab2", 2, 1
    weights = (3 / 2, -1 / 2)


class AB3(AdamsBashforth):
    """Adams-Bashforth of order 3. Source: Kasahara, Honda & Narita 1989, table I."""

    name, order, past = "ab3", 3, 2
    weights = (23 / 12, -16 / 12, 5 / 12)


class AB4(AdamsBashforth):
    """Adams-Bashforth of order 4. Source: Kasahara, Honda & Narita 1989, table I."""

    name, order, past = "ab4", 4, 3
    weights = (55 / 24, -59 / 24, 37 / 24, -9 / 24)


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


class AM10(Adams):
    """Adams-Moulton of order 10: Adams-Bashforth of order 10 predicts, one correction, and f again at the corrected point (PECE).

    Two evaluations a step, whatever the order: the cheapest way to the last millimeters of a smooth orbit. Stable for undamped
    vibrations only up to step times frequency of about 0.1; started by RK8. Source: Hairer, Nørsett & Wanner 1993, section III.1.
    """

    name, order, past, evaluations = "am10", 10, 9, 2
    starter = RK8()
    predictor = adams_weights(range(0, -10, -1))
    weights = adams_weights(range(1, -9, -1))

    def look_back(self, f: Rhs, t: Array, x: Array, slopes: tuple[Array, ...], h: Array) -> Array:
        predicted = combine(x, h, self.predictor, slopes)
        return combine(x, h, self.weights, (f(t + h, predicted), *slopes[:9]))
