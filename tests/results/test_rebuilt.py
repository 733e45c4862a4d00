"""Runs from files and other processes: their loop is built again when it is needed."""

from __future__ import annotations

import pickle
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import UnsupportedOperation
from articulus.simulation.loop.components import PID, Expression, Measured, RateGyro
from articulus.simulation.loop.events import Bounce
from articulus.study import parse_study, run_only

GAIN = art.Parameter("kp", 30.0)
PARTS = (
    PID(kp=GAIN, ki=20.0, kd=GAIN / 10, target=(0.2, -0.1), period=0.004),
    Measured(RateGyro("link2", name="gyro"), period=0.002, noise=0.01, delay=1),
)


@pytest.fixture(scope="module")
def run() -> art.Run:
    """A run with states of components, held values, noise and a parameter."""
    return art.simulate(
        art.load("two_link"), 0.05, q0=[0.3, 0.1], components=PARTS, params={"kp": 35.0}, seed=3
    )


def saved(run: art.Run, folder: Path) -> art.Run:
    run.save(folder / "run.nc")
    return art.load_run(folder / "run.nc")


def pickled(run: art.Run, _: Path) -> art.Run:
    return pickle.loads(pickle.dumps(run))  # noqa: S301


@pytest.mark.parametrize("carried", [saved, pickled])
def test_a_run_is_made_again_bit_by_bit(run: art.Run, tmp_path: Path, carried) -> None:
    back = carried(run, tmp_path)
    for given in ({}, {"kp": 20.0}):
        expected, found = run.again(given), back.again(given)
        for name in expected.names:
            np.testing.assert_array_equal(found[name], expected[name])
    twice = carried(back, tmp_path)
    np.testing.assert_array_equal(twice.again().q, run.q)


@pytest.mark.parametrize("carried", [saved, pickled])
def test_a_run_has_its_linear_model(run: art.Run, tmp_path: Path, carried) -> None:
    back = carried(run, tmp_path)
    for at in (None, 0.021):
        expected, found = run.linearize(at), back.linearize(at)
        assert (found.states, found.inputs, found.outputs) == (
            expected.states,
            expected.inputs,
            expected.outputs,
        )
        for name in "ABCD":
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_a_batch_with_its_own_starts_and_parameters(tmp_path: Path) -> None:
    q0 = np.array([[0.1, 0.0], [0.2, 0.3], [0.0, -0.1]])
    batch = art.rollout(
        art.load("two_link"), 0.02, q0=q0, components=PARTS[:1], params={"kp": np.array([10.0, 20.0, 30.0])}
    )
    back = saved(batch, tmp_path)
    np.testing.assert_array_equal(back.again().q, batch.q)
    np.testing.assert_array_equal(back.linearize(run=2).A, batch.linearize(run=2).A)


def test_events_are_part_of_it(tmp_path: Path) -> None:
    stop = Bounce("joint2", at=0.3, restitution=0.5, name="stop")
    run = art.simulate(art.load("two_link"), 0.2, v0=[0.0, 3.0], events=[stop], method="dormand_prince")
    again = saved(run, tmp_path).again()
    assert again.events == run.events
    assert run.events
    np.testing.assert_array_equal(again.q, run.q)


STUDY = """
schema = 1
[study]
name = "swing"
model = "two_link"
[[component]]
type = "prescribed_force"
joint = "joint1"
force = {type = "harmonic", amplitude = "2 N m", frequency = "3 Hz"}
[run]
t_end = 0.02
"""


def test_what_only_a_study_can_say_is_read_from_its_text(tmp_path: Path) -> None:
    run = run_only(parse_study(STUDY)).run
    np.testing.assert_array_equal(saved(run, tmp_path).again().q, run.q)


def test_a_loop_that_no_text_can_hold_says_why(tmp_path: Path) -> None:
    arm, q = art.load("two_link"), ca.SX.sym("q", 2)
    law = Expression(ca.Function("law", [q], [-q], ["q"], ["u"]))
    for controller, why in (
        (law, "'expression' is of class Expression"),
        (lambda t, q, v: -q, "is a Python function"),
    ):
        back = saved(art.simulate(arm, 0.01, controller=controller), tmp_path)
        for ask, what in ((back.again, "again"), (back.linearize, "linearize")):
            with pytest.raises(UnsupportedOperation, match=f"^{what}: .*cannot be built again: .*{why}"):
                ask()
