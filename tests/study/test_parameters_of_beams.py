"""Named parameters of flexible bodies in model files, studies and on the design desk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.browser.desk import Desk
from articulus.model.files import parse_toml, read_toml, write_toml
from articulus.structure import beam_body
from articulus.study.campaign.design import Campaign
from articulus.study.campaign.work import whole_run

MODEL = """\
schema = 1
name = "arm"
gravity = [0, "-9.81 m/s^2", 0]

[parameters]
L = {value = "1.5 m", range = ["1 m", "2 m"]}

[body.link]
beam = {length = {parameter = "L"}, EI = 40, mass_per_length = 1.2, modes = 1, elements = 2}

[joint.hinge]
type = "revolute"
parent = "ground"
child = "link"
axis = [0, 0, 1]
damping = 0.5

[frame.tip]
body = "link"
node = "tip"
"""

STUDY = """\
schema = 1

[study]
name = "lengths"
model = "arm.toml"

[run]
t_end = 0.1
step = "2 ms"

[campaign]
sampler = "grid"
runs = 2

[campaign.vary]
L = {values}
"""


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return art.Mechanism.from_description(parse_toml(MODEL))


def test_a_model_file_gives_the_body_of_python(arm: art.Mechanism) -> None:
    L = art.Parameter("L", 1.5, range=(1.0, 2.0))
    body = beam_body(L, EI=40.0, mass_per_length=1.2, modes=1, elements=2)
    assert arm.description.bodies[0].modes == body
    assert arm.parameters == {"L": 1.5}


def test_it_is_written_and_read_back_without_loss(arm: art.Mechanism, tmp_path: Path) -> None:
    write_toml(arm.description, tmp_path / "arm.toml")
    back = read_toml(tmp_path / "arm.toml")
    assert back == arm.description
    assert [p.range for p in back.parameters] == [(1.0, 2.0)]
    text = (tmp_path / "arm.toml").read_text()
    (tmp_path / "arm.toml").write_text(text.replace("value = 1.5", "value = 1.25"))
    other = art.Mechanism.from_description(read_toml(tmp_path / "arm.toml"))
    assert other.pose("tip", other.neutral)[0, 3] == pytest.approx(1.25, rel=1e-9)
    (tmp_path / "arm.toml").write_text(
        text.replace("[parameters]\nL = {value = 1.5, range = [1.0, 2.0]}\n", "")
    )
    with pytest.raises(art.ModelError, match="data that follow the parameter 'L'"):
        read_toml(tmp_path / "arm.toml")


def test_mistakes_of_a_file_are_named() -> None:
    for old, new, said in (
        ('range = ["1 m", "2 m"]', 'range = ["1 kg", "2 kg"]', "parameters.L.range.*unit of the value"),
        ('range = ["1 m", "2 m"]', 'range = ["2 m", "1 m"]', "the lower one first"),
        ('value = "1.5 m"', 'value = "3 m"', "outside its range"),
        ('{value = "1.5 m", range = ["1 m", "2 m"]}', '"1.5 m"', "'L' has no range"),
        ("modes = 1", 'modes = {expression = "L/L"}', "expected a whole number"),
    ):
        with pytest.raises(art.ModelError, match=said):
            parse_toml(MODEL.replace(old, new))


def test_a_campaign_varies_it_within_its_range(arm: art.Mechanism, tmp_path: Path) -> None:
    write_toml(arm.description, tmp_path / "arm.toml")
    (tmp_path / "study.toml").write_text(STUDY.replace("{values}", "[1.0, 1.7]"))
    campaign = Campaign.read(tmp_path / "study.toml")
    for k, length in enumerate((1.0, 1.7)):
        alone = art.simulate(arm, 0.1, params={"L": length}, step=2e-3, method="rk4")
        assert whole_run(campaign, k).q[-1] == pytest.approx(alone.q[-1], abs=1e-12)
    (tmp_path / "study.toml").write_text(STUDY.replace("{values}", "[1.0, 2.7]"))
    with pytest.raises(art.ArticulusError, match=r"'L'.*2.7.* range"):
        Campaign.read(tmp_path / "study.toml")


def test_the_desk_moves_it_within_its_range(arm: art.Mechanism) -> None:
    desk = Desk(art.simulate(arm, 0.1, step=2e-3, method="rk4"))
    slider = desk.sliders["L"]
    assert (slider.low, slider.high) == (1.0, 2.0)
    answer = desk.design({"L": 1.25}, vary="L")
    stations = answer["run"]["scene"]["bodies"][0]["flexible"]["stations"]
    assert max(s["position"][0] for s in stations) == pytest.approx(1.25, rel=1e-6)  # drawn as long as it is
    poles = np.array([line["poles"][-1]["omega"] for line in answer["family"]["lines"]])
    assert answer["family"]["failure"] is None
    assert poles.size == 8
    assert desk.design({"L": 2.5})["failure"] is not None
