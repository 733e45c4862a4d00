"""Two points that stay together."""

from dataclasses import dataclass

from casadi import SX

from articulus.mechanism.constraint.base import Constraint, Kinematics


@dataclass(frozen=True)
class PointOnPoint(Constraint):
    """The origins of two frames coincide: a ball joint that closes a loop.

    Parameters
    ----------
    name : str
        Unique among constraints.
    first, second : str
        Bodies or frames.
    """

    name: str
    first: str
    second: str

    type_name = "point"

    def residual(self, k: Kinematics) -> SX:
        return k.relative(self.first, self.second).p
