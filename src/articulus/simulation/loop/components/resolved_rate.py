"""RESOLVED mode of the Cat 215B: the operator asks for rates of an end point in cylindrical coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from casadi import SX

from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.components.checks import check_frame, wrong
from articulus.simulation.loop.components.rate_law import RateLaw
from articulus.spatial.vector import cross


@dataclass(frozen=True)
class ResolvedRate(RateLaw):
    """Four rates as commanded: radial, tangential and vertical velocity of a point, and pitch rate of a tool.

    Cylindrical coordinates are about the ground's z axis. The pitch rate counts from radial to vertical. Joint
    rates follow from the Jacobians at the desired position, which must not be singular (point on the z axis, arm
    stretched). For mechanisms with four degrees of freedom and no constraints; see `RateLaw` for the other numbers and the law.

    Parameters
    ----------
    command : numbers, Table or casadi.Function of t [m/s, m/s, m/s, rad/s]
    point : str
        Frame whose origin is the end point.
    tool : str
        Body or frame whose pitch rate is commanded.

    Source: Wong 1991, section 5.4.3. The thesis does not print its inverse kinematics.
    """

    point: str = ""
    tool: str = ""

    type_name = "resolved_rate"
    signals: ClassVar = {"wanted": "rad or m"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.joints:
            raise wrong(self, "joints", f"{list(self.joints)}", "none: it works on all four")

    def wanted_rates(self, s: Scope, wanted: SX) -> SX:
        if s.description.constraints:
            raise wrong(
                self, "mechanism", "constraints", "none: its joint rates are those of an arm without loops"
            )
        if s.description.nv != 4:
            raise wrong(self, "mechanism", f"{s.description.nv} degrees of freedom", "4")
        for frame in (self.point, self.tool):
            check_frame(s, self, frame)
        at = s.ask("pose", wanted, frames=[self.point])[:2, 3]
        moving = s.ask("jacobian", wanted, frames=[self.point])[3:, :]
        turning = s.ask("jacobian", wanted, frames=[self.tool])[:3, :]
        up = SX([0, 0, 1])
        radial = ca.vertcat(at / ca.norm_2(at), 0)
        rows = [(radial, moving), (cross(up, radial), moving), (up, moving), (cross(radial, up), turning)]
        return ca.solve(ca.vertcat(*(ca.mtimes(a.T, J) for a, J in rows)), self.operator_command(s, 4))
