"""Joints that rest on the stops of `Bounce` events: when they come to rest, what holds them, when they are let go.

A joint rests while its entry of the held values "resting" is 1: its acceleration is then zero, and a force of the stop, which
the system's equations solve for, makes it so. The stop pushes and never pulls: position and force are complementary.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from articulus import kernel
from articulus.errors import InputError
from articulus.simulation.loop.events import Bounce, Event
from articulus.simulation.loop.functions import System, native
from articulus.simulation.running.batched_calls import KernelCall

LOWEST = 1e-12
"""Height of a flight below which a joint rests, and distance below which it is at its stop, over what is large for the joint
(`mechanism.scales`: 1 rad, the length) or the position of the stop, whichever is more [-]."""
ADHESION = 1e-10
"""Acceleration away from the stop up to which a joint still rests, over what is large for it in the square of the characteristic time
[-]: far above rounding."""


class Stops:
    """The stops among the events of a run.

    Parameters
    ----------
    system : System
        With the joints of all `Bounce` events as stops, in their order.
    events : sequence of Event
        All events; they are numbered in this order.
    """

    def __init__(self, system: System, events: Sequence[Event]):
        self._system = system
        self._bounces = {i: event for i, event in enumerate(events) if isinstance(event, Bounce)}
        self._order = {i: k for k, i in enumerate(self._bounces)}
        d = system.description
        self._q = {i: d.q_slices[b.joint].start for i, b in self._bounces.items()}
        self._v = {i: d.v_slices[b.joint].start for i, b in self._bounces.items()}
        scales = d.scales()
        self._large = {i: float(scales.displacement[at]) for i, at in self._v.items()}
        self.adhesion = {i: ADHESION * large / scales.time**2 for i, large in self._large.items()}
        """Acceleration away from each stop up to which its joint still rests [rad/s^2 or m/s^2]."""

    def has(self, i: int) -> bool:
        """Whether event i is a stop."""
        return i in self._bounces

    def side(self, i: int) -> int:
        """Return on which side stop i is."""
        return self._bounces[i].side

    def direction(self, i: int) -> np.ndarray:
        """Return the direction of stop i's joint in v, (nv,)."""
        out = np.zeros(self._system.description.nv)
        out[self._v[i]] = 1.0
        return out

    # states

    def _flag(self, i: int) -> int:
        return self._system.nc + self._system.held_places["resting"].start + self._order[i]

    def resting(self, x: np.ndarray) -> list[int]:
        """Return the stops at which joints rest."""
        return [i for i in self._bounces if x[self._flag(i)] > 0]

    def rests(self, x: np.ndarray, i: int) -> bool:
        """Whether i is a stop and its joint rests."""
        return self.has(i) and bool(x[self._flag(i)] > 0)

    def hold(self, x: np.ndarray, i: int) -> None:
        """Let the joint of stop i rest."""
        x[self._flag(i)] = 1.0
        self.keep(x)

    def let_go(self, x: np.ndarray, i: int) -> None:
        """Let the joint of stop i move."""
        x[self._flag(i)] = 0.0

    def keep(self, x: np.ndarray) -> None:
        """Take away what rounding has moved of joints at rest."""
        for i in self.resting(x):
            x[self._at_q(i)], x[self._at_v(i)] = self._bounces[i].at, 0.0

    def _at_q(self, i: int) -> int:
        return self._system.places["q"].start + self._q[i]

    def _at_v(self, i: int) -> int:
        return self._system.places["v"].start + self._v[i]

    def _near(self, i: int) -> float:
        return LOWEST * max(self._large[i], abs(self._bounces[i].at))

    def _beyond(self, x: np.ndarray, i: int) -> float:
        """Return how far the joint is beyond its stop."""
        b = self._bounces[i]
        return float(b.side * (x[self._at_q(i)] - b.at))

    def check_start(self, c: np.ndarray) -> None:
        """Raise InputError for a row of states that starts beyond a stop."""
        for i, b in self._bounces.items():
            for row in c:
                if self._beyond(row, i) > self._near(i):
                    allowed = "at most" if b.side > 0 else "at least"
                    raise InputError(
                        f"event '{b.name}': joint '{b.joint}' starts at {row[self._at_q(i)]:.9g}, beyond its stop at "
                        f"{b.at:.9g} (side {b.side:+d}); expected {allowed} {b.at:.9g}. Likely a wrong side, or a wrong q0"
                    )

    def touching(self, x: np.ndarray, moving: bool) -> list[int]:
        """Return the stops at which joints are, moving towards them or not moving."""
        at = [i for i in self._bounces if self._beyond(x, i) >= -self._near(i)]
        return [i for i in at if (self.approaching(x, i) if moving else x[self._at_v(i)] == 0)]

    def approaching(self, x: np.ndarray, i: int) -> bool:
        """Whether the joint moves towards its stop."""
        return bool(self._bounces[i].side * x[self._at_v(i)] > 0)

    # forces

    @functools.cached_property
    def _stopping(self) -> kernel.Kernel:
        return native(self._system.stopping)

    @functools.cached_property
    def _rate(self) -> kernel.Kernel:
        return native(self._system.rhs)

    async def _pull(
        self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, h: float
    ) -> dict[int, float]:
        """Return for each joint at rest how the stop would have to pull, as an acceleration beyond `adhesion`."""
        nc, nd = self._system.nc, self._system.nd
        effect = np.ravel((await KernelCall(self._stopping, x[:nc], x[nc : nc + nd], p, w, t, h))[1])
        return {i: self.side(i) * effect[self._order[i]] - self.adhesion[i] for i in self.resting(x)}

    async def pulling(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, h: float) -> list[int]:
        """Return the stops that would have to pull: the worst first, then those that still would without it."""
        found: list[int] = []
        x = x.copy()
        while self.resting(x):
            pull = await self._pull(x, p, w, t, h)
            worst = max(pull, key=lambda i: pull[i])
            if pull[worst] <= 0:
                break
            found.append(worst)
            self.let_go(x, worst)
        return found

    async def remaining(
        self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, h: float, i: int
    ) -> float | None:
        """Return the time that all flights to come of a joint just off its stop last; None where it does not come to rest.

        With speed u off the stop and acceleration a towards it the next flight has height u^2 / (2 a) and lasts 2 u / a;
        with restitution e all of them last 2 u / a / (1 - e).
        """
        b, nc, nd = self._bounces[i], self._system.nc, self._system.nd
        rate = np.ravel(await KernelCall(self._rate, x[:nc], x[nc : nc + nd], p, w, t, h))
        speed, towards = abs(float(x[self._at_v(i)])), b.side * float(rate[self._at_v(i)])
        if speed == 0:
            return 0.0 if towards >= 0 else None
        if towards <= 0 or b.restitution == 1 or speed**2 / (2 * towards) > self._near(i):
            return None
        return 2 * speed / towards / (1 - b.restitution)

    async def watch(
        self,
        values: np.ndarray,
        slopes: np.ndarray,
        x: np.ndarray,
        p: np.ndarray,
        w: np.ndarray,
        t: float,
        h: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return values and slopes of all events, with the pull of the stop in place of the position where a joint rests."""
        if self.resting(x):
            for i, pull in (await self._pull(x, p, w, t, h)).items():
                values[i], slopes[i] = pull, 0.0
        return values, slopes
