"""A cable along several frames, which pulls and never pushes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Component, Disturbance, Scope
from articulus.simulation.loop.components.between import FrameLine
from articulus.simulation.loop.components.checks import at_least, positive, wrong


@dataclass(frozen=True)
class Cable(Disturbance):
    """A cable without mass from the first frame over pulleys to the last; its tension T is the same all along.

        T = EA (l - length) / length + c l',   0 where l < length, and never below 0

    l is the sum of the distances between the frames. Pulleys are points without friction: the frames between the first and
    the last. With `tension` instead of the others a constant tension is kept whatever the length, as by a weight or a spring
    drum.

    Parameters
    ----------
    frames : names
        Bodies or frames along the cable, two or more.
    stiffness : number [N]
        EA: tension at unit strain.
    length : number [m]
        Without load.
    damping : number [N s/m]
        c.
    tension : number [N]
        Constant tension instead of stiffness, length and damping.
    name : str
        "<first>_<last>_cable" if not given.

    Signals: `tension` [N], `length` [m].
    """

    frames: tuple[str, ...]
    stiffness: Number = quantity("N", "tension at unit strain", default=0.0)
    length: Number = quantity("m", "length without load", default=0.0)
    damping: Number = quantity("N s/m", "damping while it is taut", default=0.0)
    tension: Number | None = quantity("N", "constant tension instead of the others", default=None)
    name: str = ""

    type_name = "cable"
    signals: ClassVar = {"tension": "N", "length": "m"}

    def __post_init__(self) -> None:
        convert(self, **dict.fromkeys(("stiffness", "length", "damping"), as_number))
        object.__setattr__(self, "frames", along(self, self.frames))
        if self.tension is None:
            positive(self, stiffness=self.stiffness, length=self.length)
            at_least(self, 0.0, damping=self.damping)
            return
        convert(self, tension=as_number)
        at_least(self, 0.0, tension=self.tension)
        if any((self.stiffness, self.length, self.damping)):
            raise wrong(
                self, "tension", "also stiffness, length or damping", "either these or a constant tension"
            )

    @property
    def path(self) -> tuple[str, ...]:
        return self.frames

    def work(self, s: Scope) -> None:
        lines, length, rate = along_path(s, self, self.frames)
        if self.tension is not None:
            tension = s.number(self.tension)
            s.stores(tension * length)
        else:
            free, EA, c = (s.number(x) for x in (self.length, self.stiffness, self.damping))
            s.meets(lambda: [(free - length, 0)])
            tension, spring = taut(length - free, rate, EA / free, c)
            s.stores(spring**2 * free / (2 * EA))
            s.dissipates((tension - spring) * rate)
        for line in lines:
            line.pull(s, tension)
        s.write("tension", tension)
        s.write("length", length)


def along(component: Component, frames: object) -> tuple[str, ...]:
    """Return the frames of a cable; raise InputError for fewer than two, or one that follows itself."""
    names = tuple(frames) if isinstance(frames, tuple | list) else (frames,)
    if not component.name and all(isinstance(n, str) for n in names) and names:
        object.__setattr__(component, "name", f"{names[0]}_{names[-1]}_{component.type_name}")
    if len(names) < 2 or not all(isinstance(n, str) for n in names):
        raise wrong(component, "frames", repr(frames), "the names of two or more frames")
    for a, b in pairwise(names):
        if a == b:
            raise wrong(component, "frames", f"'{a}' twice in a row", "another frame after each")
    return names


def along_path(s: Scope, component: Component, frames: tuple[str, ...]) -> tuple[list[FrameLine], SX, SX]:
    """Return the straight parts between frames, their length and its rate."""
    lines = [FrameLine.find(s, component, *pair) for pair in pairwise(frames)]
    return lines, sum((x.length for x in lines), SX(0)), sum((x.rate for x in lines), SX(0))


def taut(stretch: SX, rate: SX, stiffness: SX, damping: SX) -> tuple[SX, SX]:
    """Return the tension of spring and damper, which never push, and that of the spring alone."""
    spring = stiffness * ca.fmax(stretch, 0)
    return ca.if_else(stretch > 0, ca.fmax(spring + damping * rate, 0), 0), spring
