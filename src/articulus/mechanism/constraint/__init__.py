"""Constraint types, one file each. `ALL_CONSTRAINTS` is the list that readers, documentation and tests go by."""

from articulus.mechanism.constraint.base import Constraint, Kinematics
from articulus.mechanism.constraint.point_on_point import PointOnPoint

ALL_CONSTRAINTS: tuple[type[Constraint], ...] = (PointOnPoint,)

__all__ = ["ALL_CONSTRAINTS", "Constraint", "Kinematics", "PointOnPoint"]
