"""Forces where two shapes touch: normal force with loss, friction that holds, resistance to rolling.

Friction is carried by a bristle, an elastic displacement z of the contact with stiffness k and time constant T. It follows the
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
"""Depth up to which the root in depth^(3/2) is constant, so that derivatives are finite out of contact [m]."""
LEAST = 1e-12
"""Force or moment below which a limit is none [N or N m]."""


def hertz(depth: SX, k: SX) -> SX:
    """Return k depth^(3/2) where the depth is positive."""
    d = ca.fmax(depth, 0)
    return k * d * ca.sqrt(ca.fmax(d, SHALLOW))  # sqrt(0) has no derivative, depth^(3/2) has


def normal_force(depth: SX, rate: SX, k: SX, a: SX) -> SX:
    """Return max(0, k depth^(3/2) (1 + 3/2 a depth')) [N].

    Source: Hunt & Crossley 1975.
    """
    return hertz(depth, k) * ca.fmax(1 + 1.5 * a * rate, 0)


@dataclass(frozen=True)
class Held:
    """What a bristle does: the force or moment on the first body, and the rate of its displacement."""

    force: SX
    rate: SX


def bristle(z: SX, v: SX, limit: SX, k: SX, T: SX) -> Held:
    """Return the force of a bristle with displacement z at relative velocity v, both of any dimension."""
    size = length(z)
    u = z / size
    sliding = ca.fmin(ca.fmax((k * size / (limit + LEAST) - BEGIN) / (1 - BEGIN), 0), 1)
    felt = v * limit / (limit + LEAST)  # out of contact a bristle feels nothing and straightens
    back = sliding * ca.fmax(ca.dot(u, felt), 0) + ca.fmax(size - limit / k, 0) / T
    wanted = k * z + k * T * v
    force = -wanted * ca.fmin(1, limit / length(wanted))
    return Held(force, felt - back * u)
