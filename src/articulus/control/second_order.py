"""The second-order linear model of a mechanism at rest: M q'' + D q' + K q = tau."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, doubtful
from articulus.linear import SecondOrder


def second_order(
    mechanism: Mechanism, q: Any = None, *, params: Mapping[str, Any] | None = None
) -> SecondOrder:
    """Return mass, damping and stiffness of small motions about a position at rest, under the joint forces that hold it.

    Parameters
    ----------
    mechanism : Mechanism
        Without closed loops.
    q : array, (nq,)
        Neutral if not given.
    params : dict of parameter name to number

    Returns
    -------
    articulus.linear.SecondOrder
        Coordinates are small displacements in the directions of the velocities; inputs joint forces ("tau."), outputs all displacements
        ("q.") and then all velocities ("v."). K is symmetric where the holding forces are those of the potential energy.
    """
    if mechanism.description.constraints:
        raise InputError(
            "second_order: found a mechanism with closed loops; expected an open one, or mechanism.linearize(q) of first order"
        )
    at, still = mechanism.positions(q), np.zeros(mechanism.nv)
    K, D, M = mechanism.inverse_dynamics_derivatives(at, still, still, params=params)
    n = mechanism.nv
    if np.linalg.eigvalsh(M)[0] <= 0:
        doubtful("second_order: the mass matrix is not positive definite")
    one, none = np.eye(n), np.zeros((n, n))
    names = mechanism.v_names
    return SecondOrder(
        M,
        D,
        K,
        one,
        np.vstack([one, none]),
        np.vstack([none, one]),
        tuple(f"tau.{name}" for name in names),
        (*(f"q.{name}" for name in names), *(f"v.{name}" for name in names)),
        mechanism.name,
    )
