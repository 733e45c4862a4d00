"""Progress of work that takes more than a second, on a terminal."""

from __future__ import annotations

import contextlib
import contextvars
import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

DELAY = 1.0
"""Seconds of work after which the bar appears."""
SWITCH = "ARTICULUS_PROGRESS"
"""Environment variable; "off" keeps the terminal quiet."""
_quiet: contextvars.ContextVar[bool] = contextvars.ContextVar("quiet", default=False)


class ProgressBar:
    """A bar that appears once the work has taken a second; `advance` reports what has been done.

    Parameters
    ----------
    title : str
        What is going on.
    total : float
        All of the work, in any unit.
    unit : str
        Name of that unit, for the rate.
    console : Console
        Where it is shown.
    """

    def __init__(self, title: str, total: float, unit: str, console: Console):
        self.done = 0.0
        self._title, self._total, self._unit = title, total, unit
        self._console = console
        self._begin = time.monotonic()
        self._display: Progress | None = None

    def advance(self, amount: float = 1.0) -> None:
        """Say that `amount` more has been done."""
        self.done += amount
        elapsed = time.monotonic() - self._begin
        if elapsed < DELAY:
            return
        if self._display is None:
            self._display = _display(self._console)
            self._task = self._display.add_task(self._title, total=self._total, rate="")
            self._display.start()
        rate = f"{_short(self.done / elapsed)} {self._unit}/s"
        self._display.update(self._task, completed=self.done, rate=rate)

    def close(self) -> None:
        """Take the bar away."""
        if self._display is not None:
            self._display.stop()


class Quiet(ProgressBar):
    """A bar that never appears."""

    def advance(self, amount: float = 1.0) -> None:
        self.done += amount


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let no bar appear within a block, in the thread that runs it: the caller shows one of its own."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


@contextlib.contextmanager
def progress(
    title: str, total: float, unit: str = "steps", console: Console | None = None
) -> Iterator[ProgressBar]:
    """Give a bar for a block of work: `with progress("simulate", steps) as bar: ... bar.advance(n)`.

    It is shown on the error stream while the block runs, after the first second, with rate and remaining time. It
    stays away when that stream is no terminal or ARTICULUS_PROGRESS=off.
    """
    from rich.console import Console  # here: it takes longer to load than short work

    console = console or Console(file=sys.stderr)
    off = _quiet.get() or os.environ.get(SWITCH, "").lower() == "off"
    bar = (ProgressBar if console.is_terminal and not off else Quiet)(title, total, unit, console)
    try:
        yield bar
    finally:
        bar.close()


def _display(console: Console) -> Progress:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )


def _short(number: float) -> str:
    """Return a number with three digits and a power of thousand: 12.3k."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"
