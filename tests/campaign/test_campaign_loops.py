"""Campaigns of mechanisms with loops: bits do not depend on the company that a run has, also where rows are redundant."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.simulation.solve.assembly import independent_rows
from articulus.study.campaign import work
from articulus.study.campaign.design import Campaign

CRANKS = """
schema = 1
name = "three_cranks"
gravity = [0, 0, -9.81]
body.coupler = {mass = 2, com = [1, 0, 0], inertia = [0.01, 0.7, 0.7]}
joint.knee = {type = "revolute", parent = "crank1", child = "coupler", axis = [0, 1, 0], at = [0, 0, 1]}
constraint.second = {type = "point", first = "on2", second = "tip2"}
constraint.third = {type = "point", first = "on3", second = "tip3"}
""" + "".join(
    f"""
body.crank{i} = {{mass = 1, com = [0, 0, 0.5], inertia = [0.1, 0.1, 0.01]}}
joint.hinge{i} = {{type = "revolute", parent = "ground", child = "crank{i}", axis = [0, 1, 0], at = [{i - 1}, 0, 0]}}
frame.tip{i} = {{body = "crank{i}", at = [0, 0, 1]}}
frame.on{i} = {{body = "coupler", at = [{i - 1}, 0, 0]}}
"""
    for i in (1, 2, 3)
)
"""A coupler on three parallel cranks: two would do, so that one of the rows x and z of both points is redundant, and which one is best
left out depends on the angle. With level cranks one more is."""
STUDY = """
schema = 1
[study]
name = "cranks"
model = "cranks.toml"
[run]
t_end = "0.05 s"
step = "5 ms"
method = "METHOD"
[campaign]
sampler = "list"
figures = {turn = "q.hinge1", rate = "v.hinge3"}
"""
ANGLES = (0.0, 0.3, -1.2, np.pi / 2, 1.4)
NAMES = ("q.hinge1", "q.hinge2", "q.hinge3", "q.knee")
COLUMNS = ("figures", "status", "cause", "doubts", "ended")


@pytest.mark.parametrize("method", ["rk4", "generalized_alpha", "idas"])
def test_redundant_rows_belong_to_a_run_and_not_to_its_chunk(tmp_path: Path, method: str) -> None:
    (tmp_path / "cranks.toml").write_text(CRANKS)
    arm = art.load(tmp_path / "cranks.toml")
    starts = [(a, a, a, -a) for a in ANGLES]
    assert len({independent_rows(arm, start) for start in starts[:3]}) > 1
    campaign = Campaign.read(
        STUDY.replace("METHOD", method),
        folder=tmp_path,
        runs=len(starts),
        vary={NAMES: art.campaign.Rows(tuple(starts))},
    )
    whole = _rows(campaign, [])
    assert np.ptp(whole["figures"][:3], axis=0).min() > 0.01
    for cuts in ([1, 2, 3, 4], [2], [1, 3]):
        other = _rows(campaign, cuts)
        assert all(whole[name].tobytes() == other[name].tobytes() for name in COLUMNS)


def _rows(campaign: Campaign, cuts: list[int]) -> dict[str, np.ndarray]:
    parts = [work.run_rows(campaign, a, b - a) for a, b in itertools.pairwise([0, *cuts, campaign.runs])]
    return {name: np.concatenate([getattr(p, name) for p in parts]) for name in COLUMNS}
