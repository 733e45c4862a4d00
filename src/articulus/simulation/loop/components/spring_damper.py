"""A spring and a damper between two frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, values_of
from articulus.simulation.loop.component import Disturbance, Scope
from articulus.simulation.loop.components.between import FrameLine, two_frames
from articulus.simulation.loop.components.broken_line import as_points, broken_line
from articulus.simulation.loop.components.checks import at_least, positive, wrong
from articulus.simulation.loop.components.columns import Rows

SIDES = {"both": 0, "tension": 1, "compression": -1}


@dataclass(frozen=True)
class SpringDamper(Disturbance):
    """A spring and a damper along the line between the origins of two frames; tension T pulls them together.

        T = preload + k (l - length) + c l'

    Either term may come from a table instead: `forces` over the length l, `losses` over its rate l'. A constant force is a
    preload without stiffness. On one side only, the spring ends where its force would change sign, and spring and damper
    together never act the other way.

    Parameters
    ----------
    first, second : str
        Bodies or frames.
    stiffness : number [N/m]
        k.
    damping : number [N s/m]
        c.
    length : number [m]
        At which the spring has its preload; the free length without one.
    preload : number [N]
        Tension at `length`.
    side : str
        "both"; "tension": pulls only, as a rope; "compression": pushes only, as a buffer.
    forces : rows of length and tension [m, N]
        Instead of stiffness, length and preload: straight between the rows and beyond the last ones.
    losses : rows of rate and tension [m/s, N]
        Instead of damping; through (0, 0), and a tension of the sign of the rate.
    name : str
        "<first>_<second>_spring_damper" if not given.

    Signals: `tension` [N], `length` [m].
    """

    first: str
    second: str
    stiffness: Number = quantity("N/m", "stiffness", default=0.0)
    damping: Number = quantity("N s/m", "damping", default=0.0)
    length: Number = quantity("m", "length at which the tension is the preload", default=0.0)
    preload: Number = quantity("N", "tension at that length", default=0.0)
    side: str = "both"
    forces: Rows | None = quantity("m, N", "lengths and tensions", size="rows x 2", default=None)
    losses: Rows | None = quantity(
        "m/s, N", "rates of the length and tensions of the damper", size="rows x 2", default=None
    )
    name: str = ""

    type_name = "spring_damper"
    signals: ClassVar = {"tension": "N", "length": "m"}

    def __post_init__(self) -> None:
        numbers = ("stiffness", "damping", "length", "preload")
        convert(self, **dict.fromkeys(numbers, as_number), forces=as_points, losses=as_points)
        two_frames(self, self.first, self.second)
        at_least(self, 0.0, stiffness=self.stiffness, damping=self.damping, length=self.length)
        if self.side not in SIDES:
            raise wrong(self, "side", repr(self.side), f"one of {', '.join(SIDES)}")
        if self.forces and any((self.stiffness, self.length, self.preload)):
            raise wrong(self, "forces", "also stiffness, length or preload", "either the table or these")
        if self.losses and self.damping:
            raise wrong(self, "losses", "also damping", "either the table or damping")
        if self.side != "both" and self.forces:
            raise wrong(
                self, "side", f"'{self.side}' with a table of forces", "'both'", "Let the table end in zero"
            )
        if self.side != "both":
            positive(self, stiffness=self.stiffness)
        _lossy(self)

    @property
    def path(self) -> tuple[str, ...]:
        return self.first, self.second

    def work(self, s: Scope) -> None:
        line = FrameLine.find(s, self, self.first, self.second)
        spring, energy = self._spring(s, line.length)
        tension = spring + self._loss(s, line.rate)
        if side := SIDES[self.side]:
            s.meets(lambda: [(self._slack(s, side, line.length), 0)])
            tension = ca.if_else(side * spring > 0, side * ca.fmax(side * tension, 0), 0)
        line.pull(s, tension)
        s.write("tension", tension)
        s.write("length", line.length)
        s.stores(energy)
        s.dissipates((tension - spring) * line.rate)

    def _spring(self, s: Scope, length: SX) -> tuple[SX, SX]:
        """Return tension and energy of the spring."""
        if self.forces:
            return broken_line(s, self.forces, length)
        k, preload = s.number(self.stiffness), s.number(self.preload)
        stretch = length - s.number(self.length)
        tension = preload + k * stretch
        if side := SIDES[self.side]:
            tension = side * ca.fmax(side * tension, 0)
            return tension, tension**2 / (2 * k)
        return tension, (preload + k * stretch / 2) * stretch

    def _slack(self, s: Scope, side: int, length: SX) -> SX:
        """Return how far the ends are from where the spring begins to act [m]."""
        free = s.number(self.length) - s.number(self.preload) / s.number(self.stiffness)
        return side * (free - length)

    def _loss(self, s: Scope, rate: SX) -> SX:
        return broken_line(s, self.losses, rate)[0] if self.losses else s.number(self.damping) * rate


def _lossy(spring: SpringDamper) -> None:
    """Raise InputError for a table of losses that would put energy in."""
    points = [values_of(row) for row in spring.losses or ()]
    for x, y in points:
        if x * y < 0 or (x == 0 and y != 0):
            raise wrong(spring, "losses", f"{y:g} N at {x:g} m/s", "a tension of the sign of the rate")
    if points and not any(x == 0 for x, _ in points):
        raise wrong(spring, "losses", "no row at 0 m/s", "a row (0, 0)")
