"""Forces where two things touch: normal force with loss, friction that slides, friction that holds.

The one place of these laws: contacts of shapes, crowds of them, `GroundContact` and the soil of `articulus drive` take them from here.

Friction that holds is carried by a bristle, an elastic displacement z of the contact with stiffness k and time constant T. It follows the
relative velocity v until its force reaches the limit L, which is friction times normal force:

    z' = v - u [(u . v)+ b(k |z| / L) + (|z| - L / k)+ / T],   u = z / |z|
    F  = -(k z + k T v), brought back to the length L where it is longer

b rises from 0 to 1 between `BEGIN` and 1. At rest z' = v = 0 under any steady load below L: nothing creeps. Whatever L does in
time, F . v + d/dt (k z^2 / 2) <= 0: no energy is created. (F without its sign is the point of the ball |F| <= L nearest to
k z + k T v; for k z inside the ball, its product with v is at least k z . v; for k z outside, b = 1.)
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.simulation.loop.contact.cores import length

BEGIN = 0.9
"""Part of the largest force from which a contact begins to slide."""
SHALLOW = 1e-18
"""Depth up to which the root in depth^(3/2) is constant, so that derivatives are finite out of contact, over the size of what touches [-]."""
LEAST = 1e-18
"""Normal force below which there is no contact, over the force at a depth of the size of what touches [-]."""
HALVINGS = 26
"""Halvings of the logarithm of a speed: over four decades it is then known to 1e-7."""


def hertz(depth: SX, k: SX, size: SX | float) -> SX:
    """Return k depth^(3/2) where the depth is positive; `size` is that of what touches [m]."""
    d = ca.fmax(depth, 0)
    return k * d * ca.sqrt(ca.fmax(d, SHALLOW * size))  # sqrt(0) has no derivative, depth^(3/2) has


def normal_force(depth: SX, rate: SX, k: SX, a: SX, size: SX | float) -> SX:
    """Return max(0, k depth^(3/2) (1 + 3/2 a depth')) [N].

    Source: Hunt & Crossley 1975.
    """
    return hertz(depth, k, size) * ca.fmax(1 + 1.5 * a * rate, 0)


def least_force(k: SX, size: SX) -> SX:
    """Return the normal force below which there is no contact [N]: relative to k size^(3/2)."""
    return LEAST * k * size**1.5


def sliding_friction(limit: SX, v: SX, slow: SX) -> SX:
    """Return -limit v / sqrt(v . v + slow^2): friction that is smooth about rest, where it creeps [N]."""
    return -limit * v / ca.sqrt(ca.sumsqr(v) + slow**2)


def implicit_friction(free: SX, mobility: SX, limit: SX, slow: SX) -> SX:
    """Return `sliding_friction` at the velocity v = free + mobility force that it brings about itself, (3,) [N].

    With rho = sqrt(v . v + slow^2), v = (I + limit / rho mobility)^-1 free is shorter than `free`, and rho has one solution between slow
    and sqrt(free . free + slow^2), since v is the minimum of a strictly convex function. It is found by halving its
    logarithm, which needs no start and cannot fail.

    Parameters
    ----------
    free : SX, (3,) [m/s]
        Velocity without the force.
    mobility : SX, (3, 3) [m/s / N]
        Change of velocity by a force; symmetric, positive semidefinite.
    limit : SX [N]
    slow : SX [m/s]
    """

    def velocity(rho: SX) -> SX:
        return ca.solve(SX.eye(3) + limit / rho * mobility, free)

    low, high = slow, ca.sqrt(ca.sumsqr(free) + slow**2)
    for _ in range(HALVINGS):
        middle = ca.sqrt(low * high)
        above = ca.sumsqr(velocity(middle)) + slow**2 > middle**2
        low, high = ca.if_else(above, middle, low), ca.if_else(above, high, middle)
    rho = ca.sqrt(low * high)
    return -limit / rho * velocity(rho)


@dataclass(frozen=True)
class Held:
    """What a bristle does: the force or moment on the first body, and the rate of its displacement."""

    force: SX
    rate: SX


def bristle(z: SX, v: SX, limit: SX, k: SX, T: SX, least: SX) -> Held:
    """Return the force of a bristle with displacement z at relative velocity v, both of any dimension; a limit below `least` is none."""
    size = length(z)
    u = z / size
    sliding = ca.fmin(ca.fmax((k * size / (limit + least) - BEGIN) / (1 - BEGIN), 0), 1)
    felt = v * limit / (limit + least)  # out of contact a bristle feels nothing and straightens
    back = sliding * ca.fmax(ca.dot(u, felt), 0) + ca.fmax(size - limit / k, 0) / T
    wanted = k * z + k * T * v
    force = -wanted * ca.fmin(1, limit / length(wanted))
    return Held(force, felt - back * u)
