"""Adams methods: a polynomial through earlier derivatives is integrated over the step."""

from __future__ import annotations

import abc
from typing import ClassVar

from articulus.simulation.integrate.base import Array, Method, Rhs, State
from articulus.simulation.integrate.rk4 import RK4
from articulus.simulation.integrate.runge_kutta import combine, runge_kutta_step


class Adams(Method):
    """A method that looks back; the first steps, and those after a change of h, are steps of RK4.

    RK4's own error is of an order that keeps the order of the Adams method. The first derivative of a starting step
    serves as the history too.
    """

    def advance(
        self, f: Rhs, t: Array, x: Array, slopes: tuple[Array, ...], h: Array
    ) -> tuple[Array, tuple[Array, ...]]:
        slopes = (f(t, x), *slopes)
        return self.look_back(f, t, x, slopes, h), slopes[: self.past]

    def step(self, f: Rhs, state: State, h: float) -> State:
        earlier = state.earlier(h)
        if len(earlier) == self.past:
            x, slopes = self.advance(f, state.t, state.x, earlier, h)
        else:
            slope = f(state.t, state.x)
            x = runge_kutta_step(RK4.tableau, _reusing(slope, f, state.t), state.t, state.x, h)
            slopes = (slope, *earlier)
        return State(state.t + h, x, slopes, h)

    @abc.abstractmethod
    def look_back(self, f: Rhs, t: Array, x: Array, slopes: tuple[Array, ...], h: Array) -> Array:
        """Return x at t + h from the slopes at t, t - h, ..."""


class AdamsBashforth(Adams):
    """Explicit: x + h sum_i weights_i f(t - i h); a subclass sets `weights`."""

    weights: ClassVar[tuple[float, ...]]
    evaluations = 1

    def look_back(self, f: Rhs, t: Array, x: Array, slopes: tuple[Array, ...], h: Array) -> Array:
        return combine(x, h, self.weights, slopes)


def _reusing(slope: Array, f: Rhs, t0: float) -> Rhs:
    """Return f that knows its value at t0 already (the first stage of a starting step)."""
    return lambda t, x: slope if t == t0 else f(t, x)
