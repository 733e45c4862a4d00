"""`LinearModels`: linear models with the same names about many operating points, as arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import InputError
from articulus.linear.along import interpolate_model, times_of, transition
from articulus.linear.model import LinearModel
from articulus.linear.response import Transfer

if TYPE_CHECKING:
    import control
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class LinearModels(LinearModel):
    """Linear models about many operating points; `models[i]` is the `LinearModel` of one.

    Names, units and period are those of all of them. The arrays A, B, C, D have leading axes (..., nx, nx) and so on,
    those of the operating points; C and D may be read-only views of one matrix. `poles` and `response` have them, too.
    Along a run (`Run.linear` at many times) t is an array, and they are one model that changes with time: `at`, `transition`,
    `plot`.

    Parameters
    ----------
    t : float, or array (points,) [s]
        Time of all operating points, or of each.
    """

    t: Any = 0.0

    @staticmethod
    def of(models: Sequence[LinearModel]) -> LinearModels:
        """Return models of the same names as one; at least one."""
        arrays: dict[str, Any] = {name: np.stack([getattr(m, name) for m in models]) for name in "ABCD"}
        times = np.array([m.t for m in models])
        if (times != times[0]).any():
            arrays["t"] = times
        return LinearModels(**{f.name: getattr(models[0], f.name) for f in fields(LinearModel)} | arrays)

    def reshape(self, shape: tuple[int, ...]) -> LinearModels:
        """Return the same models with other leading axes."""
        arrays = {n: getattr(self, n).reshape(*shape, *getattr(self, n).shape[-2:]) for n in "ABCD"}
        t = np.reshape(self.t, shape) if np.ndim(self.t) else self.t
        return dataclasses.replace(self, **arrays, t=t)

    # along a trajectory

    def at(self, t: float) -> LinearModel:
        """Return the model at a time [s] between those of the operating points: all matrices change linearly between two of them."""
        return interpolate_model(self, t)

    def transition(self, t0: float | None = None, t1: float | None = None) -> np.ndarray:
        """Return the state transition matrix Phi(t1, t0) of x' = A(t) x, (nx, nx): what x(t0) has become at t1, without inputs.

        A changes linearly between the operating points. With a period it is the product of the matrices A at t0, t0 + period and
        so on.

        Parameters
        ----------
        t0, t1 : float [s]
            The first and the last time if not given; t1 < t0 goes back in time, without a period.
        """
        times = times_of(self)
        return transition(self, times[0] if t0 is None else t0, times[-1] if t1 is None else t1)

    def plot(self) -> Figure:
        """Return a figure over time: size, damping ratio and real part of all poles."""
        from matplotlib.figure import Figure

        times, found = times_of(self), self.poles
        found = np.where(np.isfinite(found), found, np.nan)
        sizes = np.abs(found)
        with np.errstate(invalid="ignore", divide="ignore"):
            damping = np.where(sizes > 0, -found.real / sizes, np.nan)
        figure = Figure(figsize=(7, 7), layout="constrained")
        axes = figure.subplots(3, 1, sharex=True)
        labels = ("size of the poles [rad/s]", "damping ratio [-]", "real part [rad/s]")
        for ax, values, label in zip(axes, (sizes, damping, found.real), labels):
            ax.plot(times, values, ".", color="C0", ms=3)
            ax.set_ylabel(label)
            ax.grid(alpha=0.3)
        axes[1].set_ylim(-1.05, 1.05)
        for ax in axes[1:]:
            ax.axhline(0.0, color="k", lw=0.7)
        axes[2].set_xlabel("t [s]")
        axes[0].set_title(self.name)
        return figure

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading axes: those of the operating points."""
        return self.A.shape[:-2]

    def __len__(self) -> int:
        return len(self.A)

    def __getitem__(self, index: Any) -> LinearModel:
        """Return one model, or those that an index or a slice of the leading axes chooses."""
        points = np.empty(self.shape, dtype=bool)[index].shape
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        chosen = {name: values[name][index] for name in "ABCD"}
        if np.ndim(self.t):
            chosen["t"] = self.t[index] if points else float(self.t[index])
        return (LinearModels if points else LinearModel)(**values | chosen)

    def __iter__(self) -> Iterator[LinearModel]:
        return (self[i] for i in range(len(self)))

    def to_control(self) -> control.StateSpace:
        """Raise InputError: python-control has no system for many operating points."""
        raise InputError(
            f"to_control: found models of {self.shape} operating points; expected one: models[i]"
        )

    def _alone(self) -> LinearModel:
        raise InputError(
            f"connection of linear models: found models of {self.shape} operating points; expected one: models[i]"
        )

    def _transfer(self, places: np.ndarray) -> np.ndarray:
        found = np.empty((*self.shape, len(places), *self.D.shape[-2:]), dtype=complex)
        for i in np.ndindex(self.shape):
            found[i] = Transfer(self.A[i], self.B[i], self.C[i], self.D[i])(places)
        return found
