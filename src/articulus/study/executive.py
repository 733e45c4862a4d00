"""The table [executive] of a study: the order and the periods of its controllers, and what fails when."""

from __future__ import annotations

import dataclasses
from typing import Any

from articulus.declared import Field
from articulus.errors import did_you_mean
from articulus.model.files.toml.numbers import short_text
from articulus.simulation.loop.component import Actuator, Component, Controller, Sensor
from articulus.simulation.loop.components.executive import ActuatorFailure, SensorFailure
from articulus.study.components import Components

TASK = (
    Field("component", "text", meaning="name of a controller of the study", required=True),
    Field(
        "period",
        "number",
        unit="s",
        size="1",
        meaning="its sampling period; that of its own table if not given",
    ),
)
FAILURE = Field("component", "text", meaning="name of a sensor or an actuator of the study", required=True)
"""Beside the keys of `SensorFailure` or `ActuatorFailure`."""
PARTS = ("task", "failure")


def with_executive(values: Components, table: Any, components: dict[str, Component]) -> dict[str, Component]:
    """Return the components by path, controllers in the order and with the periods of the tasks, failures around sensors and actuators.

    Parameters
    ----------
    values : Components
        Reads numbers; what is wrong goes to its report.
    table : object
        The table [executive] as it was read.
    components : dict of path to Component
    """
    reader = _Reader(values, components)
    if not isinstance(table, dict):
        values.report.add(
            "executive", short_text(table), "tables", "Write [[executive.task]] and [[executive.failure]]."
        )
        return components
    values.unknown_keys(table, PARTS, "executive")
    for path, each in reader.tables(table, "failure"):
        reader.fail(each, path)
    return reader.ordered(reader.tables(table, "task"))


class _Reader:
    def __init__(self, values: Components, components: dict[str, Component]):
        self.values, self.report, self.held = values, values.report, dict(components)

    def tables(self, table: dict[str, Any], key: str) -> list[tuple[str, dict[str, Any]]]:
        found = table.get(key, [])
        if not isinstance(found, list) or not all(isinstance(t, dict) for t in found):
            self.report.add(
                f"executive.{key}", short_text(found), "tables", f"Write [[executive.{key}]] before each."
            )
            return []
        return [(f"executive.{key}[{i}]", t) for i, t in enumerate(found)]

    def fail(self, table: dict[str, Any], path: str) -> None:
        """Put a failure around the component that a table names."""
        at = self._find(table, path, (Sensor, Actuator), "a sensor or an actuator")
        if at is None:
            return
        inner = self.held[at]
        kind, field = (
            (SensorFailure, "sensor") if isinstance(inner, Sensor) else (ActuatorFailure, "actuator")
        )
        keys = {key: value for key, value in table.items() if key != "component"}
        around = self.values.around(kind, keys, path, {field: inner, "name": inner.name})
        if around is not None:
            self.held[at] = around

    def ordered(self, tasks: list[tuple[str, dict[str, Any]]]) -> dict[str, Component]:
        """Return the components, those of the tasks first among the controllers and in their order."""
        first: dict[str, Component] = {}
        for path, table in tasks:
            self.values.unknown_keys(table, [f.name for f in TASK], path)
            at = self._find(table, path, (Controller,), "a controller")
            if at is None:
                continue
            if at in first:
                self.report.add(
                    f"{path}.component", f"'{self.held[at].name}' a second time", "each controller once"
                )
            first[at] = self._with_period(self.held[at], table, path)
        return first | {at: c for at, c in self.held.items() if at not in first}

    def _with_period(self, component: Component, table: dict[str, Any], path: str) -> Component:
        if "period" not in table:
            return component
        period = self.values.numeric(table["period"], ["s"], f"{path}.period")
        if "period" not in {f.name for f in dataclasses.fields(component) if f.init}:  # type: ignore[arg-type]
            self.report.add(
                f"{path}.period", f"a {component.type_name}, which is continuous", "a component with a period"
            )
            return component
        return dataclasses.replace(component, period=period)  # type: ignore[type-var]

    def _find(self, table: dict[str, Any], path: str, kinds: tuple[type, ...], what: str) -> str | None:
        """Return the path of the component that a table names."""
        name = self.values.text(table, "component", path)
        if name is None:
            return None
        known = {c.name: at for at, c in self.held.items() if isinstance(c, kinds)}
        if name not in known:
            self.report.add(
                f"{path}.component",
                f"'{name}'",
                f"the name of {what} of the study",
                did_you_mean(name, known),
            )
        return known.get(name)
