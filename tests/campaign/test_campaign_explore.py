"""Campaigns that choose their own runs, on a sliding mass whose answers are known."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import special
from typer.testing import CliRunner

import articulus as art
from articulus import cases
from articulus.cases.rare_failures.case import DEVIATION, MEAN, STUDY, campaign_above
from articulus.cli.commands import app
from articulus.errors import InputError, NumericalError
from articulus.study.campaign import work
from articulus.study.campaign.point_runs import SearchInterrupted
from slowness import slowness

FOLDER = Path(cases.__file__).parent / "rare_failures"
CAMPAIGN = """
[campaign]
requirements = ["place < 1.35 m"]
[campaign.vary]
"q.slide" = {normal = [0.2, 0.03]}
"v.slide" = {normal = [1.0, 0.04]}
[campaign.figures]
place = {signal = "q.slide", at = "end"}
"""


def test_the_worst_case_can_be_replayed_and_names_its_edges():
    found = art.campaign.worst_case(**campaign_above(1.0), runs=320, batch=32, method="cma-es")
    assert not found.kept
    assert found.value == pytest.approx(MEAN + 3 * 0.07, abs=5e-3)
    assert found.value == pytest.approx(found.inputs["q.slide"] + found.inputs["v.slide"], abs=1e-12)
    assert found.edge == ("q.slide", "v.slide")
    assert float(found.replay()["q.slide"][-1]) == found.value
    assert "is missed" in repr(found)


def test_a_campaign_stops_when_the_answer_is_sure(tmp_path):
    (tmp_path / "slider.toml").write_text((FOLDER / "slider.toml").read_text())
    study = tmp_path / "slide.toml"
    study.write_text(STUDY)
    given = {k: v for k, v in campaign_above(1.5).items() if k not in ("study", "folder")}
    found = art.campaign.run_until(study, above=0.8, **given)
    assert found.sure
    assert found.rate.low > 0.8
    assert len(found.result.table) == found.rate.runs
    more = art.campaign.run_until(study, width=0.05, **given)  # goes on with the runs that are there
    assert more.rate.runs > found.rate.runs
    assert more.rate.low < special.ndtr(1.5) < more.rate.high
    assert (
        more.result.table.figures["place"][: found.rate.runs] == found.result.table.figures["place"]
    ).all()


SEARCHES = {
    "differential evolution": lambda **more: art.campaign.worst_case(**campaign_above(1.0), runs=320, **more),
    "cma-es": lambda **more: art.campaign.worst_case(
        **campaign_above(1.0), runs=320, method="cma-es", **more
    ),
    "rare": lambda **more: art.campaign.failure_probability(
        **campaign_above(3.0), runs_per_level=200, **more
    ),
}


@pytest.mark.parametrize("name", list(SEARCHES))
def test_an_interrupted_search_goes_on(tmp_path, monkeypatch, name):
    """What was run is not run again, and what comes out is that of the undisturbed search; the progress tells how far it is."""
    search, counted, told = SEARCHES[name], [], []
    real = work.run_rows
    monkeypatch.setattr(
        work, "run_rows", lambda c, a, n, scale=None: counted.append(n) or real(c, a, n, scale)
    )
    whole = search()
    total, counted[:] = sum(counted), []

    def tell(progress):
        told.append(progress.done)
        if progress.done >= 150:
            raise KeyboardInterrupt

    with pytest.raises(
        SearchInterrupted, match=r"after \d+ runs; they are kept in .*so far: place = 1\.\d+ m at q\.slide = "
    ):
        search(output=tmp_path / "s", tell=tell)
    assert told == sorted(told)
    before, counted[:] = sum(counted), []
    assert before < total
    again = search(output=tmp_path / "s")
    assert before + sum(counted) <= total + 1  # the worst case is looked at once more
    if name == "rare":
        assert (again.probability, again.runs) == (whole.probability, whole.runs)
    else:
        assert (again.value, again.found.runs) == (whole.value, whole.found.runs)
        assert np.array_equal(again.found.history, whole.found.history)
    counted[:] = []
    search(output=tmp_path / "s")
    assert sum(counted) <= 1
    assert len(list((tmp_path / "s").iterdir())) == 1
    next((tmp_path / "s").iterdir()).write_bytes(b"torn")
    assert repr(search(output=tmp_path / "s")) == repr(again) or name == "rare"


def test_ctrl_c_during_a_search(tmp_path):
    """It ends within 2 s of a processor that does nothing else although runs are under way that never end, says what it found, and the same command goes on."""
    (tmp_path / "slider.toml").write_text((FOLDER / "slider.toml").read_text())
    study = tmp_path / "slide.toml"
    study.write_text(STUDY + CAMPAIGN)
    script = (
        "import threading\n"
        "from articulus.study.campaign import work\n"
        "from articulus.cli.commands import main\n"
        "real, done = work.run_rows, []\n"
        "def slow(campaign, first, count, scale):\n"
        "    if sum(done) >= 64:\n"
        "        print('busy', flush=True)\n"
        "        threading.Event().wait()\n"
        "    done.append(count)\n"
        "    return real(campaign, first, count, scale)\n"
        "work.run_rows = slow\n"
        f"main(['campaign', 'worst-case', {str(study)!r}, 'place', '--runs', '96'])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )
    assert process.stdout.readline() == "busy\n"
    before, began = slowness(), time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    spent = time.monotonic() - began
    assert spent / max(before, slowness()) < 2.0
    assert process.returncode == 130
    assert "interrupted after 64 runs; they are kept in" in said
    assert "Worst so far: place = 1." in said
    again = CliRunner().invoke(app, ["campaign", "worst-case", str(study), "place", "--runs", "96"])
    assert again.exit_code == 0, again.output
    assert "after 96 runs" in " ".join(again.output.split())


def test_a_run_that_raises_is_a_failure_and_a_study_that_cannot_run_is_told(monkeypatch):
    real = work.run_rows

    def poisoned(campaign, first, count, scale=None):
        if (campaign.inputs(first, count)["v.slide"] > limit).any():
            raise ZeroDivisionError("too fast")
        return real(campaign, first, count, scale)

    monkeypatch.setattr(work, "run_rows", poisoned)
    limit = 1.05
    found = art.campaign.worst_case(**campaign_above(1.0), runs=320)
    assert math.isnan(found.value)
    assert found.inputs["v.slide"] > limit
    limit = -math.inf
    with pytest.raises(NumericalError, match=r"the first 32 runs could not be run.*too fast"):
        art.campaign.worst_case(**campaign_above(1.0), runs=320)


def test_the_command_line_answers_the_same_questions(tmp_path):
    (tmp_path / "slider.toml").write_text((FOLDER / "slider.toml").read_text())
    study = tmp_path / "slide.toml"
    study.write_text(STUDY + CAMPAIGN)

    def said(command, *options):
        found = CliRunner().invoke(app, ["campaign", command, str(study), *options])
        assert found.exit_code == 0, found.output
        return " ".join(found.output.split())

    worst = said("worst-case", "place < 1.35 m", "--runs", "320")
    assert "missed: 1." in worst
    assert "v.slide" in worst
    assert "missed with probability 0.00" in said("rare", "place", "--runs", "1000")  # 0.00135
    assert "pass rate above 0.9" in said("until", "--above", "0.9")
    assert "pass rate known to 0.2" in said("until", "--width", "0.2")
    assert (tmp_path / "slide.campaign").is_dir()
    refused = CliRunner().invoke(app, ["campaign", "worst-case", str(study), "place", "--workers", "2"])
    assert refused.exit_code == 2
    assert "No such option" in refused.stderr


def test_stopping_needs_independent_runs_and_a_requirement():
    with pytest.raises(InputError, match="monte carlo"):
        art.campaign.run_until(**campaign_above(1.5), above=0.5, sampler="sobol")
    with pytest.raises(InputError, match="no requirement"):
        art.campaign.run_until(**(campaign_above(1.5) | {"requirements": []}), above=0.5)


def test_a_rare_failure_agrees_with_its_closed_form():
    found = art.campaign.failure_probability(**campaign_above(3.5), runs_per_level=1000, seed=2)
    assert abs(math.log(found.probability / special.ndtr(-3.5))) < 4 * found.variation


def test_requirements_are_named_and_noise_needs_a_seed():
    two = campaign_above(1.0) | {"requirements": ["place < 1 m", "place > 0 m"]}
    with pytest.raises(InputError, match="place < 1 m"):
        art.campaign.worst_case(**two)
    with pytest.raises(InputError, match="place < 1 m"):
        art.campaign.worst_case(**two, requirement="plce < 1 m")
    noisy = campaign_above(1.0)
    noisy["study"] = f'{STUDY}\n[[component]]\ntype = "white_noise"\ndensity = 1e-4\njoint = "slide"\n'
    with pytest.raises(InputError, match="seed"):
        art.campaign.failure_probability(**noisy)
    # all runs of a search have the same noise: one place gives one answer
    chosen = art.campaign.explore.PointRuns(art.campaign.Campaign.read(runs=1, **noisy), None)
    same = chosen.figures(np.full((5, 2), 0.5))
    assert np.ptp(same) == 0
    assert same[0] != MEAN
    assert abs(same[0] - MEAN) < 5 * DEVIATION
