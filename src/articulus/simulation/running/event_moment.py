"""What an event may do at its instant: change position and velocity, push by impulses, switch constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from articulus.dynamics.impulse import velocity_change
from articulus.errors import InputError
from articulus.simulation.loop.equations import DISSIPATED, INPUT

if TYPE_CHECKING:
    from articulus.simulation.running.numeric_engine import NumericEngine


@dataclass
class Moment:
    """The state at an event, for the event to change (`events.Situation`)."""

    engine: NumericEngine
    x: np.ndarray
    p: np.ndarray
    w: np.ndarray
    t: float

    def __post_init__(self) -> None:
        system = self.engine.system
        self.q = self.x[system.places["q"]].copy()
        self.v = self.x[system.places["v"]].copy()

    def dof(self, joint: str) -> int:
        """Return the place in v of the velocity of a joint of one degree of freedom."""
        return self.engine.system.description.v_slices[joint].start

    def impulse(self, direction: np.ndarray, wanted: float) -> np.ndarray:
        """Return the velocities after an impulse along `direction` that brings direction' v to `wanted`.

        Joints that rest on a stop stay there, but for those that the impulse takes off: their stop would have to pull.
        """
        loops, stops = self._rows() if self._holding().any() else None, self.engine.stops
        resting = [i for i in stops.resting(self.x) if stops.direction(i) @ direction == 0]
        while True:
            sides = [stops.direction(i) * stops.side(i) for i in resting]
            rows = np.vstack([direction, *sides, *([] if loops is None else [loops])])
            targets = np.append([wanted - direction @ self.v], np.zeros(len(rows) - 1))
            change, impulses = self._least_change(rows, targets)
            pulls = impulses[1 : 1 + len(resting)]
            if not (pulls > 0).any():
                return self.v + change
            stops.let_go(self.x, resting.pop(int(np.argmax(pulls))))

    def close(self, constraint: str, active: bool, as_found: bool = False) -> None:
        """Switch a constraint; one that begins to hold takes away the velocity against it, and may keep its residual."""
        system = self.engine.system
        self.x[system.nc + system.switch(constraint)] = float(active)
        if active and as_found:
            assert system.closing is not None
            g = np.array(system.closing.position(self.q, self.t, self._model())).ravel()
            start = system.nc + system.held_places["kept"].start
            for i, name in enumerate(system.closing.names):
                if name == constraint:
                    self.x[start + i] = g[i]

    async def take_over(self, name: str) -> None:
        """Put the changed position and velocity into the state; rows that hold get admissible velocities.

        Whatever the form of loops, what the rows take from the velocities is an impulse along them: linear and angular momentum of
        what flies freely stay, and of all changes this is the one that takes the least energy. Energy that the event takes away
        counts as dissipated, what it adds as input.
        """
        system, before = self.engine.system, await self._energy()
        for label, value in (("q", self.q), ("v", self.v)):
            at = system.places[label]
            if value.shape != self.x[at].shape or not np.isfinite(value).all():
                raise InputError(
                    f"event '{name}' at t = {self.t:.6g} s: its action gave {label} = {value}; expected "
                    f"{at.stop - at.start} finite numbers"
                )
            self.x[at] = value
        if system.correction is not None:
            nc, held = system.nc, self.x[system.nc : self.engine.logged]
            corrected = await self.engine.stepper.correcting(self.x[:nc], held, self.p, self.w, self.t)
            self.q = self.x[system.places["q"]] = corrected[system.places["q"]]
        if self._holding().any():
            self.x[system.places["v"]] += self._against_rows()
        gain = await self._energy() - before
        self.x[system.places[INPUT if gain > 0 else DISSIPATED]] += abs(gain)
        self.x[self.engine.logged :] = 0.0

    def _against_rows(self) -> np.ndarray:
        """Return the change of velocities by the impulses of the rows that hold, (nv,)."""
        closing = self.engine.system.closing
        assert closing is not None
        rate = np.array(closing.rate(self.q, self.v, self.t, self._model())).ravel()
        return self._least_change(self._rows(), -rate[self._active()])[0]

    async def _energy(self) -> float:
        """Return the energy that the mechanism and its components hold [J]."""
        return await self.engine.energy(self.x, self.p, self.w, self.t)

    def _model(self) -> np.ndarray:
        """Return the parameters of the mechanism itself."""
        return self.p[: len(self.engine.system.description.parameters)]

    def _holding(self) -> np.ndarray:
        system = self.engine.system
        at = system.held_places["active"]
        return self.x[system.nc + at.start : system.nc + at.stop] > 0

    def _active(self) -> list[int]:
        """Return the constraint rows that hold."""
        closing = self.engine.system.closing
        assert closing is not None
        active = {c.name for c, on in zip(closing.description.constraints, self._holding()) if on}
        return [i for i, name in enumerate(closing.names) if name in active]

    def _rows(self) -> np.ndarray:
        """Return the directions of the rows that hold, (rows, nv)."""
        closing = self.engine.system.closing
        assert closing is not None
        return np.array(closing.jacobian(self.q, self.t, self._model()))[self._active()]

    def _least_change(self, rows: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return velocity_change(self.engine.system.mass_matrix(self.q, self._model()), rows, targets)
