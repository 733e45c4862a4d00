"""Components of the devices that a model file holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from articulus.errors import Finding, InputError, did_you_mean
from articulus.model.mechanism.equipment import Device
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import ALL_COMPONENTS

TYPES = {kind.type_name: kind for kind in ALL_COMPONENTS}


def components_of(devices: Iterable[Device]) -> list[Component]:
    """Return a component for each device; raise InputError for what is none."""
    return [_component(device) for device in devices]


def _component(device: Device) -> Component:
    if device.type not in TYPES:
        raise InputError(
            Finding(
                f"component '{device.name}'",
                f"the type '{device.type}'",
                "one of the package's",
                did_you_mean(device.type, TYPES),
            )
        )
    held: dict[str, Any] = {k: _component(x) if isinstance(x, Device) else x for k, x in device.values}
    try:
        return TYPES[device.type](**held)
    except TypeError as error:  # a field that the component does not have, or lacks
        raise InputError(f"component '{device.name}' of type '{device.type}': {error}") from None
