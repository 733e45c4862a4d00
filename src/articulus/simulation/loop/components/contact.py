"""Two shapes that touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism import GROUND
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import at_least, check_frame, name_after, positive, wrong
from articulus.simulation.loop.contact.ground import Surface
from articulus.simulation.loop.contact.pairs import touches
from articulus.simulation.loop.contact.patch import SHEAR, Law, MovingFrame, held_states, patch, resistance
from articulus.simulation.loop.contact.place import moving_frame, placed
from articulus.simulation.loop.contact.shapes import HeightField, Plane, Shape
from articulus.simulation.loop.contact.solid import sizes_of, solid


@dataclass(frozen=True)
class Contact(Disturbance):
    """Contact of two shapes: a normal force with loss, Coulomb friction that holds at rest, resistance to rolling.

    The normal force of each point in contact with depth d is

        N = max(0, k d^(3/2) (1 + 3/2 a d'))

    Friction acts at the center of pressure, with at most mu times the sum of all N. It has an elastic displacement as state:
    below that limit the contact holds and does not creep. Where there are several points, it resists turning about the
    normal too.

    Parameters
    ----------
    first : Shape
        Sphere, Capsule, Box or Cylinder of `articulus.simulation.loop.contact`.
    second : Shape
        Any of them, a Plane or a HeightField.
    stiffness : number [N/m^1.5]
        k; see `articulus.simulation.loop.contact.hertz_stiffness`.
    dissipation : number [s/m]
        a; see `articulus.simulation.loop.contact.dissipation_of`.
    friction : number [-]
        mu.
    shear : number [N/m]
        Stiffness along the surface while the contact holds. Not given: 0.01 m^0.5 times k, the stiffness across it at a depth
        of 0.04 mm.
    shear_damping : number [s]
        Damping along the surface over its stiffness there: the time in which a bristle without load straightens. Vibrations of a
        mass m that sticks fall to 1/e within 2 m / (shear * shear_damping): the larger it is, the sooner.
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
    shear_damping: Number = quantity("s", "damping along the surface over its stiffness", default=1e-3)
    rolling: Number = quantity("m", "moment against rolling per normal force", default=0.0)
    name: str = ""

    type_name = "contact"
    signals: ClassVar = {"force": "N", "point": "m", "depth": "m"}

    def __post_init__(self) -> None:
        for field, shape in (("first", self.first), ("second", self.second)):
            if not isinstance(shape, Shape):
                raise wrong(self, field, repr(shape), "a shape, such as Sphere('foot', 0.02)")
        name_after(self, f"{self.first.frame}_to_{self.second.frame}")
        if isinstance(self.first, Plane | HeightField):
            raise wrong(
                self,
                "first",
                f"a {self.first.type_name}",
                "a solid shape; planes and height fields are second",
            )
        numbers = ("stiffness", "dissipation", "friction", "shear_damping", "rolling")
        convert(self, **dict.fromkeys(numbers, as_number))
        positive(self, stiffness=self.stiffness, shear_damping=self.shear_damping)
        if self.shear is not None:
            convert(self, shear=as_number)
            positive(self, shear=self.shear)
        at_least(self, 0.0, dissipation=self.dissipation, friction=self.friction, rolling=self.rolling)

    def work(self, s: Scope) -> None:
        first, second = (_checked(s, self, shape) for shape in (self.first, self.second))
        carriers = [s.description.carrier(shape.frame)[0] for shape in (self.first, self.second)]
        if carriers[0] == carriers[1]:
            raise wrong(self, "second", f"both shapes on '{carriers[0]}'", "shapes of two bodies")
        solids = [_place(s, shape, at) for shape, at in ((self.first, first), (self.second, second))]
        touch = touches((type(self.first), type(self.second)), *solids)
        law = self._law(s)
        at = patch(touch, first, second, law)
        kept = held_states(self.friction != 0.0, self.rolling != 0.0, len(touch) > 1)
        states = {name: s.state(name, (0.0,) * size) for name, size in kept.items()}
        friction = resistance(at, first, second, law, states)
        for name, rate in friction.rates.items():
            s.rate(name, rate)
        s.stores(at.stored + sum(law.bristles()[name] * ca.sumsqr(z) / 2 for name, z in states.items()))
        s.dissipates(at.lost + friction.lost)
        total = at.force + friction.force
        s.meets(lambda: [(-each.depth, self._size(s)) for each in touch])
        s.write("force", total)
        s.write("point", at.center)
        s.write("depth", ca.mmax(ca.vertcat(*(each.depth for each in touch))))
        for shape, sign in ((self.first, 1), (self.second, -1)):
            if s.description.carrier(shape.frame)[0] != GROUND:
                body = moving_frame(s, shape.frame).o
                turning = friction.moment + at.moment + ca.cross(at.center - body, total)
                s.wrench(shape.frame, sign * ca.vertcat(turning, total))

    def _size(self, s: Scope) -> SX:
        """Return the radius of the ball around the smaller shape [m]."""
        bounds = [s.number(shape.bound) for shape in (self.first, self.second) if hasattr(shape, "bound")]
        return ca.mmin(ca.vertcat(*bounds))

    def _law(self, s: Scope) -> Law:
        k, a, mu, T, rolling = map(
            s.number, (self.stiffness, self.dissipation, self.friction, self.shear_damping, self.rolling)
        )
        shear = SHEAR * k if self.shear is None else s.number(self.shear)
        return Law(k, a, mu, shear, T, rolling, s.number(self.first.bound))  # type: ignore[attr-defined]


def _checked(s: Scope, component: Contact, shape: Shape) -> MovingFrame:
    check_frame(s, component, shape.frame)
    return placed(s, shape)


def _place(s: Scope, shape: Shape, at: MovingFrame) -> Any:
    """Return a shape where its frame is."""
    if isinstance(shape, Plane | HeightField):
        return Surface(at.R, at.o, shape if isinstance(shape, HeightField) else None)
    return solid(type(shape), [s.number(x) for x in sizes_of(shape)], at.R, at.o)
