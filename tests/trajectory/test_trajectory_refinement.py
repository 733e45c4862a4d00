"""Refinement of meshes: a finer mesh on which the search does not converge loses nothing."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

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

    def cut_short(program: Any, structure: Any, x: Any, settings: Any) -> Any:
        counts.append(program.size)
        few = dataclasses.replace(settings, iterations=1) if len(counts) > 1 else settings
        return solve(program, structure, x, few)

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
