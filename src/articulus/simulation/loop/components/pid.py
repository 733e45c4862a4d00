"""Proportional, integral and derivative feedback in the joints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from articulus.model.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import at_least, sampling
from articulus.simulation.loop.components.columns import as_in_time, column, integral
from articulus.simulation.loop.components.tracking import (
    command_joints,
    names,
    optional,
    tracking_errors,
    two_signals,
)


@dataclass(frozen=True)
class PID(Controller):
    """u = kp e + ki z + kd (rate - v) with e = target - q and dz/dt = e, where z stops at +- limit.

    A sampled one adds e times the period to z at every instant, after use. The stop keeps z from winding up while
    the actuators are saturated.

    Parameters
    ----------
    kp, ki, kd : numbers [N m/rad, N m/(rad s), N m s/rad; or N/m, N/(m s), N s/m]
        One value for all degrees of freedom, or one per degree of freedom.
    target : numbers, Table or casadi.Function of t [rad or m]
    rate : numbers, Table or casadi.Function of t [rad/s or m/s]
        The time derivative of the target if not given.
    limit : numbers [rad s or m s]
        Largest size of the integral.
    joints : names
        Joints that it works on, in the order of its commands; all if not given. In a run with more actuators, those that drive them.
    measured : two names
        Signals taken for position and velocity; the true ones of the joints if not given.
    period : number [s]
        Sampling period; continuous if not given.
    name : str
    """

    kp: Any = quantity("N m/rad or N/m", "stiffness", size="1 or nv")
    ki: Any = quantity("N m/(rad s) or N/(m s)", "integral gain", size="1 or nv")
    kd: Any = quantity("N m s/rad or N s/m", "damping", size="1 or nv")
    target: Any = quantity("rad or m", "position to follow", size="1 or nv", default=0.0)
    rate: Any = quantity(
        "rad/s or m/s", "velocity to follow; that of the target if not given", size="1 or nv", default=None
    )
    limit: Any = quantity("rad s or m s", "largest size of the integral", size="1 or nv", default=math.inf)
    joints: tuple[str, ...] = ()
    measured: tuple[str, str] | None = None
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "pid"

    type_name = "pid"
    signals: ClassVar = {"integral": "rad s or m s"}

    def __post_init__(self) -> None:
        convert(self, kp=as_numbers, ki=as_numbers, kd=as_numbers, target=as_in_time, limit=as_numbers)
        convert(self, rate=optional, joints=names, measured=two_signals)
        at_least(self, 0.0, limit=self.limit)
        sampling(self)

    def work(self, s: Scope) -> None:
        error, rate = tracking_errors(s, self)
        n = error.numel()
        kp, ki, kd, limit = (column(s, self, field, n) for field in ("kp", "ki", "kd", "limit"))
        z = integral(s, self, "integral", error, limit)
        s.write("integral", z)
        command_joints(s, self, kp * error + ki * z + kd * rate)
