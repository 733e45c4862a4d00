"""Studies end to end: files, checks, exit codes, and going on after a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from articulus import cli
from articulus.simulation.results.run import Run
from articulus.simulation.running import simulate
from articulus.study.campaign.design import Campaign
from articulus.study.campaign.work import whole_run
from articulus.study.reader import parse_study
from articulus.study.runner import run_only

from .support import BASE, changed

STUDIES = sorted((Path(__file__).parents[2] / "examples" / "studies").glob("*.toml"))


@pytest.fixture
def articulus(capsys):  # type: ignore[no-untyped-def]
    """Return a function that runs a command and gives exit status, output and errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            cli.main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return run


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "arm.toml"
    path.write_text(BASE)
    return path


@pytest.mark.parametrize("path", STUDIES, ids=lambda p: p.stem)
def test_examples_pass(path: Path, tmp_path: Path, articulus) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = articulus("run", path, "--output", tmp_path)
    assert code == 0, out
    assert "FAIL" not in out
    assert {p.suffix for p in tmp_path.iterdir()} == {".nc", ".html"}


def test_results_and_report_stand_beside_the_study(study: Path, articulus) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = articulus("run", study)
    assert code == 0
    assert "PASS" in out
    assert "energy balance error" in out
    run = Run.load(study.with_name("arm.nc"))
    assert run.t[-1] == 0.5
    assert run.q[0] == pytest.approx([np.pi / 6, -0.2])
    report = study.with_name("arm.html").read_text()
    assert "<!DOCTYPE html>" in report
    assert report.count('<iframe class="replay"') == report.count('href="#replay"') == 1


def test_runs_of_a_grid_keep_to_the_tolerances_of_the_study() -> None:
    """A coarse and a fine run of one study differ, and each is the single run with the same tolerances."""
    method = 'method = "dormand_prince"\nrtol = {rtol}\natol = {rtol}\n'
    grid = '[campaign]\nsampler = "grid"\nruns = 2\n[campaign.vary]\n"q.joint1" = [0.1, "30 deg"]\n'
    found = {}
    for rtol in (1e-3, 1e-9):
        given = changed(("[outputs]", method.format(rtol=rtol) + "[outputs]"), ('step = "1 ms"', 'step = "0.1 s"'),
                        ('sample = "10 ms"', 'sample = "0.1 s"'))  # fmt: skip
        study = parse_study(given)
        run = run_only(study).run
        assert (run.meta["settings"]["rtol"], run.meta["settings"]["atol"]) == (rtol, rtol)
        single = simulate(
            study.mechanism, 0.5, study.q0, study.v0,
            components=study.components, method="dormand_prince", step=0.1, rtol=rtol, atol=rtol,
        )  # fmt: skip
        assert np.array_equal(run.q, single.q)
        found[rtol] = whole_run(Campaign.read(given + grid), 1)
        assert np.array_equal(found[rtol].q, single.q)
    assert 1e-8 < np.abs(found[1e-3].q - found[1e-9].q).max() < 1e-2


def test_without_a_report(study: Path, articulus) -> None:  # type: ignore[no-untyped-def]
    assert articulus("run", study, "--no-report")[0] == 0
    assert not study.with_name("arm.html").exists()


def test_a_check_that_fails_gives_1(study: Path, articulus) -> None:  # type: ignore[no-untyped-def]
    study.write_text(changed(('less = "0.001 J"', "less = 0")))
    code, out, _ = articulus("run", study)
    assert code == 1
    assert "FAIL" in out
    assert study.with_name("arm.html").exists()


def test_a_run_that_fails_gives_1_and_keeps_what_there_is(study: Path, articulus) -> None:  # type: ignore[no-untyped-def]
    study.write_text(changed(('"60 N m s/rad", 60', "-1e9, -1e9")))
    code, out, _ = articulus("run", study)
    assert code == 1
    assert "diverged" in out
    assert Run.load(study.with_name("arm.nc")).failures


def test_a_mistake_of_the_user_gives_2_and_writes_nothing(study: Path, articulus) -> None:  # type: ignore[no-untyped-def]
    study.write_text(changed(("kp = 300", "kpp = 300")))
    code, _, err = articulus("run", study)
    assert code == 2
    assert "arm.toml:15: component[0].kpp" in err
    assert [p.name for p in study.parent.iterdir()] == ["arm.toml"]
    assert articulus("run", study.with_name("none.toml"))[0] == 2


def test_missing_packages_are_told_before_the_run(study: Path, articulus, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setitem(sys.modules, "h5netcdf", None)
    code, _, err = articulus("run", study)
    assert code == 2
    assert "articulus[data]" in err
    assert [p.name for p in study.parent.iterdir()] == ["arm.toml"]


LONG = changed(
    ('t_end = "0.5 s"', 't_end = "400 s"\nseed = 11\ncheckpoint_interval = "0 s"'),
    ('sample = "10 ms"', 'sample = "0.1 s"'),
    ("[run]", '[[component]]\ntype = "white_noise"\njoint = "joint1"\ndensity = 0.5\n\n[run]'),
)


def test_a_killed_run_goes_on_and_comes_to_the_same(study: Path, articulus) -> None:  # type: ignore[no-untyped-def]
    study.write_text(LONG)
    checkpoint = study.with_name("arm.checkpoint")
    assert articulus("run", study, "--output", study.parent / "whole", "--no-report")[0] == 0

    child = subprocess.Popen(
        [sys.executable, "-m", "articulus", "run", str(study)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while not checkpoint.exists() and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.002)
    child.kill()
    assert child.communicate()[1] == b""
    assert child.returncode == -signal.SIGKILL
    assert checkpoint.exists()
    assert not study.with_name("arm.nc").exists()

    code, _, err = articulus("run", study)
    assert code == 2
    assert "--resume" in err
    assert checkpoint.exists()

    code, _, err = articulus("run", study, "--resume", "--no-report")
    assert code == 0
    assert "goes on from" in err
    assert not list(study.parent.glob("arm.checkpoint*"))
    whole, resumed = Run.load(study.parent / "whole" / "arm.nc"), Run.load(study.with_name("arm.nc"))
    assert np.array_equal(whole.t, resumed.t)
    for name in whole.names:
        assert np.array_equal(whole[name], resumed[name]), name


def test_a_checkpoint_of_another_run_is_refused(study: Path, articulus) -> None:  # type: ignore[no-untyped-def]
    study.with_name("arm.checkpoint").write_text("something else")
    code, _, err = articulus("run", study, "--resume")
    assert code == 2
    assert "arm.checkpoint" in err


def test_resume_without_a_checkpoint_says_so(study: Path, articulus) -> None:  # type: ignore[no-untyped-def]
    code, _, err = articulus("run", study, "--resume", "--no-report")
    assert code == 0
    assert "starts anew" in err
