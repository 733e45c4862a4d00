"""Steps by numbers: adaptive and implicit methods, and any one-step method when events are looked for.

A row of the state is (c, d, what the method remembers, values of the events when last seen). Sampled components act and
samples are taken on the grid of steps; between two points of the grid the method goes its own way.

Events on the way are found by `event_location`; what they change is in `event_moment`. While a joint rests on the stop of a `Bounce`, the force of the stop is watched in place of the position: `resting`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from articulus import kernel
from articulus.errors import NumericalError
from articulus.simulation.loop.events import Event, Switching, switched_on
from articulus.simulation.loop.functions import ARGUMENTS, System, native
from articulus.simulation.loop.steps import whole_steps
from articulus.simulation.results.status import Cause, Occurrence
from articulus.simulation.running.batched_calls import KernelCall, run_one
from articulus.simulation.running.event_location import Stretch, crosses
from articulus.simulation.running.event_moment import Moment
from articulus.simulation.running.event_values import event_values
from articulus.simulation.running.resting import Stops
from articulus.simulation.running.steppers import Stepper

MOST_EVENTS = 200
"""Events within one step of the grid, impacts not counted, beyond which a run is given up."""
MOST_IMPACTS = 5000
"""Impacts within one step of the grid beyond which a run is given up."""
AT_START = 1e-9
"""Part of a step within which a value that passes zero does so at the start [-]."""
LONGEST = 1024
"""Steps of the grid after which a method that continues over many of them restarts."""


class NumericEngine:
    """Goes from grid point to grid point with a stepper, looking for events on the way.

    Parameters
    ----------
    system : System
    steppers : sequence of Stepper
        One of each run, or one for all.
    h : float [s]
        Distance of the grid points.
    steps : int
        Steps of the whole run.
    events : sequence of Event
    """

    def __init__(
        self, system: System, steppers: Sequence[Stepper], h: float, steps: int, events: Sequence[Event]
    ):
        self.system, self.h, self.watched = system, h, tuple(events)
        self._steppers = steppers
        self.stepper = steppers[0]
        """That of the run that is under way."""
        self.steps = steps
        self.logged = system.nc + system.nd
        self._seen = self.logged + max(stepper.extra for stepper in steppers)
        self.nx = self._seen + len(self.watched)
        self.periods = [whole_steps(f"component '{u.name}', period", u.period, h) for u in system.updates]
        self.jumps = [1] if system.noisy else list(self.periods)
        self.events: list[Occurrence] = []
        self._causes: dict[int, tuple[Cause, str]] = {}
        self._counts: dict[int, np.ndarray] = {}
        self._updates = [native(u.function) for u in system.updates]
        self.stops = Stops(system, events)
        self._switches = {
            i: (system.nc + system.switch(event.switched_constraint(system.description).name), event.active)
            for i, event in enumerate(self.watched)
            if isinstance(event, Switching)
        }

    @property
    def _own(self) -> int:
        """End of what the stepper continues with."""
        return self.logged + self.stepper.extra

    @property
    def evaluations(self) -> int:
        return sum(stepper.evaluations for stepper in set(self._steppers))

    @property
    def rejected(self) -> int:
        return sum(stepper.rejected for stepper in set(self._steppers))

    def rejected_share(self, row: int) -> float:
        """Return rejected steps over evaluations of one run."""
        rejected, evaluations = self._counts.get(row, (0, 0))
        return float(rejected / max(evaluations, 1))

    def cause(self, row: int) -> tuple[Cause, str] | None:
        """Return why a row failed, where the method said so."""
        return self._causes.get(row)

    cost = 0
    many = False
    """Whether many runs ask at once."""

    def prepare(self, rows: int) -> None:
        """Build the code that watches for events, so that a wrong one is refused at once; the rest is built when called."""
        if self.watched:
            self._values  # noqa: B018

    def rows(self, c: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Return the states of the engine, (rows, nx)."""
        x = np.zeros((len(c), self.nx))
        x[:, : self.system.nc], x[:, self.system.nc : self.logged] = c, d
        for name in switched_on(self.watched):
            x[:, self.system.nc + self.system.switch(name)] = 0.0
        self.stops.check_start(c)
        return x

    def parameters(self, t0: float, p: np.ndarray) -> np.ndarray:
        """Return start time and parameters, (rows, 1 + np)."""
        return np.concatenate([np.full((*p.shape[:-1], 1), t0), p], axis=-1)

    def on(
        self,
        x: np.ndarray,
        p: np.ndarray,
        w: np.ndarray,
        failed: np.ndarray,
        log: np.ndarray,
        *,
        first: int,
        every: int,
    ) -> Callable[[int, int], None]:
        """Return the function that takes the steps [start, stop) of every row in place."""

        def march(start: int, stop: int) -> None:
            for row in range(len(x)):
                self.stepper = self._steppers[min(row, len(self._steppers) - 1)]
                before = np.array([self.stepper.rejected, self.stepper.evaluations])
                for k in range(start, stop):
                    noise = w[row, k - first] if w.ndim == 3 else w[k - first]
                    if failed[row] < 0:
                        run_one(self.run_sampled(x[row], p[row], noise, k))
                        if not self.stepper.across_jumps and any(k % m == 0 for m in self.jumps):
                            x[row, self.logged : self._own] = 0.0
                        if k == 0:
                            run_one(self._rest_at_start(row, x[row, : self._own], p[row], noise))
                    if k % every == 0:
                        log[row, -(-k // every) - -(-first // every)] = x[row, : self.logged]
                    if failed[row] < 0:
                        run_one(self.one_step(row, x[row], p[row], noise, k, failed))
                spent = np.array([self.stepper.rejected, self.stepper.evaluations]) - before
                self._counts[row] = self._counts.get(row, 0) + spent

        return march

    def sample(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, failed: np.ndarray, k: int) -> np.ndarray:
        """Return the sample at step k, (rows, logged); x stays as it is."""
        out = x.copy()
        for row in np.flatnonzero(failed < 0):
            run_one(self.run_sampled(out[row], p[row], w[row, 0] if w.ndim == 3 else w[0], k))
        return out[:, : self.logged]

    async def run_sampled(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, k: int) -> None:
        """Let the sampled components of this instant work."""
        nc, t = self.system.nc, p[0] + k * self.h
        for update, period in zip(self._updates, self.periods):
            if k % period == 0:
                x[nc : self.logged] = np.ravel(
                    await KernelCall(update, x[:nc], x[nc : self.logged], p[1:], w, t, self.h)
                )

    async def one_step(
        self, row: int, x: np.ndarray, p: np.ndarray, w: np.ndarray, k: int, failed: np.ndarray
    ) -> None:
        """Take one row over one step of the grid; a failure leaves it as it is."""
        if not np.isfinite(x[: self.logged]).all():  # a held value is no number: its source is the cause
            failed[row] = k
            return
        before = x.copy()
        own, seen = x[: self._own], x[self._seen :]
        self.stepper.span = (p[0], p[0] + self.steps * self.h)
        self.stepper.ahead = self._ahead(p, k)
        try:
            if k == 0:
                for i in self.stops.touching(own, moving=True):
                    await self._happens(row, own, p, w, p[0], i)
            span = p[0] + k * self.h, p[0] + (k + 1) * self.h
            ended = await self._across(row, own, p, w, *span, seen, first=k == 0)
            if not np.isfinite(x).all():
                raise NumericalError("the state is not finite any more")
        except NumericalError as error:
            x[:] = before
            failed[row] = k
            self._causes[row] = (Cause(error.cause or Cause.NOT_FINITE), str(error))
        else:
            if ended:
                failed[row] = k + 1
                self._causes[row] = (Cause.COMPONENT, "")

    def _ahead(self, p: np.ndarray, k: int) -> int:
        """Return how many steps from k on nothing stops the method: no end, no sampled component, no jump of an input.

        With events, whose times nobody knows, a power of two: a method that is built for a number of steps has few.
        """
        if self.system.nw:  # noise is new in every step
            return 1
        stops = [self.steps, k + LONGEST, *((k // m + 1) * m for m in self.jumps)]
        inputs = [math.floor((t - p[0]) / self.h + 1e-9) for t in self.stepper.jumps]
        stops += [i if i > k else k + 1 for i in inputs if i >= k]
        n = min(stops) - k
        return 1 << (n.bit_length() - 1) if self.watched else n

    async def _across(
        self,
        row: int,
        x: np.ndarray,
        p: np.ndarray,
        w: np.ndarray,
        t: float,
        end: float,
        seen: np.ndarray,
        first: bool,
    ) -> bool:
        """Go from t to `end`, through the events in between; return whether one ended the run.

        `seen` holds the values of the events when last seen, and is renewed: a value that has jumped across zero since, as a
        sampled component or a controller outside makes it, is an event at t. In the `first` step nothing was seen: events
        whose condition holds happen.
        """
        if not self.watched:
            x[:] = await self.stepper.advancing(x, p[1:], w, t, end)
            return False
        just: set[int] = set()
        quiet: set[int] = set()
        events = impacts = 0
        known = await self.watch(x, p, w, t)
        jumped = self._holding(x, *known) if first else self._crossed_events(x, seen, known[0])
        if jumped:
            ended, quiet = await self._let_happen(row, x, p, w, t, jumped)
            just = set(jumped)
            if ended:
                return True
        while events < MOST_EVENTS and impacts < MOST_IMPACTS:
            freed = await self.stops.pulling(x, p[1:], w, t, self.h)
            for i in freed:
                self._let_go(row, x, i, t)
            fresh = bool(jumped or freed or events or impacts)
            stretch = await Stretch(self, x, p, w, t, end).go(None if fresh else known)
            found = await self._first_event(stretch, just, quiet)
            if found is None:
                x[:] = stretch.ahead
                self.stops.keep(x)
                seen[:] = stretch.after
                return False
            t, last, x[:] = found
            if self.stops.rests(x, last):
                self._let_go(row, x, last, t)
                just = {last}
                events += 1
            else:
                together = [last, *await self._simultaneous(stretch, x, p, w, t, {last, *just, *quiet})]
                ended, opened = await self._let_happen(row, x, p, w, t, together)
                if ended:
                    return True
                just, quiet = set(together), quiet | opened
                hit = self.stops.has(last)
                events, impacts = events + (not hit), impacts + hit
            if t >= end:
                seen[:] = (await self.watch(x, p, w, t))[0]
                return False
        raise NumericalError(
            f"{events + impacts} events between t = {t:.6g} s and {end:.6g} s: events follow each other without end; "
            "likely an event whose action brings it about again",
            cause=Cause.COMPONENT,
        )

    def _crossed_events(self, x: np.ndarray, before: np.ndarray, now: np.ndarray) -> list[int]:
        """Return the events, stops apart, whose value has passed zero between two looks."""
        idle = self._idle(x)
        return [
            i
            for i, event in enumerate(self.watched)
            if not self.stops.has(i) and i not in idle and crosses(before[i], now[i], event.direction)
        ]

    def _holding(self, x: np.ndarray, values: np.ndarray, slopes: np.ndarray) -> list[int]:
        """Return the events that happen at the start of a run."""
        idle, moved = self._idle(x), AT_START * self.h * slopes
        return [
            i
            for i, event in enumerate(self.watched)
            if i not in idle
            and event.holds_at_start(float(values[i]), float(moved[i]), self.system.description)
        ]

    def begins_with_events(self, x: np.ndarray, p: np.ndarray, w: np.ndarray) -> bool:
        """Whether in some row, (rows, nx), an event happens at the start; noise w as of the first step, (nw,) or (rows, nw)."""
        nc, rows = self.system.nc, len(x)
        c, d = (
            np.repeat(part, 2, axis=0) if rows == 1 else part for part in (x[:, :nc], x[:, nc : self.logged])
        )
        given = [np.broadcast_to(part, (len(c), part.shape[-1])) for part in (p[..., 1:], w)]
        t = np.broadcast_to(p[..., 0], (len(c),))
        for update in self._updates:
            d = np.reshape(update(c, d, *given, t, self.h), d.shape)
        values, slopes = (np.reshape(each, (len(c), -1)) for each in self._values(c, d, *given, t, self.h))
        return any(self._holding(x[row], values[row], slopes[row]) for row in range(rows))

    async def _let_happen(
        self, row: int, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, first: list[int]
    ) -> tuple[bool, set[int]]:
        """Let events happen, then those whose value jumps by what they did, each once.

        Returns
        -------
        bool
            Whether the run ends.
        set of int
            Events that close a constraint which has just opened: their value may be zero but for rounding, so that they are not
            looked at again before the next step.
        """
        waiting, happened, ended = list(first), set[int](), False
        before = (await self.watch(x, p, w, t))[0]
        while waiting:
            i = waiting.pop(0)
            happened.add(i)
            ended = await self._happens(row, x, p, w, t, i) or ended
            now = (await self.watch(x, p, w, t))[0]
            waiting += [
                j for j in self._crossed_events(x, before, now) if j not in happened and j not in waiting
            ]
            before = now
        switching = {i: e for i, e in enumerate(self.watched) if isinstance(e, Switching)}
        opened = {e.constraint for i, e in switching.items() if i in happened and not e.active}
        return ended, {i for i, e in switching.items() if e.active and e.constraint in opened}

    async def _simultaneous(
        self, stretch: Stretch, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, known: set[int | None]
    ) -> list[int]:
        """Return the events besides those known that have changed sign at this instant; stops see to themselves."""
        now = (await self.watch(x, p, w, t))[0]
        return [i for i in self._crossed_events(x, stretch.before, now) if i not in known]

    async def _happens(self, row: int, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, i: int) -> bool:
        """Let event i happen; a joint that meets its stop may come to rest there. Return whether the run ends."""
        if self.stops.has(i) and not self.stops.approaching(x, i):
            await self._rest(row, x, p, w, t, i)
            return False
        event, moment = self.watched[i], Moment(self, x, p[1:], w, t)
        held = self.stops.resting(x)
        stop = event.happen(moment)
        await moment.take_over(event.name)
        self.events.append(Occurrence(float(t), event.name, row, stop))
        for freed in set(held) - set(self.stops.resting(x)):
            self.events.append(Occurrence(float(t), f"{self.watched[freed].name} lets go", row))
        if self.stops.has(i) and not stop:
            await self._rest(row, x, p, w, t, i)
        return stop

    async def _rest(self, row: int, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, i: int) -> None:
        """Let a joint that has just met its stop rest there if it hardly comes off."""
        remaining = await self.stops.remaining(x, p[1:], w, t, self.h, i)
        if remaining is None:
            return
        event = self.watched[i]
        moment = Moment(self, x, p[1:], w, t)
        moment.v = moment.impulse(self.stops.direction(i), 0.0)
        await moment.take_over(event.name)
        self.stops.hold(x, i)
        self.events.append(Occurrence(float(t + remaining), f"{event.name} rests", row))

    def _let_go(self, row: int, x: np.ndarray, i: int, t: float) -> None:
        self.stops.let_go(x, i)
        x[self.logged :] = 0.0
        self.events.append(Occurrence(float(t), f"{self.watched[i].name} lets go", row))

    async def _rest_at_start(self, row: int, x: np.ndarray, p: np.ndarray, w: np.ndarray) -> None:
        """Let joints that start on their stop without moving rest there."""
        for i in self.stops.touching(x, moving=False):
            await self._rest(row, x, p, w, p[0], i)

    # events

    @functools.cached_property
    def _values(self) -> kernel.Kernel:
        """(c, d, p, w, t, h) -> values of all events and their rates."""
        values, rate = event_values(self.system, self.watched), self.system.rhs
        short = values.is_a("SXFunction") and rate.is_a("SXFunction")
        given: list[Any] = rate.sx_in() if short else self.system.graph_symbols()
        out = values.call([*given, *rate.call(given)])
        return native(ca.Function("watched", given, out, list(ARGUMENTS), ["values", "slopes"]))

    @functools.cached_property
    def _energy(self) -> kernel.Kernel | ca.Function:
        """(c, d, p, w, t, h) -> energy that the mechanism and its components hold; of one run without native code."""
        return native(self.system.whole_energy) if self.many else self.system.whole_energy

    async def watch(
        self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of all events and their rates at a state."""
        nc = self.system.nc
        given = (x[:nc], x[nc : self.logged], p[1:], w, t, self.h)
        values, slopes = (np.array(each).ravel() for each in await KernelCall(self._values, *given))
        return await self.stops.watch(values, slopes, x, p[1:], w, t, self.h)

    async def energy(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float) -> float:
        """Return the energy that the mechanism and its components hold at a state [J]."""
        nc = self.system.nc
        found = await KernelCall(self._energy, x[:nc], x[nc : self.logged], p, w, t, self.h)
        return float(np.ravel(np.array(found))[0])

    def _idle(self, x: np.ndarray) -> list[int]:
        """Return the events that have nothing to switch: their constraint holds already, or does not hold."""
        return [i for i, (place, active) in self._switches.items() if (x[place] > 0) == active]

    async def _first_event(
        self, stretch: Stretch, just: set[int], quiet: set[int]
    ) -> tuple[float, int, np.ndarray] | None:
        """Return time and number of the first event, and the state just after its change of sign.

        `just` are events whose value is zero at the beginning; `quiet` ones are omitted.
        """
        found, idle = [], {*self._idle(stretch.x), *quiet}
        for i, event in enumerate(self.watched):
            if i in idle:
                continue
            resting = self.stops.rests(stretch.x, i)
            direction = 1 if resting else event.direction
            place = await stretch.first_crossing(i, direction, i in just and not resting)
            if place is not None:
                found.append((*place[:1], i, place[1]))
            elif self.stops.has(i) and not resting and stretch.after[i] * direction > 0:
                place = await stretch.back_from_the_stop(i, direction)
                found.append((*place[:1], i, place[1]))
            elif event.barrier and stretch.after[i] * event.direction > 0:
                raise NumericalError(
                    f"event '{event.name}' at t = {stretch.t:.9g} s: its value stays beyond zero, which it should not; likely "
                    "its action does not bring it back"
                )
        return min(found, key=lambda each: each[0]) if found else None
