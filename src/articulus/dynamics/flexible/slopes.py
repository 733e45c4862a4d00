"""How the forces that a flexible body takes change with its modal coordinates, their rates and the turning of its frame.

With everything about one particle X = r + F eta + s of the shortening (see `shortening`) written in body axes, w its angular
velocity, Q = (dw/dt)~ + w~ w~, G = ds/deta and G(x) = dG/deta x:

    second' = Q G + 2 w~ G(rate) + G(acceleration)      acceleration of s by eta
    whole'  = second' + Q F                             acceleration of X by eta

The first order has the same terms summed up in constants of the body. Only these linear and bilinear forms are written here;
there is nothing to differentiate.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.dynamics.flexible.body import ElasticBody, energies
from articulus.dynamics.flexible.integrals import contract
from articulus.dynamics.flexible.shortening import Shortening
from articulus.spatial import Motion, cross, skew


@dataclass(frozen=True)
class WrenchDerivatives:
    """The wrench F that a motion takes, and derivatives of it and of the modal forces f."""

    F: SX
    """(6,)"""
    F_eta: SX
    """(6, n) By the modal coordinates."""
    f_eta: SX
    """(n, n)"""
    F_rate: SX
    """(6, n) By their rates."""
    f_rate: SX
    """(n, n)"""
    f_turn: SX
    """(n, 3) What multiplies the angular part of a change of velocity that comes from in front of the body: see
    `dynamics.inverse_derivatives`; the origin is at rest."""

    def __add__(self, other: WrenchDerivatives) -> WrenchDerivatives:
        return WrenchDerivatives(*(x + y for x, y in zip(vars(self).values(), vars(other).values())))


def slopes(body: ElasticBody, w: SX, rate: SX, A: Motion, acceleration: SX) -> WrenchDerivatives:
    """Return how the forces change, elastic and damping forces included, of a motion whose origin is at rest.

    Parameters
    ----------
    body : ElasticBody
    w : SX, (3,)
        Angular velocity of the frame.
    rate, acceleration : SX, (n,)
        Rate and acceleration of the modal coordinates; the rates are zero for bodies of the "ruthless" level.
    A : Motion
        Acceleration of the frame, its linear part that of the origin.
    """
    found = _linear(body, w, rate, A, acceleration)
    for each in body.shortening:
        found = found + _particle(each, w, rate, A, acceleration)
    return found


def _linear(body: ElasticBody, w: SX, rate: SX, A: Motion, acceleration: SX) -> WrenchDerivatives:
    """Return the part of displacements that are linear in the modal coordinates."""
    c, n, V = body.constants, rate.numel(), Motion(w, SX.zeros(3))
    F, _ = body.linear_forces(V, rate, A, acceleration)
    by, turned = body.linear_inertia_by, _moments(w)
    f_turn = 2 * contract(c.gyroscopic, rate)[:3, :].T - ca.mtimes(by[3:, :].T, turned.T)
    f_turn = f_turn - ca.mtimes(body.linear_rf[:3, :].T, skew(w))
    f_rate = body.damping + 2 * contract(c.gyroscopic.transpose(1, 0, 2)[:3], w).T
    if body.level == "ruthless":
        return WrenchDerivatives(F.column(), SX(6, n), body.stiffness, SX(6, n), f_rate, f_turn)
    rf1 = c.swept + c.gyroscopic
    f_eta = contract(rf1.transpose(1, 0, 2), A.column()).T - contract(c.rr2.transpose(1, 0, 2), energies(V))
    growth = contract(c.rr2, rate)
    momentum = contract(c.swept - c.gyroscopic, rate)
    Q = skew(A.w) + ca.mtimes(skew(w), skew(w))
    angular = ca.mtimes(_moments(A.w) + ca.mtimes(skew(w), turned), by[3:, :]) - ca.mtimes(
        skew(A.v), by[:3, :]
    )
    angular = angular + ca.mtimes(turned, growth[3:, :]) + ca.mtimes(skew(w), momentum[:3, :])
    linear = ca.mtimes(Q, by[:3, :]) + ca.mtimes(skew(w), growth[:3, :] + momentum[3:, :])
    F_eta = ca.vertcat(angular, linear) + contract(c.swept - c.gyroscopic, acceleration)
    F_rate = 2 * contract(c.swept, rate) + ca.vertcat(
        ca.mtimes(skew(w), body.linear_rf[:3, :]) + ca.mtimes(turned, by[3:, :]),
        ca.mtimes(skew(w), body.linear_rf[3:, :] + by[:3, :]),
    )
    return WrenchDerivatives(F.column(), F_eta, f_eta + body.stiffness, F_rate, f_rate, f_turn)


def _moments(w: SX) -> SX:
    """Return J w for each unit of the six moments of inertia J, (3, 6)."""
    x, y, z = ca.vertsplit(w)
    o = SX(1, 1)
    return ca.blockcat([[x, y, z, o, o, o], [o, x, o, y, z, o], [o, o, x, o, y, z]])


def _particle(each: Shortening, w: SX, rate: SX, A: Motion, acceleration: SX) -> WrenchDerivatives:
    """Return the part of one particle that the displacement of second order has to do with."""
    F, G, s, rest, weight = each.F, each.G, each.s, each.X - each.s, each.of.weight
    G_rate, turn = contract(each.of.second, rate), skew(w)
    Q = skew(A.w) + ca.mtimes(turn, turn)
    moved, turned = ca.mtimes(F, rate), ca.mtimes(G, rate)
    second = ca.mtimes(G_rate, rate) + ca.mtimes(Q, s) + 2 * cross(w, turned) + ca.mtimes(G, acceleration)
    whole = second + ca.mtimes(Q, rest) + 2 * cross(w, moved) + weight * A.v + ca.mtimes(F, acceleration)
    QF, across = ca.mtimes(Q, F), 2 * ca.mtimes(turn, F)
    second_eta = ca.mtimes(Q, G) + 2 * ca.mtimes(turn, G_rate) + contract(each.of.second, acceleration)
    second_rate = 2 * (G_rate + ca.mtimes(turn, G))
    by_eta = ca.mtimes(skew(rest), second_eta) + ca.mtimes(skew(s), second_eta + QF)
    by_eta = by_eta - ca.mtimes(skew(second), F) - ca.mtimes(skew(whole), G)
    by_rate = ca.mtimes(skew(rest), second_rate) + ca.mtimes(skew(s), second_rate + across)
    curved = contract(each.of.second.transpose(1, 0, 2), whole)
    parts = (
        ca.vertcat(cross(rest, second) + cross(s, whole), weight * second),
        ca.vertcat(by_eta, weight * second_eta),
        curved + ca.mtimes(F.T, second_eta) + ca.mtimes(G.T, second_eta + QF),
        ca.vertcat(by_rate, weight * second_rate),
        ca.mtimes(F.T, second_rate) + ca.mtimes(G.T, second_rate + across),
        -2 * ca.mtimes(G.T, skew(cross(w, each.X) + moved + turned))
        - 2 * ca.mtimes(F.T, skew(cross(w, s) + turned)),
    )
    return WrenchDerivatives(*(each.of.sign * x for x in parts))
