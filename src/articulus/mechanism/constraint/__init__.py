"""Constraint types, one file each. `ALL_CONSTRAINTS` is the list that readers, documentation and tests go by."""

from articulus.mechanism.constraint.base import Constraint, Kinematics, references
from articulus.mechanism.constraint.custom import CustomConstraint
from articulus.mechanism.constraint.custom_velocity import CustomVelocityConstraint
from articulus.mechanism.constraint.distance import Distance
from articulus.mechanism.constraint.lock import Lock
from articulus.mechanism.constraint.loop_joint import LoopJoint
from articulus.mechanism.constraint.no_slip import NoSlip
from articulus.mechanism.constraint.point_on_point import PointOnPoint
from articulus.mechanism.constraint.prescribed import Prescribed
from articulus.mechanism.constraint.prescribed_point import PrescribedPoint
from articulus.mechanism.constraint.time_function import (
    ALL_TIME_FUNCTIONS,
    CustomTimeFunction,
    Harmonic,
    Polynomial,
    Spline,
    TimeFunction,
)
from articulus.mechanism.constraint.touching import Touching

ALL_CONSTRAINTS: tuple[type[Constraint], ...] = (
    LoopJoint,
    PointOnPoint,
    Distance,
    Lock,
    Prescribed,
    PrescribedPoint,
    Touching,
    NoSlip,
    CustomConstraint,
    CustomVelocityConstraint,
)

__all__ = [
    "ALL_CONSTRAINTS",
    "ALL_TIME_FUNCTIONS",
    "Constraint",
    "CustomConstraint",
    "CustomTimeFunction",
    "CustomVelocityConstraint",
    "Distance",
    "Harmonic",
    "Kinematics",
    "Lock",
    "LoopJoint",
    "NoSlip",
    "PointOnPoint",
    "Polynomial",
    "Prescribed",
    "PrescribedPoint",
    "Spline",
    "TimeFunction",
    "Touching",
    "references",
]
