"""A joint without degrees of freedom: two bodies move as one."""

from dataclasses import dataclass

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import Joint
from articulus.model.mechanism.joint.closure import turn
from articulus.spatial import Motion, Transform


@dataclass(frozen=True)
class Fixed(Joint):
    """No relative motion."""

    type_name = "fixed"
    nq = nv = 0
    coordinate_names = velocity_names = ()
    rotational = ()
    closure_names = ("x", "y", "z", "turn_x", "turn_y", "turn_z")

    def transform(self, q: SX) -> Transform:
        return Transform.identity()

    def motion_subspace(self) -> list[Motion]:
        return []

    def closure(self, X: Transform) -> SX:
        return ca.vertcat(X.p, turn(X.R))
