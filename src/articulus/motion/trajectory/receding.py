"""A receding-horizon controller: one iteration of the Riccati solver at every sample, begun with the motion of the last one."""

from __future__ import annotations

import numpy as np

from articulus.motion.trajectory.online import Online
from articulus.motion.trajectory.riccati import Riccati
from articulus.motion.trajectory.stages import Stages


class RecedingHorizon(Online):
    """The controller of a mechanism that improves its plan by an iteration at every call with t, q and v.

    Parameters
    ----------
    stages : Stages
        What is predicted and what it costs, such as those of `reaching`.
    iterations : int
        At every sample; several at the first one.
    rho : float
        Weight of the squared violations of constraints over their sizes; limits of inputs are kept exactly.
    offset_free : bool
        Whether constant forces that the model does not have, such as those of a payload, are estimated and made up for.
    """

    def __init__(self, stages: Stages, *, iterations: int = 1, rho: float = 1e3, offset_free: bool = True):
        self._iterations, self._rho = iterations, rho
        super().__init__(stages, offset_free)

    def begin(self) -> None:
        """Forget the planned motion."""
        s = self.stages
        x = np.tile(s.start, (s.steps + 1, 1))
        u = np.clip(np.tile(self.rest_input, (s.steps, 1)), *s.box)
        self.way = Riccati(s, x, u)
        self.way.rho = self._rho
        self._begun = False

    def improve(self, x: np.ndarray) -> np.ndarray:
        """Return the inputs to apply now, (nu,), at a state x."""
        way = self.way
        if self._begun:
            way.x[:-1], way.u[:-1] = way.x[1:], way.u[1:]
        else:
            way.x[:] = x
        way.x[0] = x
        for _ in range(self._iterations if self._begun else FIRST * self._iterations):
            way.iterate()
        if not np.isfinite(way.u).all() or not np.isfinite(way.x).all():
            raise self.lost(x)
        self._begun = True
        return way.u[0].copy()

    def input_at(self, step: int, x: np.ndarray) -> np.ndarray:
        """Return the planned inputs of a step of the horizon, (nu,); x is not asked for."""
        return self.way.u[step].copy()


FIRST = 5
"""How many times more iterations the first sample takes: nothing is planned yet."""
