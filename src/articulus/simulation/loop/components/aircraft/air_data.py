"""What a vane and a gyro platform of an aircraft give: flow angles, speed and attitude."""

from __future__ import annotations

from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.simulation.loop.component import Component, Scope
from articulus.simulation.loop.components.checks import wrong
from articulus.simulation.loop.components.frame_sensors import FrameSensor
from articulus.spatial.vector import cross

STILL = 1e-9
"""Speed that is added so that flow angles of a craft at rest have a derivative [m/s]."""


def flow(u: SX) -> tuple[SX, SX, SX]:
    """Return angle of attack, sideslip and speed of a velocity through the air in axes x forward, y to the right, z down."""
    speed = ca.sqrt(ca.sumsqr(u) + STILL**2)
    return ca.atan2(u[2], u[0] + STILL), ca.asin(u[1] / speed), speed


def downward(s: Scope, component: Component) -> SX:
    """Return the direction of gravity, ground axes; raise InputError where there is none."""
    g = ca.vertcat(*map(s.number, s.description.gravity))
    if g.is_zero():
        raise wrong(component, "frame", "a mechanism without gravity", "gravity: it says where down is")
    return g / ca.norm_2(g)


class AirData(FrameSensor):
    """Flow angles, speed and Euler angles of a frame with x forward, y to the right and z down, in still air; see `FrameSensor`.

    Signals: `alpha`, angle of attack, `beta`, sideslip [rad]; `speed` [m/s]; `bank`, `pitch`, and `heading` from the ground's x axis to the right
    [rad]: the frame is turned from the horizon by heading about down, then pitch, then bank.
    """

    type_name = "air_data"
    signals: ClassVar = {
        "alpha": "rad",
        "beta": "rad",
        "speed": "m/s",
        "bank": "rad",
        "pitch": "rad",
        "heading": "rad",
    }

    def measure(self, s: Scope) -> dict[str, SX]:
        R = self.ask_frame(s, "pose", s.q)[:3, :3]
        alpha, beta, speed = flow(ca.mtimes(R.T, self.ask_frame(s, "velocity", s.q, s.v)[3:]))
        down = downward(s, self)
        ahead = SX([1, 0, 0])
        along = [ca.dot(down, R[:, k]) for k in range(3)]
        return {
            "alpha": alpha,
            "beta": beta,
            "speed": speed,
            "bank": ca.atan2(along[1], along[2]),
            "pitch": ca.asin(ca.fmax(-1, ca.fmin(1, -along[0]))),
            "heading": ca.atan2(ca.dot(cross(down, ahead), R[:, 0]), ca.dot(ahead, R[:, 0])),
        }
