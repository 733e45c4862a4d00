"""What becomes of devices and states of a mechanism that is edited."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator
from typing import Any

from articulus.model.mechanism.equipment import Device, Equipment, NamedState

JOINTS, PLACES = ("joint", "joints"), ("frame", "apart")
"""Fields of devices that name joints; bodies or frames."""


def without_names(equipment: Equipment, joints: Collection[str], places: Collection[str]) -> Equipment:
    """Return the equipment without devices on joints, bodies and frames that are no more, and states without these joints."""

    def lost(device: Device) -> bool:
        names = [*_names(device, JOINTS)], [*_names(device, PLACES)]
        return any(n in joints for n in names[0]) or any(n in places for n in names[1])

    devices = tuple(d for d in equipment.devices if not lost(d))
    gone = {d.name for d in equipment.devices} - {d.name for d in devices}
    states = tuple(
        dataclasses.replace(
            s,
            positions=tuple(pair for pair in s.positions if pair[0] not in joints),
            velocities=tuple(pair for pair in s.velocities if pair[0] not in joints),
            commands=tuple(pair for pair in s.commands if pair[0] not in gone),
        )
        for s in equipment.states
    )
    return Equipment(
        devices, states, tuple(s for s in equipment.collisions if dict(s.values)["frame"] not in places)
    )


def with_prefix(equipment: Equipment, prefix: str, place: Callable[[str], str]) -> Equipment:
    """Return the equipment of a mechanism whose names have a prefix; `place` gives the new name of a body or frame."""
    return Equipment(
        tuple(_rename_device(d, prefix, place) for d in equipment.devices),
        tuple(_renamed_state(s, prefix) for s in equipment.states),
        tuple(_rename_device(s, prefix, place) for s in equipment.collisions),
    )


def _names(device: Device, fields: tuple[str, ...]) -> Iterator[str]:
    for field, held in device.values:
        if isinstance(held, Device):
            yield from _names(held, fields)
        elif field in fields:
            yield from (held,) if isinstance(held, str) else held


def _rename_device(device: Device, prefix: str, place: Callable[[str], str]) -> Device:
    def new(field: str, held: Any) -> Any:
        if isinstance(held, Device):
            return _rename_device(held, prefix, place)
        if field == "name" or field in JOINTS:
            return prefix + held if isinstance(held, str) else tuple(prefix + name for name in held)
        if field in PLACES:
            return place(held) if isinstance(held, str) else tuple(map(place, held))
        return held

    return Device(device.type, tuple((field, new(field, held)) for field, held in device.values))


def _renamed_state(state: NamedState, prefix: str) -> NamedState:
    held = {
        part: tuple((prefix + name, numbers) for name, numbers in getattr(state, part))
        for part in ("positions", "velocities", "commands")
    }
    return NamedState(prefix + state.name, **held)
