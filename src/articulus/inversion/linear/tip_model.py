"""`tip_model`: the linear model of a mechanism with displacements of frames as outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from articulus.api import Mechanism
from articulus.errors import InputError
from articulus.linear import LinearModel

AXES = ("rx", "ry", "rz", "x", "y", "z")
"""Rows of a Jacobian: small turns about the axes of the ground [rad], and displacements along them [m]."""


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
        Position; neutral if not given. The joint forces that hold it there are not part of the inputs.
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
