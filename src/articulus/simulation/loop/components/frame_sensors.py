"""Sensors on a body or frame: pose, velocity, acceleration, and what gyros, Doppler logs and accelerometers measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.simulation.loop.component import Scope, Sensor
from articulus.simulation.loop.components.checks import check_frame, name_after


@dataclass(frozen=True)
class FrameSensor(Sensor):
    """A sensor on a body or frame.

    Parameters
    ----------
    frame : str
        Body or frame.
    name : str
        "<frame>_<type>" if not given.
    """

    frame: str
    name: str = ""

    def __post_init__(self) -> None:
        name_after(self, self.frame)

    def ask_frame(self, s: Scope, quantity: str, *inputs: SX) -> SX:
        """Return a quantity of the frame."""
        check_frame(s, self, self.frame)
        return s.ask(quantity, *inputs, frames=[self.frame])


@dataclass(frozen=True)
class FramePose(FrameSensor):
    """Position and attitude of a frame in the ground frame; see `FrameSensor`.

    Signals: `position` [m]; `rpy`, roll, pitch and yaw with R = Rz(yaw) Ry(pitch) Rx(roll) [rad], undefined at a pitch
    of 90 degrees.
    """

    type_name = "frame_pose"
    signals: ClassVar = {"position": "m", "rpy": "rad"}

    def measure(self, s: Scope) -> dict[str, SX]:
        X = self.ask_frame(s, "pose", s.q)
        R = X[:3, :3]
        across = R[0, 0] ** 2 + R[1, 0] ** 2
        upright = across > 0  # at a pitch of exactly 90 degrees roll and yaw are 0, and derivatives finite
        roll = ca.if_else(upright, ca.atan2(R[2, 1], R[2, 2]), 0)
        yaw = ca.if_else(upright, ca.atan2(R[1, 0], R[0, 0]), 0)
        pitch = ca.atan2(-R[2, 0], ca.sqrt(ca.fmax(across, 1e-300)))
        return {"position": X[:3, 3], "rpy": ca.vertcat(roll, pitch, yaw)}


@dataclass(frozen=True)
class FrameVelocity(FrameSensor):
    """Velocity of a frame and of its origin, ground axes; see `FrameSensor`.

    Signals: `angular` [rad/s], `linear` [m/s].
    """

    type_name = "frame_velocity"
    signals: ClassVar = {"angular": "rad/s", "linear": "m/s"}

    def measure(self, s: Scope) -> dict[str, SX]:
        velocity = self.ask_frame(s, "velocity", s.q, s.v)
        return {"angular": velocity[:3], "linear": velocity[3:]}


@dataclass(frozen=True)
class FrameAcceleration(FrameSensor):
    """Acceleration of a frame and of its origin, ground axes, without gravity; see `FrameSensor`.

    It follows the forces of the same instant: feed it back through a sampled component only.

    Signals: `angular` [rad/s^2], `linear` [m/s^2].
    """

    type_name = "frame_acceleration"
    signals: ClassVar = {"angular": "rad/s^2", "linear": "m/s^2"}

    def measure(self, s: Scope) -> dict[str, SX]:
        acceleration = self.ask_frame(s, "acceleration", s.q, s.v, s.vdot)
        return {"angular": acceleration[:3], "linear": acceleration[3:]}


@dataclass(frozen=True)
class RateGyro(FrameSensor):
    """Angular velocity of a frame in its own axes, as strapped-down gyros give it; see `FrameSensor`.

    Signals: `rate` [rad/s].
    """

    type_name = "rate_gyro"
    signals: ClassVar = {"rate": "rad/s"}

    def measure(self, s: Scope) -> dict[str, SX]:
        R = self.ask_frame(s, "pose", s.q)[:3, :3]
        return {"rate": ca.mtimes(R.T, self.ask_frame(s, "velocity", s.q, s.v)[:3])}


@dataclass(frozen=True)
class Velocimeter(FrameSensor):
    """Velocity of a frame's origin in the frame's own axes, as Doppler logs give it; see `FrameSensor`.

    Signals: `velocity` [m/s].
    """

    type_name = "velocimeter"
    signals: ClassVar = {"velocity": "m/s"}

    def measure(self, s: Scope) -> dict[str, SX]:
        R = self.ask_frame(s, "pose", s.q)[:3, :3]
        return {"velocity": ca.mtimes(R.T, self.ask_frame(s, "velocity", s.q, s.v)[3:])}


@dataclass(frozen=True)
class Accelerometer(FrameSensor):
    """Acceleration of a frame's origin less gravity, in the frame's own axes; 9.81 m/s^2 upward at rest. See `FrameSensor`.

    It follows the forces of the same instant: feed it back through a sampled component only.

    Signals: `specific_force` [m/s^2].
    """

    type_name = "accelerometer"
    signals: ClassVar = {"specific_force": "m/s^2"}

    def measure(self, s: Scope) -> dict[str, SX]:
        R = self.ask_frame(s, "pose", s.q)[:3, :3]
        gravity = ca.vertcat(*map(s.number, s.description.gravity))
        return {
            "specific_force": ca.mtimes(
                R.T, self.ask_frame(s, "acceleration", s.q, s.v, s.vdot)[3:] - gravity
            )
        }
