"""Runs that are cut and go on from their checkpoint: the same bits as without the cut."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from resume_cases import CASES, pendulum

import articulus as art
from articulus.errors import InputError
from articulus.simulation.loop.components import PD
from articulus.simulation.loop.events import Bounce
from articulus.simulation.running import checkpoint, runner


class Cut(Exception):
    """Stands for the death of the process."""


@functools.cache
def whole(name: str) -> art.Run:
    return CASES[name]()


def plain_form(run: art.Run) -> list:
    """Return a run as bytes, numbers and texts."""
    return [
        run.t.tobytes(),
        {name: run[name].tobytes() for name in run.names},
        [(e.time, e.name, e.run, e.stop) for e in run.events],
        [(f.run, f.time, f.reason) for f in run.failures],
        [run.statistics[name] for name in ("steps", "evaluations", "rejected")],
    ]


def cut_after(monkeypatch: pytest.MonkeyPatch, writes: int) -> None:
    """Let the process die after that many checkpoints."""
    done = []
    write = checkpoint.CheckpointWriter.write

    def counted(*arguments, **named) -> None:
        write(*arguments, **named)
        done.append(1)
        if len(done) == writes:
            raise Cut

    monkeypatch.setattr(checkpoint.CheckpointWriter, "write", counted)


@pytest.mark.parametrize("name", CASES)
def test_cut_runs_go_on_to_the_same_bits(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five cuts at random places, some of them in a row; chunks of 1 to 12 steps, so that cuts fall anywhere."""
    rng = np.random.default_rng(len(name))
    path = tmp_path / "run.ckpt"
    monkeypatch.setattr(runner, "CHUNK_SECONDS", 0.0)  # chunks do not grow
    for _ in range(5):
        with monkeypatch.context() as patched:
            patched.setattr(runner, "FIRST_CHUNK", int(rng.integers(1, 13)))
            cut_after(patched, int(rng.integers(1, 5)))
            with pytest.raises(Cut):
                CASES[name](checkpoint=path, checkpoint_interval=0.0)
    assert 0 < checkpoint.read(path).state.step < whole(name).statistics["steps"]
    again = CASES[name](checkpoint=path)
    assert plain_form(again) == plain_form(whole(name))
    assert not list(tmp_path.iterdir())  # a complete run leaves nothing behind


def test_cases_hold_what_they_should() -> None:
    """One row of the batch fails early, long before the next sample; the adaptive run has impacts."""
    assert whole("batch").failed.tolist() == [2]
    assert 0 < whole("batch").failures[0].time < 0.5
    assert len(whole("adaptive").events) == 3


@pytest.mark.parametrize("delay", [0.0, 0.05])
def test_killed_process(delay: float, tmp_path: Path) -> None:
    """kill -9 while checkpoints are written without pause, at the 150th of 200 at the latest; another process takes up the run."""
    script = Path(__file__).with_name("resume_script.py")
    path, out = tmp_path / "run.ckpt", tmp_path / "out.npz"
    tests = str(Path(__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": tests}
    command = [sys.executable, str(script), "slopes", str(path), str(out)]
    first = subprocess.Popen([*command, "150"], env=environment)
    while not path.exists() and first.poll() is None:
        time.sleep(0.001)
    time.sleep(delay)
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    assert checkpoint.read(path).state.step < 800
    subprocess.run(command, env=environment, check=True, timeout=100)
    found, expected = np.load(out), whole("slopes")
    assert set(found.files) == set(expected.names)
    for name in expected.names:
        assert np.array_equal(found[name], expected[name]), name


# checkpoints of other runs


def interrupted(path: Path, monkeypatch: pytest.MonkeyPatch, **settings) -> None:
    with monkeypatch.context() as patched:
        cut_after(patched, 1)
        with pytest.raises(Cut):
            plain(checkpoint=path, checkpoint_interval=0.0, **settings)


def plain(mechanism: art.Mechanism | None = None, **settings) -> art.Run:
    given = {"q0": [1.0], "step": 0.01, "controller": PD(5.0, 0.5, period=0.02), **settings}
    return art.simulate(mechanism or pendulum(), given.pop("t_end", 2.0), **given)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"t_end": 3.0}, r"t_end was 2\.0, is 3\.0"),
        ({"step": 0.02}, r"step was 0\.01, is 0\.02"),
        ({"sample": 0.1}, r"sample was 0\.01, is 0\.1"),
        ({"seed": 1}, "seed was 0, is 1"),
        ({"method": "ab4"}, 'method was "rk4", is "ab4"'),
        ({"q0": [1.1]}, "initial state was"),
        ({"controller": PD(6.0, 0.5, period=0.02)}, "equations was"),
        ({"controller": PD(5.0, 0.5)}, "equations was"),
        ({"events": [Bounce("hinge", -3.0, -1)]}, "events was"),
    ],
)
def test_other_settings_are_refused(
    change: dict, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What differs is named; also the gain of a sampled controller, which acts through held values only."""
    path = tmp_path / "run.ckpt"
    interrupted(path, monkeypatch)
    with pytest.raises(InputError, match=f"checkpoint: settings differ: .*{text}"):
        plain(checkpoint=path, **change)
    assert path.exists()


def test_other_restitution_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.ckpt"
    interrupted(path, monkeypatch, events=[Bounce("hinge", -0.5, -1, 0.5)])
    with pytest.raises(InputError, match="settings differ: events was"):
        plain(checkpoint=path, events=[Bounce("hinge", -0.5, -1, 0.6)])


def test_another_mechanism_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.ckpt"
    interrupted(path, monkeypatch)
    other = pendulum()
    other.frame("tip", "bob")
    other.body("extra", 1.0, (0, 0, 0), (1, 1, 1))
    other.joint("weld", art.Fixed(), "bob", "extra")
    with pytest.raises(InputError, match="expected the same mechanism"):
        plain(other, checkpoint=path)


# checkpoints that cannot be written


def test_a_failed_write_warns_and_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full for the second and third checkpoint, then free again; the numbers are those without a fault."""
    expected, path, count = plain(), tmp_path / "run.ckpt", 0
    real = os.fsync

    def sometimes_full(handle: int) -> None:
        nonlocal count
        count += 1
        if 3 <= count <= 4:  # a checkpoint takes two calls, for the log and for the head
            raise OSError(28, "No space left on device")
        real(handle)

    monkeypatch.setattr(runner, "CHUNK_SECONDS", 0.0)
    monkeypatch.setattr(runner, "FIRST_CHUNK", 40)
    monkeypatch.setattr(os, "fsync", sometimes_full)
    with pytest.warns(
        RuntimeWarning, match=r"no checkpoint at t = .* s: .*No space left on device.* goes on without"
    ) as said:
        run = plain(checkpoint=path, checkpoint_interval=0.0, keep_checkpoint=True)
    assert [str(w.message)[:38] for w in said] == [
        f"'pendulum': no checkpoint at t = {t} s" for t in (0.8, 1.2)
    ]
    assert np.array_equal(run.q, expected.q)
    assert checkpoint.read(path).state.step == 200  # the last one is whole again
    assert len(checkpoint.read(path).log["samples"]) == 200


def test_a_folder_that_vanishes_does_not_lose_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.setattr(
        checkpoint.CheckpointWriter, "due", property(lambda _: folder.is_dir() and folder.rmdir())
    )
    with pytest.warns(RuntimeWarning, match="the checkpoint of the complete run stays"):
        run = plain(checkpoint=folder / "run.ckpt")
    assert np.array_equal(run.q, plain().q)
