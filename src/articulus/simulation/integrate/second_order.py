"""Second-order motion on symbols or numbers: a position that velocities displace, an acceleration, and the methods for it."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.simulation.integrate.base import Array, Integrator


def add(q: Array, dq: Array) -> Array:
    """Return q + dq: how positions are displaced where each has its own velocity."""
    return q + dq


@dataclasses.dataclass(frozen=True)
class Momentum:
    """Momentum of what floats, for methods that balance it.

    Parameters
    ----------
    value : callable
        From q and v to the momenta pi, (..., k), in axes that do not move.
    rate : callable
        From q, v and v' to their time derivative.
    velocity : callable
        From q, v and pi to the velocity of which those entries that float are changed so that its momenta are pi.
    """

    value: Callable[[Array, Array], Array]
    rate: Callable[[Array, Array, Array], Array]
    velocity: Callable[[Array, Array, Array], Array]


@dataclasses.dataclass(frozen=True)
class SecondOrderProblem:
    """v' = a(t, q, v), and q moves with v.

    Parameters
    ----------
    acceleration : callable
        From time [s], position (..., nq) and velocity (..., nv) to v', (..., nv).
    displace : callable
        From q and dq, (..., nv), to the position that is reached when the velocity is dq for one second; exact on the
        group of rotations for quaternions.
    momentum : Momentum, optional
        Momentum of floating bodies.
    """

    acceleration: Callable[[Array, Array, Array], Array]
    displace: Callable[[Array, Array], Array] = add
    momentum: Momentum | None = None


class SecondOrderMethod(Integrator):
    """A method with fixed steps for q and v; one file and one `advance` each, arithmetic only."""

    kind = "second order"
    order: int
    explicit: bool = True
    evaluations: int
    """Evaluations of the acceleration in a step."""
    balances_momentum: bool = False
    """Whether it uses the problem's momentum."""

    @abc.abstractmethod
    def advance(
        self, problem: SecondOrderProblem, t: Array, q: Array, v: Array, h: Array
    ) -> tuple[Array, Array]:
        """Return q and v at t + h; numbers, SX and MX alike."""

    def integrate(
        self, problem: SecondOrderProblem, t0: float, t1: float, q0: Any, v0: Any, steps: int
    ) -> tuple[Array, Array, Array]:
        """Return times, positions and velocities of `steps` equal steps from t0 to t1.

        Parameters
        ----------
        problem : SecondOrder
        t0, t1 : float [s]
        q0, v0 : arrays, (..., nq) and (..., nv)
        steps : int

        Returns
        -------
        t : array, (steps + 1,) [s]
        q : array, (..., steps + 1, nq)
        v : array, (..., steps + 1, nv)
        """
        if not isinstance(steps, (int, np.integer)) or steps < 1:
            raise InputError(f"{self.name}: steps = {steps!r}; expected an integer of at least 1")
        t, h = np.linspace(t0, t1, steps + 1), (t1 - t0) / steps
        rows = [(np.array(q0, dtype=float), np.array(v0, dtype=float))]
        for start in t[:-1]:
            rows.append(self.advance(problem, float(start), *rows[-1], h))
        q, v = (np.stack(column, axis=-2) for column in zip(*rows))
        return t, q, v


class SemiImplicitEuler(SecondOrderMethod):
    """Semi-implicit (symplectic) Euler: the new velocity moves the position.

    v(t + h) = v + h a(t, q, v),  q(t + h) = q displaced by h v(t + h)

    Symplectic where a comes from a potential: the energy then swings within O(h) and does not drift.
    Source: Hairer, Lubich & Wanner 2006, section I.1.2.
    """

    name, order, evaluations = "semi_implicit_euler", 1, 1

    def advance(
        self, problem: SecondOrderProblem, t: Array, q: Array, v: Array, h: Array
    ) -> tuple[Array, Array]:
        v = v + h * problem.acceleration(t, q, v)
        return problem.displace(q, h * v), v


class LieRK4(SecondOrderMethod):
    """Commutator-free Lie-group method of order 4 on the stages of the classical RK4.

    Positions move only by `displace`, a product of exponentials: a unit quaternion stays one to round-off, and no
    constraint or scaling is needed. With q + dq as displacement it is RK4.

    q2 = q (h/2 v1), q3 = q (h/2 v2), q4 = q2 (h v3 - h/2 v1)
    q(t + h) = q (h/12 (3 v1 + 2 v2 + 2 v3 - v4)) (h/12 (-v1 + 2 v2 + 2 v3 + 3 v4))

    Source: Celledoni, Marthinsen & Owren 2003, method of order 4 with two exponentials in the update.
    """

    name, order, evaluations = "lie_rk4", 4, 4

    def advance(
        self, problem: SecondOrderProblem, t: Array, q: Array, v: Array, h: Array
    ) -> tuple[Array, Array]:
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
