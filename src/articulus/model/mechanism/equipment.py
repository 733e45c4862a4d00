"""What a model file holds besides the mechanism itself: actuators, sensors and named states, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True)
class Device:
    """A component of a loop as a model file gives it; `Mechanism.components` makes the component of it.

    Parameters
    ----------
    type : str
        Type name of the component, such as "rate_gyro".
    values : tuple of pairs
        Field and value: a number, a name, a tuple of these, or the `Device` that a command is passed to.
    """

    type: str
    values: tuple[tuple[str, Any], ...]

    @property
    def name(self) -> str:
        return str(dict(self.values).get("name", ""))


@dataclass(frozen=True)
class NamedState:
    """A state by the names of its joints, so that it outlives changes of the mechanism.

    Parameters
    ----------
    name : str
    positions, velocities : tuple of pairs
        Joint, and its coordinates [rad, m] or velocities [rad/s, m/s]; neutral and zero where a joint is not named.
    commands : tuple of pairs
        Actuator, and its command.
    """

    name: str
    positions: tuple[tuple[str, tuple[float, ...]], ...] = ()
    velocities: tuple[tuple[str, tuple[float, ...]], ...] = ()
    commands: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Equipment:
    """Devices, states and shapes that may touch of a model file; no part of the equations of the mechanism.

    Parameters
    ----------
    devices : tuple of Device
    states : tuple of NamedState
    collisions : tuple of Device
        Shapes that may touch. Type: that of a shape of `articulus.simulation.loop.contact`, or "mesh", whose hull is made when it is
        asked for. Values: those of the shape (`name`, `frame`, `radius`, ...; of a mesh `file` and `scale`) and, all optional, `friction`,
        `margin` by which it is larger, `slippery` for one that never rubs, two `groups` of bits as in MJCF (what it is, what it
        touches), `apart`, names of bodies that it never touches, and `pairs`, names of shapes that it touches whatever groups say, with
        `pair_friction` and `pair_margin` of each.
    """

    devices: tuple[Device, ...] = ()
    states: tuple[NamedState, ...] = ()
    collisions: tuple[Device, ...] = ()


NO_EQUIPMENT = Equipment()


class ModelState(NamedTuple):
    """A state of a mechanism from its model file.

    `q` (nq,) and `v` (nv,) are what `simulate` takes; `commands` holds the command of each actuator by its name.
    """

    q: np.ndarray
    v: np.ndarray
    commands: dict[str, float]
