"""Value types of spatial algebra (angular part first) and rotations, on CasADi SX symbols."""

from articulus.spatial.inertia import ArticulatedInertia, RigidInertia, over, reciprocal
from articulus.spatial.rotation import (
    axis_angle,
    cayley,
    exact,
    frame_with_z,
    quaternion_matrix,
    quaternion_product,
    quaternion_rate,
    rpy_matrix,
)
from articulus.spatial.transform import Product, Transform
from articulus.spatial.vector import Force, Motion, cross, skew

__all__ = [
    "ArticulatedInertia",
    "Force",
    "Motion",
    "Product",
    "RigidInertia",
    "Transform",
    "axis_angle",
    "cayley",
    "cross",
    "exact",
    "frame_with_z",
    "over",
    "quaternion_matrix",
    "quaternion_product",
    "quaternion_rate",
    "reciprocal",
    "rpy_matrix",
    "skew",
]
