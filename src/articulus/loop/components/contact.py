"""Two shapes that touch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.loop.component import Disturbance, Scope
from articulus.loop.components.checks import at_least, check_frame, named, positive, wrong
from articulus.loop.contact.ground import Surface
from articulus.loop.contact.law import LEAST, Held, bristle, hertz, normal_force
from articulus.loop.contact.pairs import touches
from articulus.loop.contact.shapes import HeightField, Plane, Shape
from articulus.loop.contact.solid import Touch, sizes_of, solid
from articulus.mechanism import GROUND
from articulus.mechanism.numbers import Number, as_number, convert, quantity

SHEAR = 0.01
"""Stiffness along the surface where it is not given, in parts of the stiffness across it [m^0.5]."""
PATCH = 10.0
"""Radius of the patch that turns elastically before it rolls, in parts of the resistance to rolling."""


@dataclass(frozen=True)
class Contact(Disturbance):
    """Contact of two shapes: a normal force with loss, Coulomb friction that holds at rest, resistance to rolling.

    The normal force of each point in contact with depth d is

        N = max(0, k d^(3/2) (1 + 3/2 a d'))

    Friction acts at the centre of pressure, with at most mu times the sum of all N. It has an elastic displacement as state:
    below that limit the contact holds and does not creep. Where there are several points, it resists turning about the
    normal too.

    Parameters
    ----------
    first : Shape
        Sphere, Capsule, Box or Cylinder of `articulus.loop.contact`.
    second : Shape
        Any of them, a Plane or a HeightField.
    stiffness : number [N/m^1.5]
        k; see `articulus.loop.contact.hertz_stiffness`.
    dissipation : number [s/m]
        a; see `articulus.loop.contact.dissipation_of`.
    friction : number [-]
        mu.
    shear : number [N/m]
        Stiffness along the surface while the contact holds. Not given: 0.01 m^0.5 times k, the stiffness across it at a depth
        of 0.04 mm.
    settling : number [s]
        Time in which vibrations along the surface die out and a bristle without load straightens.
    rolling : number [m]
        Largest moment against rolling and spinning, per normal force.
    name : str
        "<first frame>_to_<second frame>_contact" if not given.

    Signals: `force` on the first shape and `point` at which it acts, ground axes; `depth`, negative for a gap.

    Source: Hunt & Crossley 1975; friction after Dupont, Hayward, Armstrong & Altpeter 2002.
    """

    first: Shape
    second: Shape
    stiffness: Number = quantity("N/m^1.5", "stiffness of the contact")
    dissipation: Number = quantity("s/m", "loss of the contact", default=0.0)
    friction: Number = quantity("-", "coefficient of friction", default=0.0)
    shear: Number | None = quantity("N/m", "stiffness along the surface", default=None)
    settling: Number = quantity("s", "time in which vibrations along the surface die out", default=1e-3)
    rolling: Number = quantity("m", "moment against rolling per normal force", default=0.0)
    name: str = ""

    type_name = "contact"
    signals: ClassVar = {"force": "N", "point": "m", "depth": "m"}

    def __post_init__(self) -> None:
        for field, shape in (("first", self.first), ("second", self.second)):
            if not isinstance(shape, Shape):
                raise wrong(self, field, repr(shape), "a shape, such as Sphere('foot', 0.02)")
        named(self, f"{self.first.frame}_to_{self.second.frame}")
        if isinstance(self.first, Plane | HeightField):
            raise wrong(
                self,
                "first",
                f"a {self.first.type_name}",
                "a solid shape; planes and height fields are second",
            )
        numbers = ("stiffness", "dissipation", "friction", "settling", "rolling")
        convert(self, **dict.fromkeys(numbers, as_number))
        positive(self, stiffness=self.stiffness, settling=self.settling)
        if self.shear is not None:
            convert(self, shear=as_number)
            positive(self, shear=self.shear)
        at_least(self, 0.0, dissipation=self.dissipation, friction=self.friction, rolling=self.rolling)

    def work(self, s: Scope) -> None:
        first, second = (_moving(s, self, shape) for shape in (self.first, self.second))
        found = touches((type(self.first), type(self.second)), first.shape, second.shape)
        patch = self._patch(s, found, first, second)
        force, moment = self._friction(s, patch, first, second, several=len(found) > 1)
        total = patch.force + force
        s.write("force", total)
        s.write("point", patch.centre)
        s.write("depth", ca.mmax(ca.vertcat(*(each.depth for each in found))))
        for body, sign in ((first, 1), (second, -1)):
            if s.description.carrier(body.frame)[0] != GROUND:
                turning = moment + patch.moment + ca.cross(patch.centre - body.o, total)
                s.wrench(body.frame, sign * ca.vertcat(turning, total))

    def _patch(self, s: Scope, found: list[Touch], first: _Moving, second: _Moving) -> _Patch:
        """Return the sum of the normal forces."""
        k, a = s.number(self.stiffness), s.number(self.dissipation)
        forces = []

        def rate(each: Touch) -> SX:
            return -ca.dot(each.normal, first.velocity(each.point) - second.velocity(each.point))

        for each in found:
            forces.append(normal_force(each.counts, rate(each), k, a))
            spring = hertz(each.counts, k)
            s.stored(0.4 * spring * ca.fmax(each.counts, 0))
            s.dissipates(forces[-1] * rate(each) - spring * (rate(each) - _deeper(each, rate)))
        weights = [N + LEAST for N in forces]
        whole = sum(weights, SX(0))
        centre = sum((w * each.point for w, each in zip(weights, found)), SX.zeros(3)) / whole
        mean = sum((w * each.normal for w, each in zip(weights, found)), SX.zeros(3))
        arms = [each.point - centre for each in found]
        pushes = [N * each.normal for N, each in zip(forces, found)]
        moment = sum((ca.cross(r, f) for r, f in zip(arms, pushes)), SX.zeros(3))
        spread = sum((N * ca.sqrt(ca.sumsqr(r) + LEAST**2) for N, r in zip(forces, arms)), SX(0))
        normal = mean / ca.sqrt(ca.sumsqr(mean) + LEAST**4)
        return _Patch(centre, normal, sum(forces, SX(0)), sum(pushes, SX.zeros(3)), moment, spread)

    def _friction(
        self, s: Scope, patch: _Patch, first: _Moving, second: _Moving, several: bool
    ) -> tuple[SX, SX]:
        """Return force and moment of friction on the first shape, about the centre of pressure."""
        k = SHEAR * s.number(self.stiffness) if self.shear is None else s.number(self.shear)
        T, mu = s.number(self.settling), s.number(self.friction)
        n, force, moment = patch.normal, SX.zeros(3), SX.zeros(3)
        v = first.velocity(patch.centre) - second.velocity(patch.centre)
        w = first.omega - second.omega
        if self.friction != 0.0:
            z = ca.mtimes(second.R, s.state("stick", (0.0, 0.0, 0.0)))
            across = n * ca.dot(n, z)  # the surface may have turned
            held = bristle(z - across, v - n * ca.dot(n, v), mu * patch.total, k, T)
            held = Held(held.force, held.rate - across / T)
            s.rate("stick", ca.mtimes(second.R.T, held.rate))
            force = held.force
            _account(s, held, z, v, k)
        if self.friction != 0.0 and several:
            size = s.number(self.first.bound)  # type: ignore[attr-defined]
            spin, turning = s.state("spin", 0.0), ca.dot(n, w)
            held = bristle(spin, turning, mu * patch.spread, k * size**2, T)
            s.rate("spin", held.rate)
            _account(s, held, spin, turning, k * size**2)
            moment = moment + held.force * n
        if self.rolling != 0.0:
            r = s.number(self.rolling)
            turned = ca.mtimes(second.R, s.state("roll", (0.0, 0.0, 0.0)))
            held = bristle(turned, w, r * patch.total, k * (PATCH * r) ** 2, T)
            s.rate("roll", ca.mtimes(second.R.T, held.rate))
            _account(s, held, turned, w, k * (PATCH * r) ** 2)
            moment = moment + held.force
        return force, moment


def _deeper(each: Touch, rate: Callable[[Touch], SX]) -> SX:
    """Return the rate of the depth from which a point of an edge counts."""
    if not each.ends:
        return SX(0)
    one, two = each.ends
    deeper = ca.if_else(one.depth > two.depth, rate(one), rate(two))
    return ca.if_else(ca.fmax(one.depth, two.depth) > 0, deeper, 0)


def _account(s: Scope, held: Held, z: SX, v: SX, k: SX) -> None:
    """Account for the energy of a bristle with displacement z at relative velocity v."""
    s.stored(k * ca.sumsqr(z) / 2)
    s.dissipates(-ca.dot(held.force, v) - k * ca.dot(z, held.rate))


@dataclass(frozen=True)
class _Moving:
    """A shape with its frame: ground axes."""

    frame: str
    shape: Any
    """Solid or Surface."""
    o: SX
    R: SX
    omega: SX
    v: SX

    def velocity(self, p: SX) -> SX:
        """Return the velocity of the point of the body that is at p [m/s]."""
        return self.v + ca.cross(self.omega, p - self.o)


@dataclass(frozen=True)
class _Patch:
    """All points in contact together: centre of pressure, mean normal, sum of the normal forces, their resultant force and
    moment about the centre, and the sum of normal forces times their distance from the centre."""

    centre: SX
    normal: SX
    total: SX
    force: SX
    moment: SX
    spread: SX


def _moving(s: Scope, component: Contact, shape: Shape) -> _Moving:
    check_frame(s, component, shape.frame)
    if shape.frame == GROUND:
        R, o, omega, v = SX.eye(3), SX.zeros(3), SX.zeros(3), SX.zeros(3)
    else:
        pose = s.ask("pose", s.q, frames=[shape.frame])
        twist = s.ask("velocity", s.q, s.v, frames=[shape.frame])
        R, o, omega, v = pose[:3, :3], pose[:3, 3], twist[:3], twist[3:]
    if isinstance(shape, Plane | HeightField):
        held: Any = Surface(R, o, shape if isinstance(shape, HeightField) else None)
    else:
        held = solid(type(shape), [s.number(x) for x in sizes_of(shape)], R, o)
    return _Moving(shape.frame, held, o, R, omega, v)
