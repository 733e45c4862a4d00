"""Steps by numbers: adaptive and implicit methods, and any one-step method when events are looked for.

A row of the state is (c, d, what the method remembers). Sampled components act and samples are taken on the grid of
steps; between two points of the grid the method goes its own way.

An event is found by the signs of its value at both ends of a step. Where they agree, but the slopes there tell of a turn
in between, the turn is looked for: a value that goes through zero and back is not missed.

While a joint rests on the stop of a `Bounce`, the force of the stop is watched in place of the position: `resting`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.errors import InputError, NumericalError
from articulus.loop.equations import DISSIPATED, INPUT
from articulus.loop.events import Event, switched_on
from articulus.loop.functions import ARGUMENTS, System, native
from articulus.loop.steps import whole_steps
from articulus.results.status import Cause, Occurrence
from articulus.running.resting import Stops
from articulus.running.steppers import Advancer

MOST_EVENTS = 200
"""Events within one step of the grid, impacts not counted, beyond which a run is given up."""
MOST_IMPACTS = 5000
"""Impacts within one step of the grid beyond which a run is given up."""
MOST_POINTS = 100
"""Points at which a change of sign is looked for; about ten are enough."""
LONGEST = 1024
"""Steps of the grid after which a method that goes on over many of them starts anew."""
MOST_HALVINGS = 30
"""Halvings of a step in which a joint is looked for off its stop."""
TIME_ROUND = 1e-12
"""Accuracy of the time of an event, relative to the step."""


class NumericEngine:
    """Goes from grid point to grid point with an advancer, looking for events on the way.

    Parameters
    ----------
    system : System
    advancer : Advancer
    h : float [s]
        Distance of the grid points.
    steps : int
        Of the whole run.
    events : sequence of Event
    """

    def __init__(self, system: System, advancer: Advancer, h: float, steps: int, events: Sequence[Event]):
        self.system, self.advancer, self.h, self.watched = system, advancer, h, tuple(events)
        self.steps = steps
        self.nx = system.nc + system.nd + advancer.extra
        self.logged = system.nc + system.nd
        self.periods = [whole_steps(f"component '{u.name}', period", u.period, h) for u in system.updates]
        self.jumps = [1] if system.noisy else list(self.periods)
        self.events: list[Occurrence] = []
        self._causes: dict[int, tuple[Cause, str]] = {}
        self._updates = [native(u.function) for u in system.updates]
        self.stops = Stops(system, events)

    @property
    def evaluations(self) -> int:
        return self.advancer.evaluations

    @property
    def rejected(self) -> int:
        return self.advancer.rejected

    def cause(self, row: int) -> tuple[Cause, str] | None:
        """Return why a row failed, where the method said so."""
        return self._causes.get(row)

    cost = 0

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
                for k in range(start, stop):
                    noise = w[row, k - first] if w.ndim == 3 else w[k - first]
                    if failed[row] < 0:
                        self._sampled(x[row], p[row], noise, k)
                        if not self.advancer.across_jumps and any(k % m == 0 for m in self.jumps):
                            x[row, self.logged :] = 0.0
                        if k == 0:
                            self._rest_at_start(row, x[row], p[row], noise)
                    if k % every == 0:
                        log[row, -(-k // every) - -(-first // every)] = x[row, : self.logged]
                    if failed[row] < 0:
                        self._one_step(row, x[row], p[row], noise, k, failed)

        return march

    def sample(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, failed: np.ndarray, k: int) -> np.ndarray:
        """Return the sample at step k, (rows, logged); x stays as it is."""
        out = x.copy()
        for row in np.flatnonzero(failed < 0):
            self._sampled(out[row], p[row], w[row, 0] if w.ndim == 3 else w[0], k)
        return out[:, : self.logged]

    def _sampled(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, k: int) -> None:
        """Let the sampled components of this instant work."""
        nc, t = self.system.nc, p[0] + k * self.h
        for update, period in zip(self._updates, self.periods):
            if k % period == 0:
                x[nc : self.logged] = np.ravel(update(x[:nc], x[nc : self.logged], p[1:], w, t, self.h))

    def _one_step(
        self, row: int, x: np.ndarray, p: np.ndarray, w: np.ndarray, k: int, failed: np.ndarray
    ) -> None:
        """Take one row over one step of the grid; a failure leaves it as it is."""
        if not np.isfinite(x[: self.logged]).all():  # a held value is no number: its source is the cause
            failed[row] = k
            return
        before = x.copy()
        self.advancer.ahead = self._ahead(p[0], k)
        try:
            if k == 0:
                for i in self.stops.touching(x, moving=True):
                    self._happens(row, x, p, w, p[0], i)
            ended = self._across(row, x, p, w, p[0] + k * self.h, p[0] + (k + 1) * self.h)
            if not np.isfinite(x).all():
                raise NumericalError("the state is not finite any more")
        except NumericalError as error:
            x[:] = before
            failed[row] = k
            self._causes[row] = (_cause(str(error)), str(error))
        else:
            if ended:
                failed[row] = k + 1
                self._causes[row] = (Cause.COMPONENT, "")

    def _ahead(self, t0: float, k: int) -> int:
        """Return how many steps from k on nothing stops the method: no end, no sampled component, no jump of an input.

        With events, whose times nobody knows, a power of two: a method that is built for a number of steps has few.
        """
        if self.system.nw:  # noise is new in every step
            return 1
        stops = [self.steps, k + LONGEST, *((k // m + 1) * m for m in self.jumps)]
        inputs = [math.floor((t - t0) / self.h + 1e-9) for t in self.system.jumps]
        stops += [i if i > k else k + 1 for i in inputs if i >= k]
        n = min(stops) - k
        return 1 << (n.bit_length() - 1) if self.watched else n

    def _across(self, row: int, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, end: float) -> bool:
        """Go from t to `end`, through the events in between; return whether one ended the run."""
        last: int | None = None
        events = impacts = 0
        while events < MOST_EVENTS and impacts < MOST_IMPACTS:
            for i in self.stops.pulling(x, p[1:], w, t, self.h):
                self._let_go(row, x, i, t)
            stretch = _Stretch(self, x, p, w, t, end)
            found = self._first_event(stretch, last) if self.watched else None
            if found is None:
                x[:] = stretch.ahead
                self.stops.keep(x)
                return False
            known = {last, found[1]}
            t, last, x[:] = found
            if self.stops.rests(x, last):
                self._let_go(row, x, last, t)
                events += 1
            else:
                together = [last, *self._simultaneous(stretch, x, p, w, t, known)]
                if True in [self._happens(row, x, p, w, t, i) for i in together]:
                    return True
                hit = self.stops.has(last)
                events, impacts = events + (not hit), impacts + hit
            if t >= end:
                return False
        raise NumericalError(
            f"{events + impacts} events between t = {t:.6g} s and {end:.6g} s: events follow each other without end; "
            "likely an event whose action brings it about again"
        )

    def _simultaneous(
        self, stretch: _Stretch, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, known: set[int | None]
    ) -> list[int]:
        """Return the events besides those known that have changed sign at this instant; stops see to themselves."""
        now, before = self.watch(x, p, w, t)[0], stretch.before
        return [
            i
            for i, event in enumerate(self.watched)
            if i not in known and not self.stops.has(i) and _crosses(before[i], now[i], event.direction)
        ]

    def _happens(self, row: int, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, i: int) -> bool:
        """Let event i happen; a joint that meets its stop may come to rest there. Return whether the run ends."""
        if self.stops.has(i) and not self.stops.approaching(x, i):
            self._rest(row, x, p, w, t, i)
            return False
        event, moment = self.watched[i], Moment(self, x, p[1:], w, t)
        held = self.stops.resting(x)
        stop = event.happen(moment)
        moment.take_over(event.name)
        self.events.append(Occurrence(float(t), event.name, row, stop))
        for freed in set(held) - set(self.stops.resting(x)):
            self.events.append(Occurrence(float(t), f"{self.watched[freed].name} lets go", row))
        if self.stops.has(i) and not stop:
            self._rest(row, x, p, w, t, i)
        return stop

    def _rest(self, row: int, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, i: int) -> None:
        """Let a joint that has just met its stop rest there if it hardly comes off."""
        remaining = self.stops.remaining(x, p[1:], w, t, self.h, i)
        if remaining is None:
            return
        event = self.watched[i]
        moment = Moment(self, x, p[1:], w, t)
        moment.v = moment.impulse(self.stops.direction(i), 0.0)
        moment.take_over(event.name)
        self.stops.hold(x, i)
        self.events.append(Occurrence(float(t + remaining), f"{event.name} rests", row))

    def _let_go(self, row: int, x: np.ndarray, i: int, t: float) -> None:
        self.stops.let_go(x, i)
        x[self.logged :] = 0.0
        self.events.append(Occurrence(float(t), f"{self.watched[i].name} lets go", row))

    def _rest_at_start(self, row: int, x: np.ndarray, p: np.ndarray, w: np.ndarray) -> None:
        """Let joints that start on their stop without moving rest there."""
        for i in self.stops.touching(x, moving=False):
            self._rest(row, x, p, w, p[0], i)

    # events

    @functools.cached_property
    def _rate(self) -> kernel.Kernel:
        return native(self.system.rhs)

    @functools.cached_property
    def _values(self) -> kernel.Kernel:
        """(c, d, p, w, t, h, rate of c) -> values of all events and their rates."""
        s = self.system
        values, rate = ca.vertcat(*(event.value(s.network) for event in self.watched)), SX.sym("rate", s.nc)
        c, t = s.arguments[0], s.network.t
        slopes = ca.jtimes(values, c, rate) + ca.jacobian(values, t)
        names = [*ARGUMENTS, "rate"]
        return native(
            ca.Function("events", [*s.arguments, rate], [values, slopes], names, ["values", "slopes"])
        )

    def watch(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of all events and their rates at a state."""
        nc = self.system.nc
        given = (x[:nc], x[nc : self.logged], p[1:], w, t, self.h)
        values, slopes = (np.ravel(each) for each in self._values(*given, np.ravel(self._rate(*given))))
        return self.stops.watched(values, slopes, x, p[1:], w, t, self.h)

    def _first_event(self, stretch: _Stretch, last: int | None) -> tuple[float, int, np.ndarray] | None:
        """Return time and number of the first event, and the state just after its change of sign.

        `last` is the event at the beginning, whose value is zero there.
        """
        found = []
        for i, event in enumerate(self.watched):
            resting = self.stops.rests(stretch.x, i)
            direction = 1 if resting else event.direction
            place = stretch.first_crossing(i, direction, i == last and not resting)
            if place is not None:
                found.append((*place[:1], i, place[1]))
            elif self.stops.has(i) and not resting and stretch.after[i] * direction > 0:
                place = stretch.back_from_the_stop(i, direction)
                found.append((*place[:1], i, place[1]))
            elif event.barrier and stretch.after[i] * event.direction > 0:
                raise NumericalError(
                    f"event '{event.name}' at t = {stretch.t:.9g} s: its value stays beyond zero, which it should not; likely "
                    "its action does not bring it back"
                )
        return min(found, key=lambda each: each[0]) if found else None


class _Stretch:
    """The way of one row from t to `end`, on which events are looked for."""

    def __init__(
        self, engine: NumericEngine, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, end: float
    ):
        self._engine, self.x, self._p, self._w = engine, x, p, w
        self.t, self.end = t, end
        self.ahead = engine.advancer.advance(x, p[1:], w, t, end)
        self._limit = TIME_ROUND * (end - t)

    @functools.cached_property
    def _before(self) -> tuple[np.ndarray, np.ndarray]:
        return self._engine.watch(self.x, self._p, self._w, self.t)

    @functools.cached_property
    def _after(self) -> tuple[np.ndarray, np.ndarray]:
        return self._engine.watch(self.ahead, self._p, self._w, self.end)

    @property
    def before(self) -> np.ndarray:
        """Values of all events at the beginning."""
        return self._before[0]

    @property
    def after(self) -> np.ndarray:
        """Values of all events at the end."""
        return self._after[0]

    def _at(self, t: float, i: int) -> tuple[float, float, np.ndarray]:
        """Return value and slope of event i at time t, and the state there."""
        state = self._engine.advancer.advance(self.x, self._p[1:], self._w, self.t, t)
        values, slopes = self._engine.watch(state, self._p, self._w, t)
        return values[i], slopes[i], state

    def first_crossing(self, i: int, direction: int, just: bool) -> tuple[float, np.ndarray] | None:
        """Return time and state just after the first change of sign of event i that counts, or None.

        `just`: the event has just happened, its value is zero but for rounding.
        """
        a, b = self.t, self.end
        f_a, f_b = 0.0 if just else self._before[0][i], self._after[0][i]
        if _crosses(f_a, f_b, direction):
            return self._located(i, (a, b), (f_a, f_b), self.ahead)
        turn = self._turn(i, f_a, f_b)
        if turn is None:
            return None
        m, f_m, state = turn
        if _crosses(f_a, f_m, direction):
            return self._located(i, (a, m), (f_a, f_m), state)
        if _crosses(f_m, f_b, direction):
            return self._located(i, (m, b), (f_m, f_b), self.ahead)
        return None

    def back_from_the_stop(self, i: int, direction: int) -> tuple[float, np.ndarray]:
        """Return time and state at which a joint that is at its stop at first, and beyond it at the end, meets it.

        It may come off for a short while first; if it does not, that is now.
        """
        span = self.end - self.t
        for _ in range(MOST_HALVINGS):
            span /= 2
            f, _, _ = self._at(self.t + span, i)
            if f * direction < 0:
                return self._located(i, (self.t + span, self.end), (f, self._after[0][i]), self.ahead)
        return self.t, self.x.copy()

    def _turn(self, i: int, f_a: float, f_b: float) -> tuple[float, float, np.ndarray] | None:
        """Return a point of the way there and back on which event i lies on the other side of zero; None if none is seen.

        Between slopes of opposite signs the turn is found by false position; the search ends as soon as the value there
        has changed its sign.
        """
        (a, b), (s_a, s_b) = (self.t, self.end), (self._before[1][i], self._after[1][i])
        side = math.copysign(1.0, s_a)
        if s_a * s_b >= 0 or f_a * side > 0 or f_b * side > 0:
            return None
        found: list[tuple[float, float, np.ndarray]] = []

        def slope_at(t: float) -> float:
            value, slope, state = self._at(t, i)
            if value * side > 0:
                found.append((t, value, state))
            return 0.0 if found else slope

        _false_position(slope_at, (a, b), (s_a, s_b), self._limit)
        return found[0] if found else None

    def _located(
        self, i: int, span: tuple[float, float], ends: tuple[float, float], state: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Return time and state just after a change of sign, by false position on steps of the method."""
        places = [(span[1], state)]

        def value_at(t: float) -> float:
            value, _, there = self._at(t, i)
            if value * ends[1] >= 0:
                places.append((t, there))
            return value

        _false_position(value_at, span, ends, self._limit)
        return min(places, key=lambda place: place[0])


def _false_position(
    f: Callable[[float], float], span: tuple[float, float], ends: tuple[float, float], limit: float
) -> None:
    """Ask for f at points ever nearer to its change of sign, until they are `limit` apart or f is zero.

    Illinois form of the rule of false position: the value at an end that stays twice counts half.
    """
    (a, b), (f_a, f_b), stayed = span, ends, 0
    for _ in range(MOST_POINTS):
        if b - a <= limit or f_a == 0 or f_b == 0:
            return
        t = min(max(b - f_b * (b - a) / (f_b - f_a), a + limit / 2), b - limit / 2)
        value = f(t)
        if value * f_b >= 0:
            b, f_b = t, value
            f_a, stayed = (f_a / 2 if stayed == -1 else f_a), -1
        else:
            a, f_a = t, value
            f_b, stayed = (f_b / 2 if stayed == 1 else f_b), 1


def _crosses(before: float, after: float, direction: int) -> bool:
    rising, falling = before < 0 <= after, before > 0 >= after
    return (rising and direction >= 0) or (falling and direction <= 0)


def _cause(text: str) -> Cause:
    for part, cause in (
        ("too small", Cause.STEP_TOO_SMALL),
        ("converge", Cause.NOT_CONVERGED),
        ("singular", Cause.SINGULAR),
        ("without end", Cause.COMPONENT),
    ):
        if part in text:
            return cause
    return Cause.NOT_FINITE


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

    def freedom(self, joint: str) -> int:
        """Return where the velocity of a joint of one freedom stands."""
        return self.engine.system.description.v_slices[joint].start

    def impulse(self, direction: np.ndarray, wanted: float) -> np.ndarray:
        """Return the velocities after an impulse along `direction` that brings direction' v to `wanted`.

        Joints that rest on a stop stay there, but for those that the impulse takes off: their stop would have to pull.
        """
        loops, stops = self._rows() if self._held().any() else None, self.engine.stops
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

    def close(self, constraint: str, active: bool) -> None:
        """Switch a constraint; one that begins to hold takes away the velocity against it."""
        system = self.engine.system
        self.x[system.nc + system.switch(constraint)] = float(active)

    def take_over(self, name: str) -> None:
        """Put the changed position and velocity into the state; rows that hold get admissible velocities.

        Energy that the event takes away counts as dissipated, what it adds as input.
        """
        system, before = self.engine.system, self._energy()
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
            corrected = self.engine.advancer.correct(self.x[:nc], held, self.p, self.w, self.t)
            for label in "qv":
                self.x[system.places[label]] = corrected[system.places[label]]
        gain = self._energy() - before
        self.x[system.places[INPUT if gain > 0 else DISSIPATED]] += abs(gain)
        self.x[self.engine.logged :] = 0.0

    def _energy(self) -> float:
        """Return the energy that the mechanism stores [J]."""
        system = self.engine.system
        return system.energy(self.x[system.places["q"]], self.x[system.places["v"]], self._model())

    def _model(self) -> np.ndarray:
        """Return the parameters of the mechanism itself."""
        return self.p[: len(self.engine.system.description.parameters)]

    def _held(self) -> np.ndarray:
        system = self.engine.system
        at = system.held_places["active"]
        return self.x[system.nc + at.start : system.nc + at.stop] > 0

    def _rows(self) -> np.ndarray:
        closing = self.engine.system.closing
        assert closing is not None
        G = np.array(closing.jacobian(self.q, self.t, self._model()))
        active = {c.name for c, on in zip(closing.description.constraints, self._held()) if on}
        return G[[i for i, name in enumerate(closing.names) if name in active]]

    def _least_change(self, rows: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the change of v by impulses along the rows that meets the targets, and these: (R M^-1 R')^+ targets."""
        M = self.engine.system.mass_matrix(self.q, self._model())
        response = np.linalg.solve(M, rows.T)
        impulses = np.linalg.lstsq(rows @ response, targets, rcond=1e-10)[0]
        return response @ impulses, impulses
