"""Euler's method."""

from articulus.simulation.integrate.runge_kutta import ExplicitRungeKutta, Tableau


class Euler(ExplicitRungeKutta):
    """Euler: x(t + h) = x + h f(t, x)."""

    name, order, evaluations = "euler", 1, 1
    tableau = Tableau(nodes=(0.0,), stages=((),), weights=(1.0,))
