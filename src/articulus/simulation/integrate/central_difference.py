"""Central differences: positions in the middle of steps, velocities at their ends."""

from __future__ import annotations

from articulus.simulation.integrate.base import Array
from articulus.simulation.integrate.second_order import SecondOrderMethod, SecondOrderProblem


class CentralDifference(SecondOrderMethod):
    """Park's explicit integrator: velocities and positions half a step apart, momenta of floating bodies balanced.

        q(n+1/2) = q(n) displaced by h/2 v(n)
        vp       = v(n) + h/2 a(q(n+1/2), v(n))          prediction, for forces that depend on the velocity
        v(n+1)   = v(n) + h a(q(n+1/2), vp)
        q(n+1)   = q(n+1/2) displaced by h/2 v(n+1)

    Two half displacements by the same velocity are one by the whole step, so that positions in the middle of steps and velocities
    at their ends are those of the central difference formula. For forces of positions alone it is symplectic, and stable while h times
    the highest frequency is below 2. What floats gets its velocity from the balance of its momentum pi in ground axes,

        pi(n+1) = pi(n) + h pidot(n+1/2),

    so that linear and angular momentum are kept to rounding where nothing acts from outside.

    Source: Park 1993, equations 9.16 to 9.34; joint coordinates in the place of those of every body.
    """

    name, order, evaluations = "central_difference", 2, 2
    balances_momentum = True

    def advance(
        self, problem: SecondOrderProblem, t: Array, q: Array, v: Array, h: Array
    ) -> tuple[Array, Array]:
        d = h / 2
        middle = problem.displace(q, d * v)
        predicted = v + d * problem.acceleration(t + d, middle, v)
        a = problem.acceleration(t + d, middle, predicted)
        after = v + h * a
        if problem.momentum is None:
            return problem.displace(middle, d * after), after
        pi = problem.momentum.value(q, v) + h * problem.momentum.rate(middle, predicted, a)
        balanced = problem.momentum.velocity(problem.displace(middle, d * after), after, pi)
        end = problem.displace(
            middle, d * balanced
        )  # by the velocity that is balanced: the energy then stays
        return end, problem.momentum.velocity(end, balanced, pi)
