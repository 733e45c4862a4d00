"""The suite stays short: a test that takes too long fails it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from durations import Durations


def judged(limit: float, status: int = 0, **config: object) -> tuple[int, list[str]]:
    """Return exit status and lines of a session of two tests, of 3 s (set up in 1 s) and 0.1 s."""
    watch, lines = Durations(limit, listed=1.0), []
    for name, seconds in (("slow", 1.0), ("slow", 2.0), ("quick", 0.1)):
        watch.pytest_runtest_logreport(
            SimpleNamespace(nodeid=f"tests/a/test_b.py::{name}", when="call", processor_time=(seconds, 0.25))
        )
    watch.pytest_runtest_logreport(  # a browser that served all tests of the folder ends
        SimpleNamespace(nodeid="tests/a/test_b.py::quick", when="teardown", processor_time=(60.0, 60.0))
    )
    session = SimpleNamespace(exitstatus=status, config=SimpleNamespace(**config))
    watch.pytest_sessionfinish(session)
    watch.pytest_terminal_summary(SimpleNamespace(section=lines.append, write_line=lines.append))
    return int(session.exitstatus), lines


def test_a_test_beyond_the_limit_fails_the_suite() -> None:
    status, lines = judged(2.5)
    assert status == pytest.ExitCode.TESTS_FAILED
    assert any("slow" in line and "TOO LONG" in line for line in lines)
    assert not any("quick" in line for line in lines)


def test_slow_tests_are_listed_and_other_outcomes_stay() -> None:
    status, lines = judged(5.0)
    assert status == 0
    assert any("slow" in line for line in lines)
    assert not any("TOO LONG" in line for line in lines)
    assert (
        sum(
            line.split() == ["63", "s", "61", "s", "in", "other", "processes", "2", "tests", "tests/a"]
            for line in lines
        )
        == 1
    )
    assert judged(2.5, status=int(pytest.ExitCode.INTERRUPTED))[0] == pytest.ExitCode.INTERRUPTED
    assert judged(2.5, workerinput={})[0] == 0
