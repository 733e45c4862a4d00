"""Checks pass and fail where they should, on numbers that are known."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.simulation.results.run import Run
from articulus.simulation.results.signal import Signal
from articulus.study import RunCheck

T = np.linspace(0.0, 1.0, 11)


def run(values: np.ndarray) -> Run:
    arm = art.load("two_link")
    shape = (*values.shape, 2)
    held = {name: Signal(name, np.zeros(shape), ("a", "b")) for name in "qv"}
    return Run(arm, T, held | {"y": Signal("y", values[..., None], ("",), "m")})


def check(at: str | float, bound: str, value: float, tolerance: float = 0.0) -> RunCheck:
    return RunCheck("", "y", at, bound, value, tolerance, "m")


COURSE = -2 * T + 1.0  # from 1 to -1
CASES = [
    ("start", 1.0), ("end", -1.0), ("min", -1.0), ("max", 1.0), ("peak", 1.0), (0.5, 0.0), (0.32, 0.4),
]  # fmt: skip


@pytest.mark.parametrize(("at", "value"), CASES)
def test_where_it_looks(at: str | float, value: float) -> None:
    verdict = check(at, "equals", value, 1e-12).verdict(run(COURSE))
    assert verdict.passed
    assert verdict.found == pytest.approx(value, abs=1e-12)
    assert not check(at, "equals", value + 0.01, 1e-3).verdict(run(COURSE)).passed


def test_bounds_have_a_direction() -> None:
    assert check("max", "less", 1.1).verdict(run(COURSE)).passed
    assert not check("max", "less", 0.9).verdict(run(COURSE)).passed
    assert check("min", "greater", -1.1).verdict(run(COURSE)).passed
    assert not check("min", "greater", -0.9).verdict(run(COURSE)).passed


def test_the_worst_of_a_batch_counts() -> None:
    batch = np.stack([COURSE, 2 * COURSE, 3 * COURSE])
    verdict = check("max", "less", 2.5).verdict(run(batch))
    assert not verdict.passed
    assert (verdict.found, verdict.failures, verdict.runs) == (3.0, 1, 3)


def test_a_time_that_the_run_did_not_reach_fails() -> None:
    assert not check(1.5, "less", 100.0).verdict(run(COURSE)).passed


def test_a_number_that_is_none_fails() -> None:
    assert not check("end", "less", 5.0).verdict(run(np.full(11, np.nan))).passed
