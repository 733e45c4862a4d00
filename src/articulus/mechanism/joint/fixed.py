"""A joint without freedom: two bodies move as one."""

from dataclasses import dataclass

from casadi import SX

from articulus.mechanism.joint.base import Joint
from articulus.spatial import Motion, Transform


@dataclass(frozen=True)
class Fixed(Joint):
    """No relative motion."""

    type_name = "fixed"
    nq = nv = 0
    coordinate_names = velocity_names = ()
    rotational = ()

    def transform(self, q: SX) -> Transform:
        return Transform.identity()

    def motion_subspace(self) -> list[Motion]:
        return []
