"""Constraint types, one file each. `ALL_CONSTRAINTS` is the list that readers, documentation and tests go by."""

from articulus.model.mechanism.constraint.base import Constraint, Kinematics, references
from articulus.model.mechanism.constraint.custom import CustomConstraint
from articulus.model.mechanism.constraint.custom_velocity import CustomVelocityConstraint
from articulus.model.mechanism.constraint.distance import Distance
from articulus.model.mechanism.constraint.lock import Lock
from articulus.model.mechanism.constraint.loop_joint import LoopJoint
from articulus.model.mechanism.constraint.no_slip import NoSlip
from articulus.model.mechanism.constraint.point_on_point import PointOnPoint
from articulus.model.mechanism.constraint.prescribed import Prescribed
from articulus.model.mechanism.constraint.prescribed_point import PrescribedPoint
from articulus.model.mechanism.constraint.rolling_contact import RollingContact
from articulus.model.mechanism.constraint.sliding_contact import SlidingContact
from articulus.model.mechanism.constraint.time_function import (
    ALL_TIME_FUNCTIONS,
    CustomTimeFunction,
    Harmonic,
    Polynomial,
    Spline,
    TimeFunction,
)
from articulus.model.mechanism.constraint.touching import Touching

ALL_CONSTRAINTS: tuple[type[Constraint], ...] = (
    LoopJoint,
    PointOnPoint,
    Distance,
    Lock,
    Prescribed,
    PrescribedPoint,
    Touching,
    NoSlip,
    SlidingContact,
    RollingContact,
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
    "RollingContact",
    "SlidingContact",
    "Spline",
    "TimeFunction",
    "Touching",
    "references",
]
