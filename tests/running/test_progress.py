"""Progress: it appears after a second on a terminal, and nowhere else."""

from __future__ import annotations

import contextlib
import io

import pytest
from rich.console import Console

from articulus.simulation.running import progress as module
from articulus.simulation.running.progress import progress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.delenv("ARTICULUS_PROGRESS", raising=False)
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def work(clock: Clock, seconds: float, terminal: bool = True) -> tuple[str, float]:
    """Return what a terminal shows of ten thousand steps in `seconds`, and what was counted."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=100)
    with progress("simulate [arm]", 20_000, console=console) as bar:
        for _ in range(10):
            clock.now += seconds / 10
            bar.advance(1000)
    return out.getvalue(), bar.done


def test_short_work_shows_nothing(clock: Clock) -> None:
    assert work(clock, 0.9) == ("", 10_000)


def test_long_work_shows_title_rate_and_share(clock: Clock) -> None:
    text, done = work(clock, 8.0)
    assert done == 10_000
    for part in ("simulate [arm]", "1.25k steps/s", "50%"):
        assert part in text


def test_no_terminal_no_bar(clock: Clock) -> None:
    assert work(clock, 8.0, terminal=False) == ("", 10_000)


def test_switched_off(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARTICULUS_PROGRESS", "off")
    assert work(clock, 8.0) == ("", 10_000)


def test_bar_goes_away_when_the_work_fails(clock: Clock) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100)
    with contextlib.suppress(RuntimeError), progress("simulate", 10, console=console) as bar:
        clock.now += 2
        bar.advance(1)
        raise RuntimeError
    assert out.getvalue().rstrip("\n").endswith("\x1b[2K")


@pytest.mark.parametrize(
    ("number", "text"), [(3.14159, "3.14"), (1250, "1.25k"), (2.5e6, "2.5M"), (7e9, "7G")]
)
def test_short_numbers(number: float, text: str) -> None:
    assert module._short(number) == text
