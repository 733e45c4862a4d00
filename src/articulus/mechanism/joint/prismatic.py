"""A slide."""

from dataclasses import dataclass

from casadi import SX

from articulus.mechanism.joint.base import Joint, along, unit_axis
from articulus.mechanism.numbers import quantity
from articulus.spatial import Motion, Transform


@dataclass(frozen=True)
class Prismatic(Joint):
    """Translation along a fixed axis.

    Parameters
    ----------
    axis : three numbers [-]
        Unit vector of the axis in the joint frame.
    """

    axis: tuple[float, float, float] = quantity(
        "-", "unit vector of the axis in the joint frame", size="3", default=(0.0, 0.0, 1.0)
    )

    type_name = "prismatic"
    nq = nv = 1
    rotational = (False,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis("Prismatic", self.axis))

    @property
    def axis_line(self) -> tuple[float, float, float]:
        return self.axis

    def transform(self, q: SX) -> Transform:
        return Transform(SX.eye(3), along(self.axis) * q[0])

    def motion_subspace(self) -> list[Motion]:
        return [Motion(SX.zeros(3), along(self.axis))]
