"""What the readers say of a text, each finding at the part that it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.browser.building.document import KINDS
from articulus.declared import fields_of
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import ArticulusError, Finding, InputError, ModelError, did_you_mean
from articulus.model.files.toml.reader import load_tables, parse_toml
from articulus.model.mechanism import Description
from articulus.model.mechanism.equipment import Device
from articulus.simulation.loop.components.devices import TYPES, components_of
from articulus.simulation.solve.assembly import assemble

OPEN = "its joints are not where the loop closes, and no position near the start closes it"


@dataclass(frozen=True)
class Remark:
    """A finding, and where on the page it stands.

    Parameters
    ----------
    part : str
        Kind and name of the table, such as "joint.lift"; empty for the file itself.
    key : str
        Key in that table, such as "axis"; empty for all of it.
    line : int
        0 where it is not known.
    found, expected, hint : str
    serious : bool
        Whether there is no mechanism because of it.
    """

    part: str
    key: str
    line: int
    found: str
    expected: str
    hint: str
    serious: bool = True


@dataclass(frozen=True)
class Checked:
    """What a text is.

    Parameters
    ----------
    data : dict or None
        Its tables; None where it is no TOML.
    mechanism : Mechanism or None
        None where something serious is wrong.
    q : array or None
        Position in which it is shown, loops closed where they can be.
    remarks : tuple of Remark
    """

    data: dict[str, Any] | None
    mechanism: Mechanism | None
    q: np.ndarray | None
    remarks: tuple[Remark, ...]


def check(text: str, name: str, attached: Callable[[str], bytes]) -> Checked:
    """Return what a text is, with everything that its readers find."""
    try:
        data = load_tables(text, name)
    except ModelError as error:
        return Checked(None, None, None, tuple(_remarks(error.findings, name, {})))
    try:
        mechanism = Mechanism.from_description(parse_toml(text, name, attached))
    except ModelError as error:
        return Checked(data, None, None, tuple(_remarks(error.findings, name, data)))
    doubts = [*_remarks(mechanism.findings, name, data, False), *_components(mechanism.description)]
    q, open_loops = _closed(mechanism)
    return Checked(data, mechanism, q, (*doubts, *open_loops))


def _remarks(
    findings: Iterable[Finding], name: str, data: dict[str, Any], serious: bool = True
) -> Iterator[Remark]:
    parts = sorted(_parts(data), key=len, reverse=True)
    for f in findings:
        place = re.fullmatch(r"(?::(\d+))?(?:: ?)?(.*)", f.where.removeprefix(name), re.S)
        line, path = (int(place[1] or 0), place[2]) if place else (0, f.where)
        part = next((p for p in parts if path == p or path.startswith((f"{p}.", f"{p}["))), "")
        key = path[len(part) :].lstrip(".") if part else path
        yield Remark(part, key, line, f.found, f.expected, f.hint, serious)


def _parts(data: dict[str, Any]) -> Iterator[str]:
    """Yield kind and name of every part."""
    for kind in KINDS:
        tables = data.get(kind)
        yield from (f"{kind}.{name}" for name in tables) if isinstance(tables, dict) else ()


def _components(description: Description) -> Iterator[Remark]:
    """Yield what is wrong with devices; the mechanism is drawn without them."""
    for device in description.equipment.devices:
        wrong = list(_fields(device, description))
        yield from wrong
        if wrong:
            continue
        try:
            components_of([device])
        except InputError as error:
            for f in error.findings:
                yield Remark(f"component.{device.name}", f.field, 0, f.found, f.expected, f.hint)


def _fields(device: Device, description: Description) -> Iterator[Remark]:
    """Yield a remark for a type that there is not, for keys that are missing or unknown, and for names of joints that there are not."""
    part = f"component.{device.name}"
    if device.type not in TYPES:
        yield Remark(
            part, "type", 0, f"'{device.type}'", "a type of component", did_you_mean(device.type, TYPES)
        )
        return
    fields, held = fields_of(TYPES[device.type]), dict(device.values)
    known = [f.name for f in fields]
    joints = [c.name for c in description.connections]
    for f in fields:
        if f.required and f.name not in held:
            yield Remark(part, f.name, 0, f"no {f.name}", f.meaning or "a value", "")
        elif (
            "joint" in (f.refers, f.name) and isinstance(held.get(f.name), str) and held[f.name] not in joints
        ):
            yield Remark(
                part,
                f.name,
                0,
                f"'{held[f.name]}'",
                "the name of a joint",
                did_you_mean(held[f.name], joints),
            )
    for key in held:
        if key not in known:
            yield Remark(
                part, key, 0, "an unknown key", f"a key of '{device.type}'", did_you_mean(key, known)
            )


def _closed(mechanism: Mechanism) -> tuple[np.ndarray, list[Remark]]:
    """Return a position that closes the loops, and a remark at each loop if there is none near the start."""
    start = mechanism.neutral
    constraints = mechanism.description.constraints
    if not constraints:
        return start, []
    try:
        return assemble(mechanism, start).q, []
    except ArticulusError:
        expected = "a position that closes it"
        hint = "Move one of its sides, or lengthen a body."
        return start, [Remark(f"{c.table}.{c.name}", "", 0, OPEN, expected, hint, False) for c in constraints]
