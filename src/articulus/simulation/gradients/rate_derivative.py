"""Derivatives of the rate of a tree without those of its forward dynamics.

With r(x, a) = ID(q, v, a) - tau the accelerations a solve r = 0, so that a_x = -M^{-1} r_x at fixed a: inverse dynamics is a third of
forward dynamics, and its derivatives are as much shorter.
Source: Carpentier & Mansard 2018, section III.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from articulus.simulation.loop.functions import System


def has_short_rate(system: System) -> bool:
    """Whether a system is a tree whose equations are one expression."""
    plain = system.closing is None and not system.network.stops and not system.description.couplings
    return plain and system.rhs.is_a("SXFunction") and system.acceleration.is_a("SXFunction")


def _terms(system: System) -> tuple[SX, SX, SX, SX, Any]:
    """Return rate and imbalance with the accelerations as symbols, these, their values, and the factors of the mass matrix."""
    net = system.network
    imbalance = net.ask("inverse_dynamics", net.q, net.v, net.vdot) - system.applied_forces()
    value = system.acceleration.call(system.arguments)[0]
    factors = ca.ldl(net.ask("mass_matrix", net.q), False)
    return system.rate_of_accelerations(), imbalance, net.vdot, value, factors


def _join(system: System, states: list[int], chosen: list[int], y: SX) -> SX:
    """Return the derivative of y by the states, the held values and the chosen parameters."""
    c, d, p, *_ = system.arguments
    by_c, by_d, by_p = (ca.jacobian(y, x) for x in (c, d, p))
    return ca.horzcat(by_c[:, states], by_d, by_p[:, chosen])


def rate_derivative(system: System, states: list[int], chosen: list[int]) -> tuple[SX, SX]:
    """Return the rate of c and the derivative of the rates of `states` by these, the held values and chosen parameters."""
    rate, imbalance, symbol, value, factors = _terms(system)
    by = -ca.ldl_solve(ca.densify(_join(system, states, chosen, imbalance)), *factors)
    kept = rate[states]
    whole = _join(system, states, chosen, kept) + ca.mtimes(ca.jacobian(kept, symbol), by)
    found = ca.substitute([rate, whole], [symbol], [value])
    return found[0], found[1]


def rate_pull(system: System, states: list[int], chosen: list[int], mu: SX) -> SX:
    """Return mu' times the derivative of the rates of `states` by chosen parameters."""
    rate, imbalance, symbol, value, factors = _terms(system)
    kept, p = rate[states], system.arguments[2]
    weight = ca.ldl_solve(ca.densify(ca.jtimes(kept, symbol, mu, True)), *factors)
    found = ca.jtimes(kept, p, mu, True) - ca.jtimes(imbalance, p, weight, True)
    return ca.substitute(ca.densify(found)[chosen], symbol, value)
