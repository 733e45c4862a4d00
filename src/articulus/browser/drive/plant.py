"""A machine that goes forward in native steps, a few at a time, while its held values are written from outside."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from articulus import kernel
from articulus.browser.drive.machine import Machine
from articulus.browser.drive.sticks import NAME
from articulus.errors import InputError
from articulus.simulation.integrate import RK4
from articulus.simulation.running.loop import Loop
from articulus.simulation.running.native_engine import NativeEngine

STEP = 1e-3
"""Step of the dynamics [s]."""
SAMPLE = 10
"""Steps from sample to sample of a recording."""


class Plant:
    """The state of a machine and its native time loop.

    The loop runs in rounds of a fixed number of steps over the same arrays, so that it never ends and allocates nothing.

    Parameters
    ----------
    machine : Machine
    h : float [s]

    Raises
    ------
    InputError
        It diverges before it is handed over.

    Attributes
    ----------
    k : int
        Number of steps done since the start.
    """

    def __init__(self, machine: Machine, h: float = STEP):
        self.machine, self.h = machine, h
        self.system = Loop(machine.mechanism, components=machine.components).system
        self._marcher = NativeEngine(self.system, RK4(), h)
        self._marcher.prepare(1)
        self.round = math.lcm(SAMPLE, *self._marcher.periods)
        while self.round < 100:
            self.round *= 2
        s = self.system
        self._held = {
            name: slice(s.nc + at.start, s.nc + at.stop)
            for name in ("axes", "mode", "soil", "rise", "load")
            if (at := s.held_places[f"{NAME}.{name} remembered"])
        }
        self.p = np.array([p.value for p in s.network.parameters], dtype=float)
        self._given = self._marcher.parameters(0.0, self.p[None])
        self._x = self._marcher.rows(self._start_constants()[None], s.d0[None])
        self._failed = np.full(1, kernel.NEVER)
        self._log = np.zeros((1, self.round // SAMPLE, self._marcher.logged))
        self._march = self._marcher.on(
            self._x, self._given, np.zeros((self.round, s.nw)), self._failed, self._log, first=0, every=SAMPLE
        )
        self.k = 0
        self.sink: list[np.ndarray] | None = None
        self.advance(round(machine.settle / h))
        if self.failed:
            raise InputError(
                f"drive: '{machine.mechanism.name}' diverges at rest after {self.t:.3g} s with steps of {h:g} s; expected a "
                "machine that is not too stiff for them. Leave out its fastest flexible modes or soften its springs"
            )
        self._settled = self._x.copy()

    def _start_constants(self) -> np.ndarray:
        c = self.system.c0.copy()
        if self.machine.q0 is not None:
            c[self.system.places["q"]] = self.machine.q0
        return c

    # what it is

    @property
    def t(self) -> float:
        """Time since the start [s]."""
        return self.k * self.h

    @property
    def failed(self) -> bool:
        """Whether the last step had no finite result."""
        return bool(self._failed[0] >= 0)

    def state(self) -> np.ndarray:
        """Return a copy of the complete state, (nx,)."""
        return self._x[0].copy()

    def q(self, state: np.ndarray) -> np.ndarray:
        """Return the positions that a state holds, (nq,)."""
        return state[self.system.places["q"]]

    def v(self, state: np.ndarray) -> np.ndarray:
        """Return the velocities that a state holds, (nv,)."""
        return state[self.system.places["v"]]

    def load(self, state: np.ndarray) -> float:
        """Return the weight that the tool holds in a state [N]."""
        return float(state[self._held["load"]].sum())

    # what happens to it

    def put(self, axes: Sequence[float], mode: int, soil: bool) -> None:
        """Hold these sticks, this mode and this switch from the next sampling instant on."""
        x = self._x[0]
        x[self._held["axes"]], x[self._held["mode"]], x[self._held["soil"]] = axes, mode, soil

    def bear(self, rise: float, load: float) -> None:
        """Hold this rise of the ground [m] and this load of the tool [N] from the next sampling instant on."""
        x = self._x[0]
        x[self._held["rise"]], x[self._held["load"]] = rise, load

    def advance(self, steps: int) -> None:
        """Take steps; samples go to `sink` while there is one, and a failure ends them."""
        while steps > 0 and not self.failed:
            at = self.k % self.round
            count = min(steps, self.round - at)
            self._given[:, 0] = (self.k - at) * self.h
            self._march(at, at + count)
            self.k, steps = self.k + count, steps - count
            if self.sink is not None:
                first, last = -(-at // SAMPLE), -(-(at + count) // SAMPLE)
                if last > first:
                    self.sink.append(self._log[0, first:last].copy())

    def reset(self) -> None:
        """Go back to where the operator took over."""
        self._x[:] = self._settled
        self._failed[:] = kernel.NEVER
        self.k += -self.k % self.round
