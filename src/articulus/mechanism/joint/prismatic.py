"""A slide."""

from dataclasses import dataclass

from casadi import SX

from articulus.mechanism.joint.base import AxisJoint, along
from articulus.spatial import Motion, Transform


@dataclass(frozen=True)
class Prismatic(AxisJoint):
    """Translation along a fixed axis.

    Parameters
    ----------
    axis : three numbers [-]
        Unit vector of the axis in the joint frame.
    """

    type_name = "prismatic"
    nq = nv = 1
    rotational = (False,)

    def transform(self, q: SX) -> Transform:
        return Transform(SX.eye(3), along(self.axis) * q[0])

    def motion_subspace(self) -> list[Motion]:
        return [Motion(SX.zeros(3), along(self.axis))]
