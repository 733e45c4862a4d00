"""Proportional and derivative feedback in the joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from articulus.model.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import sampling
from articulus.simulation.loop.components.columns import as_in_time, column
from articulus.simulation.loop.components.tracking import (
    command_joints,
    names,
    optional,
    tracking_errors,
    two_signals,
)


@dataclass(frozen=True)
class PD(Controller):
    """u = kp (target - q) + kd (rate - v), for joints whose velocities are the rates of their coordinates.

    Parameters
    ----------
    kp : numbers [N m/rad or N/m]
        One value for all degrees of freedom, or one per degree of freedom.
    kd : numbers [N m s/rad or N s/m]
    target : numbers, Table or casadi.Function of t [rad or m]
    rate : numbers, Table or casadi.Function of t [rad/s or m/s]
        The time derivative of the target if not given.
    joints : names
        Joints that it works on, in the order of its commands; all if not given. In a run with more actuators, those that drive them.
    measured : two names
        Signals taken for position and velocity; the true ones of the joints if not given.
    period : number [s]
        Sampling period; continuous if not given.
    name : str
    """

    kp: Any = quantity("N m/rad or N/m", "stiffness", size="1 or nv")
    kd: Any = quantity("N m s/rad or N s/m", "damping", size="1 or nv")
    target: Any = quantity("rad or m", "position to follow", size="1 or nv", default=0.0)
    rate: Any = quantity(
        "rad/s or m/s", "velocity to follow; that of the target if not given", size="1 or nv", default=None
    )
    joints: tuple[str, ...] = ()
    measured: tuple[str, str] | None = None
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "pd"

    type_name = "pd"

    def __post_init__(self) -> None:
        convert(self, kp=as_numbers, kd=as_numbers, target=as_in_time)
        convert(self, rate=optional, joints=names, measured=two_signals)
        sampling(self)

    def work(self, s: Scope) -> None:
        error, rate = tracking_errors(s, self)
        n = error.numel()
        command_joints(s, self, column(s, self, "kp", n) * error + column(s, self, "kd", n) * rate)
