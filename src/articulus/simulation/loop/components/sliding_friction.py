"""Dry friction where a `SlidingContact` constraint holds two bodies together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from articulus.errors import did_you_mean
from articulus.model.mechanism import SlidingContact
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.checks import name_after, positive, wrong
from articulus.spatial import cross

SLOW, SHORT = 3e-4, 3e-3
"""Speed and lag that are not given, over the mechanism's length and time: about 1 mm/s and 1 ms for a mechanism of 1 m."""


@dataclass(frozen=True)
class SlidingFriction(Disturbance):
    """Coulomb friction of a slipping contact: mu N against the velocity with which the ball of a `SlidingContact` slips on its face.

    N is the force with which the constraint presses. As in `BearingFriction` it follows the constraint with the time constant `lag`, which keeps
    the equations explicit. Below `speed` friction fades out: a contact that is to hold creeps; one that holds by friction is `RollingContact`.

    Parameters
    ----------
    constraint : str
        Name of a `SlidingContact` of the mechanism.
    friction : number [-]
        mu.
    speed : number [m/s]
        At which friction has 0.71 of its size; 3e-4 of the mechanism's length over its time (`mechanism.scales`) if not given.
    lag : number [s]
        3e-3 of the mechanism's time if not given.
    name : str
        "<constraint>_sliding_friction" if not given.

    Signals: `load` N [N], negative where the constraint pulls; `slip` along x and y of the face [m/s].

    Source: Lilly & Orin 1989, section 3: known forces h along the free directions of a contact.
    """

    constraint: str
    friction: Number = quantity("-", "coefficient of friction")
    speed: Number | None = quantity("m/s", "speed at which friction has 0.71 of its size", default=None)
    lag: Number | None = quantity(
        "s", "time constant with which the load follows the constraint", default=None
    )
    name: str = ""

    type_name = "sliding_friction"
    signals: ClassVar = {"load": "N", "slip": "m/s"}

    def __post_init__(self) -> None:
        given = {name for name in ("friction", "speed", "lag") if getattr(self, name) is not None}
        convert(self, **dict.fromkeys(given, as_number))
        name_after(self, self.constraint)
        positive(self, **{name: getattr(self, name) for name in given})

    def work(self, s: Scope) -> None:
        contact, scales = self._contact(s), s.description.scales()
        speed = SLOW * scales.length / scales.time if self.speed is None else s.number(self.speed)
        lag = SHORT * scales.time if self.lag is None else s.number(self.lag)
        load = s.state("load", 0.0)
        s.rate("load", (-s.multipliers(contact.name)[0] - load) / lag)
        face, ball = (s.ask("pose", s.q, frames=[frame]) for frame in (contact.face, contact.frame))
        moving, turning = (
            s.ask("velocity", s.q, s.v, frames=[frame]) for frame in (contact.face, contact.frame)
        )
        arm = -s.number(contact.radius) * face[:3, 2]
        reach = ball[:3, 3] + arm - face[:3, 3]
        slip = turning[3:] + cross(turning[:3], arm) - moving[3:] - cross(moving[:3], reach)
        slip = ca.mtimes(face[:3, :2].T, slip)
        size = ca.sqrt(ca.sumsqr(slip) + speed**2)
        strength = s.number(self.friction) * ca.fmax(load, 0) / size
        force = -strength * ca.mtimes(face[:3, :2], slip)
        s.write("load", load)
        s.write("slip", slip)
        s.wrench(contact.frame, ca.vertcat(cross(arm, force), force))
        s.wrench(contact.face, -ca.vertcat(cross(reach, force), force))
        s.dissipates(strength * ca.sumsqr(slip))

    def _contact(self, s: Scope) -> SlidingContact:
        """Return the constraint; raise InputError unless it is a `SlidingContact`."""
        known = [c.name for c in s.description.constraints if isinstance(c, SlidingContact)]
        for held in s.description.constraints:
            if held.name == self.constraint and isinstance(held, SlidingContact):
                return held
        raise wrong(self, "constraint", f"'{self.constraint}'", "the name of a SlidingContact constraint", did_you_mean(self.constraint, known))  # fmt: skip
