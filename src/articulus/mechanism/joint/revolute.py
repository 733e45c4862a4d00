"""A hinge."""

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.mechanism.joint.base import Joint, along, unit_axis
from articulus.mechanism.numbers import quantity
from articulus.spatial import Motion, Transform, axis_angle


@dataclass(frozen=True)
class Revolute(Joint):
    """Rotation about a fixed axis.

    Parameters
    ----------
    axis : three numbers [-]
        Unit vector of the axis in the joint frame.
    """

    axis: tuple[float, float, float] = quantity(
        "-", "unit vector of the axis in the joint frame", size="3", default=(0.0, 0.0, 1.0)
    )

    type_name = "revolute"
    nq = nv = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis("Revolute", self.axis))

    @property
    def axis_line(self) -> tuple[float, float, float]:
        return self.axis

    def transform(self, q: SX) -> Transform:
        return Transform(axis_angle(self.axis, ca.sin(q[0]), ca.cos(q[0])), SX.zeros(3))

    def motion_subspace(self) -> list[Motion]:
        return [Motion(along(self.axis), SX.zeros(3))]
