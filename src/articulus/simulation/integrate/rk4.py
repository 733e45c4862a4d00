"""The classical Runge-Kutta method."""

from articulus.simulation.integrate.runge_kutta import ExplicitRungeKutta, Tableau


class RK4(ExplicitRungeKutta):
    """Classical Runge-Kutta of order 4. Source: Kasahara, Honda & Narita 1989, table I; Wong 1991, eq. 5.1."""

    name, order, evaluations = "rk4", 4, 4
    tableau = Tableau(
        nodes=(0.0, 1 / 2, 1 / 2, 1.0),
        stages=((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
        weights=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
    )
