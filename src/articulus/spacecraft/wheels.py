"""Reaction wheels that can be bought, with the numbers of their public data sheets."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class WheelData:
    """A wheel of a data sheet.

    Parameters
    ----------
    momentum : float [N m s]
        Largest.
    speed : float [rad/s]
        At which it has it.
    torque : float [N m]
        Largest of the motor.
    mass : float [kg]
        Mass of the whole unit.
    static, dynamic : float [kg m], [kg m^2]
        Imbalances.
    source : str
    """

    momentum: float
    speed: float
    torque: float
    mass: float
    static: float
    dynamic: float
    source: str

    @property
    def inertia(self) -> float:
        """Return the rotor's inertia about its axis [kg m^2]: momentum over speed."""
        return self.momentum / self.speed

    def fields(self) -> dict[str, float]:
        """Return `inertia`, `torque_limit` and `speed_limit` of a `ReactionWheel`."""
        return {"inertia": self.inertia, "torque_limit": self.torque, "speed_limit": self.speed}


def _rpm(n: float) -> float:
    return n * math.pi / 30


HONEYWELL = (
    "Honeywell, Constellation Series Reaction Wheels, data sheet; imbalances as in Basilisk's simIncludeRW"
)
WHEELS: dict[str, WheelData] = {
    "HR14-25": WheelData(25.0, _rpm(6000), 0.2, 7.5, 2.2e-6, 4.6e-7, HONEYWELL),
    "HR14-50": WheelData(50.0, _rpm(6000), 0.2, 8.5, 3.5e-6, 9.1e-7, HONEYWELL),
    "HR14-75": WheelData(75.0, _rpm(6000), 0.2, 10.6, 4.8e-6, 13.7e-7, HONEYWELL),
    "HR16-50": WheelData(50.0, _rpm(6000), 0.2, 9.0, 2.8e-6, 7.7e-7, HONEYWELL),
    "HR16-75": WheelData(75.0, _rpm(6000), 0.2, 10.4, 3.8e-6, 11.5e-7, HONEYWELL),
    "HR16-100": WheelData(100.0, _rpm(6000), 0.2, 12.0, 4.8e-6, 15.4e-7, HONEYWELL),
}
