"""Adams methods: a polynomial through earlier derivatives is integrated over the step."""

from __future__ import annotations

import abc
from typing import ClassVar

from articulus.integrate.base import Array, Method, Rhs, State
from articulus.integrate.rk4 import RK4
from articulus.integrate.runge_kutta import advance, runge_kutta_step


class Adams(Method):
    """A method that looks back; the first steps, and those after a change of h, are steps of RK4.

    RK4's own error is of an order that keeps the order of the Adams method. The first derivative of a starting step
    serves as the history too.
    """

    past: ClassVar[int]
    """Number of derivatives that a step needs, the one at t included."""

    def step(self, f: Rhs, state: State, h: float) -> State:
        slope = f(state.t, state.x)
        slopes = (slope, *state.earlier(h))[: self.past]
        if len(slopes) < self.past:
            x = runge_kutta_step(RK4.tableau, _reusing(slope, f, state.t), state.t, state.x, h)
        else:
            x = self.look_back(f, state.t, state.x, slopes, h)
        return State(state.t + h, x, slopes, h)

    @abc.abstractmethod
    def look_back(self, f: Rhs, t: float, x: Array, slopes: tuple[Array, ...], h: float) -> Array:
        """Return x at t + h from the slopes at t, t - h, ..."""


class AdamsBashforth(Adams):
    """Explicit: x + h sum_i weights_i f(t - i h); a subclass sets `weights`."""

    weights: ClassVar[tuple[float, ...]]
    evaluations = 1

    def look_back(self, f: Rhs, t: float, x: Array, slopes: tuple[Array, ...], h: float) -> Array:
        return advance(x, h, self.weights, slopes)


def _reusing(slope: Array, f: Rhs, t0: float) -> Rhs:
    """Return f that knows its value at t0 already (the first stage of a starting step)."""
    return lambda t, x: slope if t == t0 else f(t, x)
