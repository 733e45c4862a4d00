"""Sensors of attitude: star tracker, gyro with drift, magnetometer, coarse Sun sensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import unit_axis
from articulus.model.mechanism.numbers import Number, Vector, as_number, convert, quantity, three
from articulus.simulation.loop.component import Scope, Sensor
from articulus.simulation.loop.components.checks import (
    at_least,
    check_frame,
    name_after,
    positive,
    sampling,
    wrong,
)
from articulus.simulation.loop.components.spacecraft.environment import surroundings
from articulus.spacecraft.attitude import quaternion_of_matrix
from articulus.spatial import quaternion_product


@dataclass(frozen=True)
class StarTracker(Sensor):
    """Attitude of a frame in the ground frame, with small errors about its axes; z is the line of sight.

    Parameters
    ----------
    frame : str
        Body or frame.
    noise : three numbers [rad]
        Standard deviation about x, y (across the line of sight) and z (about it), new at every step, or instant when sampled.
    bias : three numbers [rad]
        Constant turn about the axes: misalignment.
    period : number [s]
        Sampling period; continuous if not given.
    name : str
        "<frame>_star_tracker" if not given.

    Signals: `attitude`, the quaternion (w, x, y, z) from the frame to the ground frame [-].
    """

    frame: str
    noise: Vector = quantity("rad", "standard deviation about each axis", size="3", default=(0.0, 0.0, 0.0))
    bias: Vector = quantity("rad", "constant turn about each axis", size="3", default=(0.0, 0.0, 0.0))
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = ""

    type_name = "star_tracker"
    signals: ClassVar = {"attitude": "-"}

    def __post_init__(self) -> None:
        convert(self, noise=three, bias=three)
        name_after(self, self.frame)
        at_least(self, 0.0, noise=self.noise)
        sampling(self)

    def measure(self, s: Scope) -> dict[str, SX]:
        check_frame(s, self, self.frame)
        q = quaternion_of_matrix(s.ask("pose", s.q, frames=[self.frame])[:3, :3])
        noise, bias = (ca.vertcat(*map(s.number, x)) for x in (self.noise, self.bias))
        error = ca.vertcat(1, (noise * s.noise(3) + bias) / 2)
        return {"attitude": quaternion_product(q, error / ca.norm_2(error))}


@dataclass(frozen=True)
class DriftingGyro(Sensor):
    """Angular velocity of a frame in its own axes with white noise and a bias that walks at random, sampled.

    With normal numbers n: y = w + b + noise n, b' = b + drift sqrt(period) n from instant to instant.

    Parameters
    ----------
    frame : str
        Body or frame.
    period : number [s]
        Sampling period.
    noise : number [rad/s]
        Standard deviation of a sample: the angle random walk [rad/s^0.5] over the root of the period.
    drift : number [rad/s^1.5]
        Rate random walk.
    bias : three numbers [rad/s]
        Bias at the start.
    name : str
        "<frame>_drifting_gyro" if not given.

    Signals: `rate` [rad/s], and the present `bias` [rad/s].

    Notes
    -----
    Source: Markley & Crassidis 2014, section 4.7.
    """

    frame: str
    period: float = quantity("s", "sampling period")
    noise: Number = quantity("rad/s", "standard deviation of a sample", default=0.0)
    drift: Number = quantity("rad/s^1.5", "rate random walk", default=0.0)
    bias: Vector = quantity("rad/s", "bias at the start", size="3", default=(0.0, 0.0, 0.0))
    name: str = ""

    type_name = "drifting_gyro"
    signals: ClassVar = {"rate": "rad/s", "bias": "rad/s"}

    def __post_init__(self) -> None:
        convert(self, noise=as_number, drift=as_number, bias=three)
        name_after(self, self.frame)
        at_least(self, 0.0, noise=self.noise, drift=self.drift)
        if self.period is None:
            raise wrong(self, "period", "none", "a sampling period: a bias walks from instant to instant")
        sampling(self)

    def measure(self, s: Scope) -> dict[str, SX]:
        check_frame(s, self, self.frame)
        R = s.ask("pose", s.q, frames=[self.frame])[:3, :3]
        rate = ca.mtimes(R.T, s.ask("velocity", s.q, s.v, frames=[self.frame])[:3])
        normal, walked = s.noise(6), s.memory("walked", [0.0] * 3)
        bias = ca.vertcat(*map(s.number, self.bias)) + walked
        s.remember("walked", walked + s.number(self.drift) * self.period**0.5 * normal[3:])
        return {"rate": rate + bias + s.number(self.noise) * normal[:3], "bias": bias}


@dataclass(frozen=True)
class Magnetometer(Sensor):
    """The magnetic field in the axes of a frame; wrap it in `Measured` for noise, bias and sampling.

    Parameters
    ----------
    frame : str
        Body or frame.
    environment : str
        Name of a SpaceEnvironment with an epoch.
    name : str
        "<frame>_magnetometer" if not given.

    Signals: `field` [T].
    """

    frame: str
    environment: str = "space"
    name: str = ""

    type_name = "magnetometer"
    signals: ClassVar = {"field": "T"}

    def __post_init__(self) -> None:
        name_after(self, self.frame)

    def measure(self, s: Scope) -> dict[str, SX]:
        check_frame(s, self, self.frame)
        (B,) = surroundings(s, self, self.environment, "magnetic_field")
        return {"field": ca.mtimes(s.ask("pose", s.q, frames=[self.frame])[:3, :3].T, B)}


@dataclass(frozen=True)
class SunSensor(Sensor):
    """Coarse Sun sensor: a cell whose current goes with the cosine between its normal and the Sun, 1 in full light.

    Nothing outside its field of view and in the Earth's shadow. Wrap it in `Measured` for noise, bias and sampling.

    Parameters
    ----------
    frame : str
        Body or frame.
    axis : three numbers [-]
        Normal of the cell, a unit vector in the frame.
    half_angle : number [rad]
        Half angle of its field of view.
    environment : str
        Name of a SpaceEnvironment with an epoch.
    name : str
        "<frame>_sun_sensor" if not given.

    Signals: `cosine` [-].
    """

    frame: str
    axis: tuple[float, float, float] = quantity(
        "-", "normal of the cell, in the frame", size="3", default=(0.0, 0.0, 1.0)
    )
    half_angle: Number = quantity("rad", "half of the field of view", default=1.5707963267948966)
    environment: str = "space"
    name: str = ""

    type_name = "sun_sensor"
    signals: ClassVar = {"cosine": "-"}

    def __post_init__(self) -> None:
        convert(self, half_angle=as_number)
        object.__setattr__(self, "axis", unit_axis("SunSensor", self.axis))
        name_after(self, self.frame)
        positive(self, half_angle=self.half_angle)

    def measure(self, s: Scope) -> dict[str, SX]:
        check_frame(s, self, self.frame)
        sun, lit = surroundings(s, self, self.environment, "sun", "sunlight")
        n = ca.mtimes(s.ask("pose", s.q, frames=[self.frame])[:3, :3], ca.DM(self.axis))
        cosine = ca.dot(n, sun) / ca.norm_2(sun)
        seen = cosine >= ca.cos(s.number(self.half_angle))
        return {"cosine": ca.if_else(seen, lit * ca.fmax(cosine, 0), 0)}
