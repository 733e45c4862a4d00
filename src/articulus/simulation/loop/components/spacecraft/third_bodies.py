"""Pull of Sun and Moon on a craft near the Earth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Vector, convert, quantity, three
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import wrong
from articulus.simulation.loop.components.tracking import names
from articulus.simulation.loop.components.weights import Weight, heavy_bodies, pull
from articulus.spacecraft import Epoch, moon_position, sun_position
from articulus.spacecraft.planet import MOON_MU, SUN_MU
from articulus.spacecraft.third_body import third_body


@dataclass(frozen=True)
class ThirdBodies(Disturbance):
    """The pull of Sun and Moon on every body, less that on the Earth, whose center the ground frame falls with.

    Parameters
    ----------
    epoch : str
        Instant of t = 0 in UTC.
    center : three numbers [m]
        The Earth's center, ground frame.
    bodies : sequence of str
        Those that feel it; all that have mass if none is named.
    name : str

    Signals: `acceleration` of the first of them [m/s^2].

    Notes
    -----
    Positions by short series, within 0.01 and 0.3 degrees. The field changes with time, so its power counts as input.
    Source: Battin 1999, section 8.4 (without cancellation); Vallado 2013, algorithms 29 and 31.
    """

    epoch: str = ""
    center: Vector = quantity("m", "the Earth's center, ground frame", size="3", default=(0.0, 0.0, 0.0))
    bodies: tuple[str, ...] = ()
    name: str = "third_bodies"

    type_name = "third_bodies"
    signals: ClassVar = {"acceleration": "m/s^2"}

    def __post_init__(self) -> None:
        convert(self, center=three, bodies=names)
        if not self.epoch:
            raise wrong(self, "epoch", "none", "the instant of t = 0 in UTC: Sun and Moon move")
        Epoch.of(self.epoch)

    def work(self, s: Scope) -> None:
        epoch, center = Epoch.of(self.epoch), ca.vertcat(*map(s.number, self.center))
        there = [(sun_position(epoch, s.t), SUN_MU), (moon_position(epoch, s.t), MOON_MU)]
        bodies = heavy_bodies(s, self, self.bodies)
        for body in bodies:
            weight, pose = Weight.of(s, body), s.ask("pose", s.q, frames=[body.name])
            R = pose[:3, :3]
            away = pose[:3, 3] + ca.mtimes(R, weight.com) - center
            a = sum((third_body(away, p, mu) for p, mu in there), SX.zeros(3))
            if body is bodies[0]:
                s.write("acceleration", weight.now(a))
            fall = -weight.mass * ca.dot(ca.mtimes(R.T, a), weight.com)
            pull(s, body, weight, R, weight.mass * a, SX.zeros(3), fall)
