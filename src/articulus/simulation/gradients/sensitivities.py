"""Signals of a run with their derivatives by named parameters, over time."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.kernel import Kernel
from articulus.simulation.gradients.expressions import expression
from articulus.simulation.gradients.forward import Tangents, forward
from articulus.simulation.gradients.step_nodes import compile_columns
from articulus.simulation.gradients.steps import Steps
from articulus.simulation.gradients.variables import Variables, variables
from articulus.simulation.loop.functions import ARGUMENTS, System
from articulus.simulation.running.specification import Specification


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Signals of a run and how they change with parameters.

    Parameters
    ----------
    t : array, (samples,) [s]
    names : tuple of str
        Parameters and entries of the initial state.
    signals : dict of name to array, (samples, n)
        What was asked for.
    by : dict of name to array, (samples, n, names)
        Derivatives of the signals.
    """

    t: np.ndarray
    names: tuple[str, ...]
    signals: dict[str, np.ndarray]
    by: dict[str, np.ndarray]

    def of(self, signal: str, parameter: str) -> np.ndarray:
        """Return the derivative of a signal by one parameter over time, (samples, n)."""
        for name, known in ((signal, tuple(self.signals)), (parameter, self.names)):
            if name not in known:
                raise InputError(f"sensitivities: no '{name}'; {did_you_mean(name, known)}")
        return self.by[signal][..., self.names.index(parameter)]


def sensitivities(
    setup: Specification, parameters: Sequence[str] | str | None = None, outputs: Sequence[str] = ("q", "v")
) -> Sensitivities:
    """Return signals of a run with their exact derivatives; see `Loop.sensitivities`."""
    if not setup.single:
        raise InputError("sensitivities: found a batch of runs; expected one run")
    if isinstance(outputs, str) or not outputs:
        raise InputError(
            f"sensitivities: outputs = {outputs!r}; expected names of signals, such as ['q', 'gyro.rate']"
        )
    by = variables(setup, parameters)
    asked = [_Output.of(setup.system, name) for name in outputs]
    steps = Steps(setup.runner(), by.parameters, any(each.work for each in asked))
    directions, at = by.directions(), steps.samples
    found = forward(steps, by.tangents(steps.nodes.states, steps.nodes.nx), directions, at)
    values = {each.name: each.at(steps, by, found, at) for each in asked}
    t = steps.t0 + at * steps.h
    return Sensitivities(
        t,
        by.names,
        {name: y for name, (y, _) in values.items()},
        {name: s for name, (_, s) in values.items()},
    )


@dataclass(frozen=True, eq=False)
class _Output:
    """A signal with its change along one direction."""

    name: str
    function: ca.Function
    work: bool

    @functools.cached_property
    def native_code(self) -> Kernel:
        """Value and change as native code."""
        return compile_columns(self.function)

    @classmethod
    def of(cls, system: System, name: str) -> _Output:
        """Return a signal; kept by the equations."""
        kept = system.__dict__.setdefault("_sensitive", {})
        if name not in kept:
            value, work = expression(system, name)
            kind: Any = ca.SX if value.is_a("SXFunction") else ca.MX
            symbols = [kind.sym(n, size) for n, size in zip(ARGUMENTS, system.sizes)]
            along = [kind.sym(n, size) for n, size in zip(("dc", "dd", "dp"), system.sizes)]
            y = value.call(symbols)[0]
            change = ca.jtimes(y, ca.vertcat(*symbols[:3]), ca.vertcat(*along)) if kind is ca.SX else sum(
                (ca.jtimes(y, x, dx) for x, dx in zip(symbols[:3], along)), start=kind.zeros(y.numel())
            )  # fmt: skip
            out = [ca.densify(y), ca.densify(change)]
            made = ca.Function(
                "output", [*symbols, *along], ca.cse(out) if kind is ca.SX else out, [*ARGUMENTS, "dc", "dd", "dp"], ["y", "change"]
            )  # fmt: skip
            kept[name] = cls(name, made, work)
        return kept[name]

    def at(
        self, steps: Steps, by: Variables, found: Tangents, at: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return values, (samples, n), and derivatives, (samples, n, names)."""
        system, states = steps.system, steps.nodes.states
        if self.name in ("q", "v"):
            place = system.places[self.name]
            own = [int(np.flatnonzero(states == k)[0]) for k in range(place.start, place.stop)]
            return found.states[:, place], np.ascontiguousarray(np.moveaxis(found.tangents[:, :, own], 0, -1))
        rows, samples = found.tangents.shape[:2]
        dc = np.zeros((rows, samples, system.nc))
        dc[..., states] = found.tangents[..., : len(states)]
        dd = np.ascontiguousarray(found.tangents[..., len(states) :])
        dp = np.zeros((rows, 1, system.np))
        dp[:, 0, list(by.parameters)] = by.directions()
        w = steps.noise()[at] if system.nw else np.zeros((samples, 0))
        c, d = (
            np.ascontiguousarray(found.states[:, : system.nc]),
            np.ascontiguousarray(found.states[:, system.nc :]),
        )
        t = steps.t0 + at * steps.h
        y, change = self.native_code(c, d, steps.p, w, t, np.full((), steps.h), dc, dd, dp)
        return np.reshape(y[0], (samples, -1)), np.moveaxis(np.reshape(change, (rows, samples, -1)), 0, -1)
