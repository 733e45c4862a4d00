"""Checkpoints: what goes in comes out, damage is found, a killed writer leaves the last whole one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from articulus.errors import InputError
from articulus.numerics.streams import resume_stream, stream_state
from articulus.simulation.results.status import Cause, Failure, FinalState, Occurrence
from articulus.simulation.running import checkpoint
from articulus.simulation.running.checkpoint import Checkpoint, CheckpointWriter

SETTINGS = {"method": "rk4", "step": 1e-3, "controller": {"kp": [10.0, 20.0]}}


def sample(rows: int = 5) -> Checkpoint:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 7))
    x[0, 0] = np.nan
    return Checkpoint(
        model="a" * 64,
        settings=SETTINGS,
        state=FinalState(1234, 0.1 + 0.2, x, stream_state(rng)),
        log={"t": np.arange(rows) * 0.1, "x": rng.normal(size=(rows, 4, 7)), "none": np.zeros((rows, 0))},
        events=(Occurrence(0.1, "touch", 2, True), Occurrence(0.2, "größer", 1)),
        failures=(Failure(3, 0.25, Cause.SINGULAR, "a pivot vanished", x[1, :3], x[1, 3:6], x[1]),),
        statistics={"evaluations": 4936},
    )


def same(a: Checkpoint, b: Checkpoint) -> bool:
    return plain(a) == plain(b)


def plain(c: Checkpoint) -> list[object]:
    """Return everything as numbers, texts and bytes."""
    arrays = {"state": c.state.x, **c.log}
    arrays |= {f"{name}{k}": getattr(f, name) for k, f in enumerate(c.failures) for name in "qvx"}
    return [
        (c.model, c.settings, c.state.step, c.state.t, c.state.rng, c.events, c.statistics),
        [(f.run, f.time, f.code, f.reason) for f in c.failures],
        [(name, a.shape, a.tobytes()) for name, a in arrays.items()],
    ]


def test_round_trip_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    checkpoint.write(path, sample())
    assert same(sample(), checkpoint.read(path))
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    "kind", [np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64, np.random.MT19937]
)
def test_random_streams_go_on(kind: type) -> None:
    """The numbers after a pause are those without one, for every generator of numpy."""
    rng = np.random.Generator(kind(7))
    rng.normal(size=101), rng.integers(5, dtype=np.int32)  # leaves half a word in the buffer
    state = json.loads(json.dumps(stream_state(rng)))
    expected = rng.integers(2**31, size=9, dtype=np.int32), rng.normal(size=50)
    again = resume_stream(state)
    assert np.array_equal(again.integers(2**31, size=9, dtype=np.int32), expected[0])
    assert np.array_equal(again.normal(size=50), expected[1])


def test_growing_log(tmp_path: Path) -> None:
    """Rows that come in parts, also after a resume, are the rows that would have come at once; the old log goes."""
    path, whole = tmp_path / "run.ckpt", sample(rows=30)
    parts = [{k: a[i : i + 10] for k, a in whole.log.items()} for i in (0, 10, 20)]
    first = CheckpointWriter(path, whole.model, whole.settings)
    first.write(whole.state, parts[0])
    first.write(whole.state, parts[1])
    resumed = CheckpointWriter(path, whole.model, whole.settings, log=checkpoint.read(path).log)
    resumed.write(whole.state, parts[2], whole.events, whole.failures, whole.statistics)
    assert same(whole, checkpoint.read(path))
    assert len(list(tmp_path.iterdir())) == 2


def test_failed_write_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk leaves the older checkpoint, and the same rows may be given again."""
    path, whole = tmp_path / "run.ckpt", sample(rows=20)
    parts = [{k: a[i : i + 10] for k, a in whole.log.items()} for i in (0, 10)]
    writer = CheckpointWriter(path, whole.model, whole.settings)
    writer.write(whole.state, parts[0])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr(os, "replace", full)
        with pytest.raises(InputError, match=r"cannot be written.*No space left"):
            writer.write(whole.state, parts[1])
    assert len(checkpoint.read(path).log["t"]) == 10
    writer.write(whole.state, parts[1], whole.events, whole.failures, whole.statistics)
    assert same(whole, checkpoint.read(path))


def test_wrong_rows_refused(tmp_path: Path) -> None:
    writer = CheckpointWriter(tmp_path / "run.ckpt", "m", {})
    writer.write(FinalState(0, 0.0, np.zeros(2)), {"q": np.zeros((1, 2))})
    with pytest.raises(InputError, match=r"expected .* as before"):
        writer.write(FinalState(1, 0.0, np.zeros(2)), {"q": np.zeros((1, 3))})
    with pytest.raises(InputError, match="different numbers of rows"):
        CheckpointWriter(tmp_path / "b", "m", {}).write(
            FinalState(1, 0.0, np.zeros(2)), {"q": np.zeros((1, 3)), "t": np.zeros(2)}
        )


def test_hundred_corruptions_found(tmp_path: Path) -> None:
    """A changed byte, a missing end or a missing middle, in head or log: all are refused, with the file's name."""
    path, rng = tmp_path / "run.ckpt", np.random.default_rng(0)
    checkpoint.write(path, sample())
    files = [path, next(tmp_path.glob("*.log"))]
    for k in range(100):
        victim = files[k % 2]
        good = victim.read_bytes()
        at = int(rng.integers(len(good)))
        changed = bytes([good[at] ^ int(rng.integers(1, 256))])
        bad = [good[:at] + changed + good[at + 1 :], good[:at], good[:at] + good[at + 1 :]][k % 3]
        victim.write_bytes(bad)
        with pytest.raises(InputError, match=r"run\.ckpt"):
            checkpoint.read(path)
        victim.write_bytes(good)
    assert same(sample(), checkpoint.read(path))


def test_refusals_say_why(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    with pytest.raises(InputError, match="no such file"):
        checkpoint.read(path)
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match="found no checkpoint"):
        checkpoint.read(path)
    checkpoint.write(path, sample())
    path.write_bytes(path.read_bytes().replace(b"checkpoint 1\n", b"checkpoint 2\n", 1))
    with pytest.raises(InputError, match="of version '2'; this program reads 1"):
        checkpoint.read(path)
    checkpoint.write(path, sample())
    next(tmp_path.glob("*.log")).unlink()
    with pytest.raises(InputError, match=r"log: no such file"):
        checkpoint.read(path)


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"missing/run\.ckpt.*cannot be written \(No such file or directory\)"
    ):
        checkpoint.write(tmp_path / "missing" / "run.ckpt", sample())


def test_other_model_or_settings_refused() -> None:
    c = sample()
    c.require("a" * 64, {**SETTINGS, "controller": {"kp": (10.0, 20.0)}})
    with pytest.raises(InputError, match="expected the same mechanism"):
        c.require("b" * 64, SETTINGS)
    with pytest.raises(InputError, match=r"controller\.kp was \[10\.0, 20\.0\], is \[10\.0, 21\.0\]"):
        c.require("a" * 64, {**SETTINGS, "controller": {"kp": [10.0, 21.0]}})
    with pytest.raises(InputError, match=r"step was 0\.001, is 0\.002; seed was null, is 1"):
        c.require("a" * 64, {**SETTINGS, "step": 0.002, "seed": 1})


def killed(folder: Path, how: str, count: int) -> list[dict]:
    script = Path(__file__).with_name("kill_writer.py")
    command = [sys.executable, script, how, folder, str(count)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in out.stdout.splitlines()]
    assert len(found) == count
    assert all(f["killed"] and f["whole"] for f in found), found
    assert all("no such file" in f["error"] for f in found if f["step"] == 0)
    return found


def test_killed_at_any_call(tmp_path: Path) -> None:
    """Whichever call a process is killed at, the last or the last but one checkpoint can be read, whole.

    A write makes about five of the counted calls, so that later deaths must leave later steps.
    """
    steps = [f["step"] for f in killed(tmp_path, "at_calls", 40)]
    assert steps == sorted(steps)
    assert steps[0] == 0
    assert steps[-1] >= 40 // 6
    checkpoint.write(tmp_path / "run40.ckpt", sample())
    assert sum(f.name.lstrip(".").startswith("run40.") for f in tmp_path.iterdir()) == 2


def test_killed_at_any_time(tmp_path: Path) -> None:
    """The same for deaths in the middle of long writes: the head has two megabytes."""
    assert max(f["step"] for f in killed(tmp_path, "at_times", 12)) > 0


def test_discard_and_neighbors(tmp_path: Path) -> None:
    """Removing a checkpoint removes its log and nothing of a neighbor with a similar name."""
    for name in ("run", "run.ckpt"):
        checkpoint.write(tmp_path / name, sample())
    checkpoint.discard(tmp_path / "run")
    assert same(sample(), checkpoint.read(tmp_path / "run.ckpt"))
    assert len(list(tmp_path.iterdir())) == 2


def test_due(tmp_path: Path) -> None:
    assert CheckpointWriter(tmp_path / "a", "m", {}, interval=0.0).due
    assert not CheckpointWriter(tmp_path / "a", "m", {}, interval=60.0).due


def test_cost_does_not_grow(tmp_path: Path) -> None:
    """The hundredth checkpoint writes no more bytes than the second: the head has the same size."""
    path, sizes = tmp_path / "run.ckpt", []
    writer = CheckpointWriter(path, "m", {})
    for k in range(100):
        writer.write(FinalState(1000 + k, 0.5, np.zeros((8, 20))), {"x": np.zeros((50, 8, 20))})
        sizes.append(path.stat().st_size)
    assert sizes[99] - sizes[1] < 16
