"""`Inversion`: inputs over time and the motion that they produce; what every method of inversion returns."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.control.design import Check
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.model.files.storage import write_text
from articulus.model.mechanism import Spline
from articulus.motion.motion import Motion, MotionState
from articulus.motion.piecewise import Piecewise
from articulus.simulation.loop.components.prescribed import PrescribedCommand, PrescribedForce
from articulus.simulation.loop.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACTIVE = 1e-3
"""Part of its largest change above which an input counts as acting."""


@dataclass(frozen=True, eq=False)
class Inversion(Motion):
    """Inputs that produce a desired motion, from before its start until after its end.

    Parameters
    ----------
    method : str
        Which made it.
    t : array, (N,) [s]
        Ascending times; the desired motion takes place between `t0` and `t_end`.
    inputs : array, (N, m)
    outputs : array, (N, p)
        The desired motion.
    input_names, output_names : tuple of str
        Such as "tau.shoulder" and "tip.x".
    input_units, output_units : tuple of str
    t0, t_end : float [s]
        Start and end of the desired motion; the outputs are at rest outside.
    states : array, (N, n) or None
        The motion predicted for the whole system.
    state_names : tuple of str
        Such as "q.shoulder", "v.shoulder".
    figures : dict of str to number or array
        What the method found: zeros, iterations, residuals, by name.
    checks : tuple of Check
    zero_order_hold : bool
        Whether the inputs hold their values from each time to the next, as those of a digital controller.
    mechanism : Mechanism or None
        That moves, if the states are its positions and velocities and nothing but the inputs acts on it; None for linear models and other equations.
    """

    method: str
    t: np.ndarray = field()
    inputs: np.ndarray
    outputs: np.ndarray
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    t0: float
    t_end: float
    states: np.ndarray | None = None
    state_names: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    zero_order_hold: bool = False
    mechanism: Mechanism | None = None

    def _require_mechanism(self, what: str) -> Mechanism:
        if self.mechanism is None or self.states is None:
            raise InputError(
                f"{what}: found an inversion ({self.method}) of a model that is no mechanism, or one with further components; expected one of a mechanism. "
                "Its inputs are components of a loop by `components()`"
            )
        return self.mechanism

    @cached_property
    def q(self) -> np.ndarray:
        """Positions at the times, (N, nq)."""
        m = self._require_mechanism("q")
        return np.column_stack([self.state(f"q.{name}") for name in m.q_names])

    @cached_property
    def v(self) -> np.ndarray:
        """Velocities at the times, (N, nv)."""
        m = self._require_mechanism("v")
        return np.column_stack([self.state(f"v.{name}") for name in m.v_names])

    @cached_property
    def tau(self) -> np.ndarray:
        """Forces of the motors at the times, (N, nv) [N m or N], zero where there is none."""
        return self.pieces(self.t)

    @cached_property
    def actuators(self) -> tuple[str, ...]:
        """Joints with motors."""
        return tuple(name.partition(".")[2] for name in self.input_names if name.startswith("tau."))

    @cached_property
    def pieces(self) -> Piecewise:
        """Forces of the motors over time, (nv,): splines through the samples, or held samples."""
        m = self._require_mechanism("forces")
        tau = np.zeros((len(self.t), m.nv))
        for joint in self.actuators:
            tau[:, m.v_slice(joint)] = self.input(f"tau.{joint}")[:, None]
        if self.zero_order_hold:
            return Piecewise(self.t, tau[:-1, None])
        from scipy.interpolate import CubicSpline  # late: its import would slow down every inversion

        powers = CubicSpline(self.t, tau).c[::-1] * np.diff(self.t)[:, None] ** np.arange(4)[:, None, None]
        return Piecewise(self.t, np.moveaxis(powers, 0, 1))

    @cached_property
    def _positions(self) -> Piecewise:
        m = self._require_mechanism("at")
        if all(name.startswith("tau.") for name in self.input_names):
            vdot = np.asarray(m.forward_dynamics(self.q, self.v, self.tau))
        else:  # voltages act, too
            vdot = np.gradient(self.v, self.t, axis=0)
        return Piecewise.quintic(self.t, self.q, self.v, vdot)

    def at(self, t: Any) -> MotionState:
        """Return positions, velocities, accelerations and forces of a mechanism at times, (..., n) each; what holds at the ends before and after."""
        x = self._positions
        return MotionState(x(t), x(t, 1), x(t, 2), self.pieces(t))

    def feedforward(self) -> tuple[PrescribedForce | PrescribedCommand, ...]:  # type: ignore[override]
        """Return the inputs as components for `simulate` and `Loop`; the first time is the time 0 of the run."""
        return self.components()

    @property
    def support(self) -> tuple[float, float]:
        """First and last time [s] at which some input is off its first or last value by more than 0.1 % of its largest change.

        The first and last values are zero, or hold the mechanism against gravity.
        """
        before, after = np.abs(self.inputs - self.inputs[0]), np.abs(self.inputs - self.inputs[-1])
        least = ACTIVE * np.maximum(before.max(0), after.max(0))
        begun, going = ((size > least).any(1) for size in (before, after))
        if not begun.any() or not going.any():
            return self.t0, self.t0
        return float(self.t[begun.argmax()]), float(self.t[np.flatnonzero(going)[-1]])

    @property
    def pre(self) -> float:
        """How long before the motion the inputs begin [s]."""
        return max(0.0, self.t0 - self.support[0])

    @property
    def post(self) -> float:
        """How long after the motion the inputs end [s]."""
        return max(0.0, self.support[1] - self.t_end)

    def input(self, name: str) -> np.ndarray:
        """Return one input over time, (N,)."""
        return self.inputs[:, _place(name, self.input_names, "input")]

    def state(self, name: str) -> np.ndarray:
        """Return one state over time, (N,)."""
        if self.states is None:
            raise InputError(f"{self.method}: this inversion holds no states")
        return self.states[:, _place(name, self.state_names, "state")]

    def components(self, *, shift: float | None = None) -> tuple[PrescribedForce | PrescribedCommand, ...]:
        """Return the inputs as components for `simulate` and `Loop`: a joint force per "tau.<joint>", a command per "u.<actuator>";
        splines through the samples, or held samples.

        Parameters
        ----------
        shift : float [s]
            Added to the times; -t[0] if not given, so that the first input is at the time 0 of the run.
        """
        times = self.t + (-self.t[0] if shift is None else shift)
        made: list[PrescribedForce | PrescribedCommand] = []
        for name, column in zip(self.input_names, self.inputs.T):
            kind, _, target = name.partition(".")
            if kind not in ("tau", "u"):
                raise InputError(
                    f"{self.method}: input '{name}' is neither a joint force nor a command; expected tau.<joint> or u.<actuator>"
                )
            made_of = tuple(times), tuple(column)
            course = Table(*made_of, hold=True) if self.zero_order_hold else Spline(*made_of)
            made.append(
                PrescribedForce(target, course) if kind == "tau" else PrescribedCommand(target, course)
            )
        return tuple(made)

    def to_csv(self, path: str | PathLike[str], *, step: float | None = None) -> None:
        """Write times, inputs, outputs and states to a file of comma-separated values; an existing one is replaced.

        Parameters
        ----------
        path : path of the file
        step : float [s]
            If given, the file has positions, velocities, accelerations and forces of the mechanism at this distance.
        """
        if step is not None:
            return super().to_csv(path, step=step)
        columns = [self.t[:, None], self.inputs, self.outputs]
        names = ["t [s]", *_with_headings(self.input_names, self.input_units)]
        names += _with_headings(self.output_names, self.output_units)
        if self.states is not None:
            columns.append(self.states)
            names += list(self.state_names)
        text = io.StringIO()
        np.savetxt(text, np.hstack(columns), delimiter=",", header=",".join(names), comments="", fmt="%.17g")
        write_text(path, text.getvalue())
        return None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the inversion to a netCDF4 file, whole or not at all; `load_inversion` reads it. Needs the extra `data`."""
        from articulus.motion.inversion.store import save_inversion

        save_inversion(self, path)

    def plot(self) -> Figure:
        """Return a figure: the desired motion above, the inputs below, the time of the motion shaded."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
        for ax, values, names, units in (
            (axes[0], self.outputs, self.output_names, self.output_units),
            (axes[1], self.inputs, self.input_names, self.input_units),
        ):
            drawn = "steps-post" if self.zero_order_hold and values is self.inputs else "default"
            for name, column in zip(names, values.T):
                ax.plot(self.t, column, label=name, drawstyle=drawn)
            ax.axvspan(self.t0, self.t_end, color="0.92", zorder=0)
            ax.set_ylabel(", ".join(dict.fromkeys(units)))
            ax.legend(frameon=False)
        first, last = self.support
        for x in (first, last):
            axes[1].axvline(x, color="0.6", lw=0.8, ls="--")
        axes[0].set_title(
            f"{self.method}: inputs begin {self.pre:.3g} s before and end {self.post:.3g} s after"
        )
        axes[1].set_xlabel("t [s]")
        return figure

    def __str__(self) -> str:
        first, last = self.support
        lines = [
            f"{self.method}: {', '.join(self.input_names)} -> {', '.join(self.output_names)}, {len(self.t)} times",
            f"  motion {self.t0:g} to {self.t_end:g} s, inputs act from {first:.4g} to {last:.4g} s",
        ]
        lines += [
            f"  {name} = {value:.6g}" if isinstance(value, float) else f"  {name} = {value}"
            for name, value in self.figures.items()
            if isinstance(value, str | bool | int | float | np.generic)
        ]
        return "\n".join(lines + [f"  {check}" for check in self.checks])


def _place(name: str, names: tuple[str, ...], what: str) -> int:
    if name not in names:
        raise InputError(f"no {what} '{name}'; there are {', '.join(names)}")
    return names.index(name)


def _with_headings(names: tuple[str, ...], units: tuple[str, ...]) -> list[str]:
    return [f"{name} [{unit}]" for name, unit in zip(names, units)]
