"""Quantities of a mechanism as CasADi functions of its state alone: named parameters have the values of the model."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
from casadi import SX

from articulus.dynamics.mechanism import Mechanism
from articulus.model.mechanism.numbers import value_of


def quantity(
    mechanism: Mechanism, name: str, frames: Sequence[str] = (), parameters: SX | None = None
) -> ca.Function:
    """Return `mechanism.function(name, frames)` without the input of the named parameters, if there are any.

    They have the values of the model, or the given expressions, in the order of the model; the function has these as free symbols then.
    """
    found = mechanism.function(name, frames)
    if not (known := mechanism.description.parameters):
        return found
    inputs = found.sx_in()[:-1]
    values = [value_of(p) for p in known] if parameters is None or parameters.is_constant() else parameters
    return ca.Function(name, inputs, found.call([*inputs, values]), {"allow_free": True})
