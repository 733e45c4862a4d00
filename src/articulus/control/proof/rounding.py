"""Sensors that round what they measure, as gains of one: the slope of a staircase is zero or infinite, that of its middle is one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from articulus.model.mechanism.expression import Varying
from articulus.simulation.loop.component import Component, Sensor
from articulus.simulation.loop.components.measured import Measured


def resolutions(components: Sequence[Component]) -> dict[str, str]:
    """Return the sensors that round, by name, with their largest step."""
    found: dict[str, str] = {}
    for part in components:
        inner: Component = part
        while isinstance(inner, Measured):
            steps = inner.resolution
            if any(isinstance(x, Varying) for x in steps):
                found[part.name] = "of a parameter"
            elif max(steps) > 0:
                found[part.name] = f"{max(steps):g}"
            inner = inner.sensor
    return found


def remove_rounding(components: Sequence[Component]) -> tuple[Component, ...]:
    """Return components with sensors of endless resolution."""
    return tuple(_smooth(part) if isinstance(part, Measured) else part for part in components)


def _smooth(part: Measured) -> Measured:
    inner: Sensor = _smooth(part.sensor) if isinstance(part.sensor, Measured) else part.sensor
    return dataclasses.replace(part, sensor=inner, resolution=0.0)
