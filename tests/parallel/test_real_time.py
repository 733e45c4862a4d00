"""The time of a step: what is measured is the code's, what the system stole is told apart, and wrong questions are refused."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus import cli
from articulus.errors import InputError
from articulus.parallel import deadline, measure, real_time
from articulus.simulation.running import RunSettings

STUDIES = Path(__file__).resolve().parents[2] / "examples" / "studies"


def spin(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def test_measured_times_are_those_of_the_call():
    found = measure(lambda: spin(3e-4), 50, 2)
    assert (found.seconds >= 3e-4).all()
    assert found.quantile(0.0) < 4e-4


def test_sleep_counts_as_stolen_and_not_as_own_time():
    calls = iter(range(100))
    found = measure(lambda: time.sleep(2e-3) if next(calls) % 10 == 9 else spin(1e-4), 40, 0)
    assert found.stolen[9::10].all()
    assert found.worst < float(found.seconds.max())


def test_thread_is_bound_for_the_measurement_only():
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("the system binds no threads")
    before = os.sched_getaffinity(0)
    seen = []
    found = measure(lambda: seen.append(os.sched_getaffinity(0)), 3, 0)
    assert found.pinned
    assert all(len(one) == 1 for one in seen)
    assert os.sched_getaffinity(0) == before
    with pytest.raises(ZeroDivisionError):
        measure(lambda: 1 / 0, 3, 0)
    assert os.sched_getaffinity(0) == before


def loop_of(name: str = "puma600", **options):
    return art.Loop(art.load(name, **options))


def test_deadline_of_a_loop():
    found = deadline(loop_of(), RunSettings(1.0, step=1e-3), 500.0, ticks=300)
    assert found.steps == 2
    assert len(found.timing.seconds) == 300
    assert found.operations is not None
    assert found.operations.total % 2 == 0
    assert found.operations.total > 2 * 4 * art.parallel.count(art.load("puma600")).total
    assert found.promised == 0.5 / found.timing.worst
    assert not found.failed


def test_ticks_are_the_steps_of_a_run():
    """The state after the ticks is that of a run: each tick goes on where the one before ended, also past a round of samples."""
    arm = art.load("puma600")
    loop = art.Loop(arm)
    settings = RunSettings(0.3, step=1e-3, method="rk4")
    q0, v0 = np.linspace(-0.5, 0.5, 6), np.linspace(0.3, -0.3, 6)
    runner = loop.setup(settings, q0, v0, None, True).runner()
    runner.engine.prepare(1)
    x = []
    rows = runner.engine.rows
    runner.engine.rows = lambda *a: x.append(rows(*a)) or x[-1]
    tick, failed = real_time._ticks(runner.c0, runner.p, runner.engine, 0.0, 3)
    for _ in range(100):
        tick()
    run = loop.run(settings, q0, v0)
    assert failed[0] < 0
    assert x[0][0, :12] == pytest.approx(np.concatenate([run.q[-1], run.v[-1]]), rel=1e-12)


def test_divergence_is_told():
    settings = RunSettings(1.0, step=1.0, method="euler")
    found = deadline(loop_of(), settings, 1.0, v0=np.full(6, 50.0), ticks=200)
    assert found.failed
    assert any("diverged" in text for _, text in found.figures())


@pytest.mark.parametrize(
    ("rate", "settings", "said"),
    [
        (0.0, {}, "rate"),
        (float("nan"), {}, "rate"),
        (True, {}, "rate"),
        (300.0, {}, "whole number of steps"),
        (5000.0, {}, "whole number of steps"),
        (500.0, {"method": "dormand_prince"}, "does not step natively"),
    ],
)
def test_wrong_questions_are_refused(rate, settings, said):
    with pytest.raises(InputError, match=said):
        deadline(loop_of(), RunSettings(1.0, step=1e-3, **settings), rate, ticks=10)


def test_python_controllers_are_refused():
    loop = art.Loop(art.load("puma600"), lambda t, q, v: np.zeros(6))
    with pytest.raises(InputError, match="Python code"):
        deadline(loop, RunSettings(1.0, step=1e-3), 500.0, ticks=10)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    return end.value.code, *capsys.readouterr()


def test_command(capsys):
    study = str(STUDIES / "puma_servo.toml")
    code, out, _ = run(capsys, "deadline", study, "--rate", "10", "--ticks", "20", "--json")
    held = json.loads(out)
    assert code == (1 if held["missed_alone"] else 0)
    assert held["ticks"] == 20
    assert held["steps"] * held["rate"] == pytest.approx(1 / 0.0005, rel=1.0)
    code, out, _ = run(capsys, "deadline", study, "--rate", "500", "--ticks", "20")
    assert "rate that can be promised" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing.toml",), "missing.toml"),
        ((str(STUDIES / "puma_servo.toml"), "--rate", "777"), "whole number of steps"),
        ((str(STUDIES / "puma_servo.toml"), "--rate", "500", "--ticks", "0"), "calls = 0"),
        ((str(STUDIES / "four_bar.toml"), "--rate", "500"), "does not step natively"),
    ],
)
def test_command_refuses(capsys, arguments, said):
    code, _, err = run(capsys, "deadline", *arguments)
    assert code == 2
    assert said in err
