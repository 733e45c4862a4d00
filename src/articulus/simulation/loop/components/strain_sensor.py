"""A strain gauge along a flexible body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, as_number, convert, quantity
from articulus.simulation.loop.component import Scope, Sensor
from articulus.simulation.loop.components.checks import name_after
from articulus.simulation.loop.components.station_pair import StationPair


@dataclass(frozen=True)
class StrainSensor(Sensor):
    """Mean bending strain between two stations of a flexible body, of first order in the deformation.

        curvature = axis . (psi_2 - psi_1) eta / distance,     strain = depth curvature

    psi_1 and psi_2 are the rotations of the stations for unit modal coordinates, so both signals are constant rows times
    eta. A gauge of finite length averages the strain along itself, as this does.

    Parameters
    ----------
    first, second : str
        Frames on stations of the body, where the gauge begins and ends.
    depth : number [m]
        Distance of the gauge from the neutral axis.
    axis : three numbers [-]
        Axis of bending, a unit vector in the first frame.
    name : str
        "<first>_strain_sensor" if not given.

    Signals: `strain` [-], `curvature` [1/m].
    """

    first: str
    second: str
    depth: Number = quantity("m", "distance of the gauge from the neutral axis")
    axis: tuple[float, float, float] = quantity(
        "-", "axis of bending in the first frame", size="3", default=(0.0, 0.0, 1.0)
    )
    name: str = ""

    type_name = "strain_sensor"
    signals: ClassVar = {"strain": "-", "curvature": "1/m"}

    def __post_init__(self) -> None:
        convert(self, depth=as_number)
        object.__setattr__(self, "axis", unit_axis("StrainSensor", self.axis))
        name_after(self, self.first)

    def measure(self, s: Scope) -> dict[str, SX]:
        pair = StationPair.find(s, self, self.first, self.second, self.axis)
        curvature = ca.dot(pair.turning / pair.distance, s.q[pair.eta])
        return {"strain": s.number(self.depth) * curvature, "curvature": curvature}
