"""Jitter of a wheel that is not balanced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from articulus.errors import InputError
from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import at_least, check_frame, wrong


@dataclass(frozen=True)
class WheelImbalance(Disturbance):
    """Force and moment of an unbalanced wheel that turn with it: static Ws^2 across the axis, dynamic Ws^2 about a line across it.

    With the speed W of a wheel in its bearing and the angle f' = W: force = static W^2 (cos f a + sin f b), moment = dynamic W^2
    (cos f b - sin f a), a and b across the axis. These act from outside: momentum is not kept, energy counts as input.

    Parameters
    ----------
    wheel : str
        Name of the ReactionWheel.
    frame : str
        Body or frame at whose origin the wheel sits.
    axis : three numbers [-]
        Unit vector in the frame, that of the wheel.
    static : number [kg m]
        Static imbalance.
    dynamic : number [kg m^2]
        Dynamic imbalance.
    phase : number [rad]
        f at the start.
    name : str
        "<wheel>_imbalance" if not given.

    Signals: `force` [N], ground axes.

    Notes
    -----
    Numbers of real wheels: `articulus.spacecraft.WHEELS`. Source: Markley & Crassidis 2014, section 4.8.
    """

    wheel: str
    frame: str
    axis: tuple[float, float, float] = quantity(
        "-", "axis of the wheel, in the frame", size="3", default=(0.0, 0.0, 1.0)
    )
    static: Number = quantity("kg m", "static imbalance", default=0.0)
    dynamic: Number = quantity("kg m^2", "dynamic imbalance", default=0.0)
    phase: float = quantity("rad", "angle of the wheel at the start", default=0.0)
    name: str = ""

    type_name = "wheel_imbalance"
    signals: ClassVar = {"force": "N"}

    def __post_init__(self) -> None:
        convert(self, static=as_number, dynamic=as_number)
        object.__setattr__(self, "axis", unit_axis("WheelImbalance", self.axis))
        object.__setattr__(self, "name", self.name or f"{self.wheel}_imbalance")
        at_least(self, 0.0, static=self.static, dynamic=self.dynamic)

    def work(self, s: Scope) -> None:
        check_frame(s, self, self.frame)
        try:
            speed = s.read(f"{self.wheel}.speed")
        except InputError:
            raise wrong(
                self, "wheel", f"no signal '{self.wheel}.speed'", "the name of a ReactionWheel"
            ) from None
        angle = s.state("angle", self.phase)
        s.rate("angle", speed)
        R, n = s.ask("pose", s.q, frames=[self.frame])[:3, :3], ca.DM(self.axis)
        across = ca.DM([1.0, 0, 0]) if abs(self.axis[0]) < 0.9 else ca.DM([0, 1.0, 0])
        a = ca.cross(n, across) / ca.norm_2(ca.cross(n, across))
        b = ca.cross(n, a)
        square = speed**2
        force = s.number(self.static) * square * ca.mtimes(R, ca.cos(angle) * a + ca.sin(angle) * b)
        moment = s.number(self.dynamic) * square * ca.mtimes(R, ca.cos(angle) * b - ca.sin(angle) * a)
        s.write("force", force)
        s.wrench(self.frame, ca.vertcat(moment, force))
