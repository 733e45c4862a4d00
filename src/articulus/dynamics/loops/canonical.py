"""Augmented Lagrangian form of momentum, ALF2: constraints are differentiated once only, so that they drift less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.loops.base import ConstraintProblem, weights
from articulus.dynamics.loops.regularized import regularized_solve


@dataclass(frozen=True)
class CanonicalSymbols:
    """The symbols that a `ConstraintProblem` is written in.

    Parameters
    ----------
    q, v : SX
        Symbols of positions and velocities.
    t : SX
        Symbol of time [s].
    qdot : SX
        Rate of q as an expression in q and v.
    """

    q: SX
    v: SX
    t: SX
    qdot: SX

    def along(self, expression: SX) -> SX:
        """Return d/dt of an expression in q and t, with v held."""
        return ca.jtimes(expression, self.q, self.qdot) + ca.jtimes(expression, self.t, SX(1))


@dataclass(frozen=True)
class Canonical:
    """Rates of the state (q, p, integral), with what they rest on."""

    v: SX
    """(nv,) Velocities."""
    qdot: SX
    pdot: SX
    """(nv,) Rate of the canonical momenta."""
    integral_rate: SX
    """(m,) Rate of the integrals of the constraint residuals."""
    sigma: SX
    """(m,) Impulses of the constraints; their rates are the multipliers."""


def canonical(
    problem: ConstraintProblem,
    at: CanonicalSymbols,
    p: SX,
    integral: SX,
    penalty: SX | float,
    frequency: SX | float,
    damping: SX | float = 1.0,
    iterations: int = 10,
    holonomic: Sequence[bool] | None = None,
) -> Canonical:
    """Return the rates of positions, canonical momenta and integrals of the constraints.

    (M + G' a G) v_{i+1} = M v_i - G' a (g_t + 2 w mu g + w^2 I),   M v_0 = p
    sigma_{i+1} = sigma_i + a (G v_{i+1} + g_t + 2 w mu g + w^2 I)
    p' = Q + L_q + Gdot' sigma,   I' = g

    and for a row that restricts velocities only, A v + b = 0: A v + b + 2 w mu I in place of the bracket, I' = A v + b.

    Q + L_q is f + Mdot v: the derivative of the Lagrangian by q need not be formed, only that of M v along the motion,
    by automatic differentiation. This also holds for velocities that are not rates of coordinates. The iterates are
    computed from the multipliers' side, as in `regularized`.

    Parameters
    ----------
    problem : Problem
        On the symbols of `at`.
    at : Point
    p : SX, (nv,)
        Canonical momenta M v + G' sigma.
    integral : SX, (m,)
        Integrals I of the residuals.
    penalty, frequency, damping : numbers or (m,)
        a [1/unit of M], w [rad/s] and mu [-].
    iterations : int
        With few of them energy is lost near singular positions.
    holonomic : sequence of bool, optional
        For each row whether it restricts positions; all, if not given.

    Source: Bayo & Avello 1994, equations 32-35; 40 and 41 for rows that are not holonomic, with beta = 2 w mu. The
    signs of sigma and the factors a that the print lost are those that follow from equations 26, 31 and 33.
    """
    c = problem.constraints
    positions = SX([1.0] * c.g.numel() if holonomic is None else list(map(float, holonomic)))
    drift = ca.substitute(c.rate, at.v, SX.zeros(at.v.shape))
    slow = 2 * frequency * damping * (positions * c.g + (1 - positions) * integral)
    wanted = drift + slow + frequency**2 * positions * integral
    found = regularized_solve(problem.M, c.G, p, wanted, 1 / weights(c, penalty), iterations)
    v, sigma = found.vdot, found.multipliers
    held = SX.sym("sigma", sigma.shape)
    pdot = problem.f + at.along(ca.mtimes(problem.M, at.v)) + at.along(ca.mtimes(c.G.T, held))
    integral_rate = positions * c.g + (1 - positions) * c.rate
    rates = ca.substitute([at.qdot, pdot, integral_rate], [at.v, held], [v, sigma])
    return Canonical(v, rates[0], rates[1], rates[2], sigma)
