"""Every method on one large robot: Talos, a humanoid of 32 joints as published."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

import articulus as art
from articulus.simulation.integrate import ALL_METHODS, Sdirk
from robots.packages import ROBOTS, files_of, missing

STEP, END = 1e-3, 4e-3
FIRST_ORDER = ("euler", "semi_implicit_euler")
SECOND_ORDER = ("ab2", "central_difference", "newmark", "hht", "generalized_alpha")
METHODS = tuple(m.name for m in ALL_METHODS if not isinstance(m, Sdirk))  # which is for ball joints
FILES = [path for path in files_of(ROBOTS, ".urdf") if path.name == "talos_reduced.urdf"]
pytestmark = [
    pytest.mark.skipif(not FILES, reason=missing(ROBOTS)),
    pytest.mark.filterwarnings("ignore"),  # what its file leaves open is told, and no matter here
]


@functools.cache
def talos() -> art.Mechanism:
    """Return it without dry friction and damping, which no fixed step of a millisecond resolves in its light wrists and fingers."""
    d = art.load(FILES[0]).description
    smooth = tuple(dataclasses.replace(c, coulomb=(), damping=()) for c in d.connections)
    return art.Mechanism.from_description(dataclasses.replace(d, connections=smooth))


@functools.cache
def start() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    return random.uniform(-0.3, 0.3, talos().nq), random.uniform(-0.5, 0.5, talos().nv)


def run(method: str, **settings: float) -> art.Run:
    return art.simulate(talos(), END, *start(), method=method, outputs=(), **({"step": STEP} | settings))


@functools.cache
def wanted() -> tuple[np.ndarray, np.ndarray]:
    """Return position and velocity at the end, by steps of a tenth."""
    fine = run("rk4", step=STEP / 10)
    return fine.q[-1], fine.v[-1]


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs_a_large_robot(method: str) -> None:
    """Positions to the square of the step times the accelerations (first order) or to their third power (second order)."""
    q, v = wanted()
    scale = np.abs(v).max() + np.abs(v - start()[1]).max()
    off = np.abs(run(method).q[-1] - q).max() / (END * scale)
    assert off < (0.05 if method in FIRST_ORDER else 1e-4 if method in SECOND_ORDER else 1e-5)


def test_linear_models_along_a_run_of_a_large_robot() -> None:
    """Those about many states are those about each."""
    moving = run("rk4")
    models = moving.linearize(at=moving.t[[0, 2, 4]])
    alone = moving.linearize(at=moving.t[2])
    assert np.allclose(models[1].A, alone.A, rtol=1e-12, atol=1e-9 * np.abs(alone.A).max())
