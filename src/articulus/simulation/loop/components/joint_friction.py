"""Dry friction of a joint that sticks, with given levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from articulus.model.mechanism.numbers import (
    Number,
    as_number,
    as_optional_number,
    convert,
    quantity,
    value_of,
)
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.bristle import Bristle
from articulus.simulation.loop.components.checks import at_least, name_after, one_dof, positive, wrong


@dataclass(frozen=True)
class JointFriction(Disturbance):
    """Friction of a joint by the law of LuGre: it holds at rest, breaks away, and slides (`Bristle`).

    The `coulomb` of a joint in the mechanism is smoothed about zero speed and creeps under load; this does not.

    Parameters
    ----------
    joint : str
        Joint of one degree of freedom.
    coulomb : number [N m or N]
        Friction in sliding.
    stiffness : number [N m/rad or N/m]
        Stiffness of the bristles; the joint moves by static / stiffness before it breaks away.
    static : number [N m or N]
        Friction at break-away; that of sliding if not given.
    damping : number [N m s/rad or N s/m]
        Damping of the bristles; without it the joint swings on its bristles when it comes to rest.
    stribeck_speed : number [rad/s or m/s]
        Speed at which friction has fallen from static to sliding by 63 percent.
    viscous : number [N m s/rad or N s/m]
    name : str
        "<joint>_joint_friction" if not given.

    Signals: `force` [N m or N], `deflection` of the bristles [rad or m].

    Notes
    -----
    Bristles are stiff: with inertia I steps must resolve sqrt(I / stiffness), and in sliding at speed v the time
    coulomb / (stiffness v). `rk4` with such a step is often the quickest way (a four-bar with steps of 20 us takes a thirtieth of the time of
    `rosenbrock`); an implicit method pays where the step would have to be shorter than some microseconds.
    """

    joint: str
    coulomb: Number = quantity("N m or N", "friction in sliding")
    stiffness: Number = quantity("N m/rad or N/m", "stiffness of the bristles")
    static: Number | None = quantity(
        "N m or N", "friction at break-away; that of sliding if not given", default=None
    )
    damping: Number = quantity("N m s/rad or N s/m", "damping of the bristles", default=0.0)
    stribeck_speed: Number = quantity(
        "rad/s or m/s", "speed at which static has changed to sliding friction by 63 percent", default=1e-2
    )
    viscous: Number = quantity("N m s/rad or N s/m", "viscous friction", default=0.0)
    name: str = ""

    type_name = "joint_friction"
    signals: ClassVar = {"force": "N m or N", "deflection": "rad or m"}

    def __post_init__(self) -> None:
        numbers = ("coulomb", "stiffness", "damping", "stribeck_speed", "viscous")
        convert(self, **dict.fromkeys(numbers, as_number), static=as_optional_number)
        name_after(self, self.joint)
        positive(self, coulomb=self.coulomb, stiffness=self.stiffness, stribeck_speed=self.stribeck_speed)
        at_least(self, 0.0, damping=self.damping, viscous=self.viscous)
        if self.static is not None and value_of(self.static) < value_of(self.coulomb):
            raise wrong(
                self, "static", f"{value_of(self.static):g}", f"at least coulomb, {value_of(self.coulomb):g}"
            )

    def work(self, s: Scope) -> None:
        one_dof(s, self, self.joint)
        coulomb = s.number(self.coulomb)
        law = Bristle(
            coulomb,
            coulomb if self.static is None else s.number(self.static),
            s.number(self.stiffness),
            s.number(self.damping),
            s.number(self.stribeck_speed),
            s.number(self.viscous),
        )
        v = s.joint_v(self.joint)
        resistance, z, rate = law.work(s, v)
        s.write("force", -resistance)
        s.write("deflection", z)
        s.force(self.joint, -resistance)
        s.stores(law.stiffness * z**2 / 2)
        s.dissipates(resistance * v - law.stiffness * z * rate)
