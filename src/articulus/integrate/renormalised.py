"""Any explicit method with quaternions brought back to unit norm after each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from articulus.integrate.base import Array, Method, Rhs, State


class Renormalised(Method):
    """A method followed by a projection of the state.

    The projection moves x by no more than the order of the step's own error, so that the order stays.

    Parameters
    ----------
    method : Method
        What makes the step.
    project : callable
        From x to the nearest x that is admissible, such as `unit_quaternions(n, starts)`; arithmetic only.
    """

    def __init__(self, method: Method, project: Callable[[Array], Array]):
        self.method, self.project = method, project
        self.name = f"renormalised {method.name}"
        self.order, self.evaluations, self.past = method.order, method.evaluations, method.past

    def advance(
        self, f: Rhs, t: Array, x: Array, slopes: tuple[Array, ...], h: Array
    ) -> tuple[Array, tuple[Array, ...]]:
        x, slopes = self.method.advance(f, t, x, slopes, h)
        return self.project(x), slopes

    def step(self, f: Rhs, state: State, h: float) -> State:
        ahead = self.method.step(f, state, h)
        return State(ahead.t, self.project(ahead.x), ahead.history, ahead.h)


def unit_quaternions(n: int, starts: Sequence[int]) -> Callable[[Array], Array]:
    """Return the function that scales quaternions within a state to unit norm and leaves the rest.

    Parameters
    ----------
    n : int
        Length of the state.
    starts : sequence of int
        Where the quaternions begin, four numbers each.
    """
    own, sums = np.ones(n), np.zeros((n, n))
    for start in starts:
        own[start : start + 4] = 0.0
        sums[start : start + 4, start : start + 4] = 1.0

    def project(x: Array) -> Array:
        total = x**2 @ sums if isinstance(x, np.ndarray) else ca.mtimes(ca.DM(sums), x**2)
        return x / (total + own) ** 0.5

    return project
