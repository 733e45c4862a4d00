"""Where a thin disc touches the ground plane z = 0."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.model.mechanism.body import GROUND
from articulus.model.mechanism.constraint.base import Kinematics
from articulus.model.mechanism.joint.base import along

AXIS = (0.0, 1.0, 0.0)
"""Axis of a wheel that runs along x."""


def lowest(k: Kinematics, frame: str, axis: tuple[float, float, float], radius: SX) -> tuple[SX, SX]:
    """Return the center of a disc and the vector from it to the lowest point of its rim, ground axes.

    Not defined for a disc that lies flat.
    """
    X = k.relative(GROUND, frame)
    a = ca.mtimes(X.R, along(axis))
    level = ca.vertcat(0, 0, 1) - a[2] * a
    return X.p, -radius / ca.sqrt(1 - a[2] ** 2) * level
