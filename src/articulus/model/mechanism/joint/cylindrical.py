"""A hinge that also slides along its axis."""

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import AxisJoint, along
from articulus.model.mechanism.joint.closure import axes_with_z, tilt
from articulus.spatial import Motion, Transform, axis_angle


@dataclass(frozen=True)
class Cylindrical(AxisJoint):
    """Independent rotation about and translation along one axis; q = (angle, displacement).

    Parameters
    ----------
    axis : three numbers [-]
        Unit vector of the axis in the joint frame.
    """

    type_name = "cylindrical"
    nq = nv = 2
    coordinate_names = velocity_names = ("angle", "displacement")
    rotational = (True, False)
    closure_names = ("x", "y", "tilt_x", "tilt_y")

    def transform(self, q: SX) -> Transform:
        return Transform(axis_angle(self.axis, ca.sin(q[0]), ca.cos(q[0])), along(self.axis) * q[1])

    def motion_subspace(self) -> list[Motion]:
        axis, zero = along(self.axis), SX.zeros(3)
        return [Motion(axis, zero), Motion(zero, axis)]

    def closure(self, X: Transform) -> SX:
        return ca.vertcat(ca.mtimes(axes_with_z(self.axis).T, X.p)[:2], tilt(X.R, self.axis))
