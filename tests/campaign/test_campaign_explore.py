"""Campaigns that choose their own runs, on a sliding mass whose answers are known."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import special
from typer.testing import CliRunner

import articulus as art
from articulus import cases
from articulus.cases.rare_failures.case import DEVIATION, MEAN, STUDY, asked
from articulus.cli.commands import app
from articulus.errors import InputError

FOLDER = Path(cases.__file__).parent / "rare_failures"


def test_the_worst_case_can_be_replayed_and_names_its_edges():
    found = art.campaign.worst_case(**asked(1.0), runs=320, batch=32, method="cma-es")
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
    given = {k: v for k, v in asked(1.5).items() if k not in ("study", "folder")}
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


def test_the_command_line_answers_the_same_questions(tmp_path):
    (tmp_path / "slider.toml").write_text((FOLDER / "slider.toml").read_text())
    study = tmp_path / "slide.toml"
    study.write_text(
        STUDY
        + """
[campaign]
requirements = ["place < 1.35 m"]
[campaign.vary]
"q.slide" = {normal = [0.2, 0.03]}
"v.slide" = {normal = [1.0, 0.04]}
[campaign.figures]
place = {signal = "q.slide", at = "end"}
"""
    )

    def said(*options):
        found = CliRunner().invoke(app, ["campaign", str(study), *options])
        assert found.exit_code == 0, found.output
        return " ".join(found.output.split())

    worst = said("--worst-case", "place < 1.35 m", "--runs", "320")
    assert "missed: 1." in worst
    assert "v.slide" in worst
    assert "missed with probability 0.00" in said("--rare", "place", "--runs", "1000")  # 0.00135
    assert "pass rate above 0.9" in said("--until", "0.9")
    assert (tmp_path / "slide.campaign").is_dir()


def test_stopping_needs_independent_runs_and_a_requirement():
    with pytest.raises(InputError, match="monte carlo"):
        art.campaign.run_until(**asked(1.5), above=0.5, sampler="sobol")
    with pytest.raises(InputError, match="no requirement"):
        art.campaign.run_until(**(asked(1.5) | {"requirements": []}), above=0.5)


def test_a_rare_failure_agrees_with_its_closed_form():
    found = art.campaign.failure_probability(**asked(3.5), runs_per_level=1000, seed=2)
    assert abs(math.log(found.probability / special.ndtr(-3.5))) < 4 * found.variation


def test_requirements_are_named_and_noise_needs_a_seed():
    two = asked(1.0) | {"requirements": ["place < 1 m", "place > 0 m"]}
    with pytest.raises(InputError, match="place < 1 m"):
        art.campaign.worst_case(**two)
    with pytest.raises(InputError, match="place < 1 m"):
        art.campaign.worst_case(**two, requirement="plce < 1 m")
    noisy = asked(1.0)
    noisy["study"] = f'{STUDY}\n[[component]]\ntype = "white_noise"\ndensity = 1e-4\njoint = "slide"\n'
    with pytest.raises(InputError, match="seed"):
        art.campaign.failure_probability(**noisy)
    # all runs of a search have the same noise: one place gives one answer
    chosen = art.campaign.explore.Chosen(art.campaign.Campaign.read(runs=1, **noisy), None)
    same = chosen.figures(np.full((5, 2), 0.5))
    assert np.ptp(same) == 0
    assert same[0] != MEAN
    assert abs(same[0] - MEAN) < 5 * DEVIATION
