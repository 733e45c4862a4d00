"""How a run was made: what `Run.again` and `Run.linearize` need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.errors import ArticulusError, InputError
from articulus.linear import LinearModel, Ports
from articulus.model.late import late_function
from articulus.simulation.loop.linear_model import (
    asked_signals,
    linear_models,
    model_signals,
    ports,
    require_derivatives,
)
from articulus.simulation.results.recipe import Recipe
from articulus.simulation.results.run import Run

if TYPE_CHECKING:
    from articulus.simulation.running.specification import Specification


@dataclass(frozen=True, eq=False)
class RunOrigin:
    """The origin of a run that was simulated in this process.

    Parameters
    ----------
    setup : Specification
    p : array, (rows, parameters)
        Values of the parameters.
    samples : array, (rows, time, nc + nd)
        Continuous states and held values at the times of the run (`loop.functions.System`).
    """

    setup: Specification
    p: np.ndarray
    samples: np.ndarray

    def again(self, params: Mapping[str, Any]) -> Run:
        """Return the same run with other values of some parameters."""
        return self.setup.with_params(params).runner().run()

    def linearize(
        self,
        run: Run,
        at: Any,
        index: int,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...] | None,
        opened: tuple[str, ...],
    ) -> LinearModel:
        """Return the linear model of the loop about the state of a run at a time, or those at many; see `Run.linearize`."""
        setup = self.setup
        require_derivatives(setup.system, setup.outside)
        signals = model_signals(run.signals) if outputs is None else asked_signals(setup.system, outputs)
        if np.ndim(at) > 1 or not np.size(at):
            raise InputError(f"linearize: found times of shape {np.shape(at)}; expected one, or (times,)")
        rows = [_row(run, t, index) for t in (at if np.ndim(at) else [at])]
        x, p = self.samples[index, rows], np.tile(self.p[index], (len(rows), 1))
        step, times = setup.settings.step, run.t[rows]
        found = linear_models(setup.system, step, signals, x, p, times, inputs, opened, outputs)
        return found if np.ndim(at) else found[0]

    def ports(self, run: Run) -> Ports:
        """Return inputs and outputs of `linear`, without deriving anything; raises UnsupportedOperation where it does."""
        require_derivatives(self.setup.system, self.setup.outside)
        return ports(self.setup.system, model_signals(run.signals), {"tau": 0})

    def recipe(self) -> Recipe:
        """Return the same as data, for files and other processes."""
        setup, system = self.setup, self.setup.system
        try:
            text, refused = late_function("loop_text")(setup), ""
        except ArticulusError as error:
            text, refused = "", str(error)
        names = [f.name for f in fields(setup.settings) if f.init and f.name != "events"]
        settings = {name: getattr(setup.settings, name) for name in names} | {"loops": system.loops}
        own = np.ones(system.nc + system.nd, dtype=bool)
        for name in "qv":
            own[system.places[name]] = False
        q0, v0 = (None if x is None else np.asarray(x, dtype=float) for x in (setup.q0, setup.v0))
        params = {name: np.asarray(x, dtype=float).tolist() for name, x in setup.params.items()}
        return Recipe(text, refused, settings, q0, v0, params, self.p, self.samples[..., own])


def _row(run: Run, at: float | None, index: int) -> int:
    """Return the last sample not after a time."""
    if not 0 <= index < (run.batch or 1):
        raise InputError(f"linearize: found run {index}; expected 0 to {(run.batch or 1) - 1}")
    q = run.q if run.batch is None else run.q[index]
    good = np.flatnonzero(np.isfinite(q).all(axis=-1))
    wanted = run.t[-1] if at is None else at
    reached = good[run.t[good] <= wanted + 1e-9 * abs(wanted)]
    if not reached.size:
        raise InputError(
            f"linearize: found no sample up to t = {wanted:g} s; expected one from {run.t[0]:g} s on"
        )
    return int(reached[-1])
