"""A chain of equal rods on hinges."""

from __future__ import annotations

import math

from articulus.errors import InputError
from articulus.model.mechanism import Body, Connection, Description, Frame, Pose, Revolute


def pendulum_chain(n: int = 5, mass: float = 1.0, length: float = 1.0) -> Description:
    """Return n equal slender rods that hang below each other on hinges about y.

    Parameters
    ----------
    n : int
        Number of rods.
    mass : float [kg]
        Mass of a rod.
    length : float [m]
        Length of a rod.
    """
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise InputError(f"pendulum_chain: n = {n!r}; expected an integer of at least 1")
    if not all(isinstance(x, (int, float)) and 0 < x < math.inf for x in (mass, length)):
        raise InputError(f"pendulum_chain: mass = {mass!r}, length = {length!r}; expected positive numbers")
    across, along = mass * length**2 / 12, mass * length**2 / 1200
    bodies = tuple(
        Body(f"rod{i + 1}", mass, (0.0, 0.0, -length / 2), (across, across, along, 0.0, 0.0, 0.0))
        for i in range(n)
    )
    joints = tuple(
        Connection(
            f"hinge{i + 1}",
            Revolute((0.0, 1.0, 0.0)),
            f"rod{i}" if i else "ground",
            f"rod{i + 1}",
            Pose((0.0, 0.0, -length if i else 0.0)),
        )
        for i in range(n)
    )
    tip = Frame("tip", f"rod{n}", Pose((0.0, 0.0, -length)))
    return Description.build(
        "pendulum_chain", bodies, joints, (tip,), source="equal slender rods; a parametric test model"
    )
