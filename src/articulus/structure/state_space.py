"""A structure, or its reduction, as a linear model of first order."""

from __future__ import annotations

import dataclasses

import numpy as np

from articulus.errors import InputError
from articulus.linear import LinearModel, SecondOrder
from articulus.structure.reduction.base import Reduction
from articulus.structure.structure import Structure


def state_space(system: Structure | Reduction, name: str = "structure") -> LinearModel:
    """Return x' = A x + B u, y = C x with x = (q, q').

    Parameters
    ----------
    system : Structure or Reduction
        With inputs and outputs; every degree of freedom carries mass.
    name : str
        Name of the system.
    """
    M = np.asarray(system.M @ np.eye(len(system.B)))
    size = np.sqrt(np.abs(np.diag(M)))
    if not size.all() or np.linalg.eigvalsh(M / np.outer(size, size))[0] < 1e-13:
        raise InputError(
            "state space: some degrees of freedom carry no mass; condense them by guyan or a modal reduction first"
        )
    return dataclasses.replace(SecondOrder.of(system).first_order(), name=name)
