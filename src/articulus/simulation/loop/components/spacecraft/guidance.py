"""Where a craft should point: attitude, rate and acceleration for the laws that follow it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import (
    Number,
    Vector,
    as_number,
    as_vector,
    convert,
    quantity,
    values_of,
)
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import positive, wrong
from articulus.simulation.loop.components.spacecraft.environment import surroundings
from articulus.spacecraft import lvlh
from articulus.spacecraft.attitude import quaternion_of_matrix
from articulus.spatial import quaternion_product


def _four(x: object) -> Vector:
    return as_vector(x, 4)


def _require_unit(component: Controller, field: str, quaternion: Vector) -> None:
    size = sum(x * x for x in values_of(quaternion)) ** 0.5
    if not abs(size - 1) < 1e-6:
        raise wrong(component, field, f"a quaternion of length {size:.6g}", "one of length 1, (w, x, y, z)")


@dataclass(frozen=True)
class InertialPointing(Controller):
    """An attitude at rest in the ground frame, for the laws that follow it.

    Parameters
    ----------
    attitude : four numbers [-]
        Quaternion (w, x, y, z) from the craft to the ground frame.
    name : str

    Signals: `attitude` [-], `rate` [rad/s] and `acceleration` [rad/s^2] in ground axes.
    """

    attitude: Vector = quantity(
        "-", "quaternion from the craft to the ground frame", size="4", default=(1.0, 0.0, 0.0, 0.0)
    )
    name: str = "guidance"

    type_name = "inertial_pointing"
    signals: ClassVar = {"attitude": "-", "rate": "rad/s", "acceleration": "rad/s^2"}

    def __post_init__(self) -> None:
        convert(self, attitude=_four)
        _require_unit(self, "attitude", self.attitude)

    def work(self, s: Scope) -> None:
        s.write("attitude", ca.vertcat(*map(s.number, self.attitude)))
        s.write("rate", SX.zeros(3))
        s.write("acceleration", SX.zeros(3))


@dataclass(frozen=True)
class HillPointing(Controller):
    """The axes of the orbit: z to the Earth, y against the angular momentum, x forward; an offset turns the craft in them.

    Parameters
    ----------
    offset : four numbers [-]
        Quaternion (w, x, y, z) from the craft to the axes of the orbit.
    environment : str
        Name of the SpaceEnvironment.
    name : str

    Signals: `attitude`, the quaternion from the craft to the ground frame [-], `rate` [rad/s] and `acceleration` [rad/s^2] in
    ground axes, those of a free fall.
    """

    offset: Vector = quantity(
        "-", "quaternion from the craft to the axes of the orbit", size="4", default=(1.0, 0.0, 0.0, 0.0)
    )
    environment: str = "space"
    name: str = "guidance"

    type_name = "hill_pointing"
    signals: ClassVar = {"attitude": "-", "rate": "rad/s", "acceleration": "rad/s^2"}

    def __post_init__(self) -> None:
        convert(self, offset=_four)
        _require_unit(self, "offset", self.offset)

    def work(self, s: Scope) -> None:
        p, v = surroundings(s, self, self.environment, "position", "velocity")
        axes, rate = lvlh(p, v)
        offset = ca.vertcat(*map(s.number, self.offset))
        s.write("attitude", quaternion_product(quaternion_of_matrix(axes), offset))
        s.write("rate", rate)
        s.write("acceleration", -2 * ca.dot(p, v) / ca.sumsqr(p) * rate)


@dataclass(frozen=True)
class AxisSlew(Controller):
    """A turn about one axis from rest to rest, angle (10 s^3 - 15 s^4 + 6 s^5) with s = (t - start) / duration, for the laws that follow it.

    Parameters
    ----------
    axis : three numbers [-]
        Unit vector in ground axes.
    angle : number [rad]
    duration : number [s]
    start : number [s]
    attitude : four numbers [-]
        Quaternion (w, x, y, z) from the craft to the ground frame before the turn.
    name : str

    Signals: `attitude` [-], `rate` [rad/s] and `acceleration` [rad/s^2] in ground axes.
    """

    axis: Vector = quantity("-", "unit vector of the turn in ground axes", size="3")
    angle: Number = quantity("rad", "angle of the turn")
    duration: Number = quantity("s", "time that it takes")
    start: Number = quantity("s", "when it begins", default=0.0)
    attitude: Vector = quantity(
        "-", "quaternion from the craft to the ground frame before it", size="4", default=(1.0, 0.0, 0.0, 0.0)
    )
    name: str = "guidance"

    type_name = "axis_slew"
    signals: ClassVar = {"attitude": "-", "rate": "rad/s", "acceleration": "rad/s^2"}

    def __post_init__(self) -> None:
        convert(self, attitude=_four, axis=lambda x: as_vector(x, 3))
        convert(self, angle=as_number, duration=as_number, start=as_number)
        _require_unit(self, "attitude", self.attitude)
        size = sum(x * x for x in values_of(self.axis)) ** 0.5
        if not abs(size - 1) < 1e-6:
            raise wrong(self, "axis", f"a vector of length {size:.6g}", "a unit vector")
        positive(self, duration=self.duration)

    def work(self, s: Scope) -> None:
        T, angle = s.number(self.duration), s.number(self.angle)
        x = ca.fmax(ca.fmin((s.t - s.number(self.start)) / T, 1), 0)
        axis = ca.vertcat(*map(s.number, self.axis))
        turned = angle * x**3 * (10 - 15 * x + 6 * x**2)
        turn = ca.vertcat(ca.cos(turned / 2), ca.sin(turned / 2) * axis)
        s.write("attitude", quaternion_product(turn, ca.vertcat(*map(s.number, self.attitude))))
        s.write("rate", 30 * angle / T * x**2 * (1 - x) ** 2 * axis)
        s.write("acceleration", 60 * angle / T**2 * x * (1 - x) * (1 - 2 * x) * axis)
