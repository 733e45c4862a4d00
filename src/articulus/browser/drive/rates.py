"""JOINT and RESOLVED modes of the Cat 215B with an operator at the sticks, switched while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.browser.drive.sticks import NAME
from articulus.model.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.columns import column
from articulus.simulation.loop.components.resolved_rate import ResolvedRate

JOINT, RESOLVED = 0, 1


@dataclass(frozen=True)
class OperatorRates(ResolvedRate):
    """u = kd (rate_d - rate) + kp (q_d - q) with rates from the sticks, in either mode.

    The law is that of the source; three things are added for a human at the sticks. The desired position q_d does not run
    away from the machine: rates wait while it is `lead` ahead. It stops at the ends `lower` and `upper`. It comes back to
    the joint when its stick is released, with the time constant kd / kp: both terms of the law cancel but for -kd rate, and
    the valves close. In RESOLVED mode the four rates wait, stop and
    come back together, which keeps the path of the end point.

    Parameters
    ----------
    command : four numbers [m/s, m/s, m/s, rad/s]
        Radial, tangential, vertical and pitch rate at full stick, in RESOLVED mode.
    full : numbers [rad/s]
        Joint rates at full stick, in JOINT mode; in RESOLVED mode no joint is asked for more than twice these.
    axes : four numbers
        Which axis of the sticks gives each of the four rates of RESOLVED mode.
    lead : numbers [rad]
    lower, upper : numbers [rad]

    The other parameters are those of `ResolvedRate`.

    Source: Wong 1991, section 5.4.3.
    """

    full: Any = quantity("rad/s", "joint rates at full stick", size="1 or joints", default=0.3)
    axes: tuple[int, ...] = (0, 1, 2, 3)
    lead: Any = quantity("rad", "how far the wanted position may be ahead", size="1 or joints", default=0.3)
    lower: Any = quantity("rad", "smallest wanted position", size="1 or joints", default=-1e9)
    upper: Any = quantity("rad", "largest wanted position", size="1 or joints", default=1e9)

    type_name = "operator_rates"

    def __post_init__(self) -> None:
        super().__post_init__()
        convert(self, full=as_numbers, lead=as_numbers, lower=as_numbers, upper=as_numbers)

    def operator_command(self, s: Scope, size: int) -> SX:
        return super().operator_command(s, size) * s.read(f"{NAME}.axes")[list(self.axes)]

    def wanted_rates(self, s: Scope, wanted: SX) -> SX:
        n, sticks = wanted.numel(), s.read(f"{NAME}.axes")
        full, lead = column(s, self, "full", n), column(s, self, "lead", n)
        ends = column(s, self, "lower", n), column(s, self, "upper", n)
        back = (s.q - wanted) * column(s, self, "kp", n) / column(s, self, "kd", n)

        joint = full * sticks
        free = ca.logic_not(rate_blocks(joint, wanted, s.q, lead, *ends))
        joint = ca.if_else(sticks == 0, back, free * joint)

        resolved = super().wanted_rates(s, wanted)
        resolved = resolved / ca.fmax(1, ca.mmax(ca.fabs(resolved) / (2 * full)))
        held = ca.mmax(rate_blocks(resolved, wanted, s.q, lead, *ends))
        resolved = ca.if_else(ca.mmax(ca.fabs(sticks)) == 0, back, ca.if_else(held, 0, resolved))
        return ca.if_else(s.read(f"{NAME}.mode") == RESOLVED, resolved, joint)


def rate_blocks(rates: SX, wanted: SX, q: SX, lead: SX, lower: SX, upper: SX) -> SX:
    """Return 1 for each rate that would take the desired position further ahead than `lead`, or further beyond an end.

    Parameters
    ----------
    rates, wanted, q : SX, (n,)
        What is asked for, the desired position and the true one.
    lead, lower, upper : SX, (n,) [rad or m]
    """
    ahead = ca.logic_and(ca.fabs(wanted - q) > lead, (wanted - q) * rates > 0)
    ended = ca.logic_or(
        ca.logic_and(wanted > upper, rates > 0),
        ca.logic_and(wanted < lower, rates < 0),
    )
    return ca.logic_or(ahead, ended)
