"""Motion in a plane."""

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import Joint, SerialJoint
from articulus.model.mechanism.joint.closure import tilt
from articulus.model.mechanism.joint.prismatic import Prismatic
from articulus.model.mechanism.joint.revolute import Revolute
from articulus.spatial import Transform


@dataclass(frozen=True)
class Planar(SerialJoint):
    """Translation along x and y of the parent's joint frame, then rotation about z; q = (x, y, angle).

    Another plane is a matter of where the joint is placed (`at` with a rotation).
    """

    type_name = "planar"
    nq = nv = 3
    coordinate_names = velocity_names = ("x", "y", "angle")
    rotational = (False, False, True)
    closure_names = ("z", "tilt_x", "tilt_y")

    def elementary(self) -> tuple[Joint, ...]:
        return (Prismatic((1.0, 0.0, 0.0)), Prismatic((0.0, 1.0, 0.0)), Revolute((0.0, 0.0, 1.0)))

    def closure(self, X: Transform) -> SX:
        return ca.vertcat(X.p[2], tilt(X.R, (0.0, 0.0, 1.0)))
