"""What becomes of a signal on its way from a sensor: bias, noise, steps, sampling, delay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.model.mechanism.expression import Varying
from articulus.model.mechanism.numbers import Vector, as_numbers, convert, quantity
from articulus.simulation.loop.component import Scope, Sensor
from articulus.simulation.loop.components.checks import at_least, sampling, wrong
from articulus.simulation.loop.components.columns import column, recall


@dataclass(frozen=True)
class Measured(Sensor):
    """The signals of a sensor with bias, noise, resolution, sampling and delay, in this order.

    Numbers are one for all entries or one each; entries count through all signals of the sensor in its order. Noise
    is new at every step, or at every instant when sampled, and comes from the seed of the run.

    Parameters
    ----------
    sensor : Sensor
    period : number [s]
        Sampling period; continuous if not given.
    delay : int
        Whole number of periods by which signals come late; until then the first one holds.
    noise : numbers [unit of the signal]
        Standard deviation.
    bias : numbers [unit of the signal]
    resolution : numbers [unit of the signal]
        Step to which signals are rounded; 0: none.
    name : str
        That of the sensor if not given.

    Signals: those of the sensor.
    """

    sensor: Sensor
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    delay: int = quantity("periods", "whole number of periods by which signals come late", default=0)
    noise: Any = quantity("signal", "standard deviation", size="1 or entries", default=0.0)
    bias: Any = quantity("signal", "constant error", size="1 or entries", default=0.0)
    resolution: Any = quantity(
        "signal", "step to which signals are rounded; 0: none", size="1 or entries", default=0.0
    )
    name: str = ""

    type_name = "measured"

    def __post_init__(self) -> None:
        if not isinstance(self.sensor, Sensor):
            raise wrong(self, "sensor", repr(self.sensor), "a sensor")
        object.__setattr__(self, "name", self.name or self.sensor.name)
        convert(self, noise=as_numbers, bias=as_numbers, resolution=as_numbers)
        at_least(self, 0.0, noise=self.noise, resolution=self.resolution)
        sampling(self)
        if not isinstance(self.delay, int | np.integer) or self.delay < 0:
            raise wrong(self, "delay", repr(self.delay), "a whole number of periods")
        if self.delay and self.period is None:
            raise wrong(self, "delay", f"{self.delay} without a period", "a sampling period with a delay")

    def signal_units(self) -> dict[str, str]:
        return self.sensor.signal_units()

    def measure(self, s: Scope) -> dict[str, SX]:
        signals = self.sensor.measure(s)
        ends = np.cumsum([value.numel() for value in signals.values()])
        y = self._late(s, self._degrade(s, ca.vertcat(*signals.values())))
        return dict(zip(signals, ca.vertsplit(y, [0, *map(int, ends)])))

    def _degrade(self, s: Scope, y: SX) -> SX:
        n = y.numel()
        if _any(self.bias):
            y = y + column(s, self, "bias", n)
        if _any(self.noise):
            y = y + column(s, self, "noise", n) * s.noise(n)
        if _any(self.resolution):
            step = column(s, self, "resolution", n)
            y = ca.if_else(step > 0, step * ca.floor(y / ca.fmax(step, 1e-300) + 0.5), y)
        return y

    def _late(self, s: Scope, y: SX) -> SX:
        """Return y of `delay` instants ago, from a shift register."""
        if not self.delay:
            return y
        register = recall(s, "register", ca.repmat(y, self.delay, 1))
        shifted = ca.vertcat(y, register)[: register.numel()]
        s.remember("register", shifted)
        return register[-y.numel() :]


def _any(numbers: Vector) -> bool:
    """Return whether a number is other than zero, or may become so."""
    return any(isinstance(x, Varying) or x != 0 for x in numbers)
