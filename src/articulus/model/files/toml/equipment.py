"""Devices, named states and shapes that may touch in TOML files of mechanisms: [component.name], [state.name] and [collision.name] tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from articulus.errors import ArticulusError, DoubtfulModel, doubtful
from articulus.model.files.mesh.hull import with_hull
from articulus.model.files.report import Report
from articulus.model.files.toml.numbers import short_text
from articulus.model.files.toml.texts import key, quote
from articulus.model.mechanism import Device, Equipment, NamedState

STATE_KEYS = ("positions", "velocities", "commands")

# reading


def read_equipment(data: dict[str, Any], report: Report) -> Equipment:
    """Return the devices and states of the tables of a file; what is wrong goes to the report."""
    devices = [
        _device(table, f"component.{name}", report, (("name", name),))
        for name, table in _tables(data, "component", report)
    ]
    states = [_state(name, table, report) for name, table in _tables(data, "state", report)]
    shapes = [_collision(name, table, report) for name, table in _tables(data, "collision", report)]
    held = [tuple(d for d in found if d is not None) for found in (devices, shapes)]
    return Equipment(held[0], tuple(states), held[1])


def _collision(name: str, table: dict[str, Any], report: Report) -> Device | None:
    """Return a shape that may touch; one whose numbers lie in another file is refused."""
    path = f"collision.{name}"
    if not isinstance(table.get("frame"), str):
        report.add(path, "no frame", 'frame = "...", a body or frame')
        return None
    if table.get("type") == "mesh":
        report.add(path, "a mesh", 'type = "hull" with its vertices', "Other files are not read here.")
        return None
    return _device(table, path, report, (("name", name),))


def _tables(data: dict[str, Any], kind: str, report: Report) -> Iterator[tuple[str, dict[str, Any]]]:
    tables = data.get(kind, {})
    if not isinstance(tables, dict):
        report.add(kind, short_text(tables), f"one table for each {kind}", f"Write [{kind}.name].")
        return
    for name, table in tables.items():
        if isinstance(table, dict):
            yield name, table
        else:
            report.add(f"{kind}.{name}", short_text(table), "a table", f"Write [{kind}.name], then its keys.")


def _device(
    table: dict[str, Any], path: str, report: Report, first: tuple[tuple[str, Any], ...] = ()
) -> Device | None:
    if not isinstance(table.get("type"), str):
        report.add(path, "no type", 'type = "...", a component', "See the page about components.")
        return None
    rest = ((k, _value(held, f"{path}.{k}", report)) for k, held in table.items() if k != "type")
    return Device(table["type"], (*first, *rest))


def _value(held: Any, path: str, report: Report) -> Any:
    """Return a text, a number, several of either, or the device that a command is passed to."""
    match held:
        case dict():
            return _device(held, path, report)
        case list():
            return tuple(_value(x, path, report) for x in held)
        case str() | bool():
            return held
        case int() | float() if not math.isnan(held):
            return float(held)
    report.add(path, short_text(held), "a number, a text, a list of these, or a table with a type")
    return 0.0


def _state(name: str, table: dict[str, Any], report: Report) -> NamedState:
    for word in table:
        if word not in STATE_KEYS:
            expected = f"one of {', '.join(STATE_KEYS)}"
            report.add(f"state.{name}.{word}", f"the unknown key '{word}'", expected)
    held = {part: _named_numbers(table.get(part, {}), f"state.{name}.{part}", report) for part in STATE_KEYS}
    commands = tuple((actuator, numbers[0]) for actuator, numbers in held["commands"])
    return NamedState(name, held["positions"], held["velocities"], commands)


def _named_numbers(table: Any, path: str, report: Report) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Return finite numbers by name."""
    if not isinstance(table, dict):
        report.add(path, short_text(table), "a table, such as {hinge = 0.5}")
        return ()
    out = []
    for name, given in table.items():
        numbers = given if isinstance(given, list) else [given]
        if numbers and all(
            isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x) for x in numbers
        ):
            out.append((name, tuple(map(float, numbers))))
        else:
            report.add(f"{path}.{name}", short_text(given), "a number, or several in a list")
    return tuple(out)


# writing


def equipment_blocks(equipment: Equipment) -> Iterator[str]:
    """Yield the text of each table."""
    for device in equipment.devices:
        lines = [f"type = {quote(device.type)}"]
        lines += [f"{k} = {_text(x)}" for k, x in device.values if k != "name"]
        yield "\n".join([f"[component.{key(device.name)}]", *lines])
    for shape in _readable(equipment.collisions):
        lines = [f"type = {quote(shape.type)}"]
        lines += [f"{k} = {_text(x)}" for k, x in shape.values if k != "name"]
        yield "\n".join([f"[collision.{key(shape.name)}]", *lines])
    for state in equipment.states:
        lines = [f"[state.{key(state.name)}]"]
        for part in STATE_KEYS:
            held = getattr(state, part)
            if held:
                lines.append(f"{part} = {{{', '.join(f'{key(n)} = {_text(x)}' for n, x in held)}}}")
        yield "\n".join(lines)


def _readable(shapes: Iterable[Device]) -> Iterator[Device]:
    """Yield shapes that may touch, meshes as their hulls; one whose file cannot be read is left out with a warning."""
    for shape in shapes:
        try:
            yield with_hull(shape)
        except ArticulusError as error:
            doubtful(f"collision '{shape.name}' is left out: {error}", DoubtfulModel)


def _text(held: Any) -> str:
    match held:
        case Device():
            pairs = [("type", held.type), *held.values]
            return "{" + ", ".join(f"{k} = {_text(x)}" for k, x in pairs) + "}"
        case tuple():
            return "[" + ", ".join(map(_text, held)) + "]"
        case str():
            return quote(held)
        case bool():
            return str(held).lower()
    return repr(float(held))
