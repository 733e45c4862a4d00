"""Proportional and derivative feedback in the joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.mechanism.numbers import Number, as_numbers, quantity
from articulus.simulate.component import Controller, Scope


@dataclass(frozen=True)
class PD(Controller):
    """u = kp (target - q) + kd (rate - v), for joints whose velocities are the rates of their coordinates.

    Parameters
    ----------
    kp : numbers [N m/rad or N/m]
        One for all freedoms, or one each.
    kd : numbers [N m s/rad or N s/m]
    target : numbers [rad or m]
    rate : numbers [rad/s or m/s]
    period : number [s]
        Sampling period; continuous if not given.
    name : str
    """

    kp: Any = quantity("N m/rad or N/m", "stiffness", size="1 or nv")
    kd: Any = quantity("N m s/rad or N s/m", "damping", size="1 or nv")
    target: Any = quantity("rad or m", "position to hold", size="1 or nv", default=0.0)
    rate: Any = quantity("rad/s or m/s", "velocity to hold", size="1 or nv", default=0.0)
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "pd"

    type_name = "pd"

    def work(self, s: Scope) -> None:
        kp, kd, target, rate = (per_freedom(s, x) for x in (self.kp, self.kd, self.target, self.rate))
        s.command(kp * (target - s.q) + kd * (rate - s.v))


def per_freedom(s: Scope, held: Any) -> SX:
    """Return one number a freedom from one number for all, or from one each."""
    numbers: tuple[Number, ...] = as_numbers(held)
    if len(numbers) == 1:
        numbers = numbers * s.description.nv
    return ca.vertcat(*map(s.number, numbers))
