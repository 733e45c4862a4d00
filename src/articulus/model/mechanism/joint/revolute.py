"""A hinge."""

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import AxisJoint, along
from articulus.model.mechanism.joint.closure import axes_with_z, tilt
from articulus.spatial import Motion, Transform, axis_angle


@dataclass(frozen=True)
class Revolute(AxisJoint):
    """Rotation about a fixed axis.

    Parameters
    ----------
    axis : three numbers [-]
        Unit vector of the axis in the joint frame.
    """

    type_name = "revolute"
    nq = nv = 1
    closure_names = ("x", "y", "z", "tilt_x", "tilt_y")

    def transform(self, q: SX) -> Transform:
        return Transform(axis_angle(self.axis, ca.sin(q[0]), ca.cos(q[0])), SX.zeros(3))

    def motion_subspace(self) -> list[Motion]:
        return [Motion(along(self.axis), SX.zeros(3))]

    def closure(self, X: Transform) -> SX:
        return ca.vertcat(ca.mtimes(axes_with_z(self.axis).T, X.p), tilt(X.R, self.axis))
