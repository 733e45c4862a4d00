"""What experiments on a station feel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, Vector, as_number, convert, quantity, three
from articulus.simulation.loop.component import Scope, Sensor
from articulus.simulation.loop.components.central_gravity import EARTH
from articulus.simulation.loop.components.checks import check_frame, name_after, positive


@dataclass(frozen=True)
class Microgravity(Sensor):
    """Acceleration of a frame's origin less that of free fall there, in the frame's own axes: what an accelerometer in orbit shows.

    At the center of mass of a rigid craft that no other force touches it is zero; elsewhere it is the gradient of gravity and the turning.
    It follows the forces of the same instant: feed it back through a sampled component only.

    Parameters
    ----------
    frame : str
        Body or frame.
    mu : number [m^3/s^2]
    center : three numbers [m]
        The Earth's center, ground frame.
    name : str
        "<frame>_microgravity" if not given.

    Signals: `acceleration` [m/s^2].
    """

    frame: str
    mu: Number = quantity("m^3/s^2", "gravitational parameter", default=EARTH)
    center: Vector = quantity("m", "the Earth's center, ground frame", size="3", default=(0.0, 0.0, 0.0))
    name: str = ""

    type_name = "microgravity"
    signals: ClassVar = {"acceleration": "m/s^2"}

    def __post_init__(self) -> None:
        convert(self, mu=as_number, center=three)
        name_after(self, self.frame)
        positive(self, mu=self.mu)

    def measure(self, s: Scope) -> dict[str, SX]:
        check_frame(s, self, self.frame)
        X = s.ask("pose", s.q, frames=[self.frame])
        p = X[:3, 3] - ca.vertcat(*map(s.number, self.center))
        r2 = ca.sumsqr(p)
        fall = -s.number(self.mu) / (r2 * ca.sqrt(r2)) * p
        a = s.ask("acceleration", s.q, s.v, s.vdot, frames=[self.frame])[3:]
        return {"acceleration": ca.mtimes(X[:3, :3].T, a - fall)}
