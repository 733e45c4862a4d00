"""What the two operator modes of the Cat 215B share: PD about an integrated rate command."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulation.integrate.runge_kutta import RK4
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import sampling
from articulus.simulation.loop.components.columns import (
    as_in_time,
    at_time,
    column,
    joint_coordinates,
    recall,
)
from articulus.simulation.loop.components.tracking import command_joints, names


@dataclass(frozen=True)
class RateLaw(Controller):
    """u = kd (rate_d - rate) + kp (q_d - q), with the rate by differencing q.

    q_d starts at q and moves on by one step of RK4 in a period, during which the operator's command holds.

    Parameters
    ----------
    command : numbers, Table or casadi.Function of t
        What the operator asks for.
    kp : numbers [1/rad or 1/m]
        One for all joints, or one each.
    kd : numbers [s/rad or s/m]
    period : number [s]
        Sampling period.
    joints : names
        Joints that it works on, in the order of its commands; all if not given. In a run with more actuators, those that drive them.
    name : str

    Source: Wong 1991, section 5.4.3, eq. 5.5.
    """

    command: Any = quantity("see mode", "command of the operator", size="1 or joints")
    kp: Any = quantity("1/rad or 1/m", "command by position error", size="1 or joints")
    kd: Any = quantity("s/rad or s/m", "command by rate error", size="1 or joints")
    period: float = quantity("s", "sampling period")
    joints: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        convert(self, command=as_in_time, kp=as_numbers, kd=as_numbers, joints=names)
        object.__setattr__(self, "name", self.name or self.type_name)
        sampling(self)

    @abc.abstractmethod
    def wanted_rates(self, s: Scope, wanted: SX) -> SX:
        """Return the joint rates that the operator asks for when the joints are wanted at `wanted`."""

    def work(self, s: Scope) -> None:
        q, _ = joint_coordinates(s, self, self.joints)
        n, h = q.numel(), s.number(self.period)
        wanted, before = recall(s, "wanted", q), recall(s, "before", q)
        anywhere = SX.sym("anywhere", n)
        law = self.wanted_rates(s, anywhere)

        def rates(_: SX, at: SX) -> SX:
            return ca.substitute(law, anywhere, at)

        s.remember("wanted", RK4().advance(rates, s.t, wanted, (), h)[0])
        s.remember("before", q)
        s.write("wanted", wanted)
        kp, kd = column(s, self, "kp", n), column(s, self, "kd", n)
        command_joints(s, self, kd * (rates(s.t, wanted) - (q - before) / h) + kp * (wanted - q))

    def operator_command(self, s: Scope, size: int) -> SX:
        """Return the operator's command now, (size,)."""
        return at_time(s, self, "command", size)
