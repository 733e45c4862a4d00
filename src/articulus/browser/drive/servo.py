"""Joint-rate servo for any mechanism: computed torque about a desired position that the sticks move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.browser.drive.rates import rate_blocks
from articulus.browser.drive.sticks import NAME
from articulus.model.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.columns import column, joint_coordinates, recall


@dataclass(frozen=True)
class RateServo(Controller):
    """tau = inverse dynamics at w^2 (q_d - q) + 2 w (rate_d - v), for the driven joints; q_d' = rate_d from the sticks.

    All degrees of freedom that are not driven are taken as not accelerated, and closed loops as cut: for those mechanisms the servo
    is a good guess, not exact linearization.

    Parameters
    ----------
    joints : names
        Driven joints of one degree of freedom, each with its own actuator in the same order.
    full : numbers [rad/s or m/s]
        Rates at full stick.
    period : number [s]
        Sampling period.
    bandwidth : number [rad/s]
        w.
    lead : number [rad or m]
        How far the desired position may be ahead of the joint.
    lower, upper : numbers [rad or m]
        Ends of the desired position.
    name : str

    Signals: `wanted` [rad or m].
    """

    joints: tuple[str, ...]
    full: Any = quantity("rad/s or m/s", "rates at full stick", size="1 or joints")
    period: float = quantity("s", "sampling period")
    bandwidth: float = quantity("rad/s", "bandwidth of the servo", default=20.0)
    lead: Any = quantity(
        "rad or m", "how far the wanted position may be ahead", size="1 or joints", default=0.3
    )
    lower: Any = quantity("rad or m", "smallest wanted position", size="1 or joints", default=-1e9)
    upper: Any = quantity("rad or m", "largest wanted position", size="1 or joints", default=1e9)
    name: str = "servo"

    type_name = "rate_servo"
    signals: ClassVar = {"wanted": "rad or m"}

    def __post_init__(self) -> None:
        convert(self, full=as_numbers, lead=as_numbers, lower=as_numbers, upper=as_numbers)

    def work(self, s: Scope) -> None:
        q, v = joint_coordinates(s, self, self.joints)
        n, sticks = q.numel(), s.read(f"{NAME}.axes")
        wanted = recall(s, "wanted", q)
        asked = column(s, self, "full", n) * sticks
        limits = (column(s, self, name, n) for name in ("lead", "lower", "upper"))
        free = ca.logic_not(rate_blocks(asked, wanted, q, *limits))
        rate = ca.if_else(sticks == 0, 0, free * asked)
        s.remember("wanted", wanted + s.number(self.period) * rate)
        s.write("wanted", wanted)

        for joint in self.joints:
            s.description.require_independent(joint, f"RateServo '{self.name}', joints")
        w, places = self.bandwidth, [s.description.v_slices[j].start for j in self.joints]
        acceleration = SX.zeros(s.description.nv)
        acceleration[places] = w**2 * (wanted - q) + 2 * w * (rate - v)
        s.command(s.ask("inverse_dynamics", s.q, s.v, acceleration, tree=True)[places])
