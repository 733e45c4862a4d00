"""A spring and a damper against the twist of one frame against another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.between import two_frames
from articulus.simulation.loop.components.checks import at_least, check_frame
from articulus.spatial.vector import cross

ACROSS = 1e-12
"""Least (1 + cos of the angle between the axes) / 2 that is divided by: the twist is undefined where the axis is turned over."""


@dataclass(frozen=True)
class TorsionSpring(Disturbance):
    """A spring and a damper against the twist of the second frame against the first about an axis.

        M = preload + k (twist - angle) + c twist'

    The rotation from the first frame to the second is a twist about the axis, then a turn that tilts the axis the shortest
    way. The twist lies between -pi and pi, where it jumps. Tilting is free; bodies feel equal and opposite moments. On a
    hinge, give the joint a stiffness instead: it counts turns.

    Parameters
    ----------
    first, second : str
        Bodies or frames.
    axis : three numbers [-]
        Unit vector in the first frame, and in the second.
    stiffness : number [N m/rad]
        k.
    damping : number [N m s/rad]
        c.
    angle : number [rad]
        Twist at which the moment is the preload.
    preload : number [N m]
    name : str
        "<first>_<second>_torsion_spring" if not given.

    Signals: `moment` [N m], `twist` [rad].
    """

    first: str
    second: str
    axis: tuple[float, float, float] = quantity(
        "-", "unit vector in both frames", size="3", default=(0.0, 0.0, 1.0)
    )
    stiffness: Number = quantity("N m/rad", "stiffness", default=0.0)
    damping: Number = quantity("N m s/rad", "damping", default=0.0)
    angle: Number = quantity("rad", "twist at which the moment is the preload", default=0.0)
    preload: Number = quantity("N m", "moment at that twist", default=0.0)
    name: str = ""

    type_name = "torsion_spring"
    signals: ClassVar = {"moment": "N m", "twist": "rad"}

    def __post_init__(self) -> None:
        convert(self, **dict.fromkeys(("stiffness", "damping", "angle", "preload"), as_number))
        object.__setattr__(self, "axis", unit_axis("TorsionSpring", self.axis))
        two_frames(self, self.first, self.second)
        at_least(self, 0.0, stiffness=self.stiffness, damping=self.damping)

    def work(self, s: Scope) -> None:
        k, c, preload = (s.number(x) for x in (self.stiffness, self.damping, self.preload))
        twist, slope, rate = self._twist(s)
        wound = twist - s.number(self.angle)
        moment = preload + k * wound + c * rate
        wrench = ca.vertcat(moment * slope, SX.zeros(3))
        s.wrench(self.first, wrench)
        s.wrench(self.second, -wrench)
        s.write("moment", moment)
        s.write("twist", twist)
        s.stores((preload + k * wound / 2) * wound)
        s.dissipates(c * rate**2)

    def _twist(self, s: Scope) -> tuple[SX, SX, SX]:
        """Return the twist, its slope over a relative turn in ground axes (3,), and its rate.

        With the rotation R as quaternion (w, u) and a = u . n: twist = 2 atan2(a, w), whose rate under an angular
        velocity omega is (w^2 n + w u x n + a u) . omega / (w^2 + a^2). All products are linear in R.
        """
        for frame in (self.first, self.second):
            check_frame(s, self, frame)
        A, B = (s.ask("pose", s.q, frames=[frame])[:3, :3] for frame in (self.first, self.second))
        V, W = (s.ask("velocity", s.q, s.v, frames=[frame])[:3] for frame in (self.first, self.second))
        R, n = ca.mtimes(A.T, B), SX(ca.DM(self.axis))
        skew = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])  # 4 w u
        along = ca.dot(n, ca.mtimes(R, n))  # 2 (w^2 + a^2) - 1
        ww = (1 + ca.trace(R)) / 4
        au = (ca.mtimes(R + R.T, n) / 2 - (2 * ww - 1) * n) / 2
        slope = (ww * n + cross(skew / 4, n) + au) / ca.fmax((1 + along) / 2, ACROSS)
        turned = ca.mtimes(A, slope)
        return ca.atan2(ca.dot(n, skew), ca.trace(R) - along), turned, ca.dot(turned, W - V)
