"""Runge-Kutta of order 4 on rotations and other groups."""

from __future__ import annotations

from articulus.simulation.integrate.base import Array
from articulus.simulation.integrate.second_order import SecondOrder, SecondOrderMethod


class LieRK4(SecondOrderMethod):
    """Commutator-free Lie-group method of order 4 on the stages of the classical RK4.

    Positions move only by `displace`, a product of exponentials: a unit quaternion stays one to round-off, and no
    constraint or scaling is needed. With q + dq as displacement it is RK4.

    q2 = q (h/2 v1), q3 = q (h/2 v2), q4 = q2 (h v3 - h/2 v1)
    q(t + h) = q (h/12 (3 v1 + 2 v2 + 2 v3 - v4)) (h/12 (-v1 + 2 v2 + 2 v3 + 3 v4))

    Source: Celledoni, Marthinsen & Owren 2003, method of order 4 with two exponentials in the update.
    """

    name, order, evaluations = "lie_rk4", 4, 4

    def advance(self, problem: SecondOrder, t: Array, q: Array, v: Array, h: Array) -> tuple[Array, Array]:
        a, move = problem.acceleration, problem.displace
        v1, a1 = v, a(t, q, v)
        q2, v2 = move(q, (h / 2) * v1), v + (h / 2) * a1
        a2 = a(t + h / 2, q2, v2)
        q3, v3 = move(q, (h / 2) * v2), v + (h / 2) * a2
        a3 = a(t + h / 2, q3, v3)
        q4, v4 = move(q2, h * v3 - (h / 2) * v1), v + h * a3
        a4 = a(t + h, q4, v4)
        half_way = move(q, (h / 12) * (3 * v1 + 2 * v2 + 2 * v3 - v4))
        q = move(half_way, (h / 12) * (2 * v2 + 2 * v3 + 3 * v4 - v1))
        return q, v + (h / 6) * (a1 + 2 * a2 + 2 * a3 + a4)
