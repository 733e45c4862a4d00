"""Loops and runs as studies: what is read back runs to the same bits, and a campaign takes them as they are."""

import dataclasses
import gc
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, UnsupportedOperation
from articulus.simulation.loop.components import PD, RateGyro
from articulus.study.reader import read_study
from articulus.study.runner import run_study


def _loop(**more: object) -> art.Loop:
    arm = art.load("two_link")
    gain = art.Parameter("gain", 30.0)
    law = PD(kp=gain, kd=4.0, target=(0.4, -0.2))
    return art.Loop(arm, controller=law, components=[RateGyro(arm.body_names[-1])], **more)  # type: ignore[arg-type]


def test_a_loop_comes_back_from_its_study(tmp_path: Path) -> None:
    loop = _loop()
    given = {"q0": [0.1, 0.7], "v0": [0.3, -0.2], "step": 2e-3, "method": "dormand_prince", "rtol": 1e-9}
    path = loop.save_study(tmp_path / "arm.toml", 0.2, params={"gain": 25.0}, purpose="a test", **given)
    assert path == tmp_path / "arm.toml"
    here = loop.simulate(0.2, params={"gain": 25.0}, **given)
    study = read_study(path)
    assert (study.name, study.purpose) == ("arm", "a test")
    there = run_study(study, tmp_path).run
    assert np.array_equal(here.q, there.q)
    assert np.array_equal(here.v, there.v)


@pytest.mark.parametrize("saved", [False, True])
def test_a_run_comes_back_from_its_study(tmp_path: Path, saved: bool) -> None:
    run = _loop().simulate(0.1, [0.1, 0.7], outputs=("energy",), sample=0.01)
    if saved:
        run.save(tmp_path / "run.nc")
        run = art.load_run(tmp_path / "run.nc")
    study = read_study(run.save_study(tmp_path / "again.toml", name="again"))
    there = run_study(study, tmp_path).run
    assert np.array_equal(run.q, there.q)
    assert np.array_equal(run.t, there.t)


def test_a_campaign_of_a_loop(tmp_path: Path) -> None:
    """It is the campaign of the study that `save_study` writes, and goes on where it was."""
    asked = {
        "runs": 16,
        "vary": {"q.joint1": art.campaign.Uniform(-0.5, 0.5), "gain": art.campaign.Normal(30, 1)},
        "figures": {"turn": "q.joint1"},
    }
    loop = _loop()
    path = loop.save_study(tmp_path / "arm.toml", 0.1, q0=[0.0, 0.7])
    study = art.campaign.run(path, **asked)
    short = art.campaign.run(loop, t_end=0.1, q0=[0.0, 0.7], **asked)
    kept = art.campaign.run(loop, t_end=0.1, q0=[0.0, 0.7], output=tmp_path / "kept.campaign", **asked)
    assert (tmp_path / "kept.toml").is_file()
    of_run = art.campaign.run(loop.simulate(0.1, [0.0, 0.7]), **asked)
    assert short.digest() == study.digest() == kept.digest() == of_run.digest()
    more = art.campaign.run(
        loop, t_end=0.1, q0=[0.0, 0.7], output=tmp_path / "kept.campaign", **(asked | {"runs": 20})
    )
    assert len(more.table) == 20
    folder = short.folder
    del short
    gc.collect()
    assert not folder.exists()
    with pytest.raises(InputError, match=r"kept\.toml: found a file with another content"):
        art.campaign.run(loop, t_end=0.2, output=tmp_path / "kept.campaign", **asked)


def test_what_has_no_form_in_a_file(tmp_path: Path) -> None:
    arm = art.load("two_link")
    own = art.Loop(arm, controller=lambda t, q, v: -q)
    for call in (
        lambda: own.save_study(tmp_path / "a.toml", 0.1),
        lambda: art.campaign.run(own, runs=2, t_end=0.1, figures={"turn": "q.joint1"}),
    ):
        with pytest.raises(InputError, match="is a Python function"):
            call()
    assert not (tmp_path / "a.toml").exists()
    loop = _loop()
    with pytest.raises(InputError, match=r"ends in \.toml"):
        loop.save_study(tmp_path / "a.txt", 0.1)
    with pytest.raises(InputError, match="found a Loop without t_end"):
        art.campaign.run(loop, runs=2)
    with pytest.raises(InputError, match="found t_end beside a Run"):
        art.campaign.run(loop.simulate(0.01), runs=2, t_end=0.1)
    with pytest.raises(InputError, match="found a batch of 2 runs"):
        loop.rollout(0.01, np.zeros((2, 2))).save_study(tmp_path / "a.toml")
    with pytest.raises(UnsupportedOperation, match="save_study: this run was put together by hand"):
        dataclasses.replace(loop.simulate(0.01), origin=None).save_study(tmp_path / "a.toml")
