"""Processor time of every test, so that the suite stays short: the slowest are listed at its end, and one beyond the limit fails it.

It is the time of all threads of the process, and of the processes that a test waited for, since that depends little on what
else the machine does. Sums of the folders of tests follow; half of the whole is the time of day on two processors that do nothing
else, but for what workers do before the first test. With the environment variable ARTICULUS_DURATIONS, a file has every test:
its name, processor time and the part of that in other processes [s], the slowest first.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

LIMIT = 20.0
"""Processor time of a test of `make test` [s]; what takes longer belongs to `make nightly`, and a small version of it here."""
LISTED = 4.0
"""Processor time from which a test is in the list at the end [s]."""
SHOWN = 20
"""Length of that list."""


class Time(NamedTuple):
    """Processor time [s]: all of it, and the part in other processes."""

    whole: float = 0.0
    children: float = 0.0

    @classmethod
    def now(cls) -> Time:
        """Return what this process has used so far."""
        t = os.times()
        children = t.children_user + t.children_system
        return cls(time.process_time() + children, children)

    def plus(self, other: Time, sign: int = 1) -> Time:
        """Return the sum (the difference: sign -1) of both parts."""
        return Time(self.whole + sign * other.whole, self.children + sign * other.children)


def _folder(name: str) -> str:
    """Return the folder of a test, below `tests`."""
    return "/".join(name.split("::")[0].split("/")[:2])


class Durations:
    """Plugin of pytest: the processes that run tests measure, the one that reports adds up and judges."""

    def __init__(self, limit: float = LIMIT, listed: float = LISTED) -> None:
        self.limit, self.listed = limit, listed
        self.begin = Time()
        self.times: dict[str, Time] = defaultdict(Time)
        self.shared: dict[str, Time] = defaultdict(Time)
        """Time of processes that end with the last test of a folder and served all of them (a browser)."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, Any, Any]:
        """Note when a test begins, with what it shares with others and is the first to ask for."""
        self.begin = Time.now()
        return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(self) -> Generator[None, Any, Any]:
        """Give every report (of setting up, test, tearing down) the time since the one before."""
        report = yield
        before, self.begin = self.begin, Time.now()
        report.processor_time = tuple(self.begin.plus(before, -1))  # plain, to go to another process
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add up the reports of a test; a process that ends while a test is torn down has usually served others as well."""
        spent = Time(*report.processor_time)
        if report.when == "teardown":
            others = Time(spent.children, spent.children)
            self.shared[_folder(report.nodeid)] = self.shared[_folder(report.nodeid)].plus(others)
            spent = spent.plus(others, -1)
        self.times[report.nodeid] = self.times[report.nodeid].plus(spent)

    def slowest(self, least: float) -> list[tuple[float, str]]:
        """Return times and names of the tests that took at least so long, the slowest first."""
        return sorted(((t.whole, name) for name, t in self.times.items() if t.whole >= least), reverse=True)

    def folders(self) -> list[tuple[str, int, Time]]:
        """Return the folders of tests, how many tests each has and their sum, the slowest first."""
        sums = defaultdict(Time, self.shared)
        counts: dict[str, int] = defaultdict(int)
        for name, t in self.times.items():
            sums[_folder(name)] = sums[_folder(name)].plus(t)
            counts[_folder(name)] += 1
        return sorted(((name, counts[name], t) for name, t in sums.items()), key=lambda row: -row[2].whole)

    def pytest_sessionfinish(self, session: Any) -> None:
        """Fail where all passed but a test is beyond the limit."""
        if not hasattr(session.config, "workerinput") and self.slowest(self.limit):
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """List the slowest tests."""
        self._write()
        named = self.slowest(self.listed)
        if not named:
            return
        total = sum(t.whole for _, _, t in self.folders())
        terminalreporter.section(f"processor time of {len(self.times)} tests: {total:.0f} s")
        for name, count, t in self.folders():
            terminalreporter.write_line(
                f"{t.whole:6.0f} s  {t.children:6.0f} s in other processes  {count:6} tests  {name}"
            )
        terminalreporter.section(f"tests of more than {self.listed:g} s processor time")
        for seconds, name in named[:SHOWN]:
            beyond = f"  TOO LONG: above {self.limit:g} s" if seconds >= self.limit else ""
            terminalreporter.write_line(f"{seconds:6.1f} {name}{beyond}")
        if named[0][0] >= self.limit:
            terminalreporter.write_line(
                "Make these shorter, or leave the long part to `make nightly` (tests/selection.py)."
            )

    def _write(self) -> None:
        """Write all tests to the file of ARTICULUS_DURATIONS, in the process that reports."""
        if place := os.environ.get("ARTICULUS_DURATIONS"):
            rows = sorted(((name, *t) for name, t in self.times.items()), key=lambda row: -row[1])
            Path(place).write_text(json.dumps(rows, indent=0))
