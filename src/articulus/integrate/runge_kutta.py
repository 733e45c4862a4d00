"""Explicit Runge-Kutta methods: one step for all, a coefficient table for each."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from articulus.integrate.base import Array, Method, Rhs, State


@dataclasses.dataclass(frozen=True)
class Tableau:
    """Coefficients of an explicit method.

    Parameters
    ----------
    nodes : tuple of float
        c: where in the step the stages lie.
    stages : tuple of tuple of float
        Lower triangle of A: stage i starts from x + h sum_j A_ij k_j.
    weights : tuple of float
        b: x + h sum_i b_i k_i is the result.
    """

    nodes: tuple[float, ...]
    stages: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]


class ExplicitRungeKutta(Method):
    """A method that is its `tableau`; a subclass sets it together with name, order and evaluations."""

    tableau: ClassVar[Tableau]

    def step(self, f: Rhs, state: State, h: float) -> State:
        return State(state.t + h, runge_kutta_step(self.tableau, f, state.t, state.x, h))


def runge_kutta_step(tableau: Tableau, f: Rhs, t: float, x: Array, h: float) -> Array:
    """Return x at t + h: k_i = f(t + c_i h, x + h sum_j A_ij k_j), x + h sum_i b_i k_i."""
    slopes: list[Array] = []
    for node, row in zip(tableau.nodes, tableau.stages):
        slopes.append(f(t + node * h, advance(x, h, row, slopes)))
    return advance(x, h, tableau.weights, slopes)


def advance(x: Array, h: float, weights: tuple[float, ...], slopes: list[Array] | tuple[Array, ...]) -> Array:
    """Return x + h sum_i weights_i slopes_i."""
    total = x
    for weight, slope in zip(weights, slopes):
        if weight:
            total = total + (h * weight) * slope
    return total
