"""`Inversion`: inputs over time and the motion that they produce; what every method of inversion returns."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.control.design import Check
from articulus.errors import InputError
from articulus.model.files.storage import write_text
from articulus.model.mechanism import Spline
from articulus.simulation.loop.components.prescribed import PrescribedCommand, PrescribedForce
from articulus.simulation.loop.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACTIVE = 1e-3
"""Part of its largest change above which an input counts as acting."""


@dataclass(frozen=True, eq=False)
class Inversion:
    """Inputs that produce a wanted motion, from before its start until after its end.

    Parameters
    ----------
    method : str
        Which made it.
    t : array, (N,) [s]
        Ascending times; the wanted motion takes place between `start` and `end`.
    inputs : array, (N, m)
    outputs : array, (N, p)
        The wanted motion.
    input_names, output_names : tuple of str
        Such as "tau.shoulder" and "tip.x".
    input_units, output_units : tuple of str
    start, end : float [s]
        Of the wanted motion; the outputs are at rest outside.
    states : array, (N, n) or None
        The motion predicted for the whole system.
    state_names : tuple of str
        Such as "q.shoulder", "v.shoulder".
    figures : dict of str to number or array
        What the method found: zeros, iterations, residuals, by name.
    checks : tuple of Check
    held : bool
        Whether the inputs hold their values from each time to the next, as those of a digital controller.
    """

    method: str
    t: np.ndarray
    inputs: np.ndarray
    outputs: np.ndarray
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    start: float
    end: float
    states: np.ndarray | None = None
    state_names: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    held: bool = False

    @property
    def support(self) -> tuple[float, float]:
        """First and last time [s] at which some input is off its first or last value by more than 0.1 % of its largest change.

        The first and last values are zero, or hold the mechanism against gravity.
        """
        before, after = np.abs(self.inputs - self.inputs[0]), np.abs(self.inputs - self.inputs[-1])
        least = ACTIVE * np.maximum(before.max(0), after.max(0))
        begun, going = ((size > least).any(1) for size in (before, after))
        if not begun.any() or not going.any():
            return self.start, self.start
        return float(self.t[begun.argmax()]), float(self.t[np.flatnonzero(going)[-1]])

    @property
    def pre(self) -> float:
        """How long before the motion the inputs begin [s]."""
        return max(0.0, self.start - self.support[0])

    @property
    def post(self) -> float:
        """How long after the motion the inputs end [s]."""
        return max(0.0, self.support[1] - self.end)

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return all(check.passed for check in self.checks)

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
            course = Table(*made_of, held=True) if self.held else Spline(*made_of)
            made.append(
                PrescribedForce(target, course) if kind == "tau" else PrescribedCommand(target, course)
            )
        return tuple(made)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write times, inputs, outputs and states to a file of comma-separated values; an existing one is replaced."""
        columns = [self.t[:, None], self.inputs, self.outputs]
        names = ["t [s]", *_headed(self.input_names, self.input_units)]
        names += _headed(self.output_names, self.output_units)
        if self.states is not None:
            columns.append(self.states)
            names += list(self.state_names)
        text = io.StringIO()
        np.savetxt(text, np.hstack(columns), delimiter=",", header=",".join(names), comments="", fmt="%.17g")
        write_text(path, text.getvalue())

    def plot(self) -> Figure:
        """Return a figure: the wanted motion above, the inputs below, the time of the motion shaded."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
        for ax, values, names, units in (
            (axes[0], self.outputs, self.output_names, self.output_units),
            (axes[1], self.inputs, self.input_names, self.input_units),
        ):
            drawn = "steps-post" if self.held and values is self.inputs else "default"
            for name, column in zip(names, values.T):
                ax.plot(self.t, column, label=name, drawstyle=drawn)
            ax.axvspan(self.start, self.end, color="0.92", zorder=0)
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
            f"  motion {self.start:g} to {self.end:g} s, inputs act from {first:.4g} to {last:.4g} s",
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


def _headed(names: tuple[str, ...], units: tuple[str, ...]) -> list[str]:
    return [f"{name} [{unit}]" for name, unit in zip(names, units)]
