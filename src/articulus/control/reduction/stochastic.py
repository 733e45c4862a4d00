"""Balanced stochastic truncation: the relative error is bounded (`bstmr`, `reschmr` in MATLAB; Green 1988).

P is the controllability Gramian of G, Q belongs to the spectral factor W of G G~ = W~ W. The values are the Hankel singular
values s of the phase matrix W~^-1 G, all at most one; the relative error, |(G G*)^-1/2 (G - G_r)|, is at most the product of
(1 + s) / (1 - s) over those left out, less one (Wang & Safonov 1992).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.gramians import controllability_root
from articulus.control.analysis.norms import Norm, peak_gain
from articulus.control.connect import parallel, series
from articulus.control.plant import of_matrices
from articulus.control.reduction.reduced import (
    ReducedModel,
    divide_plant,
    join_parts,
    order_within,
    require_bound,
)
from articulus.control.reduction.schur import on_eigenspaces
from articulus.control.sampling import continuous, trapezoidal
from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.numerics.gramians import gramian_root
from articulus.numerics.riccati import care

FULL_RANK = 1e-10
"""Smallest singular value of D over the largest at which G is invertible at infinite frequency."""


@threadpool_limits.wrap(limits=1, user_api="blas")  # many small steps: threads only wait for each other
def bstmr(
    plant: Any, order: int | None = None, *, max_error: float | None = None, floor: float = 0.0
) -> ReducedModel:
    """Return a plant reduced by Schur balanced stochastic truncation; poles that are not asymptotically stable stay.

    The error is relative to the stable part.

    Parameters
    ----------
    plant : see `as_plant`
        Without zeros on the boundary of stability; the feedthrough D has full rank, unless there is a floor.
    order : int
        States of the reduced model.
    max_error : float
        Instead: the smallest order whose bound is at most this.
    floor : float
        Gain below which the error need not be small in proportion: relative to (G G* + floor^2 I)^1/2.
    """
    full, stable, rest = divide_plant(plant, "bstmr")
    period = stable.period
    model = stable if period is None else continuous(stable)
    flipped = model.D.shape[0] > model.D.shape[1] and not floor
    model = _transpose(model) if flipped else model
    phase = _Phase.of(model, floor)
    k = order_within("bstmr", order, max_error, _products(phase.values), len(rest.A))
    bound = float(_products(phase.values)[k])
    small = on_eigenspaces(model, phase.P, phase.Q, k)
    error = peak_gain(series(parallel(model, small, -1.0), phase.inverse))
    require_bound("bstmr", error, bound, 1.0)
    small = _transpose(small) if flipped else small
    small = small if period is None else trapezoidal(small, period)
    if period is not None:
        error = Norm(error.value, 2.0 * np.arctan(0.5 * error.omega * period) / period, error.reason)
    difference = parallel(stable, small, -1.0)
    return ReducedModel(
        "bstmr",
        full,
        join_parts(full, small, rest),
        phase.values,
        len(rest.A),
        "relative",
        bound,
        error,
        lambda w: _relative(stable.response(w), difference.response(w), floor, flipped),
    )


@dataclass(frozen=True)
class _Phase:
    """Gramian P of G, Gramian Q of the spectral factor W, the values, and W~^-1."""

    P: np.ndarray
    Q: np.ndarray
    values: np.ndarray
    inverse: LinearModel

    @staticmethod
    def of(model: LinearModel, floor: float) -> _Phase:
        A, B, C = model.A, model.B, model.C
        square = model.D @ model.D.T + floor**2 * np.eye(len(model.D))
        sizes = np.linalg.eigvalsh(square)
        if sizes[0] <= FULL_RANK**2 * max(sizes[-1], np.finfo(float).tiny):
            raise InputError(
                f"bstmr: found a feedthrough D of rank {np.linalg.matrix_rank(model.D)} for {len(model.D)} signals; expected "
                "full rank; set a floor, the gain below which the relative error does not matter"
            )
        R = controllability_root(model)
        Bw = R @ (R.T @ C.T) + B @ model.D.T
        try:
            X = care(A, Bw, np.zeros_like(A), -square, -C.T).X
        except InputError as error:
            raise InputError(
                f"bstmr: the Riccati equation of the spectral factor: {error}; likely a zero of the plant on the boundary of "
                "stability"
            ) from error
        root = np.linalg.cholesky(square)
        Cw = np.linalg.solve(root, C - Bw.T @ X)
        L = gramian_root(A.T, Cw.T)
        values = np.minimum(np.linalg.svd(L.T @ R, compute_uv=False), 1.0)
        # W = (A, Bw, Cw, root'); W~ = (-A', Cw', -Bw', root); its inverse
        Dinv = np.linalg.inv(root)
        inverse = of_matrices(-A.T + Cw.T @ Dinv @ Bw.T, Cw.T @ Dinv, Dinv @ Bw.T, Dinv)
        return _Phase(R @ R.T, L @ L.T, values, inverse)


def _products(values: np.ndarray) -> np.ndarray:
    """Return the bounds of the relative error for 0, 1, ..., n values kept."""
    with np.errstate(divide="ignore"):
        factors = np.log1p(values) - np.log1p(-values)
    return np.expm1(np.append(np.cumsum(factors[::-1])[::-1], 0.0))


def _relative(G: np.ndarray, E: np.ndarray, floor: float, flipped: bool) -> np.ndarray:
    if flipped:
        G, E = np.swapaxes(G, 1, 2), np.swapaxes(E, 1, 2)
    square = G @ np.conj(np.swapaxes(G, 1, 2)) + floor**2 * np.eye(G.shape[1])
    return np.linalg.norm(np.linalg.solve(np.linalg.cholesky(square), E), 2, axis=(1, 2))


def _transpose(model: LinearModel) -> LinearModel:
    return dataclasses.replace(
        model,
        A=model.A.T,
        B=model.C.T,
        C=model.B.T,
        D=model.D.T,
        inputs=model.outputs,
        outputs=model.inputs,
        input_units=model.output_units,
        output_units=model.input_units,
    )
