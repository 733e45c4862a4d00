"""What a mechanism is: bodies, joints, frames, parameters. Frozen, validated data, no algorithms."""

from articulus.mechanism.body import Body, Frame
from articulus.mechanism.connection import Connection, Limits, Rotor
from articulus.mechanism.description import GROUND, MAX_BODIES, STANDARD_GRAVITY, Description
from articulus.mechanism.joint import (
    ALL_JOINTS,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from articulus.mechanism.numbers import Number, Parameter, Vector, value_of, values_of
from articulus.mechanism.pose import Pose

__all__ = [
    "ALL_JOINTS",
    "GROUND",
    "MAX_BODIES",
    "STANDARD_GRAVITY",
    "Body",
    "Connection",
    "Cylindrical",
    "Description",
    "Fixed",
    "Frame",
    "Free",
    "Helical",
    "Joint",
    "Limits",
    "Number",
    "Parameter",
    "Planar",
    "Pose",
    "Prismatic",
    "Revolute",
    "Rotor",
    "Spherical",
    "Universal",
    "Vector",
    "value_of",
    "values_of",
]
