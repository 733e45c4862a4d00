"""Events in batches of fixed steps: native steps that stop a run before a step in which an event may happen.

The native step of a run computes the values of all events at both ends. Where one may happen in between (a change of sign,
slopes that show a turn, a value that jumped since the step before, a stop that is passed or would have to pull), the
step is not taken: the run stands still, as if it had failed there. This one step is then taken by `NumericEngine`, which finds
and applies events as in a single run; after it the run goes on natively. A block of steps ends before the next begins, so that
runs with few events keep to the pace of native code.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX

from articulus import kernel
from articulus.simulation.loop.events import Bounce, Switching
from articulus.simulation.loop.functions import System
from articulus.simulation.loop.identity import text_of
from articulus.simulation.running.batched_calls import run_batched
from articulus.simulation.running.event_values import event_values
from articulus.simulation.running.native_engine import NativeEngine
from articulus.simulation.running.numeric_engine import NumericEngine

BLOCK = 64
"""Steps after which runs that were stopped by events are together with the others again."""
BEYOND = 1e200
"""Added to a state that shall stop: larger than `kernel.march.BOUND`."""


class NativeEventEngine(NativeEngine):
    """Fixed steps of many runs in native code, with events.

    Parameters
    ----------
    system : System
    method : Method or SecondOrderMethod
        One that looks back over no earlier steps.
    h : float [s]
    numeric : NumericEngine
        Takes the steps in which events may happen.
    """

    def __init__(self, system: System, method: Any, h: float, numeric: NumericEngine):
        super().__init__(system, method, h)
        self.numeric, self.watched = numeric, numeric.watched
        numeric.many = True
        self.events = numeric.events  # the same list
        self.nx = system.nc + system.nd + len(self.watched)

    def prepare(self, rows: int) -> None:
        """Build the native code for that many rows."""
        super().prepare(rows)
        self.numeric.prepare(rows)

    def rows(self, c: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Return the states, (rows, nx): c, d and the values of the events when last seen."""
        return self.numeric.rows(c, d)

    def cause(self, row: int) -> Any:
        """Return why a row failed, where that is known."""
        return self.numeric.cause(row)

    # native code

    def _build_loop(self, method: Any) -> kernel.Recurrence:
        """Return the time loop with the watch for events."""
        texts = [text_of(event) for event in self.watched]
        if self.system.identity is not None and None not in texts:
            text = f"events {type(method).__qualname__} {sorted(vars(method).items())!r} {texts}"
            return kernel.recurrence(
                f"{text} {self.system.identity}", lambda: self._maps(method), self.logged
            )
        found = self._maps(method)
        key = hashlib.sha256("".join(m.serialize() for m in found).encode()).hexdigest()
        return kernel.recurrence(key, lambda: found, self.logged)

    def _recurrence(self, method: Any) -> kernel.Recurrence:
        return self._build_loop(method)

    def _maps(self, method: Any) -> list[ca.Function]:
        return [*self._update_maps(), self._watched_step(method)]

    def _split(self, x: MX) -> tuple[MX, MX, tuple[MX, ...]]:
        """Return c, d, and the values last seen in place of earlier slopes."""
        nc, nd = self.system.nc, self.system.nd
        return x[:nc], x[nc : nc + nd], (x[nc + nd :],)

    def _watched_step(self, method: Any) -> ca.Function:
        """Return the step on symbols, (x, p, w, k) -> x, which leaves the bounds of states where an event may happen."""
        s = self.system
        x, p, w, k = self._symbols()
        c, d, (seen,) = self._split(x)
        t, h, given = p[0] + k * p[1], p[1], p[2:]
        plain = NativeEngine(s, method, self.h)
        after = plain.step_map(method)(ca.vertcat(c, d), p, w, k)[: s.nc]
        values = event_values(s, self.watched)
        ends = []
        for state, at in ((c, t), (after, t + h)):
            rate = s.rhs(state, d, given, w, at, h)
            v, slope = values(state, d, given, w, at, h, rate)
            ends.append(self._looked_at(v, slope, state, d, given, w, at, h))
        (v0, s0), (v1, s1) = ends
        hits = [self._may_happen(i, seen, v0, s0, v1, s1, d) for i in range(len(self.watched))]
        stop = functools.reduce(ca.fmax, hits)
        after = self._keep_resting(after, d)
        return self._map("step", (x, p, w, k), ca.vertcat(after[0] + BEYOND * stop, after[1:], d, v1))

    def _resting(self, i: int, d: MX) -> MX:
        """Return 1 while the joint of stop i rests."""
        order = [j for j, event in enumerate(self.watched) if isinstance(event, Bounce)].index(i)
        return d[self.system.held_places["resting"].start + order]

    def _bounces(self) -> dict[int, Bounce]:
        return {i: event for i, event in enumerate(self.watched) if isinstance(event, Bounce)}

    def _looked_at(self, values: MX, slopes: MX, *state: MX) -> tuple[MX, MX]:
        """Return values and slopes, of a joint at rest the pull of its stop."""
        bounces = self._bounces()
        if not bounces:
            return values, slopes
        values, slopes, d = MX(values), MX(slopes), state[1]
        effect = self.system.stopping(*state)[1]
        for order, (i, bounce) in enumerate(bounces.items()):
            on = self._resting(i, d)
            values[i] = ca.if_else(
                on, bounce.side * effect[order] - self.numeric.stops.adhesion[i], values[i]
            )
            slopes[i] = ca.if_else(on, 0, slopes[i])
        return values, slopes

    def _may_happen(self, i: int, seen: MX, v0: MX, s0: MX, v1: MX, s1: MX, d: MX) -> MX:
        """Return 1 where event i may happen within the step; as `NumericEngine` and `Stretch` ask, in one expression."""
        event = self.watched[i]
        direction, f0, f1 = event.direction, v0[i], v1[i]
        turning = ca.logic_and(s0[i] * s1[i] < 0, ca.logic_and(f0 * s0[i] <= 0, f1 * s0[i] <= 0))
        hit = ca.logic_or(_crosses(f0, f1, direction), turning)
        if isinstance(event, Bounce):
            passed = ca.logic_or(hit, f1 * direction > 0)
            pulls = ca.logic_or(f0 > 0, f1 >= 0)
            return ca.if_else(self._resting(i, d), pulls, passed)
        hit = ca.logic_or(hit, _crosses(seen[i], f0, direction))
        if isinstance(event, Switching):  # one that has nothing to switch does not happen
            holds = d[self.system.switch(event.constraint)]
            hit = ca.logic_and(hit, (holds == 0) if event.active else (holds > 0))
        return ca.logic_or(hit, f1 * direction > 0) if event.barrier else hit

    def _keep_resting(self, c: MX, d: MX) -> MX:
        """Return c without what rounding has moved of joints at rest."""
        c = MX(c)
        for i, bounce in self._bounces().items():
            q = self.system.places["q"].start + self.system.description.q_slices[bounce.joint].start
            v = self.system.places["v"].start + self.system.description.v_slices[bounce.joint].start
            on = self._resting(i, d)
            c[q], c[v] = ca.if_else(on, bounce.at, c[q]), ca.if_else(on, 0, c[v])
        return c

    # going forward

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
        """Return the march over given arrays: native steps, and numeric ones where events may happen."""
        whole = super().on(x, p, w, failed, log, first=first, every=every)
        passage = _Passage(self, x, p, w, failed, log, first, every)

        def march(start: int, stop: int) -> None:
            if start == 0 and (self._touches(x) or passage.begins_with_events()):
                passage.numerically(0)
                start = 1
            for begin in range(start, stop, BLOCK):
                end = min(stop, begin + BLOCK)
                live = failed < 0
                whole(begin, end)
                passage.finish(np.flatnonzero(live & (failed >= 0)), end)

        return march

    def _touches(self, x: np.ndarray) -> bool:
        """Whether some joint starts on a stop."""
        stops = self.numeric.stops
        return any(stops.touching(row, moving) for row in x for moving in (True, False))


class _Passage:
    """The arrays of a march, for runs that were stopped by events."""

    def __init__(self, engine: NativeEventEngine, x, p, w, failed, log, first, every):  # type: ignore[no-untyped-def]
        self._engine, self._x, self._p, self._w = engine, x, p, w
        self._failed, self._log, self._first, self._every = failed, log, first, every
        self._given = np.delete(np.broadcast_to(p, (len(x), p.shape[-1])), 1, axis=1)  # (t0, p)

    def _noise(self, row: int, k: int) -> np.ndarray:
        return self._w[row, k - self._first] if self._w.ndim == 3 else self._w[k - self._first]

    def begins_with_events(self) -> bool:
        """Whether an event happens at the start of some run."""
        return self._engine.numeric.begins_with_events(self._x, self._given, self._w[..., 0, :])

    def numerically(self, k: int) -> None:
        """Take step k of all runs by numbers."""
        march = self._engine.numeric.on(
            self._x, self._given, self._w, self._failed, self._log, first=self._first, every=self._every
        )
        march(k, k + 1)

    def finish(self, rows: np.ndarray, end: int) -> None:
        """Take the steps of runs that stand still, each from its own, up to `end`."""
        while len(rows):
            steps = self._failed[rows].astype(int)
            went = run_batched([self._step(row, k) for row, k in zip(rows.tolist(), steps.tolist())])
            going: dict[int, list[int]] = {}
            for row, k, on in zip(rows.tolist(), steps.tolist(), went):
                if on and k + 1 < end:
                    going.setdefault(k + 1, []).append(row)
            for begin, group in going.items():
                self._together(np.array(group), begin, end)
            rows = np.array([r for group in going.values() for r in group if self._failed[r] >= 0], dtype=int)

    async def _step(self, row: int, k: int) -> bool:
        """Take step k of a run by numbers; return whether it continues."""
        numeric, x, given, w = self._engine.numeric, self._x[row], self._given[row], self._noise(row, k)
        asked = x.copy()
        await numeric.run_sampled(asked, given, w, k)
        if not np.isfinite(asked).all():  # a sampled component stopped it, no event
            return False
        self._failed[row] = kernel.NEVER
        await numeric.one_step(row, x, given, w, k, self._failed)
        return bool(self._failed[row] < 0)

    def _together(self, group: np.ndarray, begin: int, end: int) -> None:
        """Take the native steps [begin, end) of some runs; a single one goes twice, by the code that all have."""
        chosen = np.repeat(group, 2) if len(group) == 1 < len(self._x) else group
        x, failed = self._x[chosen], self._failed[chosen]
        p = self._p[chosen] if self._p.ndim == 2 else self._p
        steps = slice(begin - self._first, end - self._first)
        w = np.ascontiguousarray(self._w[chosen, steps] if self._w.ndim == 3 else self._w[steps])
        begun, over, every = -(-begin // self._every), -(-end // self._every), self._every
        log = np.empty((len(chosen), over - begun, self._log.shape[-1]))
        NativeEngine.on(self._engine, x, p, w, failed, log, first=begin, every=every)(begin, end)
        n = len(group)
        self._x[group], self._failed[group] = x[:n], failed[:n]
        at = begun - -(-self._first // every)
        self._log[group, at : at + over - begun] = log[:n]


def _crosses(before: MX, after: MX, direction: int) -> MX:
    """Return 1 for a change of sign in a direction that counts (see `event_location.crosses`)."""
    rising, falling = ca.logic_and(before < 0, after >= 0), ca.logic_and(before > 0, after <= 0)
    if direction == 0:
        return ca.logic_or(rising, falling)
    return rising if direction > 0 else falling
