"""Several sensors of one quantity: which of them is believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Scope, Sensor
from articulus.simulation.loop.components.checks import positive, sampling, wrong


@dataclass(frozen=True)
class Voter(Sensor):
    """Of several signals of one quantity that with the least sum of distances from the others: of three numbers the middle one.

    A channel that is farther than `threshold` from it at `patience` instants in a row is left out from then on, as long as three are
    left; of two that disagree nobody knows which is wrong: `doubt` is 1. It stands behind its sensors in the list of components.

    Parameters
    ----------
    channels : names
        Two or more, such as ("gyro_a.rate", "gyro_b.rate", "gyro_c.rate"), of the same size.
    threshold : number [unit of the signals]
        Distance, over all entries, from which a channel is suspected.
    period : number [s]
    patience : int
        Instants in a row.
    unit : str
        That of the channels, for the record.
    name : str

    Signals: `value`; `healthy`, 1 or 0 for each channel; `doubt`, 1 where two are left and disagree.
    """

    channels: tuple[str, ...]
    threshold: Number = quantity("signal", "distance from which a channel is suspected")
    period: float = quantity("s", "sampling period")
    patience: int = quantity("instants", "instants in a row after which it is left out", default=3)
    unit: str = "-"
    name: str = "voter"

    type_name = "voter"
    signals: ClassVar = {"value": "-", "healthy": "-", "doubt": "-"}

    def __post_init__(self) -> None:
        object.__setattr__(self, "channels", tuple(self.channels))
        if len(self.channels) < 2 or isinstance(self.channels, str):
            raise wrong(self, "channels", f"{self.channels!r}", "two signals or more")
        convert(self, threshold=as_number)
        positive(self, threshold=self.threshold)
        sampling(self)
        if not isinstance(self.patience, int | np.integer) or self.patience < 1:
            raise wrong(self, "patience", repr(self.patience), "a whole number of instants, at least 1")

    def signal_units(self) -> dict[str, str]:
        return self.signals | {"value": self.unit}

    def measure(self, s: Scope) -> dict[str, SX]:
        y = [s.read(name) for name in self.channels]
        if len({each.numel() for each in y}) > 1:
            sizes = ", ".join(f"{name}: {each.numel()}" for name, each in zip(self.channels, y))
            raise wrong(self, "channels", sizes, "signals of the same size")
        n = len(y)
        healthy = s.memory("healthy", [1.0] * n)
        apart = SX(n, n)
        for i in range(n):
            for j in range(n):
                apart[i, j] = ca.norm_2(y[i] - y[j]) if i != j else 0
        sums = ca.mtimes(apart, healthy)
        value, least, off = y[0], ca.if_else(healthy[0], sums[0], ca.inf), apart[:, 0]
        for i in range(1, n):
            nearer = ca.logic_and(healthy[i], sums[i] < least)
            value, off = ca.if_else(nearer, y[i], value), ca.if_else(nearer, apart[:, i], off)
            least = ca.if_else(nearer, sums[i], least)
        suspected = off > s.number(self.threshold)
        counts = ca.if_else(suspected, s.memory("counts", [0.0] * n) + 1, 0)
        left = ca.sum1(healthy)
        out = ca.logic_and(healthy, counts >= self.patience)
        # one goes at a time, and none of the last two
        first, gone = SX(n, 1), SX(0)
        for i in range(n):
            first[i] = ca.logic_and(out[i], ca.logic_and(gone == 0, left > 2))
            gone = gone + first[i]
        s.remember("healthy", healthy - first)
        s.remember("counts", counts)
        disagree = ca.logic_and(left <= 2, ca.dot(healthy, ca.if_else(suspected, 1, 0)) > 0)
        return {"value": value, "healthy": healthy - first, "doubt": ca.if_else(disagree, 1, 0)}
