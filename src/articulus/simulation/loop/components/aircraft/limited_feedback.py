"""Feedback of one entry of a signal within limits: a damper, an angle-of-attack limiter."""

from __future__ import annotations

import math
from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.errors import did_you_mean
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import sampling, wrong
from articulus.simulation.loop.components.columns import clip


@dataclass(frozen=True)
class LimitedFeedback(Controller):
    """u = gain clip(y - offset, lower, upper), added to what other controllers command the same actuator.

    With lower = 0 it acts above the offset only: a limiter.

    Parameters
    ----------
    actuator : str
        Actuator that is commanded, or in a run without actuators the coordinate.
    measured : str
        Signal of one number, such as "air_data.alpha", or an entry of one, "gyro.rate.1".
    gain : number [command / unit of the signal]
    offset, lower, upper : number [unit of the signal]
    period : number [s]
        Sampling period; continuous if not given.
    name : str
        "<actuator>_limited_feedback" if not given.
    """

    actuator: str
    measured: str
    gain: Number = quantity("command/signal", "gain")
    offset: Number = quantity("signal", "value that gives no command", default=0.0)
    lower: Number = quantity("signal", "smallest difference from the offset that counts", default=-math.inf)
    upper: Number = quantity("signal", "largest difference from the offset that counts", default=math.inf)
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = ""

    type_name = "limited_feedback"

    def __post_init__(self) -> None:
        convert(self, **dict.fromkeys(("gain", "offset", "lower", "upper"), as_number))
        object.__setattr__(self, "name", self.name or f"{self.actuator}_{self.type_name}")
        sampling(self)
        if not value_of(self.lower) <= value_of(self.upper):
            raise wrong(
                self, "lower", f"{value_of(self.lower):g}", f"at most upper, {value_of(self.upper):g}"
            )

    def work(self, s: Scope) -> None:
        if self.actuator not in s.command_names:
            raise wrong(
                self,
                "actuator",
                repr(self.actuator),
                "the name of an actuator",
                did_you_mean(self.actuator, s.command_names),
            )
        signal, _, entry = (
            self.measured.rpartition(".") if self.measured[-1:].isdigit() else (self.measured, "", "0")
        )
        y = s.read(signal)
        if not entry.isdigit() or int(entry) >= y.numel() or (signal == self.measured and y.numel() != 1):
            raise wrong(
                self,
                "measured",
                f"'{self.measured}'",
                f"one number: an entry from 0 to {y.numel() - 1}, such as '{signal}.0'",
            )
        difference = y[int(entry)] - s.number(self.offset)
        u = SX.zeros(len(s.command_names))
        u[s.command_names.index(self.actuator)] = s.number(self.gain) * clip(
            difference, s.number(self.lower), s.number(self.upper)
        )
        s.command(ca.densify(u))
