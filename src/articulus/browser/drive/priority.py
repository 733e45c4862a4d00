"""Which threads go first. All share one interpreter: while one of them holds it and is not run, the loop cannot run either."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

LOOP, SERVER, WRITER = 10, 5, 1
"""Real-time priorities of the loop, of the server and of what writes recordings."""


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
