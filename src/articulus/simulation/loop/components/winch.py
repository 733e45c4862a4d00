"""A cable on a drum: the command pays it out or hauls it in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.cable import along, along_path, taut
from articulus.simulation.loop.components.checks import at_least, positive, wrong
from articulus.simulation.loop.components.columns import clip, plain


@dataclass(frozen=True)
class Winch(Actuator):
    """A `Cable` whose length without load changes by the command, a speed: positive pays out.

        length' = command, at most +-speed_limit; not below `shortest`
        T = EA (l - length) / length + c (l' - length'),   0 where l < length, and never below 0

    Parameters
    ----------
    frames : names
        Bodies or frames along the cable, two or more; the drum is at the first.
    stiffness : number [N]
        EA: tension at unit strain.
    length : number [m]
        Without load, at the start; a plain number.
    damping : number [N s/m]
        c.
    speed_limit : number [m/s]
        Largest speed either way.
    shortest : number [m]
        Length without load at which it stops hauling in.
    name : str
        "<first>_<last>_winch" if not given.

    Signals: `tension` [N], `length` [m], `free_length` [m].
    """

    frames: tuple[str, ...]
    stiffness: Number = quantity("N", "tension at unit strain")
    length: float = quantity("m", "length without load at the start")
    damping: Number = quantity("N s/m", "damping while it is taut", default=0.0)
    speed_limit: Number = quantity("m/s", "largest speed either way", default=float("inf"))
    shortest: Number = quantity("m", "length without load at which it stops hauling in", default=0.01)
    name: str = ""

    type_name = "winch"
    signals: ClassVar = {"tension": "N", "length": "m", "free_length": "m"}
    command_in: ClassVar = "m/s"

    def __post_init__(self) -> None:
        convert(self, **dict.fromkeys(("stiffness", "damping", "speed_limit", "shortest"), as_number))
        convert(self, length=lambda x: plain(x)[0])
        object.__setattr__(self, "frames", along(self, self.frames))
        positive(self, stiffness=self.stiffness, length=self.length, shortest=self.shortest)
        at_least(self, 0.0, damping=self.damping, speed_limit=self.speed_limit)
        if not value_of(self.shortest) <= self.length:
            raise wrong(
                self, "length", f"{self.length:g} m", f"at least shortest = {value_of(self.shortest):g}"
            )

    @property
    def path(self) -> tuple[str, ...]:
        return self.frames

    def drive(self, s: Scope, command: SX) -> None:
        lines, length, rate = along_path(s, self, self.frames)
        EA, c, limit = (s.number(x) for x in (self.stiffness, self.damping, self.speed_limit))
        free, least = s.state("free_length", self.length), s.number(self.shortest)
        paid = clip(command, -limit, limit) if value_of(self.speed_limit) < float("inf") else command
        paid = ca.if_else(ca.logic_and(free <= least, paid < 0), 0, paid)
        s.rate("free_length", paid)
        stretch = length - free
        tension, spring = taut(stretch, rate - paid, EA / free, c)
        for line in lines:
            line.pull(s, tension)
        s.write("tension", tension)
        s.write("length", length)
        s.write("free_length", free)
        # stored EA s^2 / (2 length) changes with the length without load by -T - T s / (2 length): what is wound up is strained
        s.stores(spring**2 * free / (2 * EA))
        s.dissipates((tension - spring) * (rate - paid))
        s.supplies(-paid * (tension + spring**2 / (2 * EA)))
