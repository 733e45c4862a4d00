"""Rotations, quaternions and poses as arrays of numbers (`lie`), and value types of spatial algebra on CasADi SX symbols.

Angular parts come first, quaternions are (w, x, y, z).
"""

from articulus.spatial.inertia import ArticulatedInertia, RigidInertia, over, reciprocal
from articulus.spatial.lie import (
    adjoint,
    exp_se3,
    exp_so3,
    inverse_pose,
    log_se3,
    log_so3,
    pose_of,
    quaternion_exp,
    quaternion_inverse,
    quaternion_log,
    quaternion_multiply,
    quaternion_of_rotation,
    rotation_of_quaternion,
    rotation_of_rpy,
    rpy_of_rotation,
    slerp,
)
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
    "adjoint",
    "axis_angle",
    "cayley",
    "cross",
    "exact",
    "exp_se3",
    "exp_so3",
    "frame_with_z",
    "inverse_pose",
    "log_se3",
    "log_so3",
    "over",
    "pose_of",
    "quaternion_exp",
    "quaternion_inverse",
    "quaternion_log",
    "quaternion_matrix",
    "quaternion_multiply",
    "quaternion_of_rotation",
    "quaternion_product",
    "quaternion_rate",
    "reciprocal",
    "rotation_of_quaternion",
    "rotation_of_rpy",
    "rpy_matrix",
    "rpy_of_rotation",
    "skew",
    "slerp",
]
