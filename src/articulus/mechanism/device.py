"""What a model file says about actuators, sensors and states besides the mechanism itself: plain data."""

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
        Field and value: numbers, names, tuples of these, or the `Device` that stands behind.
    """

    type: str
    values: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class NamedState:
    """A state by the names of its joints, so that it outlives changes of the mechanism.

    Parameters
    ----------
    name : str
    positions, velocities : tuple of pairs
        Joint, and its coordinates [rad, m] or velocities [rad/s, m/s].
    commands : tuple of pairs
        Actuator, and its command.
    """

    name: str
    positions: tuple[tuple[str, tuple[float, ...]], ...]
    velocities: tuple[tuple[str, tuple[float, ...]], ...] = ()
    commands: tuple[tuple[str, float], ...] = ()


class State(NamedTuple):
    """A state of a mechanism from its model file.

    `q` (nq,) and `v` (nv,) are what `simulate` takes; `commands` holds the command of each actuator by its name.
    """

    q: np.ndarray
    v: np.ndarray
    commands: dict[str, float]
