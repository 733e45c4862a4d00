"""When an event happens: the first change of sign of its value on the way of a row from one time to another.

An event is found by the signs of its value at both ends of the way. Where they agree, but the slopes there indicate a turn
in between, the turn is looked for: a value that goes through zero and back is not missed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.simulation.running.batched_calls import KernelCall

if TYPE_CHECKING:
    from articulus.simulation.running.numeric_engine import NumericEngine

MOST_POINTS = 100
"""Points at which a change of sign is looked for; about ten are enough."""
MOST_HALVINGS = 30
"""Halvings of a step in which a joint is looked for off its stop."""
TIME_ROUND = 1e-12
"""Accuracy of the time of an event, relative to the step."""


class Stretch:
    """The way of one row from t to `end`, on which events are looked for.

    Attributes
    ----------
    ahead : array
        The row at the end.
    before, after : array
        Values of all events at the beginning and at the end.
    """

    def __init__(
        self, engine: NumericEngine, x: np.ndarray, p: np.ndarray, w: np.ndarray, t: float, end: float
    ):
        self._engine, self.x, self._p, self._w = engine, x, p, w
        self.t, self.end = t, end
        self._limit = TIME_ROUND * (end - t)

    async def go(self, known: tuple[np.ndarray, np.ndarray] | None = None) -> Stretch:
        """Take the row to the end and look at the events there; `known`: values and slopes at t, if known."""
        self.ahead = await self._engine.stepper.advancing(self.x, self._p[1:], self._w, self.t, self.end)
        self.before, self._s_before = known or await self._engine.watch(self.x, self._p, self._w, self.t)
        self.after, self._s_after = await self._engine.watch(self.ahead, self._p, self._w, self.end)
        return self

    async def _at(self, t: float, i: int) -> tuple[float, float, np.ndarray]:
        """Return value and slope of event i at time t, and the state there."""
        state = await self._engine.stepper.advancing(self.x, self._p[1:], self._w, self.t, t)
        values, slopes = await self._engine.watch(state, self._p, self._w, t)
        return values[i], slopes[i], state

    async def first_crossing(self, i: int, direction: int, just: bool) -> tuple[float, np.ndarray] | None:
        """Return time and state just after the first change of sign of event i that counts, or None.

        `just`: the event has just happened, its value is zero but for rounding.
        """
        a, b = self.t, self.end
        f_a, f_b = 0.0 if just else self.before[i], self.after[i]
        if crosses(f_a, f_b, direction):
            return await self._locate(i, (a, b), (f_a, f_b), self.ahead)
        turn = await self._turn(i, f_a, f_b)
        if turn is None:
            return None
        m, f_m, state = turn
        if crosses(f_a, f_m, direction):
            return await self._locate(i, (a, m), (f_a, f_m), state)
        if crosses(f_m, f_b, direction):
            return await self._locate(i, (m, b), (f_m, f_b), self.ahead)
        return None

    async def back_from_the_stop(self, i: int, direction: int) -> tuple[float, np.ndarray]:
        """Return time and state at which a joint that is at its stop at first, and beyond it at the end, meets it.

        It may come off for a short while first; if it does not, that is now.
        """
        span = self.end - self.t
        for _ in range(MOST_HALVINGS):
            span /= 2
            f, _, _ = await self._at(self.t + span, i)
            if f * direction < 0:
                return await self._locate(i, (self.t + span, self.end), (f, self.after[i]), self.ahead)
        return self.t, self.x.copy()

    async def _turn(self, i: int, f_a: float, f_b: float) -> tuple[float, float, np.ndarray] | None:
        """Return a point of the way there and back on which event i lies on the other side of zero; None if none is seen.

        Between slopes of opposite signs the turn is found by false position; the search ends as soon as the value there
        has changed its sign.
        """
        (a, b), (s_a, s_b) = (self.t, self.end), (self._s_before[i], self._s_after[i])
        side = math.copysign(1.0, s_a)
        if s_a * s_b >= 0 or f_a * side > 0 or f_b * side > 0:
            return None
        found: list[tuple[float, float, np.ndarray]] = []

        async def slope_at(t: float) -> float:
            value, slope, state = await self._at(t, i)
            if value * side > 0:
                found.append((t, value, state))
            return 0.0 if found else slope

        await _false_position(slope_at, (a, b), (s_a, s_b), self._limit)
        return found[0] if found else None

    async def _locate(
        self, i: int, span: tuple[float, float], ends: tuple[float, float], state: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Return time and state just after a change of sign, by false position on steps of the method."""
        places = [(span[1], state)]

        async def value_at(t: float) -> float:
            value, _, there = await self._at(t, i)
            if value * ends[1] >= 0:
                places.append((t, there))
            return value

        await _false_position(value_at, span, ends, self._limit)
        return min(places, key=lambda place: place[0])


async def _false_position(
    f: Callable[[float], Coroutine[KernelCall, Any, float]],
    span: tuple[float, float],
    ends: tuple[float, float],
    limit: float,
) -> None:
    """Ask for f at points ever nearer to its change of sign, until they are `limit` apart or f is zero.

    Illinois form of the rule of false position: the value at an end that stays twice counts half.
    """
    (a, b), (f_a, f_b), stayed = span, ends, 0
    for _ in range(MOST_POINTS):
        if b - a <= limit or f_a == 0 or f_b == 0:
            return
        t = min(max(b - f_b * (b - a) / (f_b - f_a), a + limit / 2), b - limit / 2)
        value = await f(t)
        if value * f_b >= 0:
            b, f_b = t, value
            f_a, stayed = (f_a / 2 if stayed == -1 else f_a), -1
        else:
            a, f_a = t, value
            f_b, stayed = (f_b / 2 if stayed == 1 else f_b), 1


def crosses(before: float, after: float, direction: int) -> bool:
    """Whether a value changes its sign in a direction that counts: 1 upwards, -1 downwards, 0 both."""
    rising, falling = before < 0 <= after, before > 0 >= after
    return (rising and direction >= 0) or (falling and direction <= 0)
