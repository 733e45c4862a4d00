"""Bad input of campaigns: what cannot be meant is refused, with what was found and what was expected."""

from pathlib import Path
from typing import Any

import pytest

import articulus as art
from articulus.errors import InputError
from articulus.study.campaign.design import Campaign

STUDY = """
schema = 1
[study]
name = "arm"
model = "two_link"
[[component]]
type = "measured"
name = "gyro"
sensor = {type = "rate_gyro", frame = "link2"}
noise = "0.1 deg/s"
period = "2 ms"
[[component]]
type = "pd"
name = "servo"
kp = "900 N m/rad"
kd = "400 N m s/rad"
[run]
t_end = "0.1 s"
step = "1 ms"
[campaign]
runs = 4
figures = {turn = "q.joint1"}
"""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"uniform": [0, 0.5]}, r"values from 0 to 0\.5.*expected a wide range"),
        ({"normal": [7.5, 0.1], "truncated": [7.1, 7.9]}, r"values from 7\.1 to 7\.9"),
        ([0.1, 0.2], r"found 0\.1; expected whole numbers"),
        ({"from": 0, "to": 1, "count": 5}, r"found 0\.25; expected whole numbers"),
    ],
)
def test_seeds_that_are_no_seeds_are_refused(given: Any, message: str) -> None:
    """They are cut to whole numbers: all runs would have the same noise."""
    with pytest.raises(InputError, match=message):
        Campaign.read(STUDY, vary={"seed": given})


@pytest.mark.parametrize(
    "given", [[7], [1, 2], {"uniform": [0, 1e9]}, {"stats": "randint", "low": 0, "high": 9}]
)
def test_seeds_are_taken(given: Any) -> None:
    assert Campaign.read(STUDY, vary={"seed": given}).names == ("seed",)


@pytest.mark.parametrize(
    ("figure", "message"),
    [
        ({"signal": "q.joint1", "at": "0.2 s"}, r"found 0\.2 s; expected a time of the run, 0 s to 0\.1 s"),
        ({"signal": "q.joint1", "at": -0.01}, r"found -0\.01 s; expected a time of the run"),
        ({"signal": "q.joint1", "at": True}, r"found True"),
        ({"signal": "q.joint1", "at": "settling", "band": "-1 deg"}, r"band: found -0\.017.*not negative"),
        (
            {"signal": "q.joint1", "at": "peak", "target": 0.1},
            r"found target with at = 'peak', which does not use it",
        ),
        (
            {"signal": "q.joint1", "at": "rms", "band": 0.1},
            r"found band with at = 'rms', which does not use it",
        ),
        (
            {"signal": "q.joint1", "figure": "energy balance"},
            r"found signal, figure; expected nothing beside",
        ),
        ({"figure": "energy balance", "at": "end"}, r"found figure, at; expected nothing beside"),
    ],
)
def test_figures_that_would_not_be_what_was_asked_for_are_refused(figure: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Campaign.read(STUDY, figures={"turn": figure})


def test_figures_at_both_ends_of_a_run_are_taken() -> None:
    ends = {"begin": {"signal": "q.joint1", "at": 0}, "finish": {"signal": "q.joint1", "at": "0.1 s"}}
    result = art.campaign.run(STUDY, figures=ends, vary={"q.joint1": [0.25]})
    assert (result.table.figures["begin"] == 0.25).all()
    assert (
        result.table.figures["finish"] == [run["q.joint1"][-1] for run in map(result.replay, range(4))]
    ).all()


def test_several_names_need_a_distribution_of_several_numbers() -> None:
    with pytest.raises(
        InputError, match=r"for q\.joint1, q\.joint2; expected a distribution of several numbers"
    ):
        Campaign.read(STUDY, vary={("q.joint1", "q.joint2"): {"uniform": [0, 1]}})


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("mine")
    with pytest.raises(InputError, match=r"found a file; expected a new folder"):
        art.campaign.run(STUDY, output=tmp_path / "c")
    assert (tmp_path / "c").read_text() == "mine"


def test_a_changed_study_says_which_table_and_a_hypercube_how_many_runs(tmp_path: Path) -> None:
    vary = {"q.joint1": {"uniform": [0, 1]}}
    art.campaign.run(STUDY, vary=vary, sampler="latin hypercube", output=tmp_path / "c")
    changed = STUDY.replace("400 N m", "410 N m")
    with pytest.raises(InputError, match=r"differs in: study: \[component\]; expected"):
        art.campaign.run(changed, vary=vary, sampler="latin hypercube", output=tmp_path / "c")
    with pytest.raises(InputError, match=r"latin hypercube of 4 runs then, latin hypercube of 8 runs now"):
        art.campaign.run(STUDY, 8, vary=vary, sampler="latin hypercube", output=tmp_path / "c")
