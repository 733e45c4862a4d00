"""Optimal Hankel norm approximation (`ohklmr`, `hankelmr` in MATLAB; Glover 1984).

Of all models of order k this one has the least Hankel norm of the error, the singular value k + 1. The constant D is chosen
so that the peak of the error is at most the sum of the values left out, half of what balanced truncation promises.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.gramians import controllability_root, observability_root
from articulus.control.analysis.stable import stabsep
from articulus.control.plant import of_matrices
from articulus.control.reduction.balanced import Balance, project_states
from articulus.control.reduction.reduced import (
    ReducedModel,
    additive,
    divide_plant,
    like,
    order_within,
    tail_sums,
)
from articulus.control.sampling import continuous, trapezoidal
from articulus.errors import InputError, NumericalError
from articulus.linear import LinearModel

SAME = 1e-7
"""Relative difference up to which singular values count as equal."""
NOTHING = 1e-12
"""Singular value over the largest one below which a state is omitted first."""


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small steps: threads only wait for each other
def ohklmr(plant: Any, order: int | None = None, *, max_error: float | None = None) -> ReducedModel:
    """Return the optimal Hankel norm approximation of a plant; poles that are not asymptotically stable stay.

    The result has a feedthrough D also where the plant has none: at high frequencies the error is as large as elsewhere.

    Parameters
    ----------
    plant : see `as_plant`
    order : int
        States of the reduced model; must not lie between equal singular values.
    max_error : float
        Instead: the smallest order whose bound is at most this.
    """
    full, stable, rest = divide_plant(plant, "ohklmr")
    period = stable.period
    model = stable if period is None else continuous(stable)
    system, values, dropped = _minimal(model)
    k = order_within("ohklmr", order, max_error, 0.5 * tail_sums(values), len(rest.A))
    if k >= len(system.A):
        small, bound = system, dropped
    else:
        small, bound = _optimal(system, values, k)
        bound += dropped
    small = small if period is None else trapezoidal(small, period)
    return additive("ohklmr", full, stable, rest, small, values, bound)


def _minimal(model: LinearModel) -> tuple[LinearModel, np.ndarray, float]:
    """Return the balanced model without states of zero worth, all its Hankel values, and the bound of that error."""
    balance = Balance.of(controllability_root(model), observability_root(model))
    values = balance.values
    k = int(np.count_nonzero(values > NOTHING * values.max(initial=0.0)))
    return project_states(model, balance, k, "ohklmr"), values, float(tail_sums(values)[k])


def _optimal(system: LinearModel, values: np.ndarray, k: int) -> tuple[LinearModel, float]:
    """Return the approximation of order k of a minimal balanced model, and the bound of its error."""
    held = values[: len(system.A)]
    level = held[k]
    equal = np.abs(held - level) <= SAME * level
    if k and equal[k - 1]:
        first = int(np.argmax(equal))
        raise InputError(
            f"ohklmr: found {k} stable states to keep, which divides {np.count_nonzero(equal)} equal Hankel singular values "
            f"{level:.6g}; expected {first} or {first + np.count_nonzero(equal)}"
        )
    stable, other = stabsep(_embed_all_pass(system, held, equal)[0])
    if len(stable.A) != k:
        raise NumericalError(
            f"ohklmr: {len(stable.A)} instead of {k} poles of the approximation are stable; singular values "
            f"{held[max(k - 1, 0) : k + 2]} are too close to each other"
        )
    D, left = _constant(like(other, -other.A, other.B, -other.C, other.D))
    p, q = system.D.shape
    small = like(system, stable.A, stable.B[:, :q], stable.C[:p], (stable.D + D)[:p, :q])
    return small, float(level * (1 + SAME) + left)


def _embed_all_pass(
    system: LinearModel, values: np.ndarray, equal: np.ndarray
) -> tuple[LinearModel, np.ndarray]:
    """Return the model whose difference from a balanced one is all-pass of the size of the equal values.

    Also scales d (n,): its Gramians are values / d and values d, indefinite where d is negative.
    """
    level = float(values[equal].mean())
    keep = ~equal
    m = max(system.D.shape)  # signals are filled up with zeros until there are as many outputs as inputs
    B, C = np.zeros((len(values), m)), np.zeros((m, len(values)))
    B[:, : system.D.shape[1]], C[: len(system.D)] = system.B, system.C
    A, B1, C1, S = system.A[np.ix_(keep, keep)], B[keep], C[:, keep], values[keep]
    X, _, Yt = np.linalg.svd(-C[:, equal] @ B[equal])
    U = X @ Yt
    gap = (S - level) * (S + level)
    Ah = (level**2 * A.T + S[:, None] * A * S - level * C1.T @ U @ B1.T) / gap[:, None]
    Bh = (S[:, None] * B1 + level * C1.T @ U) / gap[:, None]
    Ch = C1 * S + level * U @ B1.T
    D = np.zeros((m, m))
    D[: len(system.D), : system.D.shape[1]] = system.D
    return of_matrices(Ah, Bh, Ch, D - level * U), gap


def _constant(model: LinearModel) -> tuple[np.ndarray, float]:
    """Return a constant near a stable model, and the bound of the error: the sum of its Hankel singular values.

    State after state is omitted, that of the smallest value first; what remains is balanced again by scales.
    """
    system, values, bound = _minimal(model)
    held = values[: len(system.A)]
    while len(held):
        equal = np.abs(held - held[-1]) <= SAME * held[-1]
        bound += float(held[-1]) * (1 + SAME)
        system, gap = _embed_all_pass(system, held, equal)
        held, d = held[~equal], np.sqrt(gap)
        system = like(system, d[:, None] * system.A / d, d[:, None] * system.B, system.C / d, system.D)
    return system.D, bound
