"""Balanced truncation by the square-root method (`balred`, `balmr`, `modred` in MATLAB).

With Gramians P = R R' and Q = L L' and L'R = U S V', the states kept are those of the largest Hankel singular values S; the
error is at most twice the sum of the others, whether these are cut off or follow at once (Liu & Anderson 1989).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.gramians import controllability_root, observability_root
from articulus.control.reduction.reduced import (
    ReducedModel,
    additive,
    divide_plant,
    like,
    order_within,
    tail_sums,
)
from articulus.control.sampling import continuous, trapezoidal
from articulus.errors import InputError
from articulus.linear import LinearModel


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small steps: threads only wait for each other
def balred(
    plant: Any, order: int | None = None, *, max_error: float | None = None, match: str = "fast"
) -> ReducedModel:
    """Return a plant reduced in balanced coordinates; poles that are not asymptotically stable stay.

    Parameters
    ----------
    plant : see `as_plant`
    order : int
        States of the reduced model.
    max_error : float
        Instead: the smallest order whose bound is at most this.
    match : str
        What stays exact: "fast", the response at infinite frequency: states are cut off (balanced truncation). "rest", the gain at rest:
        states that are omitted follow at once (singular perturbation; `balred` of MATLAB does this). Bounds are the same.
    """
    if match not in MATCHES:
        raise InputError(f"balred: found match='{match}'; expected {' or '.join(map(repr, MATCHES))}")
    return reduce_stable_part("balred", plant, order, max_error, MATCHES[match])


SMALLEST = 1e-13
"""Hankel singular value over the largest below which a state cannot be balanced, and matters to nothing [-]."""
Projection = Callable[[LinearModel, "Balance", int, str], LinearModel]


@dataclass(frozen=True)
class Balance:
    """Roots of the Gramians P = R R' and Q = L L', and L'R = U diag(values) V'."""

    R: np.ndarray
    L: np.ndarray
    U: np.ndarray
    values: np.ndarray
    Vt: np.ndarray

    @staticmethod
    def of(R: np.ndarray, L: np.ndarray) -> Balance:
        return Balance(R, L, *np.linalg.svd(L.T @ R))


def reduce_stable_part(
    method: str, plant: Any, order: int | None, max_error: float | None, project: Projection
) -> ReducedModel:
    """Return a plant whose stable part is projected on the states of the largest Hankel singular values."""
    full, stable, rest = divide_plant(plant, method)
    balance = Balance.of(controllability_root(stable), observability_root(stable))
    tails = tail_sums(balance.values)
    k = order_within(method, order, max_error, tails, len(rest.A))
    small = project(stable, balance, k, method)
    return additive(method, full, stable, rest, small, balance.values, tails[k])


def project_states(model: LinearModel, balance: Balance, k: int, method: str) -> LinearModel:
    """Return the model on the k states of the largest values, balanced."""
    values = balance.values
    if k and values[k - 1] < 1e-14 * values[0]:
        raise InputError(
            f"{method}: found {k} stable states to keep, but the singular value of the last is {values[k - 1]:.3g} of "
            f"{values[0]:.3g}, zero to rounding; expected at most {np.count_nonzero(values > 1e-14 * values[0])}; or use schmr"
        )
    root = np.sqrt(values[:k])
    left, right = balance.L @ balance.U[:, :k] / root, balance.R @ balance.Vt[:k].T / root
    return like(model, left.T @ model.A @ right, left.T @ model.B, model.C @ right, model.D)


def residualize_states(model: LinearModel, balance: Balance, k: int, method: str) -> LinearModel:
    """Return the model on the k states of the largest values, the others at rest under them: the gain at zero frequency stays."""
    values = balance.values
    whole = project_states(
        model, balance, int(np.count_nonzero(values > SMALLEST * values.max(initial=0.0))), method
    )
    whole = continuous(whole)  # Gramians stay, and the bound holds for what follows at once in s
    kept, left = slice(0, k), slice(k, None)
    follow = -np.linalg.solve(whole.A[left, left], np.hstack([whole.A[left, kept], whole.B[left]]))
    by_state, by_input = follow[:, :k], follow[:, k:]
    small = like(
        whole,
        whole.A[kept, kept] + whole.A[kept, left] @ by_state,
        whole.B[kept] + whole.A[kept, left] @ by_input,
        whole.C[:, kept] + whole.C[:, left] @ by_state,
        whole.D + whole.C[:, left] @ by_input,
    )
    return small if model.period is None else trapezoidal(small, model.period)


MATCHES: dict[str, Projection] = {"fast": project_states, "rest": residualize_states}
"""How states are omitted, by what stays exact."""
