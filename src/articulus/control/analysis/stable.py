"""Which poles count as stable, and a model divided into its stable part and the rest (`stabsep` in MATLAB)."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.linalg

from articulus.control.plant import as_plant
from articulus.errors import InputError
from articulus.linear import LinearModel

ROUNDING = 1e-12
"""Distance from the boundary of stability, over the largest pole, that rounding can account for at a simple pole."""
AT_ZERO = 1e-8
"""Size of a pole, over the largest one, that rounding can account for at the double pole at zero of a rigid motion."""


def asymptotically_stable(values: np.ndarray, period: float | None) -> np.ndarray:
    """Return which eigenvalues of A lie inside the region of stability by more than rounding."""
    if period is not None:
        return (np.abs(values) < 1.0 - ROUNDING) & (np.abs(values - 1.0) > AT_ZERO)
    size = np.abs(values).max(initial=0.0)
    return (values.real < -ROUNDING * size) & (np.abs(values) > AT_ZERO * size)


def require_stable(model: LinearModel, method: str) -> None:
    """Raise InputError naming the poles that are not asymptotically stable."""
    values = np.linalg.eigvals(model.A)
    bad = values[~asymptotically_stable(values, model.period)]
    if len(bad):
        raise InputError(
            f"{method}: found {len(bad)} poles that are not asymptotically stable, {', '.join(f'{s:.6g}' for s in bad[:4])}; "
            "expected a stable plant; split off the rest by stabsep"
        )


def stabsep(plant: Any) -> tuple[LinearModel, LinearModel]:
    """Divide a plant into G = G_s + G_u: the asymptotically stable part with the feedthrough D, and the rest.

    Poles on the boundary of stability (rigid motions, integrators, undamped modes) belong to the rest.

    Returns
    -------
    stable, rest : LinearModel
    """
    model = as_plant(plant, "stabsep")
    values = np.linalg.eigvals(model.A)
    inside = asymptotically_stable(values, model.period)
    good, other = values[inside], values[~inside]
    if not len(other):
        return model, _part(model, np.zeros((0, 0)), model.B[:0], model.C[:, :0], False)

    def first(re: float, im: float) -> bool:
        s = complex(re, im)
        return bool(np.abs(good - s).min(initial=np.inf) < np.abs(other - s).min())

    T, Z, k = scipy.linalg.schur(model.A, output="real", sort=first)
    if k != len(good):
        raise InputError(
            f"stabsep: found poles so close to the boundary of stability that {len(good)} or {k} of them are stable; "
            "expected poles that rounding does not move across it"
        )
    X = scipy.linalg.solve_sylvester(T[:k, :k], -T[k:, k:], -T[:k, k:]) if k else np.zeros((0, len(T)))
    left, right = Z[:, :k], Z[:, :k] @ X + Z[:, k:]
    Bt = Z.T @ model.B
    return (
        _part(model, T[:k, :k], Bt[:k] - X @ Bt[k:], model.C @ left, True),
        _part(model, T[k:, k:], Bt[k:], model.C @ right, False),
    )


def _part(model: LinearModel, A: np.ndarray, B: np.ndarray, C: np.ndarray, feedthrough: bool) -> LinearModel:
    states = tuple(f"{'s' if feedthrough else 'u'}.{i}" for i in range(len(A)))
    D = model.D if feedthrough else np.zeros_like(model.D)
    return dataclasses.replace(model, A=A, B=B, C=C, D=D, states=states)
