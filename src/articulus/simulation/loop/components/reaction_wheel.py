"""A reaction wheel: a rotor whose motor turns the body the other way."""

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
from articulus.simulation.loop.components.columns import clip
from articulus.spatial.vector import cross


@dataclass(frozen=True)
class ReactionWheel(Actuator):
    """A balanced rotor on an axis of a frame; the command is the torque of its motor on the rotor.

    With axis n, angular velocity omega of the frame, momentum H of the rotor along its axis and speed W of the rotor in its bearing:

        H' = T,   T = command - c W,   W = H / J - n . omega
        moment on the body: -T n - omega x (H n)

    Exact for large motions: momentum of body and rotor together is kept. The body has the mass of the rotor and its inertia across the axis;
    that along the axis, J, is the wheel's alone. With a negative command the body turns along +n.

    Parameters
    ----------
    frame : str
        Body or frame that carries the wheel.
    inertia : number [kg m^2]
        J, about the axis.
    axis : three numbers [-]
        Unit vector in the frame.
    torque_limit : number [N m]
        Bound of the motor's torque.
    speed_limit : number [rad/s]
        Speed in the bearing beyond which the motor does not accelerate the rotor any more.
    friction : number [N m s/rad]
        c, viscous friction of the bearing.
    momentum : number [N m s]
        H at the start.
    name : str
        "<frame>_reaction_wheel" if not given.

    Signals: `torque` of the motor on the rotor [N m], `speed` [rad/s], `momentum` [N m s].
    """

    frame: str
    inertia: Number = quantity("kg m^2", "inertia of the rotor about its axis")
    axis: tuple[float, float, float] = quantity(
        "-", "unit vector in the frame", size="3", default=(0.0, 0.0, 1.0)
    )
    torque_limit: Number = quantity("N m", "bound of the motor's torque", default=math.inf)
    speed_limit: Number = quantity(
        "rad/s", "speed beyond which the motor does not accelerate", default=math.inf
    )
    friction: Number = quantity("N m s/rad", "viscous friction of the bearing", default=0.0)
    momentum: float = quantity("N m s", "momentum of the rotor along its axis at the start", default=0.0)
    name: str = ""

    type_name = "reaction_wheel"
    signals: ClassVar = {"torque": "N m", "speed": "rad/s", "momentum": "N m s"}
    command_in: ClassVar = "N m"

    def __post_init__(self) -> None:
        numbers = ("inertia", "torque_limit", "speed_limit", "friction", "momentum")
        convert(self, **dict.fromkeys(numbers, as_number))
        object.__setattr__(self, "axis", unit_axis("ReactionWheel", self.axis))
        name_after(self, self.frame)
        positive(self, inertia=self.inertia)
        at_least(self, 0.0, **{n: getattr(self, n) for n in numbers[1:4]})
        speed = abs(value_of(self.momentum)) / value_of(self.inertia)
        if speed > value_of(self.speed_limit):
            limit = value_of(self.speed_limit) * value_of(self.inertia)
            raise wrong(
                self, "momentum", f"{value_of(self.momentum):g}", f"at most {limit:g}, the largest speed"
            )

    def drive(self, s: Scope, command: SX) -> None:
        check_frame(s, self, self.frame)
        J, limit = s.number(self.inertia), s.number(self.torque_limit)
        n = ca.mtimes(s.ask("pose", s.q, frames=[self.frame])[:3, :3], ca.DM(self.axis))
        omega = s.ask("velocity", s.q, s.v, frames=[self.frame])[:3]
        H = s.state("momentum", value_of(self.momentum))
        speed = H / J - ca.dot(n, omega)
        motor = self._motor(s, clip(command, -limit, limit), speed)
        friction = s.number(self.friction) * speed
        s.rate("momentum", motor - friction)
        s.wrench(self.frame, ca.vertcat((friction - motor) * n - cross(omega, H * n), SX.zeros(3)))
        s.stores(H**2 / (2 * J))
        s.supplies(motor * speed)
        s.dissipates(friction * speed)
        for name, value in (("torque", motor), ("speed", speed), ("momentum", H)):
            s.write(name, value)

    def _motor(self, s: Scope, torque: SX, speed: SX) -> SX:
        """Return the torque of the motor, none that would accelerate the rotor beyond its largest speed."""
        if math.isinf(value_of(self.speed_limit)):
            return torque
        beyond = ca.logic_and(ca.fabs(speed) >= s.number(self.speed_limit), torque * speed > 0)
        return ca.if_else(beyond, 0, torque)
