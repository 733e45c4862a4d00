"""Timing on a machine that others use too: contenders take turns on one core, the minimum of each counts.

The clock is the processor time of this process, which does not count while another process has the core. Everything
that is timed on one core has one thread and waits for nothing, so on an idle machine it is the time of day.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from time import get_clock_info, perf_counter, process_time
from typing import Any

from threadpoolctl import threadpool_limits

from articulus import kernel

Clock = Callable[[], float]

BLOCK = 0.004
"""Seconds of one turn; a call that takes longer is a turn of its own."""
processor_clock = process_time if get_clock_info("process_time").resolution <= 1e-6 else perf_counter


@dataclass(frozen=True)
class Contender:
    """Something to time: `call` does `count` evaluations."""

    name: str
    call: Callable[[], Any]
    count: int = 1


def race(contenders: Sequence[Contender], seconds: float, rounds: int = 5, cores: int = 1) -> list[float]:
    """Return microseconds per evaluation of each contender.

    Parameters
    ----------
    contenders : sequence of Contender
        They take turns, so that all of them meet the same disturbances.
    seconds : float [s]
        How long to go on.
    rounds : int
        Turns that each gets at least.
    cores : int
        Threads that a contender may use; with more than one the clock is the time of day.
    """
    clock = processor_clock if cores == 1 else perf_counter
    with ExitStack() as stack:
        for condition in (
            one_core() if cores == 1 else nullcontext(),
            threadpool_limits(
                cores
            ),  # threads of BLAS would wait for each other on one core, and the clock would count that
            kernel.threads(cores),
            _no_collection(),
        ):
            stack.enter_context(condition)
        repeats = [_repeats(c.call, clock) for c in contenders]
        best = [float("inf")] * len(contenders)
        end, done = perf_counter() + seconds, 0
        while done < rounds or perf_counter() < end:
            for k, c in enumerate(contenders):
                best[k] = min(best[k], _turn(c.call, repeats[k], clock))
            done += 1
    return [1e6 * t / (r * c.count) for t, r, c in zip(best, repeats, contenders)]


def _repeats(call: Callable[[], Any], clock: Clock) -> int:
    """Return how many calls make a turn; the first calls compile and fill caches."""
    call()
    once = _turn(call, 1, clock)
    if once < BLOCK:
        once = min(once, _turn(call, 1, clock), _turn(call, 1, clock))
    return max(1, round(BLOCK / max(once, 1e-9)))


def _turn(call: Callable[[], Any], repeats: int, clock: Clock) -> float:
    """Return the seconds that `repeats` calls take."""
    steps = range(repeats)
    start = clock()
    for _ in steps:
        call()
    return clock() - start


@contextmanager
def one_core() -> Iterator[None]:
    """Keep the process on the core that is quietest now."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed, key=_delay)})
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _delay(core: int) -> float:
    """Return the seconds that a fixed piece of work takes on a core, with whatever else runs there."""
    os.sched_setaffinity(0, {core})
    start = perf_counter()
    for _ in range(20):
        sum(range(10_000))
    return perf_counter() - start


@contextmanager
def _no_collection() -> Iterator[None]:
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
