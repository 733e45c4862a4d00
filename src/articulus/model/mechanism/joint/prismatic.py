"""A slide."""

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import AxisJoint, along
from articulus.model.mechanism.joint.closure import axes_with_z, turn
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
    closure_names = ("x", "y", "turn_x", "turn_y", "turn_z")

    def transform(self, q: SX) -> Transform:
        return Transform(SX.eye(3), along(self.axis) * q[0])

    def motion_subspace(self) -> list[Motion]:
        return [Motion(SX.zeros(3), along(self.axis))]

    def closure(self, X: Transform) -> SX:
        return ca.vertcat(ca.mtimes(axes_with_z(self.axis).T, X.p)[:2], turn(X.R))
