"""A structure, or its reduction, as a linear model of first order."""

from __future__ import annotations

import numpy as np

from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.structure.reduction.base import Reduction
from articulus.structure.structure import Structure


def state_space(system: Structure | Reduction, name: str = "structure") -> LinearModel:
    """Return x' = A x + B u, y = C x with x = (q, q').

    Parameters
    ----------
    system : Structure or Reduction
        With inputs and outputs; every degree of freedom carries mass.
    name : str
        Of the system.
    """
    M, K, D = (np.asarray(getattr(system, name) @ np.eye(len(system.B))) for name in ("M", "K", "D"))
    n = len(M)
    size = np.sqrt(np.abs(np.diag(M)))
    if not size.all() or np.linalg.eigvalsh(M / np.outer(size, size))[0] < 1e-13:
        raise InputError(
            "state space: some freedoms carry no mass; condense them by guyan or a modal reduction first"
        )
    solved = np.linalg.solve(M, np.hstack([-K, -D, system.B]))
    A = np.block([[np.zeros((n, n)), np.eye(n)], [solved[:, : 2 * n]]])
    B = np.vstack([np.zeros_like(system.B), solved[:, 2 * n :]])
    C = np.hstack([system.H, system.H_rate])
    inputs = tuple(system.inputs) or tuple(f"u.{i}" for i in range(B.shape[1]))
    outputs = tuple(system.outputs) or tuple(f"y.{i}" for i in range(len(C)))
    return LinearModel(
        A,
        B,
        C,
        np.zeros((len(C), B.shape[1])),
        states=tuple(f"{kind}.{i}" for kind in "qv" for i in range(n)),
        inputs=inputs,
        outputs=outputs,
        input_units=("-",) * len(inputs),
        output_units=("-",) * len(outputs),
        name=name,
    )
