"""Constant forces of a model file that take off the weight of bodies, and how they follow other masses and another gravity."""

from __future__ import annotations

import dataclasses

import numpy as np

from articulus.model.mechanism.body import Body
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.equipment import Device
from articulus.model.mechanism.numbers import value_of, values_of
from articulus.model.mechanism.pose import Pose


def shares(d: Description) -> dict[str, float]:
    """Return the share of the weight that a device takes off, by the frame at the center of mass on which it acts."""
    found = {}
    for device in d.equipment.devices:
        held = dict(device.values)
        if device.type != "frame_wrench":
            continue
        body, frame = _carried_body(d, held["frame"])
        if body is None or frame != Pose(values_of(body.com)) or not np.any(gravity := _gravity(d)):
            continue
        weight = value_of(body.mass) * gravity
        share = -np.array(held["wrench"][3:], dtype=float) @ weight / (weight @ weight)
        if np.allclose(held["wrench"], [0, 0, 0, *(-share * weight)], rtol=1e-12, atol=0.0):
            found[str(held["frame"])] = float(share)
    return found


def compensate(d: Description, by_frame: dict[str, float]) -> Description:
    """Return the mechanism in which devices take off these shares of the weight, at the present centers of mass."""
    centers = {frame: _carried_body(d, frame)[0] for frame in by_frame}
    frames = tuple(
        dataclasses.replace(f, at=Pose(values_of(body.com))) if (body := centers.get(f.name)) else f
        for f in d.frames
    )

    def renew(device: Device) -> Device:
        held = dict(device.values)
        body = centers.get(held.get("frame", "")) if device.type == "frame_wrench" else None
        if body is None:
            return device
        force = -by_frame[held["frame"]] * value_of(body.mass) * _gravity(d)
        held["wrench"] = (0.0, 0.0, 0.0, *map(float, force))
        return dataclasses.replace(device, values=tuple(held.items()))

    equipment = dataclasses.replace(d.equipment, devices=tuple(map(renew, d.equipment.devices)))
    return dataclasses.replace(d, frames=frames, equipment=equipment)


def _gravity(d: Description) -> np.ndarray:
    return np.array(values_of(d.gravity))


def _carried_body(d: Description, name: str) -> tuple[Body | None, Pose | None]:
    """Return the body with mass whose center a frame is named after, and where the frame is on it; None for others."""
    owner, frame = d.carrier(name)
    body = next((b for b in d.bodies if b.name == owner), None)
    if body is None or frame.name != f"{owner}_com" or not value_of(body.mass):
        return None, None
    return body, frame.at
