"""A clock that tests turn by hand, a small machine, and a server in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import articulus as art
from articulus.browser.drive import Access, Driving, Machine, servo_machine
from articulus.browser.drive.plant import Plant
from articulus.browser.drive.session import DriveSession

MS = 1_000_000


class HandClock:
    """Time passes only in `wait` and `pass_by`; every wait wakes up `late` too late."""

    def __init__(self) -> None:
        self.time, self.late, self.waits = 0, 0, 0

    def now(self) -> int:
        return self.time

    def processor_time(self) -> int:
        return self.time // 4

    def wait(self, until: int) -> None:
        self.waits += 1
        self.time = max(self.time, until) + self.late

    def pass_by(self, span: int) -> None:
        self.time += span


@functools.cache
def two_link() -> Machine:
    """Return a small arm with a servo in each of its joints."""
    return servo_machine(art.load("two_link"))


def session(clock: HandClock, kept: Callable | None = None) -> DriveSession:
    """Return a session of the small arm."""
    return DriveSession(Plant(two_link()), clock, kept)


def go(driven: DriveSession, clock: HandClock, seconds: float) -> None:
    """Let steps of 1 ms pass."""
    for _ in range(round(seconds * 1000)):
        clock.pass_by(MS)
        driven.work(1)


@contextlib.contextmanager
def driving(machine: Machine, folder: Path) -> Iterator[Driving]:
    """Run a machine with its server in threads of this process; yield when the page can be opened."""
    driven = Driving(machine, Access(), folder)
    ready, held = threading.Event(), {}

    async def serve() -> None:
        held["loop"], held["done"] = asyncio.get_running_loop(), asyncio.Event()
        await driven.run(0, ready.set, held["done"])

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(60)
        yield driven
    finally:
        held["loop"].call_soon_threadsafe(held["done"].set)
        thread.join()
