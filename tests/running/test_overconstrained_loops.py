"""Adaptive methods on loops with redundant rows: errors as small as the tolerances say."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

import articulus as art
from articulus.errors import DoubtfulResult
from articulus.simulation.integrate import ALL_METHODS
from closed_zoo import bricard, four_bar

ADAPTIVE = [m.name for m in ALL_METHODS if m.controls_error]
RTOL = 1e-6
WORST = 100 * RTOL
"""Error allowed after half a second of motion over some radians [rad]: that of a hundred steps, each of which may err by RTOL."""
LINKAGES = {"bricard": bricard, "plane": four_bar}


@functools.cache
def linkage(name: str) -> tuple[art.Mechanism, np.ndarray]:
    """Return a linkage with redundant rows, and a velocity that it can have."""
    m = LINKAGES[name]()
    return m, art.assemble(m, m.neutral, np.eye(m.nv)[0]).v


def run(name: str, method: str, **settings: object) -> art.Run:
    m, v = linkage(name)
    return art.simulate(m, 0.5, v0=v, method=method, outputs=("energy",), **settings)


@functools.cache
def reference(name: str) -> np.ndarray:
    """Return q at the end by fixed steps, whose stages are off the constraints by h^2 or less; their error is that of h^4."""
    return run(name, "rk4", step=1e-3, loops="operator").q[-1]


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("name", ["bricard", "plane"])
def test_errors_are_those_of_the_tolerance(name: str, method: str) -> None:
    found = run(name, method, step=0.05, rtol=RTOL, atol=1e-2 * RTOL)
    assert found.ok
    assert np.abs(found.q[-1] - reference(name)).max() < WORST


def test_two_references_agree() -> None:
    fine = run("bricard", "dormand_prince", step=0.1, rtol=1e-11, atol=1e-13, loops="null_space").q[-1]
    np.testing.assert_allclose(reference("bricard"), fine, rtol=0, atol=1e-8)


def test_the_form_is_chosen_and_recorded() -> None:
    def form(name: str, method: str, step: float = 0.05) -> str:
        return run(name, method, step=step).meta["settings"]["loops"]

    assert form("bricard", "dormand_prince") == "lagrange"
    assert form("bricard", "rk4", 0.01) == "regularized"
    assert form("plane", "dormand_prince") == "regularized"  # redundant off the constraints too
    assert run("bricard", "dormand_prince", step=0.5).again().meta["settings"]["loops"] == "lagrange"


def test_a_form_that_is_asked_for_is_taken_and_doubted() -> None:
    with pytest.warns(DoubtfulResult, match="loops = 'auto' or 'lagrange'"):
        found = run("bricard", "dormand_prince", step=0.5, loops="regularized")
    assert found.meta["settings"]["loops"] == "regularized"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run("bricard", "dormand_prince", step=0.5, loops="lagrange")
