"""The Python controller of a run: what it reads at an instant, and what it commands."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.errors import InputError, did_you_mean
from articulus.simulation.loop.component import Sensor
from articulus.simulation.loop.functions import System, native
from articulus.simulation.loop.python_controller import STATE, PythonController
from articulus.simulation.loop.steps import whole_steps


class PythonControllerCalls:
    """A Python controller begun for one run.

    Parameters
    ----------
    controller : PythonController
    system : System
    h : float [s]
        Step.
    single : bool
        Whether its arrays have no batch axis.
    seed : int
        Seed of the run.
    """

    def __init__(self, controller: PythonController, system: System, h: float, single: bool, seed: int):
        self._controller, self._system, self._h, self._single = controller, system, h, single
        self._signals = [name for name in controller.inputs if name not in STATE]
        known = list(system.outputs)
        for name in self._signals:
            if name not in known:
                raise InputError(
                    f"controller '{controller.name}': no signal '{name}'; {did_you_mean(name, [*STATE, *known])}"
                )
        self._law = controller.begin(seed)
        if self._signals:
            sensors = {c.name for c in system.network.components if isinstance(c, Sensor)}
            self._sampled = [
                (native(u.function), whole_steps(f"component '{u.name}', period", u.period, h))
                for u in system.updates
                if u.name in sensors
            ]
            self._report = system.reporting_kernel(self._signals)

    def commands(
        self, k: int, t: float, x: np.ndarray, p: np.ndarray, w: np.ndarray, shape: tuple[int, ...]
    ) -> np.ndarray:
        """Return the commands of step k, (rows, nu) or (nu,), from states x (rows, nx) and the noise w of the step."""
        state = (x[0] if self._single else x).copy()  # one copy for q and v, which the function may keep
        state.setflags(write=False)
        places = self._system.places
        known: dict[str, Any] = {"t": t}
        for name in ("q", "v"):
            known[name] = state[places[name]] if self._single else state[:, places[name]]
        if self._signals:
            known |= self._measure(k, t, x, p, w)
        values = [known[name] for name in self._controller.inputs]
        return self._controller.commands(self._law, t, values, shape)

    def _measure(
        self, k: int, t: float, x: np.ndarray, p: np.ndarray, w: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return the signals as they are once the sampled sensors of this instant have worked; x stays as it is."""
        nc, nd = self._system.nc, self._system.nd
        c, d = np.ascontiguousarray(x[:, :nc]), np.ascontiguousarray(x[:, nc : nc + nd])
        for update, period in self._sampled:
            if k % period == 0:
                d = np.reshape(update(c, d, p, w, t, self._h), d.shape)
        found = self._report(c, d, p, w, t, self._h)
        values = [
            np.reshape(each, (len(x), -1)) for each in (found if isinstance(found, tuple) else (found,))
        ]
        for each in values:
            each.setflags(write=False)
        return {name: each[0] if self._single else each for name, each in zip(self._signals, values)}
