"""Faults of workers and drivers: whatever dies, nothing is lost and nothing is counted twice. More of it: `make chaos`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.study.campaign import driver, work
from articulus.study.campaign.design import Campaign
from articulus.study.campaign.processes import Processes
from articulus.study.campaign.work import RunRows, Trouble

STUDY = """
schema = 1
[study]
name = "pendulum"
model = "pendulum_chain"
options = {n = 1}
[run]
t_end = "0.2 s"
step = "1 ms"
[campaign]
runs = 32
figures = {turn = "q.hinge1"}
[campaign.vary]
"q.hinge1" = {uniform = [-1, 1]}
"""

POISON = """
import os, time, signal
import articulus.study.campaign.work as work
real = work.run_rows
faults = dict(item.split(":") for item in os.environ["POISON"].split(","))

def run_rows(campaign, first, count, scale=None):
    for run, fault in faults.items():
        if first <= int(run) < first + count:
            if fault == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if fault == "hang":
                time.sleep(1000)
            if fault == "memory":
                held = bytearray(1 << 50)
            if fault == "raise":
                raise ZeroDivisionError("poisoned")
    return real(campaign, first, count, scale)

work.run_rows = run_rows
"""
"""Put into the worker processes by Python's own hook for that, `sitecustomize`."""


@pytest.fixture(scope="module")
def whole() -> art.campaign.Result:
    """The undisturbed campaign."""
    return art.campaign.run(STUDY)


@pytest.fixture
def poison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Give what poisons some runs in all worker processes: `poison("13:kill,20:raise")`."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(POISON)

    def put(text: str) -> None:
        monkeypatch.syspath_prepend(str(tmp_path / "hook"))
        monkeypatch.setenv("POISON", text)

    return put


def _two(self, queue, *rest: object) -> tuple[int, int]:  # type: ignore[no-untyped-def]
    first, count = queue.popleft()
    if count > 2:
        queue.appendleft((first + 2, count - 2))
    return first, min(2, count)


def test_poisoned_runs_are_found_and_set_aside(whole: art.campaign.Result, poison, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(driver.Driver, "_cut", _two)
    monkeypatch.setattr(driver, "ATTEMPTS", 1)
    poison("5:kill,17:raise,30:memory")
    result = art.campaign.run(STUDY, workers=2)
    table, bad = result.table, [5, 17, 30]
    good = np.setdiff1d(np.arange(32), bad)
    assert np.flatnonzero(table.failed).tolist() == bad
    assert [table.cause_texts[table.cause[i]] for i in bad] == ["killed", "raised", "out of memory"]
    assert "SIGKILL" in table.texts[5]
    assert np.array_equal(table.figures["turn"][good], whole.table.figures["turn"][good])
    assert table.index.tolist() == list(range(32))


def test_a_hanging_worker_is_ended(poison) -> None:  # type: ignore[no-untyped-def]
    poison("7:hang")
    workers = Processes(Campaign.read(STUDY), None, 1, time_limit=1.0)
    try:
        workers.submit((7, 1))
        began, found = time.monotonic(), []
        while not found and time.monotonic() - began < 60:
            found = workers.wait(0.1)
    finally:
        workers.close()
    task, trouble = found[0]
    assert task == (7, 1)
    assert isinstance(trouble, Trouble)
    assert trouble.cause == "out of time"


def test_workers_killed_from_outside_cost_nothing(
    whole: art.campaign.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every worker is killed once, with a chunk in its hands."""
    monkeypatch.setattr(driver, "FIRST_CHUNK", 8)
    killed = []
    real = Processes.submit

    def submit(self: Processes, task: tuple[int, int]) -> None:
        real(self, task)
        if len(killed) < 2:
            killed.append(self.pids[-1])
            os.kill(self.pids[-1], signal.SIGKILL)

    monkeypatch.setattr(Processes, "submit", submit)
    assert art.campaign.run(STUDY, workers=1).table.same(whole.table)
    assert len(killed) == 2


def test_chunks_that_fail_at_random_cost_nothing(
    whole: art.campaign.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quarter of all chunks comes back as a dead worker; 0 runs are lost, 0 doubled, every bit is that of the undisturbed table."""
    chance = np.random.default_rng(5)

    class Unlucky:
        slots, inside = 3, False

        def __init__(self) -> None:
            self.campaign, self.tasks = Campaign.read(STUDY), []

        def submit(self, task: tuple[int, int]) -> None:
            self.tasks.append(task)

        def wait(self, seconds: float) -> list[tuple[tuple[int, int], RunRows | Trouble]]:
            task = self.tasks.pop(int(chance.integers(len(self.tasks))))  # in any order
            dead = chance.random() < 0.25
            return [
                (
                    task,
                    Trouble("killed", "by chance", True) if dead else work.run_rows(self.campaign, *task),
                )
            ]

        def close(self) -> None:
            pass

    monkeypatch.setattr(
        "articulus.study.campaign.calls.WorkerOptions.create", lambda how, planned, scale: Unlucky()
    )
    monkeypatch.setattr(driver, "FIRST_CHUNK", 2)
    monkeypatch.setattr(driver, "CHUNK_SECONDS", 0.0)
    assert art.campaign.run(STUDY).table.same(whole.table)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_killed_driver_is_resumed(tmp_path: Path, whole: art.campaign.Result, workers: int) -> None:
    """The driver dies by kill -9 with a shard written and chunks under way; the same command goes on.

    At most two chunks of eight rows are under way before the first look, so a shard is written before 24 runs are done,
    however late the driver looks."""
    study, place = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(STUDY)
    script = (
        "import os, signal, articulus as art\n"
        "from articulus.study.campaign import driver\n"
        "driver.FIRST_CHUNK, driver.CHUNK_SECONDS, driver.SHARD_ROWS = 8, 0.0, 8\n"
        "def tell(progress):\n"
        "    if progress.done >= 24: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"art.campaign.run({str(study)!r}, output={str(place)!r}, workers={workers}, tell=tell)\n"
    )
    dead = subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert dead.returncode == -signal.SIGKILL
    assert 0 < len(art.campaign.show(place).table) < 32
    assert art.campaign.run(study, output=place).table.same(whole.table)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_clock_that_jumps_changes_nothing(
    tmp_path: Path, whole: art.campaign.Result, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """At every look the clock of the day is hours ahead or behind: same bits, no waiting, no nonsense in the progress."""
    jumps = np.random.default_rng(3)
    real, told = time.time, []
    monkeypatch.setattr(time, "time", lambda: real() + float(jumps.uniform(-1e5, 1e5)))
    monkeypatch.setattr(driver, "FIRST_CHUNK", 8)
    monkeypatch.setattr(driver, "CHUNK_SECONDS", 0.0)
    began = time.monotonic()

    def tell(progress: driver.Progress) -> None:
        told.append((progress.done, progress.rate, progress.remaining))

    result = art.campaign.run(STUDY, workers=workers, output=tmp_path / "c", tell=tell)
    spent = time.monotonic() - began
    assert result.table.same(whole.table)
    assert ((result.table.seconds >= 0) & (result.table.seconds < spent)).all()
    done, rate, remaining = map(np.array, zip(*told, strict=True))
    assert (np.diff(done) >= 0).all()
    assert (rate >= 0).all()
    assert (remaining >= 0).all()
    runs, seconds = driver.Folder(tmp_path / "c").pace
    assert runs == 32
    assert 0 < seconds < spent


def _answers(workers: Processes, seconds: float) -> list[tuple[tuple[int, int], RunRows | Trouble]]:
    """Return what workers say: the first answer, within a time, and what follows it in the next second."""
    found: list[tuple[tuple[int, int], RunRows | Trouble]] = []
    end = time.monotonic() + seconds
    while not found and time.monotonic() < end:
        found += workers.wait(0.5)
    return [*found, *workers.wait(0.5), *workers.wait(0.5)]


def test_a_worker_that_dies_after_its_answer_does_not_double_its_chunk() -> None:
    campaign = Campaign.read(STUDY)
    workers = Processes(campaign, None, 1)
    try:
        workers.submit((0, 4))
        while workers._found.empty():  # the answer is here, but nobody has looked
            time.sleep(0.05)
        (worker,) = workers._workers
        os.kill(worker.process.pid, signal.SIGKILL)
        worker._listener.join()
        found = _answers(workers, 60.0)
        assert [task for task, _ in found] == [(0, 4)]
        assert isinstance(found[0][1], RunRows)
    finally:
        workers.close()


def test_a_chunk_given_to_a_worker_that_died_idle_comes_back() -> None:
    campaign = Campaign.read(STUDY)
    workers = Processes(campaign, None, 1)
    try:
        workers.submit((0, 4))
        assert isinstance(_answers(workers, 120.0)[0][1], RunRows)
        (worker,) = workers._workers
        os.kill(worker.process.pid, signal.SIGKILL)
        worker._listener.join()  # its death is told, but nobody has looked
        workers.submit((4, 4))
        ((task, trouble),) = _answers(workers, 10.0)
        assert task == (4, 4)
        assert isinstance(trouble, Trouble)
        assert trouble.again
    finally:
        workers.close()
