"""A run setting is declared once, in `RunSettings`: calls, recipes of runs and runners take it from there."""

import inspect
from dataclasses import fields

import numpy as np
import pytest

import articulus as art
from articulus.simulation.running.runner import Runner
from articulus.simulation.running.settings import RunSettings

SETTINGS = [f.name for f in fields(RunSettings) if f.init]
DATA = [name for name in SETTINGS if name != "events"]  # events are in the text of the loop


@pytest.fixture(scope="module")
def run():
    return art.simulate(art.load("two_link"), 0.01, step=1e-3, sample=5e-3, rtol=1e-7, seed=3)


@pytest.mark.parametrize("name", DATA)
def test_the_recipe_of_a_run_holds_every_setting(run, name):
    assert run.recipe.settings[name] == getattr(run.origin.setup.settings, name)


@pytest.mark.parametrize("name", [n for n in SETTINGS if n != "first_run"])
def test_simulate_takes_every_setting(name):
    assert name in inspect.signature(art.simulate).parameters


def test_a_runner_takes_its_specification_not_its_parts():
    assert len(inspect.signature(Runner).parameters) <= 6


def test_a_runner_goes_by_the_settings_of_its_specification(run):
    setup = run.origin.setup
    runner = setup.runner()
    s = setup.settings
    assert (runner.t0, runner.h, runner.steps, runner.every) == (s.t0, s.step, 10, 5)
    assert (runner.seed, runner.method) == (3, "rk4")
    np.testing.assert_array_equal(runner.run().q, run.q)
