"""Position and velocity of joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from casadi import SX

from articulus.model.mechanism.numbers import convert
from articulus.simulation.loop.component import Scope, Sensor
from articulus.simulation.loop.components.columns import joint_coordinates
from articulus.simulation.loop.components.tracking import names


@dataclass(frozen=True)
class JointSensor(Sensor):
    """Encoders and tachometers of joints whose velocities are the rates of their coordinates.

    Parameters
    ----------
    joints : names
        In the order of the signals; all if not given.
    name : str

    Signals: `q` [rad or m], `v` [rad/s or m/s].
    """

    joints: tuple[str, ...] = ()
    name: str = "joints"

    type_name = "joint_sensor"
    signals: ClassVar = {"q": "rad or m", "v": "rad/s or m/s"}

    def __post_init__(self) -> None:
        convert(self, joints=names)

    def measure(self, s: Scope) -> dict[str, SX]:
        q, v = joint_coordinates(s, self, self.joints)
        return {"q": q, "v": v}
