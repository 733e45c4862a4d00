"""JOINT mode of the Cat 215B: the operator asks for joint rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from casadi import SX

from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.rate_law import RateLaw


@dataclass(frozen=True)
class JointRate(RateLaw):
    """Rates of the joints as commanded [rad/s or m/s]; see `RateLaw` for the numbers and the law.

    Source: Wong 1991, section 5.4.3.
    """

    type_name = "joint_rate"
    signals: ClassVar = {"wanted": "rad or m"}

    def wanted_rates(self, s: Scope, wanted: SX) -> SX:
        return self.operator_command(s, wanted.numel())
