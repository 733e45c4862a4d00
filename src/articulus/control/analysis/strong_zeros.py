"""Strong transmission zeros: where the whole transfer matrix vanishes (Miminis 1989).

No output feedback can move a pole there: they are the values that cannot be assigned.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from articulus.control.analysis.zeros import finite_zeros
from articulus.control.plant import as_plant
from articulus.control.reduction.minimal import minreal
from articulus.linear import LinearModel

VANISHES = 1e-7
"""Norm of G(z), over that of the terms it is the sum of, below which it counts as zero; a double zero has half the digits."""


def strong_zeros(plant: Any) -> np.ndarray:
    """Return the z with G(z) = 0 [rad/s]; of a sampled plant values of z [-].

    They are among the zeros of a sum of all outputs for a sum of all inputs, with any weights.
    """
    model = minreal(as_plant(plant, "strong_zeros"))
    p, m = model.D.shape
    if not len(model.A):
        return np.zeros(0, dtype=complex)
    weights = np.cos(1.0 + np.arange(p)), np.cos(2.0 + np.sqrt(2.0) * np.arange(m))
    candidates = finite_zeros(_mix_ports(model, *weights))[0]
    return np.array([z for z in candidates if _vanishes(model, z)], dtype=complex)


def _mix_ports(model: LinearModel, outputs: np.ndarray, inputs: np.ndarray) -> LinearModel:
    return dataclasses.replace(
        model,
        B=model.B @ inputs[:, None],
        C=outputs[None] @ model.C,
        D=(outputs @ model.D @ inputs).reshape(1, 1),
        inputs=("u",),
        outputs=("y",),
        input_units=("-",),
        output_units=("-",),
    )


def _vanishes(model: LinearModel, z: complex) -> bool:
    values = np.linalg.eigvals(model.A)
    if np.abs(values - z).min() <= 1e-12 * max(np.abs(values).max(), abs(z)):
        return False  # a pole: the response is not finite there
    X = np.linalg.solve(z * np.eye(len(model.A)) - model.A, model.B.astype(complex))
    terms = np.abs(model.C) @ np.abs(X) + np.abs(model.D)
    return bool(np.linalg.norm(model.C @ X + model.D) <= VANISHES * np.linalg.norm(terms))
