"""What rate can be promised: operations of a step, and the measured distribution of its time in a pinned thread."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus import kernel
from articulus.errors import InputError, UnsupportedOperation
from articulus.parallel.counts import Operations, operations
from articulus.simulation.running.native_engine import NativeEngine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from articulus.simulation.running import Loop, RunSettings

WARM_UP = 200
"""Ticks that are not counted: caches and clocks of the processor settle."""
STOLEN = 0.2
"""A tick is the operating system's when the thread ran for less of it than the rest, and for at least ..."""
STOLEN_NS = 3000
"""... so many nanoseconds less [ns]."""


@dataclass(frozen=True, eq=False)
class Timing:
    """Times of many calls of the same code, one after another in one thread.

    Attributes
    ----------
    seconds : ndarray
        Wall time of each call [s].
    stolen : ndarray of bool
        Calls during which the operating system took the processor away, or during which the thread ran for much less than the wall
        time: not the code's.
    pinned : bool
        Whether the thread was bound to one processor.
    """

    seconds: np.ndarray
    stolen: np.ndarray
    pinned: bool

    @property
    def own(self) -> np.ndarray:
        """Times of the calls that nobody interrupted [s]."""
        return self.seconds[~self.stolen]

    def quantile(self, part: float) -> float:
        """Return the time within which a part of the calls that nobody interrupted is done [s].

        Parameters
        ----------
        part : float
            Between 0 and 1.
        """
        return float(np.quantile(self.own, part)) if len(self.own) else math.inf

    @property
    def worst(self) -> float:
        """Longest time of a call that nobody interrupted [s]."""
        return float(self.own.max()) if len(self.own) else math.inf


@dataclass(frozen=True, eq=False)
class Deadline:
    """Whether a rate can be kept.

    Attributes
    ----------
    rate : float
        Ticks per second [1/s].
    steps : int
        Steps of integration in a tick.
    operations : Operations, optional
        Operations of the busiest tick, in which all sampled components are due; the same whatever the state: native code has no branches. None where the equations cannot be written out.
    timing : Timing
        Timing of the ticks.
    failed : bool
        Whether the run diverged while it was measured; times of numbers that are not finite say little.
    """

    rate: float
    steps: int
    operations: Operations | None
    timing: Timing
    failed: bool = False

    @property
    def period(self) -> float:
        """Time of a tick [s]."""
        return 1.0 / self.rate

    @property
    def promised(self) -> float:
        """Ticks per second that the slowest uninterrupted tick allows, with a margin of two [1/s]."""
        return 0.5 / self.timing.worst

    @property
    def missed(self) -> int:
        """Ticks that took longer than the period, interrupted ones among them."""
        return int((self.timing.seconds > self.period).sum())

    @property
    def missed_alone(self) -> int:
        """Ticks that took longer than the period although nobody interrupted them."""
        return int((self.timing.own > self.period).sum())

    def figures(self) -> list[tuple[str, str]]:
        """Return what to tell, as (name, text)."""
        t = self.timing
        rows = [("rate", f"{self.rate:g} 1/s, {self.steps} steps of integration a tick")]
        if self.operations is not None:
            rows.append(("operations of a tick", f"{self.operations.total}: {self.operations}"))
        rows += [
            ("ticks", f"{len(t.seconds)} measured, {'on one processor' if t.pinned else 'not bound to a processor'}"),
            ("half of them within", _microseconds(t.quantile(0.5))),
            ("99.9 % within", _microseconds(t.quantile(0.999))),
            ("worst uninterrupted", _microseconds(t.worst)),
            ("worst of all", _microseconds(float(t.seconds.max()))),
            ("stolen by the operating system", f"{int(t.stolen.sum())} ticks"),
            ("longer than a period", f"{self.missed} ticks, {self.missed_alone} of them uninterrupted"),
            ("rate that can be promised", f"{self.promised:.4g} 1/s: half of what the worst uninterrupted tick allows"),
        ]  # fmt: skip
        if self.failed:
            rows.append(
                (
                    "doubt",
                    "the run diverged while it was measured; times with numbers that are not finite say little",
                )
            )
        if not t.pinned:
            rows.append(
                (
                    "doubt",
                    "the thread could not be bound to a processor; moves between processors count as its own time",
                )
            )
        return rows


def _microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:.4g} us"


def measure(call: Callable[[], Any], calls: int = 10_000, warm_up: int = WARM_UP) -> Timing:
    """Return the times of many calls, one after another, in this thread bound to one processor.

    Parameters
    ----------
    call : callable
        Without arguments, such as a prepared call of a kernel.
    calls : int
    warm_up : int
        Calls before, which are not counted.

    Returns
    -------
    Timing
        Reading the clocks takes some 0.1 us, which is part of each time.
    """
    if isinstance(calls, bool) or not isinstance(calls, int) or calls < 1:
        raise InputError(f"calls = {calls!r}; expected a whole number, 1 or more")
    wall, processor = np.empty(calls, np.int64), np.empty(calls, np.int64)
    switched = np.zeros(calls, np.int64)
    clock, own, switches = time.perf_counter_ns, time.thread_time_ns, _switches()
    with one_processor() as pinned:
        for _ in range(warm_up):
            call()
        for i in range(calls):
            before, ran = switches(), own()
            start = clock()
            call()
            wall[i] = clock() - start
            processor[i] = own() - ran
            switched[i] = switches() - before
    lost = wall - processor
    stolen = (switched > 0) | ((lost > STOLEN * wall) & (lost > STOLEN_NS))
    return Timing(wall * 1e-9, stolen, pinned)


def _switches() -> Callable[[], int]:
    """Return what counts how often the thread was taken off its processor; always 0 where the system does not tell."""
    try:
        import resource

        who = resource.RUSAGE_THREAD
    except (ImportError, AttributeError):
        return lambda: 0
    usage = resource.getrusage
    return lambda: usage(who).ru_nivcsw


@contextlib.contextmanager
def one_processor() -> Iterator[bool]:
    """Bind this thread to one of its processors for as long as the block lasts; say whether that was possible.

    The last one is taken: interrupts mostly go to the first.
    """
    try:
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(before)})
    except (AttributeError, OSError):
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setaffinity(0, before)


def deadline(
    loop: Loop,
    settings: RunSettings,
    rate: float,
    q0: Any = None,
    v0: Any = None,
    params: Mapping[str, Any] | None = None,
    ticks: int = 10_000,
) -> Deadline:
    """Return what rate a loop can keep on this machine: operations of a tick, and the distribution of its time.

    Parameters
    ----------
    loop : Loop
    settings : RunSettings
        Method and step; the duration is that of the ticks.
    rate : float
        Ticks per second [1/s]; a whole number of steps goes into each.
    q0, v0, params : optional
        As of `Loop.run`.
    ticks : int
        How many are measured, as fast as they go. Noise is zero.

    Returns
    -------
    Deadline
    """
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not (np.isfinite(rate) and rate > 0):
        raise InputError(f"rate = {rate!r}; expected a number above zero, in 1/s")
    steps = round(1.0 / (rate * settings.step))
    if steps < 1 or abs(steps * settings.step * rate - 1.0) > 1e-9:
        raise InputError(
            f"rate = {rate:g} 1/s with steps of {settings.step:g} s; expected a whole number of steps in a tick, such as a step of "
            f"{1.0 / rate / max(steps, 1):g} s"
        )
    if loop.outside is not None:
        raise InputError(
            f"the controller '{loop.outside.name}' is Python code, whose time cannot be guaranteed; expected controllers that are components"
        )
    runner = loop.setup(settings, q0, v0, params, True).runner()
    engine = runner.engine
    if not isinstance(engine, NativeEngine):
        raise InputError(
            f"method '{settings.method}' of this loop does not step natively (adaptive or implicit steps, or events); expected an "
            "explicit method with equal steps, such as rk4, and no events"
        )
    engine.prepare(1)
    tick, failed = _ticks(runner.c0, runner.p, engine, runner.t0, steps)
    timing = measure(tick, ticks)
    return Deadline(float(rate), steps, _operations(engine, steps), timing, bool(failed[0] >= 0))


def _ticks(
    c0: np.ndarray, p: np.ndarray, engine: NativeEngine, t0: float, steps: int
) -> tuple[Callable[[], None], np.ndarray]:
    system = engine.system
    x = engine.rows(c0, np.broadcast_to(system.d0, (1, system.nd)))
    given = engine.parameters(t0, p)
    failed = np.full(1, kernel.NEVER)
    whole = math.lcm(steps, *engine.periods) if engine.periods else steps
    log = np.empty((1, 1, engine.logged))
    march = engine.on(x, given, np.zeros((whole, system.nw)), failed, log, first=0, every=whole)
    at, h = 0, float(given[0, 1])

    def tick() -> None:
        nonlocal at
        march(at, at + steps)
        at += steps
        if at == whole:
            at = 0
            given[:, 0] += whole * h

    return tick, failed


def _operations(engine: NativeEngine, steps: int) -> Operations | None:
    """Return the operations of the busiest tick: all its steps, and every sampled component as often as it can be due in them."""
    try:
        parts = [(steps, operations(engine.step_map(engine.method)))]
        for update, period in zip(engine.system.updates, engine.periods):
            parts.append((-(-steps // period), operations(update.function)))
    except (RuntimeError, UnsupportedOperation):
        return None
    return sum((Operations(*(times * each for each in found)) for times, found in parts), Operations())
