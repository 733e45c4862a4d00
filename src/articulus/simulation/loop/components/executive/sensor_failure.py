"""A sensor that fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import (
    Number,
    as_number,
    as_numbers,
    convert,
    quantity,
    value_of,
)
from articulus.simulation.loop.component import Scope, Sensor
from articulus.simulation.loop.components.checks import wrong
from articulus.simulation.loop.components.columns import column, recall

KINDS = ("stuck", "dead", "bias")


@dataclass(frozen=True)
class SensorFailure(Sensor):
    """The signals of a sensor, which fails for a time: it keeps its last value, gives a constant one, or has a new error.

    Parameters
    ----------
    sensor : Sensor
        It keeps its period; one that is stuck needs a period: `Measured`.
    start : number [s]
    end : number [s]
        From when on it works again; never if not given.
    kind : str
        "stuck": the last value before the failure; "dead": `value`; "bias": `value` is added.
    value : numbers [unit of the signal]
        One for all entries or one each.
    name : str
        That of the sensor if not given.

    Signals: those of the sensor.
    """

    sensor: Sensor
    start: Number = quantity("s", "when it fails")
    end: Number | None = quantity("s", "from when on it works again; never if not given", default=None)
    kind: str = "stuck"
    value: Any = quantity("signal", "constant value, or added error", size="1 or entries", default=0.0)
    name: str = ""
    period: float | None = field(
        default=None, init=False, metadata={"unit": "s", "size": "1", "meaning": "that of the sensor"}
    )

    type_name = "sensor_failure"

    def __post_init__(self) -> None:
        if not isinstance(self.sensor, Sensor):
            raise wrong(self, "sensor", repr(self.sensor), "a sensor")
        object.__setattr__(self, "name", self.name or self.sensor.name)
        object.__setattr__(self, "period", self.sensor.period)
        convert(self, value=as_numbers)
        check_interval(self)
        if self.kind not in KINDS:
            raise wrong(self, "kind", repr(self.kind), f"one of {', '.join(KINDS)}")
        if self.kind == "stuck" and self.period is None:
            raise wrong(
                self,
                "sensor",
                f"'{self.sensor.name}', which is continuous",
                "a sensor with a period, which holds values that can stick",
                "Put it into Measured(sensor, period=...)",
            )

    def signal_units(self) -> dict[str, str]:
        return self.sensor.signal_units()

    @property
    def times(self) -> tuple[float, ...]:
        """Return when it fails and when it works again, with the instants of the sensor."""
        return with_interval(self, self.sensor.times)

    def measure(self, s: Scope) -> dict[str, SX]:
        signals = self.sensor.measure(s)
        y = ca.vertcat(*signals.values())
        y = ca.if_else(during(s, self), self._fail(s, y), y)
        found, at = {}, 0
        for name, value in signals.items():
            found[name] = y[at : at + value.numel()]
            at += value.numel()
        if self.kind == "stuck":
            s.remember("kept", y)
        return found

    def _fail(self, s: Scope, y: SX) -> SX:
        if self.kind == "stuck":
            return recall(s, "kept", y)
        value = column(s, self, "value", y.numel())
        return value if self.kind == "dead" else y + value


def check_interval(component: Any) -> None:
    """Convert `start` and `end` of a component to numbers; raise InputError unless the end, if there is one, comes after the start."""
    for name in ("start", "end"):
        if getattr(component, name) is not None:
            object.__setattr__(component, name, as_number(getattr(component, name)))
    if component.end is not None:
        start, end = (value_of(x) for x in (component.start, component.end))
        if not start < end:
            raise wrong(component, "end", f"{end:g} s, not after start = {start:g} s", "a later time")


def with_interval(component: Any, times: tuple[float, ...]) -> tuple[float, ...]:
    """Return times with the start and the end of a component, where they are plain numbers."""
    own = {x for x in (component.start, component.end) if isinstance(x, float)}
    return tuple(sorted({*times, *own}))


def during(s: Scope, component: Any) -> SX:
    """Return whether it is time between start and end, the end excluded; instants count as they are meant, not as they are rounded."""
    t = s.t + 1e-6 * s.h
    begun = t >= s.number(component.start)
    return begun if component.end is None else ca.logic_and(begun, t < s.number(component.end))
