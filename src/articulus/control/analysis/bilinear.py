"""Sampled models as continuous ones and back by z = (1 + s) / (1 - s): Gramians, Hankel values and norms stay the same."""

from __future__ import annotations

import dataclasses

import numpy as np

from articulus.errors import InputError
from articulus.linear import LinearModel


def to_continuous(model: LinearModel) -> LinearModel:
    """Return the continuous model with the same Gramians and peak gain; omega becomes tan(omega period / 2)."""
    n, identity = len(model.A), np.eye(len(model.A))
    matrix = identity + model.A
    if n and 1.0 / np.linalg.cond(matrix) < 1e-14:
        raise InputError("bilinear transformation: found a pole at z = -1; expected none there")
    inverse = np.linalg.solve(matrix, np.hstack([model.A - identity, model.B]))
    # C (I + A)^-1 from the transposed system
    left = np.linalg.solve(matrix.T, model.C.T).T
    return dataclasses.replace(
        model,
        A=inverse[:, :n],
        B=np.sqrt(2.0) * inverse[:, n:],
        C=np.sqrt(2.0) * left,
        D=model.D - left @ model.B,
        period=None,
    )


def to_discrete(model: LinearModel, period: float) -> LinearModel:
    """Return the sampled model of which `to_continuous` makes this one."""
    n, identity = len(model.A), np.eye(len(model.A))
    matrix = identity - model.A
    inverse = np.linalg.solve(matrix, np.hstack([identity + model.A, model.B]))
    left = np.linalg.solve(matrix.T, model.C.T).T
    return dataclasses.replace(
        model,
        A=inverse[:, :n],
        B=np.sqrt(2.0) * inverse[:, n:],
        C=np.sqrt(2.0) * left,
        D=model.D + left @ model.B,
        period=period,
    )
