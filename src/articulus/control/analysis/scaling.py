"""States of a linear model scaled by powers of two, so that units of very different size do not cost digits."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from articulus.linear import LinearModel

SWEEPS = 30
"""Most passes over the states; each brings every state near the optimum given the others."""


def scales(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Return d (n,), powers of two: with x = d z the rows of [A, B] and the columns of [A; C] are of like size."""
    n = len(A)
    rows = np.abs(A)
    np.fill_diagonal(rows, 0.0)
    columns = rows.T.copy()
    into, out = np.abs(B).sum(axis=1).tolist(), np.abs(C).sum(axis=0).tolist()
    d, inverse = np.ones(n), np.ones(n)
    for _ in range(SWEEPS):
        moved = False
        for i in range(n):
            row = (float(rows[i] @ d) + into[i]) * inverse[i]
            column = (float(columns[i] @ inverse) + out[i]) * d[i]
            if 0.0 < row < math.inf and 0.0 < column < math.inf:
                power = round(0.5 * (math.log2(row) - math.log2(column)))
                if power:
                    d[i] *= 2.0**power
                    inverse[i] = 1.0 / d[i]
                    moved = True
        if not moved:
            break
    return d


def scale_states(model: LinearModel) -> tuple[LinearModel, np.ndarray]:
    """Return the model in scaled states z and the scales d: x = d z. Input-output behavior is the same bit for bit."""
    d = scales(model.A, model.B, model.C)
    return dataclasses.replace(model, A=model.A * d / d[:, None], B=model.B / d[:, None], C=model.C * d), d
