"""Gramians, their factors, and Hankel singular values (`gram`, `hsvd` in MATLAB)."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.control.analysis.scaling import scale_states
from articulus.control.analysis.stable import require_stable
from articulus.control.plant import as_plant
from articulus.linear import LinearModel
from articulus.numerics.gramians import gramian_root


def gram(plant: Any, which: str = "c") -> np.ndarray:
    """Return a Gramian, (n, n): controllability ("c"), A P + P A' + B B' = 0, or observability ("o"), A'Q + Q A + C'C = 0.

    For a sampled plant: A P A' - P + B B' = 0 and A'Q A - Q + C'C = 0. The plant must be asymptotically stable.
    """
    model, d = scale_states(as_plant(plant, "gram"))
    require_stable(model, "gram")
    if which == "c":
        root = d[:, None] * controllability_root(model)
    else:
        root = observability_root(model) / d[:, None]
    return root @ root.T


def hankel_values(plant: Any) -> np.ndarray:
    """Return the Hankel singular values of an asymptotically stable plant, largest first (`hsvd`, `hankelsv` in MATLAB)."""
    model, _ = scale_states(as_plant(plant, "hankel_values"))
    require_stable(model, "hankel_values")
    return np.linalg.svd(observability_root(model).T @ controllability_root(model), compute_uv=False)


def controllability_root(model: LinearModel) -> np.ndarray:
    """Return R (n, n) with the controllability Gramian P = R R'."""
    return gramian_root(model.A, model.B, model.period is not None)


def observability_root(model: LinearModel) -> np.ndarray:
    """Return L (n, n) with the observability Gramian Q = L L'."""
    return gramian_root(model.A.T, model.C.T, model.period is not None)
