"""Value and gradient of a figure of a run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from articulus.errors import InputError, UnsupportedOperation, did_you_mean
from articulus.kernel import Kernel
from articulus.simulation.gradients.adjoint import adjoint, states_at
from articulus.simulation.gradients.expressions import expression
from articulus.simulation.gradients.figures import Figure, Final
from articulus.simulation.gradients.forward import forward
from articulus.simulation.gradients.step_nodes import compile_columns
from articulus.simulation.gradients.steps import Steps
from articulus.simulation.gradients.variables import Variables, variables
from articulus.simulation.loop.functions import ARGUMENTS, System
from articulus.simulation.running.specification import Specification

MODES = ("auto", "forward", "adjoint")
FEW = 8
"""Parameters up to which forward tangents take less time than an adjoint: those of one vector of lanes."""


@dataclass(frozen=True, eq=False)
class Gradient:
    """A figure of a run and its derivatives.

    Parameters
    ----------
    value : float
        The figure.
    names : tuple of str
        What it is differentiated by.
    gradient : array, (names,)
        Derivatives, each in the unit of the figure over that of its parameter.
    mode : str
        How they were found, "forward" or "adjoint".
    """

    value: float
    names: tuple[str, ...]
    gradient: np.ndarray
    mode: str

    def __getitem__(self, name: str) -> float:
        """Return the derivative by one name."""
        if name not in self.names:
            raise InputError(f"gradient: no derivative by '{name}'; {did_you_mean(name, self.names)}")
        return float(self.gradient[self.names.index(name)])

    def __str__(self) -> str:
        width = max(map(len, self.names))
        rows = [f"  {name:<{width}}  {x: .6g}" for name, x in zip(self.names, self.gradient)]
        return "\n".join([f"figure {self.value:.6g}, derivatives by ({self.mode})", *rows])


def gradient(
    setup: Specification,
    figure: Figure | str | Callable[[Any], Any] | Sequence[Figure | str | Callable[[Any], Any]],
    parameters: Sequence[str] | str | None = None,
    mode: str = "auto",
) -> Gradient | list[Gradient]:
    """Return a figure of a run and its exact derivatives, or those of several figures of the same run; see `Loop.gradient`."""
    if mode not in MODES:
        raise InputError(f"gradient: mode '{mode}'; {did_you_mean(str(mode), MODES)}")
    if not setup.single:
        raise InputError(
            "gradient: found a batch of runs; expected one run, for which q0, v0 and params hold one value each"
        )
    given: list[Any] = list(figure) if isinstance(figure, list | tuple) else [figure]
    figures = [x if isinstance(x, Figure) else Final(x) for x in given]
    by = variables(setup, parameters)
    asked = [FigureExpression.of(setup.system, x) for x in figures]
    back = mode == "adjoint" or (mode == "auto" and len(by.names) > FEW)
    steps = Steps(setup.runner(), () if back else by.parameters, any(x.work for x in asked))
    at = steps.samples[-1:] if all(x.ends for x in figures) else steps.samples
    figures = [x.over(steps.t0 + at * steps.h) for x in figures]
    found = (_back if back else _forth)(steps, figures, asked, by, at)
    for _, slope in found:
        _look(setup, slope, by.names)
    out = [Gradient(value, by.names, slope, "adjoint" if back else "forward") for value, slope in found]
    return out if isinstance(figure, list | tuple) else out[0]


Found = list[tuple[float, np.ndarray]]
"""Values of figures, each with its derivatives."""


def _forth(
    steps: Steps, figures: list[Figure], asked: list[FigureExpression], by: Variables, at: np.ndarray
) -> Found:
    """Return figures with derivatives by tangents that go along with the run."""
    directions = by.directions()
    tangents = forward(steps, by.tangents(steps.nodes.states, steps.nodes.nx), directions, at)
    out = []
    for figure, expressed in zip(figures, asked):
        y, (by_x, by_p) = expressed.at(steps, tangents.states, at)
        changes = np.einsum("psx,sx->ps", tangents.tangents, by_x[:, expressed.places(steps)])
        slopes = changes + directions @ by_p[:, list(by.parameters)].T
        out.append((figure.value(y), slopes @ figure.weights(y)))
    return out


def _back(
    steps: Steps, figures: list[Figure], asked: list[FigureExpression], by: Variables, at: np.ndarray
) -> Found:
    """Return figures with derivatives by going back from each."""
    states, kept = states_at(steps, at)
    out = []
    for figure, expressed in zip(figures, asked):
        y, parts = expressed.at(steps, states, at)
        by_x, by_p = (figure.weights(y)[:, None] * part for part in parts)
        start, total = adjoint(steps, kept, by_x[:, expressed.places(steps)], at, by.parameters)
        whole = total + by_p.sum(axis=0)[list(by.parameters)]
        out.append((figure.value(y), by.gather(whole, start, steps.nodes.states)))
    return out


@dataclass(frozen=True, eq=False)
class FigureExpression:
    """The expression of a figure with its derivatives by state and parameters."""

    function: ca.Function
    derivative: ca.Function
    work: bool

    @functools.cached_property
    def native_code(self) -> Kernel:
        """Value and derivatives as native code."""
        return compile_columns(self.derivative)

    @classmethod
    def of(cls, system: System, figure: Figure) -> FigureExpression:
        """Return the expression of a figure; kept by the equations where it has a name."""
        kept = system.__dict__.setdefault("_figures", {})
        if figure.of in kept:
            return kept[figure.of]
        function, work = expression(system, figure.of)
        if function.numel_out(0) != 1:
            raise InputError(
                f"figure: found {function.numel_out(0)} numbers for every sample; expected one, such as 'q.lift' or ca.sumsqr(s['q'])"
            )
        kind: Any = ca.SX if function.is_a("SXFunction") else ca.MX
        symbols = [kind.sym(name, size) for name, size in zip(ARGUMENTS, system.sizes)]
        y = function.call(symbols)[0]
        out = [y, *(ca.densify(ca.gradient(y, symbols[k])) for k in range(3))]
        made = ca.Function(
            "figure",
            symbols,
            ca.cse(out) if kind is ca.SX else out,
            list(ARGUMENTS),
            ["y", "by_c", "by_d", "by_p"],
        )
        kept[figure.of] = cls(function, made, work)
        return kept[figure.of]

    def at(
        self, steps: Steps, states: np.ndarray, at: np.ndarray
    ) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Return the expression at samples, (samples,), and its derivatives by (c, d) and by p, a row for each."""
        nc = steps.system.nc
        w = steps.noise()[at] if steps.system.nw else np.zeros((len(at), 0))
        c, d = np.ascontiguousarray(states[:, :nc]), np.ascontiguousarray(states[:, nc:])
        t = steps.t0 + at * steps.h
        y, *by = (
            np.reshape(x, (len(at), -1)) for x in self.native_code(c, d, steps.p, w, t, np.full((), steps.h))
        )
        return y[:, 0], (np.hstack(by[:2]), by[2])

    def places(self, steps: Steps) -> np.ndarray:
        """Return the entries of (c, d) that have a tangent."""
        return np.concatenate([steps.nodes.states, steps.system.nc + np.arange(steps.system.nd)]).astype(int)


def _look(setup: Specification, found: np.ndarray, names: Sequence[str]) -> None:
    """Refuse derivatives that are no numbers."""
    if not np.isfinite(found).all():
        name = names[int(np.flatnonzero(~np.isfinite(found))[0])]
        raise UnsupportedOperation(
            f"gradient of '{setup.mechanism.name}': the derivative by '{name}' is no number: the run meets a point where a function has no "
            "slope, such as a square root or a distance of zero"
        )
