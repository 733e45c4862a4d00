"""Many shapes that may touch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import casadi as ca
from casadi import SX

from articulus.loop.component import Disturbance, Scope
from articulus.loop.components.checks import at_least, check_frame, positive, wrong
from articulus.loop.contact.crowd import near, numbers, pair
from articulus.loop.contact.shapes import HeightField, Plane, Shape
from articulus.mechanism import GROUND
from articulus.mechanism.numbers import Number, as_number, convert, quantity


@dataclass(frozen=True)
class Contacts(Disturbance):
    """Contact of many shapes, each with all others that are not of its own body.

    A pair costs a comparison of distances while the balls around both shapes do not meet; native code passes it over then. The
    normal force is that of `Contact`. Friction has no state and gives way slowly under load,

        T = -mu N v / sqrt(v^2 + v_s^2)

    For a contact that has to hold take `Contact`.

    Parameters
    ----------
    shapes : sequence of Shape
        Of `articulus.loop.contact`.
    stiffness, dissipation, friction : numbers [N/m^1.5, s/m, -]
        As in `Contact`, of every pair.
    slip_speed : number [m/s]
        v_s, at which friction has reached 71 percent.
    name : str
        "contacts" if not given.

    Signals: `force` on each shape, in their order, ground axes; `touching`, the number of points in contact.
    """

    shapes: tuple[Shape, ...]
    stiffness: Number = quantity("N/m^1.5", "stiffness of each contact")
    dissipation: Number = quantity("s/m", "loss of each contact", default=0.0)
    friction: Number = quantity("-", "coefficient of friction", default=0.0)
    slip_speed: Number = quantity("m/s", "speed at which friction has reached 71 percent", default=1e-3)
    name: str = "contacts"

    type_name = "contacts"
    signals: ClassVar = {"force": "N", "touching": "-"}

    def __post_init__(self) -> None:
        object.__setattr__(self, "shapes", tuple(self.shapes))
        for shape in self.shapes:
            if not isinstance(shape, Shape):
                raise wrong(self, "shapes", repr(shape), "shapes, such as Sphere('ball', 0.02)")
        convert(self, **dict.fromkeys(("stiffness", "dissipation", "friction", "slip_speed"), as_number))
        positive(self, stiffness=self.stiffness, slip_speed=self.slip_speed)
        at_least(self, 0.0, dissipation=self.dissipation, friction=self.friction)

    def work(self, s: Scope) -> None:
        states = {shape.frame: _state(s, self, shape) for shape in self.shapes}
        wrenches = [SX.zeros(6) for _ in self.shapes]
        law = ca.vertcat(*map(s.number, (self.stiffness, self.dissipation, self.friction, self.slip_speed)))
        sizes = [numbers(shape, s.number) for shape in self.shapes]
        bounds = [s.number(getattr(shape, "bound", 0.0)) for shape in self.shapes]
        account = SX.zeros(3)
        for i, j in self._pairs(s):
            first, second = self.shapes[i], self.shapes[j]
            a, b = states[first.frame], states[second.frame]
            may = near(first, bounds[i], a, second, bounds[j], b)
            kind: Any = second if isinstance(second, HeightField) else type(second)
            function = pair(cast("Any", type(first)), kind)
            on_a, on_b, more = function.call([may, a, b, sizes[i], sizes[j], law], False, True)
            wrenches[i] += on_a
            wrenches[j] += on_b
            account += more
        for shape, wrench in zip(self.shapes, wrenches):
            if s.description.carrier(shape.frame)[0] != GROUND:
                s.wrench(shape.frame, wrench)
        s.write("force", ca.vertcat(*(wrench[3:] for wrench in wrenches)))
        s.write("touching", account[2])
        s.stored(account[0])
        s.dissipates(account[1])

    def _pairs(self, s: Scope) -> Iterator[tuple[int, int]]:
        """Yield the pairs that may touch, solids before surfaces."""
        bodies = [s.description.carrier(shape.frame)[0] for shape in self.shapes]
        flat = [isinstance(shape, Plane | HeightField) for shape in self.shapes]
        for i, j in itertools.combinations(range(len(self.shapes)), 2):
            if bodies[i] != bodies[j] and not (flat[i] and flat[j]):
                yield (j, i) if flat[i] else (i, j)


def _state(s: Scope, component: Contacts, shape: Shape) -> SX:
    """Return origin, angular velocity, velocity and axes of a shape, ground axes."""
    check_frame(s, component, shape.frame)
    if shape.frame == GROUND:
        return ca.vertcat(SX.zeros(9), ca.vec(SX.eye(3)))
    pose = s.ask("pose", s.q, frames=[shape.frame])
    twist = s.ask("velocity", s.q, s.v, frames=[shape.frame])
    return ca.densify(ca.vertcat(pose[:3, 3], twist, ca.vec(pose[:3, :3])))
