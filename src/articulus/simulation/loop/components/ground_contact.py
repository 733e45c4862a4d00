"""A point that meets the ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import at_least, check_frame, name_after, positive
from articulus.simulation.loop.contact.law import hertz, normal_force, sliding_friction


@dataclass(frozen=True)
class GroundContact(Disturbance):
    """Compliant contact of a frame's origin with the plane z = 0, with friction.

    With penetration d = -z > 0 and velocity (v_x, v_y, v_z):

        N = max(0, k d^(3/2) (1 + 3/2 a d')),   T = -mu N (v_x, v_y) / sqrt(v_x^2 + v_y^2 + v_s^2)

    The normal force starts from zero and does not pull. Friction is smoothed about zero speed: a point on a slope
    creeps.

    Parameters
    ----------
    frame : str
        Body or frame whose origin is the point.
    stiffness : number [N/m^1.5]
        k.
    dissipation : number [s/m]
        a; the coefficient of restitution is about 1 - a times the speed of impact.
    friction : number [-]
        mu.
    slip_speed : number [m/s]
        v_s, at which friction has reached 71 percent.
    name : str
        "<frame>_ground_contact" if not given.

    Signals: `force` on the point, ground axes [N].

    Source: Hunt & Crossley 1975.
    """

    frame: str
    stiffness: Number = quantity("N/m^1.5", "stiffness of the contact")
    dissipation: Number = quantity("s/m", "loss of the contact", default=0.0)
    friction: Number = quantity("-", "coefficient of friction", default=0.0)
    slip_speed: Number = quantity("m/s", "speed at which friction has reached 71 percent", default=1e-3)
    name: str = ""

    type_name = "ground_contact"
    signals: ClassVar = {"force": "N"}

    def __post_init__(self) -> None:
        numbers = ("stiffness", "dissipation", "friction", "slip_speed")
        convert(self, **dict.fromkeys(numbers, as_number))
        name_after(self, self.frame)
        positive(self, stiffness=self.stiffness, slip_speed=self.slip_speed)
        at_least(self, 0.0, dissipation=self.dissipation, friction=self.friction)

    def work(self, s: Scope) -> None:
        check_frame(s, self, self.frame)
        k, a, mu, v_s = (
            s.number(x) for x in (self.stiffness, self.dissipation, self.friction, self.slip_speed)
        )
        z = s.ask("pose", s.q, frames=[self.frame])[2, 3]
        v = s.ask("velocity", s.q, s.v, frames=[self.frame])[3:]
        size = s.description.scales().length
        spring, normal = hertz(-z, k, size), normal_force(-z, -v[2], k, a, size)
        sliding = sliding_friction(mu * normal, v[:2], v_s)
        force = ca.vertcat(sliding, normal)
        s.meets(lambda: [(z, 0)])
        s.write("force", force)
        s.wrench(self.frame, ca.vertcat(SX.zeros(3), force))
        s.stores(0.4 * spring * ca.fmax(-z, 0))
        s.dissipates((spring - normal) * v[2] - ca.dot(sliding, v[:2]))
