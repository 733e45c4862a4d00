"""A cross of two hinges."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError
from articulus.model.mechanism.joint.base import Joint, SerialJoint, along, unit_axis
from articulus.model.mechanism.joint.revolute import Revolute
from articulus.model.mechanism.numbers import quantity
from articulus.spatial import Transform


@dataclass(frozen=True)
class Universal(SerialJoint):
    """Rotation about an axis fixed in the parent, then about an axis fixed in the child.

    Parameters
    ----------
    axis : three numbers [-]
        Unit vector of the axis that stays with the parent.
    second_axis : three numbers [-]
        Unit vector of the axis that stays with the child, at q = 0.
    """

    axis: tuple[float, float, float] = quantity(
        "-", "unit vector of the axis that stays with the parent", size="3", default=(1.0, 0.0, 0.0)
    )
    second_axis: tuple[float, float, float] = quantity(
        "-", "unit vector of the axis that stays with the child, at q = 0", size="3", default=(0.0, 1.0, 0.0)
    )

    type_name = "universal"
    nq = nv = 2
    coordinate_names = velocity_names = ("first", "second")
    rotational = (True, True)
    closure_names = ("x", "y", "z", "cross")

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis("Universal", self.axis))
        object.__setattr__(self, "second_axis", unit_axis("Universal (second)", self.second_axis))
        if np.linalg.norm(np.cross(self.axis, self.second_axis)) < 1e-3:
            raise InputError(
                f"Universal: its axes {self.axis} and {self.second_axis} are parallel or nearly so; expected two different "
                "directions. For one direction use Revolute."
            )

    def elementary(self) -> tuple[Joint, ...]:
        return (Revolute(self.axis), Revolute(self.second_axis))

    def closure(self, X: Transform) -> SX:
        a, b = along(self.axis), along(self.second_axis)
        return ca.vertcat(X.p, ca.dot(a, ca.mtimes(X.R, b)) - ca.dot(a, b))
