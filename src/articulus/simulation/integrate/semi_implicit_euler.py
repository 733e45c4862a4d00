"""Semi-implicit Euler."""

from __future__ import annotations

from articulus.simulation.integrate.base import Array
from articulus.simulation.integrate.second_order import SecondOrder, SecondOrderMethod


class SemiImplicitEuler(SecondOrderMethod):
    """Semi-implicit (symplectic) Euler: the new velocity moves the position.

    v(t + h) = v + h a(t, q, v),  q(t + h) = q displaced by h v(t + h)

    Symplectic where a comes from a potential: the energy then swings within O(h) and does not drift.
    Source: Hairer, Lubich & Wanner 2006, section I.1.2.
    """

    name, order, evaluations = "semi_implicit_euler", 1, 1

    def advance(self, problem: SecondOrder, t: Array, q: Array, v: Array, h: Array) -> tuple[Array, Array]:
        v = v + h * problem.acceleration(t, q, v)
        return problem.displace(q, h * v), v
