"""A sampled model as a continuous one with the same norms, and back: s = (2 / period) (z - 1) / (z + 1)."""

from __future__ import annotations

import dataclasses

import numpy as np

from articulus.errors import InputError
from articulus.linear import LinearModel


def to_continuous(model: LinearModel, method: str) -> LinearModel:
    """Return the continuous model whose response at j w is that of the sampled one at (1 + j w T/2) / (1 - j w T/2)."""
    if model.period is None:
        return model
    whole = np.eye(len(model.A)) + model.A
    if len(whole) and 1.0 / np.linalg.cond(whole) < 1e-13:
        raise InputError(
            f"{method}: found a pole at z = -1 (half the sampling frequency), which the bilinear transformation moves to infinity; "
            "expected none there; choose another sampling period"
        )
    c = 2.0 / model.period
    inverse = np.linalg.inv(whole)
    return dataclasses.replace(
        model,
        A=c * inverse @ (model.A - np.eye(len(whole))),
        B=np.sqrt(2.0 * c) * inverse @ model.B,
        C=np.sqrt(2.0 * c) * model.C @ inverse,
        D=model.D - model.C @ inverse @ model.B,
        period=None,
    )


def to_sampled(matrices: tuple[np.ndarray, ...], period: float | None, method: str) -> tuple[np.ndarray, ...]:
    """Return (A, B, C, D) of the sampled model that `to_continuous` turns into the one given; unchanged without a period."""
    if period is None:
        return matrices
    A, B, C, D = matrices
    c = 2.0 / period
    whole = c * np.eye(len(A)) - A
    if len(whole) and 1.0 / np.linalg.cond(whole) < 1e-13:
        raise InputError(
            f"{method}: the controller has a pole at s = 2 / period and no sampled counterpart; relax gamma"
        )
    inverse = np.linalg.inv(whole)
    return (
        inverse @ (c * np.eye(len(A)) + A),
        np.sqrt(2.0 * c) * inverse @ B,
        np.sqrt(2.0 * c) * C @ inverse,
        D + C @ inverse @ B,
    )
