"""Quantities of a mechanism as CasADi functions of its state alone: named parameters have the values of the model."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from articulus.dynamics.mechanism import Mechanism
from articulus.model.mechanism.numbers import value_of


def quantity(mechanism: Mechanism, name: str, frames: Sequence[str] = ()) -> ca.Function:
    """Return `mechanism.function(name, frames)` without the input of the named parameters, if there are any."""
    found = mechanism.function(name, frames)
    if not (parameters := mechanism.description.parameters):
        return found
    inputs = found.sx_in()[:-1]
    return ca.Function(name, inputs, found.call([*inputs, [value_of(p) for p in parameters]]))
