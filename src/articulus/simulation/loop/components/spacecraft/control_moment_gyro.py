"""A control-moment gyro with one gimbal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.checks import at_least, check_frame, name_after, wrong
from articulus.simulation.loop.components.columns import clip
from articulus.spatial.vector import cross


@dataclass(frozen=True)
class ControlMomentGyro(Actuator):
    """A rotor of constant momentum that a gimbal turns about an axis of a frame; the command is the gimbal's rate.

    With gimbal axis g, spin direction h(d) = cos d s + sin d (g x s) at gimbal angle d, and momentum H:
    moment on the body: -H d' h'(d) - omega x (H h). Momentum of body and rotor together is kept, exactly. The inertia of the gimbal
    is part of the body; that of its turning is omitted (H is far larger). One with two gimbals is built of bodies: a rotor on two
    revolute joints with a motor each.

    Parameters
    ----------
    frame : str
        Body or frame that carries it.
    momentum : number [N m s]
        H of the rotor.
    gimbal, spin : three numbers [-]
        Axes in the frame, at right angles; the rotor spins about `spin` at gimbal angle 0.
    rate_limit : number [rad/s]
        Bound of the gimbal's rate.
    angle : number [rad]
        Angle of the gimbal at the start.
    name : str
        "<frame>_control_moment_gyro" if not given.

    Signals: `angle` [rad], `rate` [rad/s], `torque` that the gimbal's motor must hold, g . (omega x H h) [N m].
    """

    frame: str
    momentum: Number = quantity("N m s", "momentum of the rotor")
    gimbal: tuple[float, float, float] = quantity(
        "-", "gimbal axis in the frame", size="3", default=(0.0, 0.0, 1.0)
    )
    spin: tuple[float, float, float] = quantity(
        "-", "spin axis at gimbal angle 0", size="3", default=(1.0, 0.0, 0.0)
    )
    rate_limit: Number = quantity("rad/s", "largest rate of the gimbal", default=math.inf)
    angle: float = quantity("rad", "gimbal angle at the start", default=0.0)
    name: str = ""

    type_name = "control_moment_gyro"
    signals: ClassVar = {"angle": "rad", "rate": "rad/s", "torque": "N m"}
    command_in: ClassVar = "rad/s"

    def __post_init__(self) -> None:
        convert(self, momentum=as_number, rate_limit=as_number)
        for name in ("gimbal", "spin"):
            object.__setattr__(self, name, unit_axis("ControlMomentGyro", getattr(self, name)))
        name_after(self, self.frame)
        at_least(self, 0.0, rate_limit=self.rate_limit)
        across = sum(a * b for a, b in zip(self.gimbal, self.spin))
        if abs(across) > 1e-9:
            raise wrong(
                self,
                "spin",
                f"an angle of {math.degrees(math.acos(across)):.4g} degrees to the gimbal axis",
                "a right angle",
            )

    def drive(self, s: Scope, command: SX) -> None:
        check_frame(s, self, self.frame)
        limit, H = s.number(self.rate_limit), s.number(self.momentum)
        rate, angle = clip(command, -limit, limit), s.state("angle", self.angle)
        R = s.ask("pose", s.q, frames=[self.frame])[:3, :3]
        omega = s.ask("velocity", s.q, s.v, frames=[self.frame])[:3]
        g, x = ca.DM(self.gimbal), ca.DM(self.spin)
        y = ca.cross(g, x)
        h = ca.mtimes(R, ca.cos(angle) * x + ca.sin(angle) * y)
        turned = ca.mtimes(R, ca.cos(angle) * y - ca.sin(angle) * x)
        carried = cross(omega, H * h)
        s.rate("angle", rate)
        s.wrench(self.frame, ca.vertcat(-H * rate * turned - carried, SX.zeros(3)))
        for name, value in (("angle", angle), ("rate", rate), ("torque", ca.dot(ca.mtimes(R, g), carried))):
            s.write(name, value)
