"""A proof-mass actuator: a mass that a force pushes along a rail, and the structure the other way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.checks import at_least, check_frame, name_after, positive, wrong
from articulus.simulation.loop.components.joint_stop import stop_force
from articulus.spatial.vector import cross


@dataclass(frozen=True)
class ProofMass(Actuator):
    """A mass on a spring and damper that slides along an axis of a frame; the command pushes the frame.

    With stroke s, axis n, velocity w of the mass along n, and v, omega of the frame:

        f = k s + c s' + command        on the frame along +n, on the mass along -n
        s' = w - n . v
        m w' = -f + m (g . n + (omega x n) . v + s |omega x n|^2)

    Exact along the axis, without accelerations. Across the axis the mass is not felt: where that matters, make it a
    body of the mechanism on a prismatic joint.

    Parameters
    ----------
    frame : str
        Body or frame whose origin is the middle of the stroke.
    mass : number [kg]
    stiffness : number [N/m]
    damping : number [N s/m]
    axis : three numbers [-]
        Unit vector in the frame.
    stroke : number [m]
        Largest stroke either way, where the compliant stops are.
    stop_stiffness : number [N/m]
        Needed with a finite stroke.
    stop_damping : number [N s/m]
    name : str
        "<frame>_proof_mass" if not given.

    Signals: `stroke` [m], `force` on the frame [N].

    Source: Minas, Garcia & Inman 1989, eq. 3; here for large motions of the frame.
    """

    frame: str
    mass: Number = quantity("kg", "proof mass")
    stiffness: Number = quantity("N/m", "spring between mass and frame", default=0.0)
    damping: Number = quantity("N s/m", "damping between mass and frame", default=0.0)
    axis: tuple[float, float, float] = quantity(
        "-", "unit vector in the frame", size="3", default=(0.0, 0.0, 1.0)
    )
    stroke: Number = quantity("m", "largest stroke either way", default=math.inf)
    stop_stiffness: Number = quantity("N/m", "stiffness of the end stops", default=0.0)
    stop_damping: Number = quantity("N s/m", "damping of the end stops", default=0.0)
    name: str = ""

    type_name = "proof_mass"
    signals: ClassVar = {"stroke": "m", "force": "N"}
    command_in: ClassVar = "N"

    def __post_init__(self) -> None:
        numbers = ("mass", "stiffness", "damping", "stroke", "stop_stiffness", "stop_damping")
        convert(self, **dict.fromkeys(numbers, as_number))
        object.__setattr__(self, "axis", unit_axis("ProofMass", self.axis))
        name_after(self, self.frame)
        positive(self, mass=self.mass)
        at_least(self, 0.0, **{n: getattr(self, n) for n in numbers})
        if math.isfinite(value_of(self.stroke)) and not value_of(self.stop_stiffness):
            raise wrong(self, "stop_stiffness", "0", "more than 0 where the stroke is limited")

    def drive(self, s: Scope, command: SX) -> None:
        check_frame(s, self, self.frame)
        m, k, c, limit = (s.number(x) for x in (self.mass, self.stiffness, self.damping, self.stroke))
        n = ca.mtimes(s.ask("pose", s.q, frames=[self.frame])[:3, :3], ca.DM(self.axis))
        motion = s.ask("velocity", s.q, s.v, frames=[self.frame])
        omega, v = motion[:3], motion[3:]
        gravity = ca.vertcat(*map(s.number, s.description.gravity))

        stroke, w = s.state("stroke", 0.0), s.state("speed", 0.0)
        rate, turning = w - ca.dot(n, v), cross(omega, n)
        f = k * stroke + c * rate + command
        if math.isfinite(value_of(self.stroke)):
            stop = s.number(self.stop_stiffness), s.number(self.stop_damping)
            f = f - stop_force(stroke, rate, -limit, limit, *stop)
        s.rate("stroke", rate)
        s.rate("speed", -f / m + ca.dot(gravity, n) + ca.dot(turning, v) + stroke * ca.dot(turning, turning))
        s.write("stroke", stroke)
        s.write("force", f)
        s.wrench(self.frame, ca.vertcat(SX.zeros(3), f * n))
