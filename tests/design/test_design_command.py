"""`articulus design`, and the pages of fits and designs."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import articulus as art
from articulus.cli import app
from articulus.design import Experiment, fit
from articulus.simulation.loop.components import PD
from articulus.study.records import Record


@pytest.fixture(scope="module")
def loop() -> art.Loop:
    m = art.Mechanism("boom").body(
        "boom", mass=art.Parameter("mass", 40.0), com=(1.0, 0, 0), inertia=(2.0, 15.0, 15.0)
    )
    m.joint("lift", art.Revolute(axis=(0, -1, 0)), "ground", "boom", damping=5.0)
    return art.Loop(
        m, PD(kp=art.Parameter("kp", 4000.0), kd=art.Parameter("kd", 900.0), target=0.3, period=0.01)
    )


def test_gains_from_the_command_line(loop, tmp_path) -> None:
    loop.save_study(tmp_path / "boom.toml", 1.0, step=2e-3)
    given = [
        "design",
        str(tmp_path / "boom.toml"),
        "--vary",
        "kp=1000:20000",
        "--vary",
        "kd=100:5000",
        "--minimize",
        "rms:v.lift",
    ]
    given += ["--limit", "largest:tau.lift<=1400", "--sweep", "1400,1600"]
    files = {
        n: tmp_path / f for n, f in (("--output", "d.json"), ("--report", "d.html"), ("--model", "m.toml"))
    }
    found = CliRunner().invoke(app, [*given, *(str(x) for pair in files.items() for x in pair)])
    assert found.exit_code == 0, found.output
    designs = json.loads(files["--output"].read_text())["designs"]
    assert [d["limit"] for d in designs] == [1400.0, 1600.0]
    assert designs[1]["objective"] <= designs[0]["objective"] * (1 + 1e-6)
    for d in designs:  # the runs themselves say so
        run = loop.simulate(1.0, step=2e-3, params=d["params"])
        assert run["tau"].max() <= d["limit"] * (1 + 1e-4)
    assert "largest:tau.lift" in files["--report"].read_text()
    assert art.load(files["--model"]).nv == 1


def test_designs_of_starts_on_the_desk(loop, tmp_path, monkeypatch) -> None:
    """The run with the best design, and the designs of all starts to choose from."""
    loop.save_study(tmp_path / "boom.toml", 0.2, step=2e-3)
    seen = {}
    monkeypatch.setattr(art.Run, "view", lambda run, **given: seen.update(given, run=run))
    words = ["--vary", "kd=100:5000", "--minimize", "rms:v.lift", "--starts", "2", "--view"]
    found = CliRunner().invoke(app, ["design", str(tmp_path / "boom.toml"), *words])
    assert len(seen["designs"]) == 2, found.output
    best = seen["designs"][0]
    assert list(best) == ["limits broken by", "rms:v.lift", "kd"]
    value = {p.name: p.value for p in seen["run"].parameters}["kd"]
    assert value == best["kd"]
    assert seen["ranges"] == {"kd": (100.0, 5000.0)}


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--vary", "kp=5"], "name=low:high"), (["--vary", "kp=1:5", "--limit", "tau"], "figure<=number")],
)
def test_wrong_words(loop, tmp_path, words, said) -> None:
    loop.save_study(tmp_path / "boom.toml", 1.0, step=2e-3)
    found = CliRunner().invoke(
        app, ["design", str(tmp_path / "boom.toml"), "--minimize", "rms:v.lift", *words]
    )
    assert found.exit_code != 0
    assert said in found.output + str(found.exception)


def test_pages_of_fits(loop, tmp_path) -> None:
    """Two fits on one page, with histories; nothing is loaded from elsewhere."""
    run = loop.simulate(1.0, step=2e-3, sample=0.01, params={"mass": 50.0})
    record = Record.of(run, noise={"q.lift": 1e-4})
    one = fit(Experiment(record, loop, ["q.lift"]), ["mass"])
    two = fit(Experiment(record, loop, ["q.lift"]), ["mass"], validation=0.0)
    one.to_html(tmp_path / "fits.html", beside={"all samples": two})
    page = (tmp_path / "fits.html").read_text()
    assert page.count("<svg") == 2
    assert "all samples" in page
    assert "variance explained" in page
    assert 'src="http' not in page
    assert "<script" not in page
