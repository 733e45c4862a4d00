"""Runs made again with other parameters are the runs that a new call would make."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, MovedStart, NumericalError, UnsupportedOperation
from articulus.simulation.loop.components import PD, WhiteNoise
from articulus.simulation.loop.events import Bounce

SERVO = PD(art.Parameter("kp", 400.0), art.Parameter("kd", 80.0), target=[0.2, -0.3])


def arm() -> art.Mechanism:
    return art.load("two_link")


@pytest.fixture(scope="module")
def run() -> art.Run:
    return art.simulate(
        arm(), 0.5, q0=[0.4, 0.2], controller=SERVO, step=1e-3, sample=0.01, params={"kd": 60.0}
    )


def test_without_a_change_it_is_the_same_to_the_last_bit(run: art.Run) -> None:
    assert art.compare(run, run.again()).identical


def test_a_change_is_what_a_new_call_makes(run: art.Run) -> None:
    """Parameters that are not named keep the values of the run."""
    expected = art.simulate(
        arm(), 0.5, q0=[0.4, 0.2], controller=SERVO, step=1e-3, sample=0.01, params={"kp": 250.0, "kd": 60.0}
    )
    found = run.again({"kp": 250.0})
    assert art.compare(found, expected).identical
    assert [(p.name, p.value, p.default) for p in found.parameters] == [
        ("kp", 250.0, 400.0),
        ("kd", 60.0, 80.0),
    ]
    assert np.abs(found.q - run.q).max() > 1e-3


def test_again_builds_no_equations(run: art.Run) -> None:
    found = run.again({"kp": 250.0}).again({"kp": 251.0})
    assert found.origin is not None
    assert run.origin is not None
    assert found.origin.setup.system is run.origin.setup.system


def test_arrays_make_the_batch_of_single_runs(run: art.Run) -> None:
    kp = np.array([200.0, 300.0, 500.0])
    batch = run.again({"kp": kp})
    assert batch.batch == 3
    assert batch.names == run.names
    assert np.array_equal(batch.t, run.t)
    assert np.array_equal(batch.parameters[0].value, kp)
    for k, value in enumerate(kp):
        single = run.again({"kp": value})
        for name in run.names:
            np.testing.assert_array_equal(batch[name][k], single[name])


def test_a_rollout_can_be_made_again() -> None:
    batch = art.rollout(arm(), 0.2, q0=[[0.4, 0.2], [0.1, 0.0]], controller=SERVO, sample=0.1)
    found = batch.again({"kp": np.array([400.0, 300.0])})
    np.testing.assert_array_equal(found.q[0], batch.q[0])
    assert np.abs(found.q[1, -1] - batch.q[1, -1]).max() > 1e-4


@pytest.mark.parametrize("method", ["ab4", "dormand_prince"])
def test_other_methods(method: str) -> None:
    run = art.simulate(arm(), 0.1, q0=[0.4, 0.2], controller=SERVO, method=method, step=0.01)
    batch = run.again({"kp": np.array([300.0, 400.0])})
    np.testing.assert_allclose(batch.q[1], run.q, atol=1e-12)


def test_noise_is_that_of_the_seed(run: art.Run) -> None:
    noise = WhiteNoise(1.0, joint="joint1")
    noisy = art.simulate(arm(), 0.1, controller=SERVO, components=[noise], seed=7)
    np.testing.assert_array_equal(noisy.again().q, noisy.q)
    assert np.abs(noisy.tau[:, 0]).max() > 1.0


def test_events_happen_in_every_run() -> None:
    """A ball on a floor at -1 m: it falls for sqrt(2/g), whatever the number of runs."""
    floor = Bounce("z", at=-1.0, side=-1, restitution=0.5)
    run = art.simulate(falling(), 0.6, events=[floor], step=0.01)
    batch = run.again({"fall": np.array([-9.81, -20.0])})
    times = {event.run: event.time for event in reversed(batch.events)}
    assert times[0] == pytest.approx(np.sqrt(2 / 9.81), abs=1e-9)
    assert times[1] == pytest.approx(np.sqrt(2 / 20.0), abs=1e-9)
    np.testing.assert_allclose(batch.q[0], run.q, atol=1e-12)


def falling() -> art.Mechanism:
    ball = art.Mechanism("ball", gravity=(0, 0, art.Parameter("fall", -9.81)))
    ball.body("ball", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    return ball.joint("z", art.Prismatic((0, 0, 1)), "ground", "ball")


@pytest.mark.parametrize("method", ["central_difference", "lie_rk4", "newmark", "hht", "generalized_alpha"])
def test_parameters_of_the_mechanism_with_methods_that_displace_positions(method: str) -> None:
    """z = -g t^2 / 2 is exact for methods of second order."""
    run = art.simulate(falling(), 0.5, method=method, step=0.05, params={"fall": -4.0})
    np.testing.assert_allclose(run.q[:, 0], -2.0 * run.t**2, atol=1e-9)
    np.testing.assert_allclose(run.again({"fall": -6.0}).q[:, 0], -3.0 * run.t**2, atol=1e-9)


def test_loops_are_closed_anew() -> None:
    """The length of the coupler moves the closure: every run starts on its own."""
    bars = art.Mechanism("bars")
    for name, length in (("crank", 0.3), ("coupler", art.Parameter("length", 1.0)), ("rocker", 0.8)):
        bars.body(name, 1.0, (0.2, 0, 0), (0.01, 0.1, 0.1)).frame(
            f"{name}_end", name, art.Pose((length, 0, 0))
        )
    y = art.Revolute((0, 1, 0))
    bars.joint("a", y, "ground", "crank").joint("b", y, "crank", "coupler", at=art.Pose((0.3, 0, 0)))
    bars.joint("c", y, "ground", "rocker", at=art.Pose((1.0, 0, 0)))
    bars.constrain(art.PointOnPoint("closure", "coupler_end", "rocker_end"))
    with pytest.warns(MovedStart):
        run = art.simulate(bars, 0.05, q0=[-1.0, 0.3, -1.4])
    with pytest.warns(MovedStart):
        other = run.again({"length": 0.9})
    assert np.abs(other["constraint.position"]).max() < 1e-9
    assert np.abs(other.q[0] - run.q[0]).max() > 1e-2


def test_what_the_user_does_to_his_arrays_later_is_his_own_affair() -> None:
    q0 = np.array([0.4, 0.2])
    run = art.simulate(arm(), 0.1, q0=q0, controller=SERVO)
    q0[:] = 0.0
    np.testing.assert_array_equal(run.again().q, run.q)


def test_a_run_that_fails_stops_alone() -> None:
    run = art.simulate(arm(), 1.0, q0=[0.4, 0.2], controller=SERVO, step=1e-2)
    batch = run.again({"kd": np.array([80.0, 1e5])})
    assert batch.failed.tolist() == [1]
    with pytest.raises(NumericalError, match="diverged") as caught:
        run.again({"kd": 1e5})
    assert caught.value.result.origin is not None


def test_messages(run: art.Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no parameter 'gain'; valid names: kd, kp"):
        run.again({"gain": 1.0})
    for wrong in ("heavy", [], [[1.0]], np.nan, None):
        with pytest.raises(InputError, match="params: 'kp'"):
            run.again({"kp": wrong})
    by_python = art.simulate(arm(), 0.01, controller=lambda t, q, v: -q, params=None)
    assert art.compare(by_python, by_python.again()).identical
    with pytest.raises(UnsupportedOperation, match="controller 'python' was written for one run"):
        by_python.again({"kp": np.ones(2)})
    run.save(tmp_path / "run.nc")
    loaded = art.load_run(tmp_path / "run.nc")
    assert [vars(p) for p in loaded.parameters] == [vars(p) for p in run.parameters]
    assert repr(loaded) == repr(run)
    by_hand = art.Run(run.mechanism, run.t, run.signals)
    for ask in (by_hand.again, by_hand.linearize):
        with pytest.raises(UnsupportedOperation, match="put together by hand"):
            ask()
