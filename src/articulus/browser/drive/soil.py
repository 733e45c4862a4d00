"""Resistance of soil to a cutting edge: the fundamental equation of earthmoving, made simple enough for real time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.browser.drive.sticks import NAME
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import at_least, check_frame, name_after, positive, sampling
from articulus.simulation.loop.contact.law import implicit_friction


def failure_factors(rake: float, friction: float, steel_friction: float) -> tuple[float, float]:
    """Return N_gamma and N_c of a soil wedge in passive failure [-, -].

        beta    = 45 deg - friction / 2
        D       = cos(rake + steel_friction) + sin(rake + steel_friction) cot(beta + friction)
        N_gamma = (cot rake + cot beta) / (2 D)
        N_c     = (1 + cot beta cot(beta + friction)) / D

    Parameters
    ----------
    rake : float [rad]
        Angle of the blade from the horizontal.
    friction : float [rad]
        Angle of friction of the soil.
    steel_friction : float [rad]
        Angle of friction between soil and blade.

    Source: Reece 1964; McKyes 1985, chapter 3.
    """
    beta = math.pi / 4 - friction / 2
    D = math.cos(rake + steel_friction) + math.sin(rake + steel_friction) * _cot(beta + friction)
    return (_cot(rake) + _cot(beta)) / (2 * D), (1 + _cot(beta) * _cot(beta + friction)) / D


def _cot(angle: float) -> float:
    return 1 / math.tan(angle)


@dataclass(frozen=True)
class Soil(Disturbance):
    """A force against the motion of a point below the ground, as large as the soil is strong at its depth.

        F = width (unit_weight d^2 N_gamma + cohesion d N_c),   d = ground - z > 0
        force = -F v / sqrt(v . v + v_s^2)

    The force is so stiff (F / v_s is some 1e7 N s/m) that explicit steps of a millisecond jump to and fro about rest. It is
    therefore sampled and implicit: held for a period, it is the force at the velocity v that the point has at the end of
    the period under this very force, v = v_0 + h (a + W force). Here a is the acceleration of the point under all
    other loads and W = J M^-1 J' its mobility; `implicit_friction` solves for v, which is unique. A state of rest is one of the
    law, whatever the period; a point that slides feels the force at most a period late.

    The ground before the tool is `rise` above its level and the tool holds a `load` (signals of `Sticks`, which `Terrain` computes): the load
    weighs on a body at `hold`, without inertia of its own.

    Limits: the angle of the blade is constant; the force points against the motion, whatever the blade; no adhesion, no
    surcharge, no inertia of the soil. A point at rest is not quite borne: it creeps with a speed below v_s. Closed loops of
    the mechanism are not seen in W. It gives an operator resistance that grows with depth, not the forces of a design.

    Parameters
    ----------
    frame : str
        Body or frame whose origin is the cutting edge.
    period : number [s]
        Sampling period, h.
    ground : number [m]
        Height of the ground.
    bucket : str
        Body on which the load weighs; none if not given.
    hold : three numbers [m]
        Where, in axes of that body.
    width : number [m]
    unit_weight : number [N/m^3]
    cohesion : number [Pa]
    rake, friction, steel_friction : float [rad]
    slip_speed : number [m/s]
        v_s, at which the force has reached 71 percent.
    name : str
        "<frame>_soil" if not given.

    Signals: `force` on the point, ground axes [N]; zero while the operator's switch is off.

    Source: Reece 1964; McKyes 1985, chapter 3.
    """

    frame: str
    period: float = quantity("s", "sampling period")
    ground: Number = quantity("m", "height of the ground", default=0.0)
    width: Number = quantity("m", "width of the cutting edge", default=1.0)
    unit_weight: Number = quantity("N/m^3", "unit weight of the soil", default=17e3)
    cohesion: Number = quantity("Pa", "cohesion of the soil", default=5e3)
    rake: float = quantity("rad", "angle of the blade from the horizontal", default=math.radians(60))
    friction: float = quantity("rad", "angle of friction of the soil", default=math.radians(35))
    steel_friction: float = quantity("rad", "friction between soil and blade", default=math.radians(23))
    slip_speed: Number = quantity("m/s", "speed at which the force has reached 71 percent", default=0.002)
    bucket: str = ""
    hold: tuple[float, float, float] = (0.0, 0.0, 0.0)
    name: str = ""

    type_name = "soil"
    signals: ClassVar = {"force": "N"}

    def __post_init__(self) -> None:
        numbers = ("ground", "width", "unit_weight", "cohesion", "slip_speed")
        convert(self, **dict.fromkeys(numbers, as_number))
        name_after(self, self.frame)
        sampling(self)
        positive(self, slip_speed=self.slip_speed, rake=self.rake)
        at_least(self, 0.0, width=self.width, unit_weight=self.unit_weight, cohesion=self.cohesion)

    def work(self, s: Scope) -> None:
        check_frame(s, self, self.frame)
        width, gamma, c, slow = (
            s.number(x) for x in (self.width, self.unit_weight, self.cohesion, self.slip_speed)
        )
        by_weight, by_cohesion = failure_factors(self.rake, self.friction, self.steel_friction)
        ground = s.number(self.ground) + s.read(f"{NAME}.rise")
        depth = ca.fmax(ground - s.ask("pose", s.q, frames=[self.frame])[2, 3], 0)
        strength = s.read(f"{NAME}.soil") * width * (gamma * depth**2 * by_weight + c * depth * by_cohesion)

        h, before = s.number(self.period), s.memory("force", [0.0] * 3)
        J = s.ask("jacobian", s.q, frames=[self.frame])[3:, :]
        W = ca.mtimes([J, s.ask("mass_matrix_inverse", s.q), J.T])
        v = s.ask("velocity", s.q, s.v, frames=[self.frame])[3:]
        a = s.ask("acceleration", s.q, s.v, s.vdot, frames=[self.frame])[3:]
        free = v + h * (a - ca.mtimes(W, before))
        force = implicit_friction(free, h * W, strength, slow)
        s.remember("force", force)
        s.write("force", force)
        s.wrench(self.frame, ca.vertcat(SX.zeros(3), force))
        if self.bucket:
            arm = ca.mtimes(s.ask("pose", s.q, frames=[self.bucket])[:3, :3], ca.DM(self.hold))
            weight = ca.vertcat(0, 0, -s.read(f"{NAME}.load"))
            s.wrench(self.bucket, ca.vertcat(ca.cross(arm, weight), weight))
