"""Steps by numbers: adaptive and implicit methods, and any one-step method when events are looked for.

A row of the state is (c, d, what the method remembers). Sampled components act and samples are taken on the grid of
steps; between two points of the grid the method goes its own way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from articulus import kernel
from articulus.errors import InputError, NumericalError
from articulus.simulate.advance import Advancer
from articulus.simulate.events import Event
from articulus.simulate.marching import whole_steps
from articulus.simulate.records import Cause, Occurrence
from articulus.simulate.system import System, native

MOST_EVENTS = 200
"""Events within one step of the grid beyond which a run is given up."""
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
    events : sequence of Event
    """

    def __init__(self, system: System, advancer: Advancer, h: float, events: Sequence[Event]):
        self.system, self.advancer, self.h, self.watched = system, advancer, h, tuple(events)
        self.nx = system.nc + system.nd + advancer.extra
        self.logged = system.nc + system.nd
        self.periods = [whole_steps(u.name, u.period, h) for u in system.updates]
        self.events: list[Occurrence] = []
        self._causes: dict[int, tuple[Cause, str]] = {}
        self._updates = [native(u.function) for u in system.updates]

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
        """Do nothing: code is built when first called."""

    def rows(self, c: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Return the states of the engine, (rows, nx)."""
        x = np.zeros((len(c), self.nx))
        x[:, : self.system.nc], x[:, self.system.nc : self.logged] = c, d
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
        before = x.copy()
        try:
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

    def _across(self, row: int, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, end: float) -> bool:
        """Go from t to `end`, through the events in between; return whether one ended the run."""
        for _ in range(MOST_EVENTS):
            ahead = self.advancer.advance(x, p[1:], w, t, end)
            if not self.watched:
                x[:] = ahead
                return False
            found = self._first_event(x, ahead, p, w, t, end)
            if found is None:
                x[:] = ahead
                return False
            event, t, x[:] = found
            moment = Moment(self, x, p[1:], w, t)
            stop = event.happen(moment)
            moment.take_over()
            self.events.append(Occurrence(t, event.name, row, stop))
            if stop:
                return True
            if t >= end:
                return False
        raise NumericalError(
            f"{MOST_EVENTS} events between t = {t:.6g} s and {end:.6g} s: events follow each other without end; "
            "likely a bounce without restitution where a constraint should take over"
        )

    # events

    @functools.cached_property
    def _values(self) -> kernel.Kernel:
        net = self.system.network
        values = ca.vertcat(*(event.value(net) for event in self.watched))
        return native(self.system.function("events", [values]))

    def _watch(self, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float) -> np.ndarray:
        nc = self.system.nc
        return np.atleast_1d(self._values(x[:nc], x[nc : self.logged], p[1:], w, t, self.h))

    def _first_event(
        self, x: np.ndarray, ahead: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, end: float
    ) -> tuple[Event, float, np.ndarray] | None:
        """Return the first event after t, its time and the state just after its change of sign."""
        start, stop = self._watch(x, p, w, t), self._watch(ahead, p, w, end)
        found: list[tuple[float, int, np.ndarray]] = []
        for i, event in enumerate(self.watched):
            if _crosses(start[i], stop[i], event.direction):
                found.append(self._located(i, x, ahead, p, w, (t, end), (start[i], stop[i])))
        if not found:
            return None
        at, i, state = min(found, key=lambda each: each[0])
        return self.watched[i], at, state

    def _located(
        self,
        i: int,
        x: np.ndarray,
        ahead: np.ndarray,
        p: np.ndarray,
        w: np.ndarray,
        span: tuple[float, float],
        ends: tuple[float, float],
    ) -> tuple[float, int, np.ndarray]:
        """Return time, number and state of a change of sign, by false position (Illinois) on steps of the method."""
        (a, b), (f_a, f_b), state = span, ends, ahead
        begin, limit = a, TIME_ROUND * (b - a)
        for _ in range(100):
            if b - a <= limit or f_b == 0:
                break
            t = b - f_b * (b - a) / (f_b - f_a) if f_a != 0 else (a + b) / 2
            t = min(max(t, a + limit / 2), b - limit / 2)
            trial = self.advancer.advance(x, p[1:], w, begin, t)
            f = self._watch(trial, p, w, t)[i]
            if f * f_b > 0 or f == 0:
                b, f_b, state = t, f, trial
                f_a /= 2
            else:
                a, f_a = t, f
                f_b /= 2
        return b, i, state


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
        """Return the velocities after an impulse along `direction` that brings direction' v to `wanted`."""
        rows = np.vstack([direction, self._rows()]) if self._held().any() else direction[None]
        targets = np.append([wanted - direction @ self.v], np.zeros(len(rows) - 1))
        return self.v + self._least_change(rows, targets)

    def close(self, constraint: str, active: bool) -> None:
        """Switch a constraint; one that begins to hold takes away the velocity against it."""
        system = self.engine.system
        names = [c.name for c in system.description.constraints]
        if constraint not in names:
            raise InputError(f"event: no constraint '{constraint}'; there are {names}")
        at = system.held_places["active"]
        self.x[system.nc + at.start + names.index(constraint)] = float(active)

    def take_over(self) -> None:
        """Put the changed position and velocity into the state; rows that hold get admissible velocities."""
        system = self.engine.system
        self.x[system.places["q"]], self.x[system.places["v"]] = self.q, self.v
        if system.correction is not None:
            nc, held = system.nc, self.x[system.nc : self.engine.logged]
            self.x[:nc] = self.engine.advancer.correct(self.x[:nc], held, self.p, self.w, self.t)
        self.x[self.engine.logged :] = 0.0

    def _held(self) -> np.ndarray:
        system = self.engine.system
        at = system.held_places["active"]
        return self.x[system.nc + at.start : system.nc + at.stop] > 0

    def _rows(self) -> np.ndarray:
        closing = self.engine.system.closing
        assert closing is not None
        G = np.array(
            ca.Function("G", [closing.tree.q, closing.t, closing.tree.p], [closing.rows.G])(
                self.q, self.t, self.p[: len(closing.description.parameters)]
            )
        )
        active = {c.name for c, on in zip(closing.description.constraints, self._held()) if on}
        return G[[i for i, name in enumerate(closing.names) if name in active]]

    def _least_change(self, rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the change of v by impulses along the rows that meets the targets: M^-1 R' (R M^-1 R')^+ targets."""
        M = np.array(
            self.engine.system.mass_matrix(self.q, self.p[: len(self.engine.system.description.parameters)])
        )
        response = np.linalg.solve(M, rows.T)
        return response @ np.linalg.lstsq(rows @ response, targets, rcond=1e-10)[0]
