"""Work in this process: native code on all threads, in a thread of its own so that the driver can write and be stopped."""

from __future__ import annotations

import contextvars
import queue
import threading

from articulus.study.campaign.design import Campaign
from articulus.study.campaign.ledger import Range
from articulus.study.campaign.percentile_bands import Scale
from articulus.study.campaign.work import RunRows, Trouble, attempt


class LocalWorker:
    """One chunk after the other, in a thread of this process.

    Parameters
    ----------
    campaign : Campaign
    scale : Scale or None
        Where values over time are counted.
    """

    slots = 2  # one is worked on while the other waits: the driver's work costs no time
    inside = True

    def __init__(self, campaign: Campaign, scale: Scale | None):
        self._campaign, self._scale = campaign, scale
        self._tasks: queue.SimpleQueue[Range | None] = queue.SimpleQueue()
        self._found: queue.SimpleQueue[tuple[Range, RunRows | Trouble]] = queue.SimpleQueue()
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._go,), name="campaign", daemon=True)
        self._thread.start()

    def _go(self) -> None:
        while (task := self._tasks.get()) is not None:
            self._found.put((task, attempt(self._campaign, task, self._scale)))

    def submit(self, task: Range) -> None:
        """Hand out a chunk."""
        self._tasks.put(task)

    def wait(self, seconds: float) -> list[tuple[Range, RunRows | Trouble]]:
        """Return what has come back."""
        try:
            return [self._found.get(timeout=seconds)]
        except queue.Empty:
            return []

    def close(self) -> None:
        """Stop after the chunk that is under way, without waiting for it."""
        self._tasks.put(None)
