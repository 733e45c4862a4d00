"""A hinge that also slides along its axis."""

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.mechanism.joint.base import Joint, along, unit_axis
from articulus.mechanism.numbers import quantity
from articulus.spatial import Motion, Transform, axis_angle


@dataclass(frozen=True)
class Cylindrical(Joint):
    """Independent rotation about and translation along one axis; q = (angle, displacement).

    Parameters
    ----------
    axis : three numbers [-]
        Unit vector of the axis in the joint frame.
    """

    axis: tuple[float, float, float] = quantity(
        "-", "unit vector of the axis in the joint frame", size="3", default=(0.0, 0.0, 1.0)
    )

    type_name = "cylindrical"
    nq = nv = 2
    coordinate_names = velocity_names = ("angle", "displacement")
    rotational = (True, False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis("Cylindrical", self.axis))

    @property
    def axis_line(self) -> tuple[float, float, float]:
        return self.axis

    def transform(self, q: SX) -> Transform:
        return Transform(axis_angle(self.axis, ca.sin(q[0]), ca.cos(q[0])), along(self.axis) * q[1])

    def motion_subspace(self) -> list[Motion]:
        axis, zero = along(self.axis), SX.zeros(3)
        return [Motion(axis, zero), Motion(zero, axis)]
