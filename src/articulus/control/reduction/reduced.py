"""`ReducedModel`: what every reduction returns; the parts that all of them share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.control.analysis.norms import Norm, peak_gain
from articulus.control.analysis.scaling import scale_states
from articulus.control.analysis.stable import stabsep
from articulus.control.connect import parallel
from articulus.control.figure import over_frequency
from articulus.control.plant import as_plant
from articulus.errors import InputError, NumericalError, doubtful
from articulus.linear import LinearModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ABOVE_BOUND = 1e-6
"""Part of the bound by which the measured error may be above it: the Hinf norm is computed to 1e-7."""
ROUNDING, NOT_ROUNDING = 1e-9, 1e-3
"""Parts of the plant's peak gain by which rounding lifts the error over the bound without harm, and never does."""


@dataclass(frozen=True, eq=False)
class ReducedModel:
    """A model of lower order and how far it is from the full one.

    Parameters
    ----------
    method : str
    full : LinearModel
        What was reduced.
    model : LinearModel
        Inputs, outputs and period are those of the full model; the states are new.
    values : array
        Singular values that tell what each state of the stable part is worth, largest first: Hankel singular values, or
        those of the phase matrix (`bstmr`), or weighted ones.
    kept : int
        States that were not up for reduction because their poles are not asymptotically stable; all are in the model.
    kind : str
        Kind of bound and error: "additive", "relative" or "weighted".
    bound : float
        No frequency has a larger error; NaN if the method knows none.
    error : Norm
        The largest error over all frequencies as measured, and where it is.
    error_at : function
        Error at frequencies [rad/s]; use `errors`.
    """

    method: str
    full: LinearModel
    model: LinearModel
    values: np.ndarray
    kept: int
    kind: str
    bound: float
    error: Norm
    error_at: Callable[[np.ndarray], np.ndarray] = dataclasses.field(repr=False)

    @property
    def order(self) -> int:
        """Number of states of the reduced model."""
        return len(self.model.A)

    def errors(self, omega: Any) -> np.ndarray:
        """Return the error (largest singular value, of the kind of the bound) at frequencies [rad/s], (n,)."""
        return self.error_at(np.atleast_1d(np.asarray(omega, dtype=float)))

    def __str__(self) -> str:
        bound = "no bound known" if np.isnan(self.bound) else f"bound {self.bound:.6g}"
        unstable = f", {self.kept} of them not up for reduction" if self.kept else ""
        return f"{self.method}: {len(self.full.A)} -> {self.order} states{unstable}; {self.kind} error {self.error}, {bound}"

    def plot(self, omega: Any = None) -> Figure:
        """Return a figure: gains of both models above, error and bound over frequency below."""
        from matplotlib.figure import Figure

        w = frequencies(self.full) if omega is None else np.asarray(omega, dtype=float)
        figure = Figure(figsize=(7, 6), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        for model, label, style in ((self.full, "full", "-"), (self.model, f"{self.order} states", "--")):
            above.loglog(w, np.linalg.norm(model.response(w), 2, axis=(1, 2)), style, label=label)
        above.set_ylabel("largest singular value")
        below.loglog(w, self.errors(w), label=f"{self.kind} error")
        if np.isfinite(self.bound) and self.bound > 0:
            below.axhline(self.bound, color="#404040", ls=":", label=f"bound {self.bound:.3g}")
        below.set_ylabel(f"{self.kind} error")
        over_frequency((above, below))
        return figure


def frequencies(model: LinearModel, count: int = 400) -> np.ndarray:
    """Return frequencies that show a model [rad/s]: from a tenth of its slowest pole to ten times its fastest, peaks included."""
    sizes = np.abs(model.poles)
    sizes = sizes[np.isfinite(sizes) & (sizes > 1e-8 * sizes[np.isfinite(sizes)].max(initial=0.0))]
    low, high = (0.1 * sizes.min(), 10 * sizes.max()) if len(sizes) else (0.01, 100.0)
    grid = np.unique(np.concatenate([np.geomspace(low, high, count), sizes]))
    return grid if model.period is None else grid[grid <= np.pi / model.period]


def divide_plant(plant: Any, method: str) -> tuple[LinearModel, LinearModel, LinearModel]:
    """Return the plant, its stable part with scaled states, and the rest."""
    full = as_plant(plant, method)
    stable, rest = stabsep(scale_states(full)[0])
    return full, scale_states(stable)[0], rest


def order_within(
    method: str, order: int | None, max_error: float | None, tails: np.ndarray, kept: int
) -> int:
    """Return how many states of the stable part to keep.

    `tails` (n + 1,) are the bounds of the error for 0, 1, ..., n of them; `kept` states are in the model in any case.
    """
    n = len(tails) - 1
    if (order is None) == (max_error is None):
        raise InputError(f"{method}: found order {order}, max_error {max_error}; expected one of them")
    if max_error is not None:
        return int(np.argmax(tails <= max_error)) if (tails <= max_error).any() else n
    assert order is not None
    if not (kept <= order <= kept + n and order == int(order)):
        why = f"; {kept} states are not asymptotically stable and stay" if kept else ""
        why += " (undamped modes? give the structure damping, or reduce it by modes)" if kept > 2 else ""
        raise InputError(f"{method}: found order {order}; expected {kept} to {kept + n}{why}")
    return int(order) - kept


def tail_sums(values: np.ndarray) -> np.ndarray:
    """Return twice the sum of the values left out, for 0, 1, ..., n values kept."""
    return 2.0 * np.append(np.cumsum(values[::-1])[::-1], 0.0)


def like(model: LinearModel, A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> LinearModel:
    """Return a model with the names of inputs and outputs of another, in new states."""
    return dataclasses.replace(model, A=A, B=B, C=C, D=D, states=tuple(f"r.{i}" for i in range(len(A))))


def additive(
    method: str,
    full: LinearModel,
    stable: LinearModel,
    rest: LinearModel,
    small: LinearModel,
    values: np.ndarray,
    bound: float,
) -> ReducedModel:
    """Return the result of a method with an additive error, G - G_r; raise NumericalError if the error exceeds the bound."""
    difference = parallel(stable, small, -1.0)
    error = peak_gain(difference)
    require_bound(method, error, bound, peak_gain(stable).value)
    return ReducedModel(
        method,
        full,
        join_parts(full, small, rest),
        values,
        len(rest.A),
        "additive",
        bound,
        error,
        lambda w: np.linalg.norm(difference.response(w), 2, axis=(1, 2)),
    )


def join_parts(full: LinearModel, small: LinearModel, rest: LinearModel) -> LinearModel:
    """Return the reduced stable part and the rest as one model with the names of the full one."""
    both = parallel(small, rest) if len(rest.A) else small
    return like(full, both.A, both.B, both.C, both.D)


def require_bound(method: str, error: Norm, bound: float, size: float) -> None:
    """Warn if a measured error is above its bound by rounding that shows, raise NumericalError if by more than that.

    `size` is the peak of what was reduced: the error is the difference of two numbers of that size.
    """
    above = error.value - bound * (1.0 + ABOVE_BOUND)
    if above <= ROUNDING * size:
        return
    text = f"{method}: the error is {error}, above its bound {bound:.6g} by {above / size:.2g} of the peak gain {size:.4g}"
    if above > NOT_ROUNDING * size:
        raise NumericalError(f"{text}; the model is too ill-conditioned for this method")
    doubtful(
        f"{text}: rounding error, because poles are very close to the boundary of stability; trust the error, not the bound"
    )
