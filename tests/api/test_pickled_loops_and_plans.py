"""Loops and plans can be sent to other processes, before and after their equations exist."""

import pickle

import numpy as np
import pytest

import articulus as art
from articulus.motion import trajectory
from articulus.simulation.loop.components import PD


def copied(thing):
    return pickle.loads(pickle.dumps(thing))  # noqa: S301


def test_a_loop_pickles_before_and_after_its_equations_exist():
    loop = art.Loop(art.load("two_link"), PD(kp=10.0, kd=1.0))
    before = copied(loop)
    run = loop.simulate(0.01)
    after = copied(loop)
    assert "system" in vars(loop)
    assert "system" not in vars(after)
    for copy in (before, after):
        np.testing.assert_array_equal(copy.simulate(0.01).q, run.q)


@pytest.mark.parametrize("scheme", ["hermite_simpson", "shooting", "riccati"])
def test_a_plan_pickles_before_and_after_it_was_looked_at(scheme):
    arm = art.load("two_link")
    plan = trajectory.plan(arm, (0.0, 0.0), (0.3, 0.3), duration=1.0, scheme=scheme, intervals=6)
    before = copied(plan)
    text = str(plan)
    after = copied(plan)
    for copy in (before, after):
        np.testing.assert_array_equal(copy.q, plan.q)
        np.testing.assert_array_equal(copy.u, plan.u)
        assert str(copy) == text


def test_a_plan_that_began_at_another_one_pickles():
    arm = art.load("two_link")
    plan = trajectory.plan(arm, (0.0, 0.0), (0.3, 0.3), duration=1.0, intervals=4)
    again = trajectory.plan(arm, (0.0, 0.0), (0.3, 0.3), duration=1.0, intervals=4, guess=plan)
    np.testing.assert_array_equal(copied(again).q, again.q)


def test_the_guess_of_a_plan_of_equations_pickles():
    s = np.linspace(0.0, 1.0, 3)
    guess = trajectory.problem.GuessBetween(s[:, None], np.zeros((3, 1)))
    copy = copied(guess)
    np.testing.assert_array_equal(copy(s, 2.0), guess(s, 2.0))
    np.testing.assert_allclose(copy(s, 2.0), np.column_stack([s, np.full(3, 0.5), np.zeros(3)]))
