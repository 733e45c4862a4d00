"""The servo of a control surface: limits of deflection and of rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Actuator, Scope
from articulus.simulation.loop.components.checks import at_least, positive, wrong
from articulus.simulation.loop.components.columns import clip


@dataclass(frozen=True)
class ControlSurface(Actuator):
    """A surface that follows its command within its limits: d' = w (command - d), at most `rate` either way.

    It pushes nothing itself: `TableAerodynamics` reads its deflection.

    Parameters
    ----------
    name : str
    lower, upper : number [rad]
        Limits of the deflection.
    rate : number [rad/s]
        Largest rate either way.
    bandwidth : number [rad/s]
        w.
    initial : float [rad]
        Deflection at the start.

    Signals: `deflection` [rad].
    """

    name: str
    lower: Number = quantity("rad", "smallest deflection")
    upper: Number = quantity("rad", "largest deflection")
    rate: Number = quantity("rad/s", "largest rate either way", default=math.inf)
    bandwidth: Number = quantity("rad/s", "bandwidth of the servo", default=20.0)
    initial: float = quantity("rad", "deflection at the start", default=0.0)

    type_name = "control_surface"
    signals: ClassVar = {"deflection": "rad"}
    command_in: ClassVar = "rad"

    def __post_init__(self) -> None:
        convert(self, **dict.fromkeys(("lower", "upper", "rate", "bandwidth", "initial"), as_number))
        positive(self, bandwidth=self.bandwidth)
        at_least(self, 0.0, rate=self.rate)
        lower, upper, initial = map(value_of, (self.lower, self.upper, self.initial))
        if not lower <= initial <= upper:
            raise wrong(
                self, "initial", f"{initial:g}", f"a deflection within the limits, {lower:g} to {upper:g} rad"
            )

    def drive(self, s: Scope, command: SX) -> None:
        d, rate = s.state("deflection", value_of(self.initial)), s.number(self.rate)
        follow = s.number(self.bandwidth) * (clip(command, s.number(self.lower), s.number(self.upper)) - d)
        s.rate("deflection", clip(follow, -rate, rate))
        s.write("deflection", d)
