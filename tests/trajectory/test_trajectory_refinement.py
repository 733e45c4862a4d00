"""Refinement of meshes: a finer mesh on which the search does not converge loses nothing."""

from __future__ import annotations

import dataclasses
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulResult
from articulus.motion import trajectory
from articulus.motion.trajectory import mesh_search


def test_a_search_that_ends_on_a_finer_mesh_returns_the_coarser_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = art.load("two_link")
    task = {"duration": (0.1, 5.0), "cost": "time", "torque_limit": 1e3}
    with pytest.warns(DoubtfulResult):  # limits between the points
        coarse = trajectory.plan(arm, [0.0, 0.0], [1.0, 0.5], intervals=10, **task)
    solve, counts = mesh_search.solve_program, []

    def cut_short(program: Any, structure: Any, x: Any, settings: Any, near: bool = False) -> Any:
        counts.append(program.size)
        few = dataclasses.replace(settings, iterations=1) if len(counts) > 1 else settings
        return solve(program, structure, x, few, near)

    monkeypatch.setattr(mesh_search, "solve_program", cut_short)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        plan = trajectory.plan(arm, [0.0, 0.0], [1.0, 0.5], intervals=10, error=1e-6, **task)
    assert any("this is the plan on 10, whose estimated error" in str(each.message) for each in told)
    assert len(counts) == 2
    assert counts[1] > counts[0]
    assert plan.converged
    assert plan.error == coarse.error
    assert plan.duration == coarse.duration


ROBOTS = Path(__file__).parents[2] / "build/robots/cmeel.prefix/share/example-robot-data/robots"


@pytest.mark.filterwarnings("ignore:plan. between")  # of obstacles and limits: the mesh is the subject
def test_least_time_around_an_obstacle_is_refined_in_seconds() -> None:
    """A UR5 and a crate, 40 to about 250 intervals: 1.5 s of processor time, 3 s with code that is not in the cache; 10 s at most are asked for."""
    if not (path := ROBOTS / "ur_description/urdf/ur5_robot.urdf").exists():
        pytest.skip("example-robot-data is not there")
    arm = art.load(path)
    ends = [0, -1.2, 1.0, -1.0, -1.5, 0.0], [1.2, -0.8, 0.6, -0.5, -1.0, 0.8]
    crate = trajectory.Crate(tuple(arm.pose("tool0", np.mean(ends, 0))[:3, 3]), (0.15, 0.15, 0.15))
    hulls = tuple(trajectory.Hull(f"wrist_{k}_link", (0, 0, 0), (0, 0, 0), 0.05, balls=1) for k in (1, 2, 3))
    begin = time.process_time()
    made = trajectory.plan(
        arm,
        *ends,
        duration=(0.2, 5.0),
        cost="time",
        intervals=40,
        obstacles=[trajectory.Clear(crate, hulls)],
        error=1e-2,
    )
    assert time.process_time() - begin < 10.0
    assert made.error <= 1e-2
    # by ipopt alone 0.416231 s at this error, 0.416268 s on 40 intervals
    assert made.duration == pytest.approx(0.41623, rel=1e-4)
