"""Positions a small step away."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from articulus.dynamics.quantities import function
from articulus.model.mechanism import Description
from articulus.model.mechanism.numbers import value_of


def displacement(description: Description) -> ca.Function:
    """(q, step) -> q displaced by a step in the directions of the velocities; the same whatever the parameters are."""
    found = function(description, "integrate_position")
    if not description.parameters:
        return found
    q, step = SX.sym("q", description.nq), SX.sym("step", description.nv)
    return ca.Function(
        "displacement", [q, step], [found(q, step, [value_of(p) for p in description.parameters])]
    )
