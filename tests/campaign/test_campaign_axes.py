"""What can vary besides parameters, and runs that end early: bits do not depend on the company that a run has."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.study.campaign import work
from articulus.study.campaign.design import Campaign

STUDY = """
schema = 1
[study]
name = "pendulum"
model = "pendulum_chain"
options = {n = 1}
[[component]]
type = "measured"
name = "gyro"
sensor = {type = "rate_gyro", frame = "rod1"}
noise = "0.1 deg/s"
period = "1 ms"
[[event]]
type = "crossing"
name = "late"
signal = "t"
level = "50 ms"
stop = true
[run]
t_end = "0.1 s"
step = "1 ms"
sample = "10 ms"
METHOD
[campaign]
runs = 12
figures = {turn = "q.hinge1", rate = {signal = "gyro.rate.1", at = "rms"}, mean = {signal = "q.hinge1", at = "mean"}}
[campaign.vary]
"q.hinge1" = {uniform = [-1, 1]}
"late.level" = {uniform = ["5 ms", "150 ms"]}
seed = [1, 2, 3]
"""
FIGURES = ("inputs", "figures", "status", "cause", "doubts", "ended")


def rows(campaign: Campaign, cuts: list[int]) -> dict[str, np.ndarray]:
    """Return the rows of all runs, cut at some numbers."""
    ends = [0, *cuts, campaign.runs]
    parts = [work.run_rows(campaign, a, b - a) for a, b in itertools.pairwise(ends)]
    return {name: np.concatenate([getattr(p, name) for p in parts]) for name in FIGURES}


@pytest.mark.parametrize("method", ["rk4", "dormand_prince"])
def test_runs_that_events_stop_do_not_depend_on_their_company(method: str) -> None:
    """Event times, seeds and initial states vary; batches in which all runs end early, and single runs."""
    campaign = Campaign.read(STUDY.replace("METHOD", f'method = "{method}"'))
    whole = rows(campaign, [])
    for cuts in ([1, 2, 3, 5], list(range(1, 12)), [7]):
        other = rows(campaign, cuts)
        assert all(whole[name].tobytes() == other[name].tobytes() for name in FIGURES)
    level = campaign.inputs(0, 12)["late.level"]
    assert np.allclose(whole["ended"], np.minimum(level, 0.1), atol=1e-9)
    assert (whole["status"] == (level < 0.1)).all()
    assert 1 <= (level < 0.1).sum() < 12


def test_a_seed_that_varies_is_the_seed_of_the_run() -> None:
    """A run with seed s draws what `simulate` draws with seed s; two runs of the same seed differ by their other inputs only."""
    result = art.campaign.run(STUDY.replace("METHOD", ""), runs=3, vary={"seed": [7]})
    run = result.replay(2)
    study = result.campaign.study
    same = study.loop.simulate(0.1, sample=0.01, events=study.settings.events, seed=7)
    assert np.array_equal(run["gyro.rate"], same["gyro.rate"][: len(run.t)])
    assert np.unique(result.table.figures["rate"]).size == 1


def test_runs_that_fail_say_why_and_do_not_change_the_others() -> None:
    """A spring so stiff that RK4 cannot follow it makes a run diverge, in any company."""
    text = STUDY.replace("METHOD", "").replace(
        "[[event]]",
        '[initial.q]\nhinge1 = 0.5\n[[component]]\ntype = "pd"\nname = "servo"\nkp = 1.0\nkd = 0.1\n[[event]]',
    )
    stiff = [1.0, 2.0, 1e9, 3.0, 1e9, 1e9]
    campaign = Campaign.read(
        text,
        runs=6,
        sampler="list",
        vary={"servo.kp": stiff},
        figures={"swing": {"signal": "q.hinge1", "at": "peak"}},
    )
    campaign = Campaign.from_json(campaign.to_json(), campaign.folder)  # as a worker has it
    whole = rows(campaign, [])
    assert whole["status"].tolist() == [1, 1, 2, 1, 2, 2]
    assert np.isnan(whole["figures"][:, 0]).tolist() == [False, False, True, False, True, True]
    for cuts in ([2, 3], [4], [1, 2, 3, 4, 5]):
        other = rows(campaign, cuts)
        assert all(whole[name].tobytes() == other[name].tobytes() for name in FIGURES)


def test_runs_that_would_all_be_the_same_are_refused() -> None:
    """Noise makes runs differ; without it something has to vary."""
    text = STUDY.replace("METHOD", "")
    assert np.unique(art.campaign.run(text, runs=3, vary={}).table.figures["rate"]).size == 3
    with pytest.raises(InputError, match="found 3 runs in which nothing varies, and no noise"):
        art.campaign.run(text.replace('noise = "0.1 deg/s"\n', ""), runs=3, vary={})


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("articulus.study.campaign.cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(
        InputError, match=r"scheduler: found no answer from tcp://127\.0\.0\.1:1 within 0\.5 s"
    ):
        art.campaign.run(STUDY.replace("METHOD", ""), runs=2, scheduler="tcp://127.0.0.1:1")


DOUBTFUL = """
schema = 1
[study]
name = "slider"
model = "slider.toml"
[[component]]
type = "pd"
name = "servo"
kp = 100.0
kd = 1.0
[run]
t_end = "0.2 s"
step = "10 ms"
METHOD
[campaign]
sampler = "list"
figures = {place = "q.slide"}
"""
SLIDER = """
schema = 1
name = "slider"
gravity = [0, 0, 0]
body.mass = {mass = 2, inertia = [1, 1, 1]}
joint.slide = {type = "prismatic", parent = "ground", child = "mass", axis = [1, 0, 0], COULOMB}
"""


@pytest.mark.parametrize("kind", ["friction", "rejected steps"])
def test_doubts_of_a_run_do_not_depend_on_its_company(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dry friction that the step does not resolve, and a run whose steps are rejected among others that are not."""
    rubs = kind == "friction"
    coulomb = "coulomb = 5, coulomb_speed = 0.001" if rubs else "damping = 0"
    (tmp_path / "slider.toml").write_text(SLIDER.replace("COULOMB", coulomb))
    monkeypatch.setattr("articulus.simulation.running.diagnostics.REJECTED", 1e-3)
    gains = np.full(40, 1.0)
    gains[[7, 30]] = 1e5
    method = "" if rubs else 'method = "dormand_prince"'
    starts = zip(gains.tolist(), np.linspace(0.01, 0.02, 40).tolist(), strict=True)
    vary = {("servo.kp", "q.slide"): art.campaign.Rows(tuple(starts))}
    campaign = Campaign.read(DOUBTFUL.replace("METHOD", method), folder=tmp_path, runs=40, vary=vary)
    whole = rows(campaign, [])
    for cuts in ([13], [5, 8, 31]):
        assert (rows(campaign, cuts)["doubts"] == whole["doubts"]).all()
    assert np.unique(whole["doubts"]).size == 2
