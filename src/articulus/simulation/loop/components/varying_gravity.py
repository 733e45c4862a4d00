"""Gravity that changes with time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.columns import at_time, in_time
from articulus.simulation.loop.components.tracking import names
from articulus.simulation.loop.components.weights import Weight, heavy_bodies, pull


@dataclass(frozen=True)
class VaryingGravity(Disturbance):
    """A uniform field of gravity over time, added to the gravity of the mechanism: a launch, a parabolic flight.

    A vehicle that accelerates by a(t) and carries the ground frame of the model is the field -a(t).

    Parameters
    ----------
    acceleration : three numbers, Table or casadi.Function of t [m/s^2]
        Acceleration of a body that falls freely in the field, ground axes.
    bodies : sequence of str
        Those that feel it, rigid or flexible; all that have mass if none is named.
    name : str

    Signals: `acceleration` [m/s^2].

    Notes
    -----
    The field changes with time, so its power counts as input.
    """

    acceleration: Any = quantity("m/s^2", "acceleration of free fall, ground axes", size="3")
    bodies: tuple[str, ...] = ()
    name: str = "varying_gravity"

    type_name = "varying_gravity"
    signals: ClassVar = {"acceleration": "m/s^2"}

    def __post_init__(self) -> None:
        convert(self, acceleration=in_time(3), bodies=names)

    def work(self, s: Scope) -> None:
        g = at_time(s, self, "acceleration", 3)
        s.write("acceleration", g)
        for body in heavy_bodies(s, self, self.bodies):
            weight, R = Weight.of(s, body), s.ask("pose", s.q, frames=[body.name])[:3, :3]
            fall = -weight.mass * ca.dot(ca.mtimes(R.T, g), weight.com)
            pull(s, body, weight, R, weight.mass * g, SX.zeros(3), fall)
