"""The second-order linear model of a mechanism or a loop at rest: M q'' + D q' + K q = B u."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, doubtful
from articulus.linear import LinearModel, SecondOrder
from articulus.linear.connect import places
from articulus.simulation.running.loop import Loop

FEEDTHROUGH = 1e-12
"""Part of an output that follows an input at once, over the largest entry of C, that is rounding [-]."""


def second_order(
    plant: Mechanism | Loop,
    q: Any = None,
    *,
    u: Any = None,
    inputs: Sequence[str] = ("u",),
    outputs: Sequence[str] = ("q", "v"),
    params: Mapping[str, Any] | None = None,
) -> SecondOrder:
    """Return mass, damping and stiffness of small motions about a position at rest.

    Parameters
    ----------
    plant : Mechanism or Loop
        A mechanism, under the joint forces that hold it at q; or a loop, whose actuators and sensors become inputs and outputs and
        whose components have no states of their own. With closed loops the coordinates are those of independent degrees of freedom.
    q : array, (nq,)
        Neutral if not given.
    u : array or dict of command to number
        Commands that hold a loop at q, as `trim` finds them; none if not given.
    inputs, outputs : sequences of str
        Inputs and outputs of a loop; see `Loop.linearize`. Those of a mechanism are all joint forces ("tau."), all displacements ("q.") and velocities ("v.").
    params : dict of parameter name to number

    Returns
    -------
    articulus.linear.SecondOrder
        Coordinates are small displacements in the directions of the velocities. K is symmetric where the holding forces are those of
        the potential energy.
    """
    if isinstance(plant, Loop):
        model = plant.linearize(q, u=u, inputs=inputs, outputs=("v", *outputs), params=params)
        whole = _of_first_order(plant.mechanism, model, slice(plant.mechanism.nv), q, params)
        rows = places(model.outputs, list(outputs), "output")
        names = tuple(model.outputs[k] for k in rows)
        return dataclasses.replace(whole, H=whole.H[rows], H_rate=whole.H_rate[rows], outputs=names)
    if plant.description.constraints:
        model = plant.linearize(q, params=params)
        return _of_first_order(plant, model, slice(plant.nv, None), q, params)
    at, still = plant.positions(q), np.zeros(plant.nv)
    K, D, M = plant.inverse_dynamics_derivatives(at, still, still, params=params)
    one, none = np.eye(plant.nv), np.zeros((plant.nv, plant.nv))
    tau, displaced, moving = ([f"{kind}.{name}" for name in plant.v_names] for kind in ("tau", "q", "v"))
    H = np.vstack([one, none]), np.vstack([none, one])
    return _check_model(SecondOrder(M, D, K, one, *H, tuple(tau), (*displaced, *moving), plant.name))


def _of_first_order(
    mechanism: Mechanism, model: LinearModel, velocities: slice, q: Any, params: Mapping[str, Any] | None
) -> SecondOrder:
    """Return a first-order model in the second-order form, with the mass matrix of its degrees of freedom.

    `velocities` are the outputs that are all velocities of the mechanism: T of v = T v_i.
    """
    n = len(model.A) // 2
    displaced, moving = (
        tuple(s.partition(".")[2] for s in model.states[k]) for k in (slice(n), slice(n, None))
    )
    kinds = "".join(s[:2] for s in model.states)
    if model.period is not None:
        raise InputError(
            f"second_order: found a loop that is sampled every {model.period:g} s; expected one without sampling: remove the controller "
            "and pass its gains to `Partitioned`"
        )
    if displaced != moving or kinds != n * "q." + n * "v.":
        odd = next((s for s in model.states if s[:2] not in ("q.", "v.")), "")
        found = (
            f"the state '{odd}'" if odd else f"{len(displaced)} displacements and {len(moving)} velocities"
        )
        raise InputError(
            f"second_order: found {found}; expected displacements and their velocities alone: components without "
            "states, and no constraints on velocities. Take linearize(q), of first order, for others"
        )
    if np.abs(model.D).max(initial=0.0) > FEEDTHROUGH * np.abs(model.C).max(initial=0.0):
        raise InputError(
            "second_order: found an output that follows an input at once, such as an acceleration; expected outputs of positions and velocities"
        )
    T = model.C[velocities, n:]
    own = {p.name for p in mechanism.description.parameters}
    given = {name: x for name, x in (params or {}).items() if name in own}
    M = T.T @ mechanism.mass_matrix(mechanism.positions(q), params=given) @ T
    K, D, B = -M @ model.A[n:, :n], -M @ model.A[n:, n:], M @ model.B[n:]
    C = model.C
    return _check_model(SecondOrder(M, D, K, B, C[:, :n], C[:, n:], model.inputs, model.outputs, model.name))


def _check_model(model: SecondOrder) -> SecondOrder:
    if np.linalg.eigvalsh(model.M.toarray())[0] <= 0:
        doubtful("second_order: the mass matrix is not positive definite")
    return model
