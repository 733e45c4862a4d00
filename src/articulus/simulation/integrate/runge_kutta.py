"""Explicit Runge-Kutta methods: one step for all, a coefficient table for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from articulus.simulation.integrate.base import Array, IntegrationState, Method, Rhs


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

    def advance(
        self, f: Rhs, t: Array, x: Array, slopes: tuple[Array, ...], h: Array
    ) -> tuple[Array, tuple[Array, ...]]:
        return runge_kutta_step(self.tableau, f, t, x, h), ()

    def step(self, f: Rhs, state: IntegrationState, h: float) -> IntegrationState:
        x, _ = self.advance(f, state.t, state.x, (), h)
        return IntegrationState(state.t + h, x)


def runge_kutta_step(tableau: Tableau, f: Rhs, t: Array, x: Array, h: Array) -> Array:
    """Return x at t + h: k_i = f(t + c_i h, x + h sum_j A_ij k_j), x + h sum_i b_i k_i."""
    slopes: list[Array] = []
    for node, row in zip(tableau.nodes, tableau.stages):
        slopes.append(f(t + node * h, combine(x, h, row, slopes)))
    return combine(x, h, tableau.weights, slopes)


def combine(x: Array, h: Array, weights: Sequence[float], slopes: Sequence[Array]) -> Array:
    """Return x + h sum_i weights_i slopes_i."""
    total = x
    for weight, slope in zip(weights, slopes):
        if weight:
            total = total + (h * weight) * slope
    return total


class Euler(ExplicitRungeKutta):
    """Euler: x(t + h) = x + h f(t, x)."""

    name, order, evaluations = "euler", 1, 1
    tableau = Tableau(nodes=(0.0,), stages=((),), weights=(1.0,))


class RK4(ExplicitRungeKutta):
    """Classical Runge-Kutta of order 4. Source: Kasahara, Honda & Narita 1989, table I; Wong 1991, eq. 5.1."""

    name, order, evaluations = "rk4", 4, 4
    tableau = Tableau(
        nodes=(0.0, 1 / 2, 1 / 2, 1.0),
        stages=((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
        weights=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
    )
