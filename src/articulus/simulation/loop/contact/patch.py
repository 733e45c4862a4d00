"""All points at which two shapes touch, together: normal forces, friction that holds, resistance to rolling, their energy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.simulation.loop.contact.law import (
    Held,
    bristle,
    hertz,
    least_force,
    normal_force,
    sliding_friction,
)
from articulus.simulation.loop.contact.solid import Touch

SHEAR = 0.01
"""Stiffness along the surface where it is not given, in parts of the stiffness across it [m^0.5]."""
PATCH = 10.0
"""Radius of the patch that turns elastically before it rolls, in parts of the resistance to rolling."""


STATE = 18
"""Numbers of a moving shape: origin, angular velocity, velocity, axes column by column; ground axes."""
LAW = 7
"""Numbers of the law: stiffness, dissipation, friction, shear, shear_damping, rolling, slip speed."""
ALONE = 1e-12
"""Share of a length or force that keeps derivatives finite where there is none [-]."""


@dataclass(frozen=True)
class MovingFrame:
    """How a shape moves: origin, axes, angular velocity and velocity of its frame, ground axes."""

    o: SX
    R: SX
    omega: SX
    v: SX

    @staticmethod
    def of(x: SX) -> MovingFrame:
        """Return a movement from its numbers, see `STATE`."""
        return MovingFrame(x[:3], ca.reshape(x[9:], 3, 3), x[3:6], x[6:9])

    def velocity(self, p: SX) -> SX:
        """Return the velocity of the point of the body that is at p [m/s]."""
        return self.v + ca.cross(self.omega, p - self.o)


@dataclass(frozen=True)
class Law:
    """Numbers of a contact, as in `components.Contact`; `size` is the radius of the first shape [m]."""

    stiffness: SX
    dissipation: SX
    friction: SX
    shear: SX
    shear_damping: SX
    rolling: SX
    size: SX

    @staticmethod
    def of(x: SX, size: SX) -> Law:
        """Return the law from its numbers, see `LAW`, and the radius of the first shape."""
        k, loss, mu, shear, T, rolling, _ = ca.vertsplit(x)
        return Law(k, loss, mu, shear, T, rolling, size)

    @property
    def least(self) -> SX:
        """Normal force below which there is no contact [N]."""
        return least_force(self.stiffness, self.size)

    def bristles(self) -> dict[str, SX]:
        """Return the stiffness of each bristle by the name of its state."""
        k = self.shear
        return {"stick": k, "spin": k * self.size**2, "roll": k * (PATCH * self.rolling) ** 2}


@dataclass(frozen=True)
class Patch:
    """All points in contact together: center of pressure, mean normal, sum of the normal forces, their resultant force and
    moment about the center, the sum of normal forces times their distance from the center, energy held and power lost."""

    center: SX
    normal: SX
    total: SX
    force: SX
    moment: SX
    spread: SX
    stored: SX
    lost: SX


@dataclass(frozen=True)
class Resistance:
    """Friction on the first shape: force and moment about the center of pressure, rates of its states, power lost."""

    force: SX
    moment: SX
    rates: dict[str, SX]
    lost: SX


def approach(first: MovingFrame, second: MovingFrame) -> Callable[[Touch], SX]:
    """Return the function that gives the rate of the depth at a touch."""
    return lambda each: -ca.dot(each.normal, first.velocity(each.point) - second.velocity(each.point))


def patch(found: list[Touch], first: MovingFrame, second: MovingFrame, law: Law) -> Patch:
    """Return the sum of the normal forces of all touches."""
    rate, k, a, least = approach(first, second), law.stiffness, law.dissipation, law.least
    forces, stored, lost = [], SX(0), SX(0)
    for each in found:
        forces.append(normal_force(each.counts, rate(each), k, a, law.size))
        spring = hertz(each.counts, k, law.size)
        stored += 0.4 * spring * ca.fmax(each.counts, 0)
        lost += forces[-1] * rate(each) - spring * (rate(each) - _deeper(each, rate))
    weights = [N + least for N in forces]
    whole = sum(weights, SX(0))
    center = sum((w * each.point for w, each in zip(weights, found)), SX.zeros(3)) / whole
    mean = sum((w * each.normal for w, each in zip(weights, found)), SX.zeros(3))
    arms = [each.point - center for each in found]
    pushes = [N * each.normal for N, each in zip(forces, found)]
    moment = sum((ca.cross(r, f) for r, f in zip(arms, pushes)), SX.zeros(3))
    spread = sum((N * ca.sqrt(ca.sumsqr(r) + (ALONE * law.size) ** 2) for N, r in zip(forces, arms)), SX(0))
    normal = mean / ca.sqrt(ca.sumsqr(mean) + (ALONE * least) ** 2)
    return Patch(center, normal, sum(forces, SX(0)), sum(pushes, SX.zeros(3)), moment, spread, stored, lost)


def held_states(friction: bool, rolling: bool, several: bool) -> dict[str, int]:
    """Return name and size of the states of a contact with friction, with resistance to rolling, at several points."""
    chosen = {"stick": 3 * friction, "spin": int(friction and several), "roll": 3 * rolling}
    return {name: size for name, size in chosen.items() if size}


def resistance(
    at: Patch, first: MovingFrame, second: MovingFrame, law: Law, states: dict[str, SX]
) -> Resistance:
    """Return what the bristles do whose states are given; "stick" and "roll" are in the axes of the second shape."""
    n, mu, T = at.normal, law.friction, law.shear_damping
    force, moment, lost, rates = SX.zeros(3), SX.zeros(3), SX(0), dict[str, SX]()
    v = first.velocity(at.center) - second.velocity(at.center)
    w = first.omega - second.omega
    k = law.bristles()
    if "stick" in states:
        z = ca.mtimes(second.R, states["stick"])
        across = n * ca.dot(n, z)  # the surface may have turned
        friction = bristle(z - across, v - n * ca.dot(n, v), mu * at.total, k["stick"], T, law.least)
        friction = Held(friction.force, friction.rate - across / T)
        rates["stick"] = ca.mtimes(second.R.T, friction.rate)
        force = friction.force
        lost += _loss(friction, z, v, k["stick"])
    if "spin" in states:
        spin, turning = states["spin"], ca.dot(n, w)
        friction = bristle(spin, turning, mu * at.spread, k["spin"], T, law.least * law.size)
        rates["spin"] = friction.rate
        lost += _loss(friction, spin, turning, k["spin"])
        moment = moment + friction.force * n
    if "roll" in states:
        turned = ca.mtimes(second.R, states["roll"])
        friction = bristle(turned, w, law.rolling * at.total, k["roll"], T, law.least * law.size)
        rates["roll"] = ca.mtimes(second.R.T, friction.rate)
        lost += _loss(friction, turned, w, k["roll"])
        moment = moment + friction.force
    return Resistance(force, moment, rates, lost)


def sliding(
    found: list[Touch], center: SX, first: MovingFrame, second: MovingFrame, law: Law, slow: SX
) -> tuple[SX, SX, SX]:
    """Return force, moment about the center and lost power of friction -mu N v / sqrt(v^2 + v_s^2) at each point."""
    rate = approach(first, second)
    force, moment, lost = SX.zeros(3), SX.zeros(3), SX(0)
    for each in found:
        N = normal_force(each.counts, rate(each), law.stiffness, law.dissipation, law.size)
        along = first.velocity(each.point) - second.velocity(each.point) + each.normal * rate(each)
        friction = sliding_friction(law.friction * N, along, slow)
        force, moment = force + friction, moment + ca.cross(each.point - center, friction)
        lost -= ca.dot(friction, along)
    return force, moment, lost


def _deeper(each: Touch, rate: Callable[[Touch], SX]) -> SX:
    """Return the rate of the depth from which a point of an edge counts."""
    if not each.ends:
        return SX(0)
    one, two = each.ends
    deeper = ca.if_else(one.depth > two.depth, rate(one), rate(two))
    return ca.if_else(ca.fmax(one.depth, two.depth) > 0, deeper, 0)


def _loss(held: Held, z: SX, v: SX, k: SX) -> SX:
    """Return the power that a bristle with displacement z loses at relative velocity v."""
    return -ca.dot(held.force, v) - k * ca.dot(z, held.rate)
