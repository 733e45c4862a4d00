"""The arm with and without parts of its drives."""

from __future__ import annotations

import dataclasses

import numpy as np

import articulus as art
from articulus.model.mechanism import Connection, Description, Rotor
from articulus.model.mechanism.numbers import value_of, values_of


def variant(
    arm: Description, drive: str = "rotors", first_ratio: float | None = None, gravity: bool = True
) -> art.Mechanism:
    """Return a variant of an arm.

    Parameters
    ----------
    arm : Description
    drive : str
        "rotors" (set 2 of the paper), "direct" (set 1: no rotors) or "diagonal" (set 3: mu^2 J only).
    first_ratio : float or None
        Gear ratio of the first joint, if another.
    gravity : bool
    """
    joints = [_driven(c, drive) for c in arm.connections]
    if first_ratio is not None:
        rotor = dataclasses.replace(_rotor(arm.connections[0]), ratio=first_ratio)
        joints[0] = dataclasses.replace(joints[0], rotor=rotor)
    field = arm.gravity if gravity else (0.0, 0.0, 0.0)
    return art.Mechanism.from_description(dataclasses.replace(arm, connections=tuple(joints), gravity=field))


def gears(arm: art.Mechanism, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return gear ratio mu, mu J and the rotor's axis in ground axes, joint by joint."""
    joints = arm.description.connections
    ratio = np.array([value_of(_rotor(c).ratio) for c in joints])
    inertia = np.array([value_of(_rotor(c).inertia) for c in joints])
    axes = [arm.pose(c.parent, q)[:3, :3] @ values_of(_rotor(c).axis) for c in joints]
    return ratio, ratio * inertia, axes


def _driven(c: Connection, drive: str) -> Connection:
    if drive == "rotors":
        return c
    rotor = _rotor(c)
    armature = value_of(rotor.ratio) ** 2 * value_of(rotor.inertia) if drive == "diagonal" else 0.0
    return dataclasses.replace(c, rotor=None, armature=(armature,))


def _rotor(c: Connection) -> Rotor:
    if c.rotor is None:
        raise art.InputError(f"joint '{c.name}' has no rotor")
    return c.rotor
