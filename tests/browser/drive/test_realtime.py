"""The paced loop with a clock turned by hand: deadlines are absolute, delays are caught up, figures count right."""

from __future__ import annotations

import pytest

from articulus.browser.drive.realtime import GIVE_UP, MOST, Figures, Pacer

from .support import MS, HandClock


def paced(clock: HandClock, cost: int = 0) -> tuple[Pacer, list[int]]:
    taken: list[int] = []

    def work(steps: int) -> None:
        taken.append(steps)
        clock.pass_by(cost)

    return Pacer(work, 1e-3, clock), taken


def test_one_step_a_millisecond_without_drift() -> None:
    clock = HandClock()
    clock.late = 70_000  # every sleep wakes up late, by a time that would add up to 0.7 s
    pacer, taken = paced(clock, cost=50_000)
    start = clock.now()
    for _ in range(10_000):
        pacer.turn()
    assert taken == [1] * 10_000
    assert clock.now() - start == 10_000 * MS + 70_000 + 50_000
    assert pacer.total.missed == 0
    assert pacer.total.worst_latency == 70_000
    assert pacer.total.worst_step == 50_000
    assert 0 <= pacer.drift <= MS


def test_after_a_delay_the_steps_that_are_due_are_taken_together() -> None:
    clock = HandClock()
    pacer, taken = paced(clock)
    pacer.turn()
    clock.pass_by(7 * MS + 1)
    pacer.turn()
    pacer.turn()
    assert taken == [1, 7, 1]
    # those due 7, 6, ... 1 ms ago: all but the last were due to be done before
    assert pacer.total.missed == 6
    assert pacer.total.worst_latency == 6 * MS + 1


def test_a_long_delay_is_caught_up_in_bounded_batches() -> None:
    clock = HandClock()
    pacer, taken = paced(clock)
    clock.pass_by(101 * MS)
    for _ in range(10):
        pacer.turn()
    assert max(taken) == MOST
    assert sum(taken) * MS == clock.now()
    assert pacer.total.skipped == 0


def test_after_sleep_of_the_machine_steps_are_left_out() -> None:
    clock = HandClock()
    pacer, taken = paced(clock)
    clock.pass_by(GIVE_UP + 60 * MS)
    pacer.turn()
    assert taken == [1]
    assert pacer.total.skipped == (GIVE_UP + 60 * MS) // MS - 1
    assert pacer.drift < MS


def test_steps_that_are_too_slow_are_missed() -> None:
    clock = HandClock()
    pacer, _ = paced(clock, cost=MS + 1)
    for _ in range(20):
        pacer.turn()
    assert pacer.total.missed >= 20
    assert pacer.total.on_time < 0.5


def test_figures_of_windows_add_up() -> None:
    clock = HandClock()
    pacer, _ = paced(clock, cost=200_000)
    for _ in range(2500):
        pacer.turn()
    assert pacer.total.steps == 2500
    assert 990 <= pacer.recent.steps <= 1010
    assert pacer.total.busy == 2500 * 200_000
    assert pacer.recent.share == pytest.approx(0.25, rel=1e-6)
    assert pacer.recent.step_time == pytest.approx(200e-6)


def test_without_steps_nothing_was_late() -> None:
    assert Figures().on_time == 1.0
    assert Figures().share == Figures().step_time == 0.0
