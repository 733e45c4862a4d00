"""The first runs of a campaign with bands, which set where values over time are counted: guarded as all others are."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulus as art
from articulus.study.campaign import driver, work

STUDY = """
schema = 1
[study]
name = "pendulum"
model = "pendulum_chain"
options = {n = 1}
[run]
t_end = "0.2 s"
step = "1 ms"
sample = "20 ms"
[campaign]
runs = 24
bands = ["q.hinge1"]
figures = {turn = "q.hinge1"}
[campaign.vary]
"q.hinge1" = {uniform = [-1, 1]}
"""


@pytest.mark.parametrize("chunk", [5, 64])
def test_the_scale_is_three_times_as_wide_as_the_first_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(driver, "FIRST_CHUNK", chunk)
    monkeypatch.setattr(driver, "CHUNK_SECONDS", 0.0)
    result = art.campaign.run(STUDY, output=tmp_path / "c")
    q = np.array([result.replay(i)["q.hinge1"] for i in range(24)])
    low, high = q.min(axis=0), q.max(axis=0)
    with np.load(tmp_path / "c" / driver.SCALE) as scale:
        assert (scale["low"][0] == low - (high - low)).all()
        assert (scale["high"][0] == high + (high - low)).all()
        assert np.allclose(scale["times"], result.replay(0).t, rtol=0, atol=1e-12)


def test_a_first_run_that_raises_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, real = art.campaign.run(STUDY), work._runs

    def poisoned(campaign: Any, first: int, varied: Any, count: int, *rest: Any) -> Any:
        if first <= 3 < first + count:
            raise ZeroDivisionError("poisoned")
        return real(campaign, first, varied, count, *rest)

    monkeypatch.setattr(work, "_runs", poisoned)
    result = art.campaign.run(STUDY)
    assert np.flatnonzero(result.table.failed).tolist() == [3]
    assert "poisoned" in result.table.texts[3]
    others = np.arange(24) != 3
    assert (result.table.figures["turn"][others] == whole.table.figures["turn"][others]).all()
    (band,) = result.bands((50.0,)).values()
    assert np.isfinite(band.values).all()


def test_first_runs_that_all_raise_end_the_campaign_or_are_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    def poisoned(*given: Any) -> Any:
        raise ZeroDivisionError("poisoned")

    monkeypatch.setattr(work, "_runs", poisoned)
    with pytest.raises(art.NumericalError, match=r"not one could.*poisoned"):
        art.campaign.run(STUDY)
    assert art.campaign.run(STUDY, runs=4).table.failed.all()


def test_many_samples_are_computed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """All first runs at once would need memory in proportion to the length of a run."""
    most, real = [], work._runs

    def watched(campaign: Any, first: int, varied: Any, count: int, *rest: Any) -> Any:
        most.append(count)
        return real(campaign, first, varied, count, *rest)

    monkeypatch.setattr(work, "_runs", watched)
    monkeypatch.setattr(work, "PIECE_BYTES", 1)
    art.campaign.run(STUDY)
    assert max(most) <= work.host().lanes


def test_ctrl_c_is_heard_while_the_first_runs_are_computed(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(STUDY)
    script = (
        "import hashlib\n"
        "from articulus.study.campaign import work\n"
        "from articulus.cli.commands import main\n"
        "def busy(*given):\n"
        "    print('busy', flush=True)\n"
        "    hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)  # native code of minutes, which no signal ends\n"
        "work._runs = busy\n"
        f"main(['campaign', 'run', {str(tmp_path / 'p.toml')!r}])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "busy\n"
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
        assert time.monotonic() - began < 2.0
        assert process.returncode == 130
        assert "interrupted: 0 of 24 runs are kept" in said.replace("\n", " ")
    finally:
        process.kill()
