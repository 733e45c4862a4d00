"""Computational control of articulated mechanisms."""

from importlib.metadata import version as _version

from articulus import kernel
from articulus.api import Mechanism
from articulus.assemble import assemble, independent_rows
from articulus.equilibrium import equilibrium
from articulus.errors import ArticulusError, InputError, ModelError, NumericalError, UnsupportedOperation
from articulus.load import load
from articulus.mechanism import (
    CustomConstraint,
    CustomVelocityConstraint,
    Cylindrical,
    Distance,
    Fixed,
    Free,
    Harmonic,
    Helical,
    Limits,
    Lock,
    NoSlip,
    Parameter,
    Planar,
    PointOnPoint,
    Polynomial,
    Pose,
    Prescribed,
    PrescribedPoint,
    Prismatic,
    Revolute,
    Rotor,
    Spherical,
    Touching,
    Universal,
)
from articulus.simulate import (
    PythonController,
    Run,
    RunStatus,
    compare,
    components,
    events,
    load_run,
    plot,
    rollout,
    simulate,
)

__version__ = _version("articulus")

__all__ = [
    "ArticulusError",
    "CustomConstraint",
    "CustomVelocityConstraint",
    "Cylindrical",
    "Distance",
    "Fixed",
    "Free",
    "Harmonic",
    "Helical",
    "InputError",
    "Limits",
    "Lock",
    "Mechanism",
    "ModelError",
    "NoSlip",
    "NumericalError",
    "Parameter",
    "Planar",
    "PointOnPoint",
    "Polynomial",
    "Pose",
    "Prescribed",
    "PrescribedPoint",
    "Prismatic",
    "PythonController",
    "Revolute",
    "Rotor",
    "Run",
    "RunStatus",
    "Spherical",
    "Touching",
    "Universal",
    "UnsupportedOperation",
    "assemble",
    "compare",
    "components",
    "equilibrium",
    "events",
    "independent_rows",
    "kernel",
    "load",
    "load_run",
    "plot",
    "rollout",
    "simulate",
]
