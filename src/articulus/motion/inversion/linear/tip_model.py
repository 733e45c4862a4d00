"""`tip_model`: the linear model of a mechanism with displacements of frames as outputs; `add_operating_point`: back from it to the mechanism."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.motion.inversion.result import Inversion

AXES = ("rx", "ry", "rz", "x", "y", "z")
"""Rows of a Jacobian: small turns about the axes of the ground [rad], and displacements along them [m]."""

HELD = 1e-6
"""Force over the largest one that may act on what no input moves, at a position of rest."""


def tip_model(
    mechanism: Mechanism,
    outputs: str | Sequence[str],
    q: Any = None,
    *,
    params: Mapping[str, float] | None = None,
) -> LinearModel:
    """Return the linear model of a mechanism at rest, from joint forces to small displacements of frames in ground axes.

    Parameters
    ----------
    mechanism : Mechanism
    outputs : sequence of str
        Frame or body and axis: "tip.y", or "tip.rz" for a turn.
    q : array, (nq,)
        Position; neutral if not given. Inputs, states and outputs are differences from it; see `add_operating_point`.
    params : dict of parameter name to number

    Returns
    -------
    LinearModel
        Inputs "tau.<joint>", states q and v of the mechanism, outputs as named.
    """
    model = mechanism.linearize(q, params=params)
    if model.A.ndim != 2:
        raise InputError(f"tip_model: found {model.A.shape[0]} positions; expected one")
    names = (outputs,) if isinstance(outputs, str) else tuple(outputs)
    at = mechanism.positions(q)
    moved = model.C[: mechanism.nv]  # displacements of all degrees of freedom
    rows = []
    for name in names:
        frame, _, axis = str(name).rpartition(".")
        if not frame or axis not in AXES:
            raise InputError(
                f"tip_model: found output {name!r}; expected a frame and one of {', '.join(AXES)}, as in 'tip.y'"
            )
        rows.append(mechanism.jacobian(frame, at, params=params)[AXES.index(axis)] @ moved)
    return dataclasses.replace(
        model,
        C=np.array(rows),
        D=np.zeros((len(rows), len(model.inputs))),
        outputs=names,
        output_units=tuple("rad" if name.rpartition(".")[2].startswith("r") else "m" for name in names),
    )


def add_operating_point(
    mechanism: Mechanism,
    inversion: Inversion,
    q: Any,
    *,
    params: Mapping[str, float] | None = None,
) -> Inversion:
    """Return the inversion of a `tip_model` as one of the mechanism itself: with the joint forces and displacements of its operating point added.

    Parameters
    ----------
    mechanism : Mechanism
    inversion : Inversion
        Inversion of `tip_model(mechanism, outputs, q)`: differences from the position.
    q : array, (nq,)
        Position at which joint forces hold the mechanism at rest (flexible bodies bent by gravity: see `articulus.equilibrium`).
    params : dict of parameter name to number
    """
    at = np.asarray(mechanism.positions(q), dtype=float)
    if mechanism.nq != mechanism.nv or mechanism.description.constraints:
        raise InputError(
            "add_operating_point: found balls, free bodies or loops; expected an open chain of hinges, slides and flexible bodies"
        )
    hold = mechanism.bias(at, np.zeros(mechanism.nv), params=params)
    holding = {f"tau.{name}": hold[i] for i, name in enumerate(mechanism.v_names)}
    left = [
        name
        for name, force in holding.items()
        if name not in inversion.input_names and abs(force) > HELD * np.abs(hold).max()
    ]
    if left:
        raise InputError(
            f"add_operating_point: no input holds the mechanism at this position: {', '.join(left[:4])} of {holding[left[0]]:.3g} would be needed; "
            "expected a position of rest, such as that of equilibrium(mechanism, ...)"
        )
    places = dict(zip((f"q.{name}" for name in mechanism.v_names), at))
    states = inversion.states
    moved = None if states is None else states + [places.get(name, 0.0) for name in inversion.state_names]
    outputs = inversion.outputs + [_place(mechanism, name, at, params) for name in inversion.output_names]
    inputs = inversion.inputs + [holding[name] for name in inversion.input_names]
    return dataclasses.replace(inversion, inputs=inputs, outputs=outputs, states=moved)


def _place(mechanism: Mechanism, name: str, q: np.ndarray, params: Mapping[str, float] | None) -> float:
    frame, _, axis = name.rpartition(".")
    return (
        float(mechanism.pose(frame, q, params=params)["xyz".index(axis), 3])
        if axis in ("x", "y", "z")
        else 0.0
    )
