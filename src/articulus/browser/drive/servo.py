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

TOOL = 1
"""Number of the mode in which the sticks move the tip."""
SPEED, TURN = 0.2, 0.5
"""At full stick: reaches in a second, and turns [rad/s]."""
TOOL_AXES = (
    (4, -1, ("right", "left")),
    (3, 1, ("forward", "back")),
    (2, -1, ("turn right", "turn left")),
    (5, 1, ("up", "down")),
    (0, 1, ("roll right", "roll left")),
    (1, 1, ("pitch down", "pitch up")),
)
"""Row of the Jacobian (turns about, then motion along x, y, z of ground), sign, and what it is called, for each axis of the sticks."""


@dataclass(frozen=True)
class RateServo(Controller):
    """tau = inverse dynamics at w^2 (q_d - q) + 2 w (rate_d - v), for the driven joints; q_d' = rate_d from the sticks.

    In TOOL mode (`tip`) the sticks move a frame along and about the axes of ground instead: the joint rates are the least ones, damped near singular
    positions,

        rate_d = J' (J J' + damping^2 I)^-1 x_d',

    with lengths over `reach`. Rates beyond twice those of full sticks slow all joints alike, and where one of them has to wait all do, which keeps the path (Wampler 1986).

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
    tip : str
        Body or frame that the sticks move in TOOL mode; without it there is none.
    reach : number [m]
        Length of the mechanism: a fifth of it in a second is the speed of `tip` at full stick; turns are 0.5 rad/s.
    damping : number [-]
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
    tip: str = ""
    reach: float = quantity("m", "length of the mechanism", default=1.0)
    damping: float = quantity("-", "damping of the joint rates near singular positions", default=0.02)
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
        limits = tuple(column(s, self, name, n) for name in ("lead", "lower", "upper"))
        free = ca.logic_not(rate_blocks(asked, wanted, q, *limits))
        rate = ca.if_else(sticks == 0, 0, free * asked)
        if self.tip:
            tool = self._tool_rates(s, n, sticks, column(s, self, "full", n))
            held = ca.mmax(rate_blocks(tool, wanted, q, *limits))
            rate = ca.if_else(s.read(f"{NAME}.mode") == TOOL, ca.if_else(held, 0, tool), rate)
        s.remember("wanted", wanted + s.number(self.period) * rate)
        s.write("wanted", wanted)

        for joint in self.joints:
            s.description.require_independent(joint, f"RateServo '{self.name}', joints")
        w, places = self.bandwidth, [s.description.v_slices[j].start for j in self.joints]
        acceleration = SX.zeros(s.description.nv)
        acceleration[places] = w**2 * (wanted - q) + 2 * w * (rate - v)
        s.command(s.ask("inverse_dynamics", s.q, s.v, acceleration, tree=True)[places])

    def _tool_rates(self, s: Scope, n: int, sticks: SX, full: SX) -> SX:
        """Return the joint rates that move the tip as the sticks say."""
        rows = [row for row, _, _ in TOOL_AXES[:n]]
        signs = ca.DM([sign for _, sign, _ in TOOL_AXES[:n]])
        speeds = ca.DM([TURN if row < 3 else SPEED for row in rows])  # lengths over the reach
        scales = ca.DM([1.0 if row < 3 else 1.0 / self.reach for row in rows])
        places = [s.description.v_slices[j].start for j in self.joints]
        J = s.ask("jacobian", s.q, frames=[self.tip])[rows, places] * ca.repmat(scales, 1, n)
        wanted = speeds * signs * sticks[: len(rows)]
        rates = ca.mtimes(J.T, ca.solve(ca.mtimes(J, J.T) + self.damping**2 * SX.eye(len(rows)), wanted))
        return rates / ca.fmax(1, ca.mmax(ca.fabs(rates) / (2 * full)))
