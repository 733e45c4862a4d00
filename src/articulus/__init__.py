"""Computational control of articulated mechanisms."""

from importlib.metadata import version as _version

from articulus import kernel
from articulus.api import Mechanism
from articulus.errors import ArticulusError, InputError, ModelError, NumericalError, UnsupportedOperation
from articulus.load import load
from articulus.mechanism import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Limits,
    Parameter,
    Planar,
    Pose,
    Prismatic,
    Revolute,
    Rotor,
    Spherical,
    Universal,
)

__version__ = _version("articulus")

__all__ = [
    "ArticulusError",
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "InputError",
    "Limits",
    "Mechanism",
    "ModelError",
    "NumericalError",
    "Parameter",
    "Planar",
    "Pose",
    "Prismatic",
    "Revolute",
    "Rotor",
    "Spherical",
    "Universal",
    "UnsupportedOperation",
    "kernel",
    "load",
]
