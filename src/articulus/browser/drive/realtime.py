"""Steps paced against the wall clock: each has an absolute deadline, so that nothing drifts.

Step j is due at origin + j h. The loop sleeps until shortly before, spins for the rest, and takes all steps that are due by
then together, at most `MOST` of them: after a delay it catches up instead of being late forever. A step is on time
when it is done before the next one is due.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

LOOP, SERVER, WRITER = 10, 5, 1
"""Real-time priorities of the loop, of the server and of what writes recordings."""

MOST = 20
"""Steps taken together when late."""
GIVE_UP = 250_000_000
"""Delay after which steps are omitted instead of caught up: the machine was asleep [ns]."""
SPIN = 80_000
"""Time before a deadline from which the loop spins: a sleep wakes up by less than this too late, mostly [ns]."""


class Clock(Protocol):
    """A clock that can be waited on."""

    def now(self) -> int:
        """Return the time [ns]."""

    def processor_time(self) -> int:
        """Return the processor time of the thread [ns]."""

    def wait(self, until: int) -> None:
        """Return at a time, or at once if it is over."""


class WallClock:
    """The clock of this machine."""

    now = staticmethod(time.perf_counter_ns)
    processor_time = staticmethod(time.thread_time_ns)

    def wait(self, until: int) -> None:
        left = until - time.perf_counter_ns()
        if left > SPIN:
            time.sleep((left - SPIN) * 1e-9)
        while time.perf_counter_ns() < until:
            pass


@dataclass(frozen=True)
class Figures:
    """How well the deadlines were kept.

    Parameters
    ----------
    steps, missed : int
        Steps done, and those of them that were done after the next one was due.
    skipped : int
        Steps left out because the machine was asleep.
    busy : int [ns]
        Time in steps.
    worst_step : int [ns]
        Longest time in one step (in a batch: the mean of the batch).
    worst_latency : int [ns]
        Longest time from a deadline to the begin of its step.
    elapsed, used : int [ns]
        Time of the wall clock and of the processor.
    """

    steps: int = 0
    missed: int = 0
    skipped: int = 0
    busy: int = 0
    worst_step: int = 0
    worst_latency: int = 0
    elapsed: int = 0
    used: int = 0

    @property
    def on_time(self) -> float:
        """Share of steps done in time, skipped ones counted as missed."""
        total = self.steps + self.skipped
        return 1 - (self.missed + self.skipped) / total if total else 1.0

    @property
    def step_time(self) -> float:
        """Mean time in a step [s]."""
        return self.busy / self.steps * 1e-9 if self.steps else 0.0

    @property
    def share(self) -> float:
        """Share of one processor."""
        return self.used / self.elapsed if self.elapsed else 0.0

    def plus(self, other: Figures) -> Figures:
        """Return the figures of both spans together."""
        mine, theirs = dataclasses.asdict(self), dataclasses.asdict(other)
        return Figures(
            **{k: max(mine[k], theirs[k]) if k.startswith("worst") else mine[k] + theirs[k] for k in mine}
        )


class Pacer:
    """Calls `work(steps)` in time with a clock.

    Parameters
    ----------
    work : callable
        Takes that many steps.
    h : float [s]
    clock : Clock
    window : float [s]
        Span of the figures in `recent`.

    Attributes
    ----------
    total, recent : Figures
        Since the begin, and of the last whole window.
    """

    def __init__(
        self, work: Callable[[int], None], h: float, clock: Clock | None = None, window: float = 1.0
    ):
        self.work, self.clock = work, clock or WallClock()
        self._h, self._window = round(h * 1e9), round(window * 1e9)
        self._done, self._recent = Figures(), Figures()
        self._now: Figures = Figures()
        self._stopped = False
        self.restart()

    def restart(self) -> None:
        """Let the next step be due one step from now."""
        self._origin, self._j = self.clock.now() + self._h, 0
        self._began, self._used = self.clock.now(), self.clock.processor_time()

    @property
    def total(self) -> Figures:
        """Figures since the begin."""
        return self._done.plus(self._now)

    @property
    def recent(self) -> Figures:
        """Figures of the last whole window."""
        return self._recent

    @property
    def drift(self) -> int:
        """Time by which the steps done are behind the clock [ns]; less than a step when all is well."""
        return self.clock.now() - (self._origin + (self._j - 1) * self._h)

    def stop(self) -> None:
        """End `run` after the present step; from any thread."""
        self._stopped = True

    def run(self) -> None:
        """Take steps until stopped."""
        self.restart()
        while not self._stopped:
            self.turn()

    def turn(self) -> None:
        """Wait for the next deadline and take what is due."""
        due = self._origin + self._j * self._h
        self.clock.wait(due)
        began = self.clock.now()
        skipped = 0
        if began - due > GIVE_UP:
            skipped = (began - due) // self._h
            self._j += skipped
            due += skipped * self._h
        steps = min((began - due) // self._h + 1, MOST)
        self.work(steps)
        ended = self.clock.now()
        self._j += steps
        late = sum(ended > due + (i + 1) * self._h for i in range(steps))
        self._count(steps, late, skipped, began - due, began, ended)

    def _count(self, steps: int, late: int, skipped: int, latency: int, began: int, ended: int) -> None:
        n = self._now
        self._now = Figures(
            n.steps + steps,
            n.missed + late,
            n.skipped + skipped,
            n.busy + ended - began,
            max(n.worst_step, (ended - began) // steps),
            max(n.worst_latency, latency),
            ended - self._began,
            n.used,
        )
        if ended - self._began >= self._window:
            used = self.clock.processor_time()
            self._recent = dataclasses.replace(self._now, used=used - self._used)
            self._done, self._now = self._done.plus(self._recent), Figures()
            self._began, self._used = ended, used


@contextlib.contextmanager
def urgent(priority: int) -> Iterator[None]:
    """Let this thread, not those that it starts, go before all usual ones, where the system and the user's rights allow it."""
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(priority))
    except (AttributeError, OSError):
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)
