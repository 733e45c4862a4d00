"""The straight line between two frames, along which springs, cables and cylinders pull."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.simulation.loop.component import Component, Scope
from articulus.simulation.loop.components.checks import check_frame, wrong

SHORT = 1e-9
"""Length that is added in squares to a distance, over that of the mechanism [-]: where two points meet, direction and derivatives stay finite."""


@dataclass(frozen=True)
class FrameLine:
    """The line from one frame's origin to another's.

    Attributes
    ----------
    first, second : str
    away : SX, (3,) [-]
        Direction from the first to the second, ground axes; zero where they meet.
    length : SX [m]
    rate : SX [m/s]
        Rate of the length.
    """

    first: str
    second: str
    away: SX
    length: SX
    rate: SX

    @staticmethod
    def find(s: Scope, component: Component, first: str, second: str) -> FrameLine:
        """Return the line between two frames; raise InputError when one of them does not exist."""
        for frame in (first, second):
            check_frame(s, component, frame)
        p, q = (s.ask("pose", s.q, frames=[frame])[:3, 3] for frame in (first, second))
        v, w = (s.ask("velocity", s.q, s.v, frames=[frame])[3:] for frame in (first, second))
        length = ca.sqrt(ca.sumsqr(q - p) + (SHORT * s.description.scales().length) ** 2)
        away = (q - p) / length
        return FrameLine(first, second, away, length, ca.dot(away, w - v))

    def pull(self, s: Scope, tension: SX) -> None:
        """Pull both frames towards each other [N]."""
        force = ca.vertcat(SX.zeros(3), tension * self.away)
        s.wrench(self.first, force)
        s.wrench(self.second, -force)


def two_frames(component: Component, first: str, second: str) -> None:
    """Raise InputError when both ends are the same frame; name the component after the ends where it has no name."""
    if not component.name:
        object.__setattr__(component, "name", f"{first}_{second}_{component.type_name}")
    if first == second:
        raise wrong(component, "second", f"'{second}', as first", "another frame")
