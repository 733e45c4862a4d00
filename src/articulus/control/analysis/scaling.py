"""States of a linear model scaled by powers of two, so that units of very different size do not cost digits."""

from __future__ import annotations

import dataclasses

import numpy as np

from articulus.linear import LinearModel

SWEEPS = 30
"""Most passes over the states; each brings every state near the optimum given the others."""


def scales(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Return d (n,), powers of two: with x = d z the rows of [A, B] and the columns of [A; C] are of like size."""
    n = len(A)
    size = np.abs(A)
    np.fill_diagonal(size, 0.0)
    into, out, d = np.abs(B).sum(axis=1), np.abs(C).sum(axis=0), np.ones(n)
    for _ in range(SWEEPS):
        moved = False
        for i in range(n):
            row = (size[i] @ d + into[i]) / d[i]
            column = (size[:, i] @ (1.0 / d) + out[i]) * d[i]
            if row > 0 and column > 0:
                step = 2.0 ** np.round(0.5 * np.log2(row / column))
                if step != 1.0:
                    d[i] *= step
                    moved = True
        if not moved:
            break
    return d


def scale_states(model: LinearModel) -> tuple[LinearModel, np.ndarray]:
    """Return the model in scaled states z and the scales d: x = d z. Input-output behavior is the same to the last bit."""
    d = scales(model.A, model.B, model.C)
    return dataclasses.replace(model, A=model.A * d / d[:, None], B=model.B / d[:, None], C=model.C * d), d
