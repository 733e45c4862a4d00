"""Runs that cannot go on, and arguments that make no run."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, NumericalError
from articulus.kernel.march import BOUND
from articulus.simulation.loop import PythonController
from articulus.simulation.loop.components import PD, Expression, FrameAcceleration, Torque
from articulus.simulation.results import RunStatus
from articulus.simulation.results.status import Cause


def slider(**damper) -> art.Mechanism:
    m = art.Mechanism("slider")
    m.body("mass", 2.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "mass", **damper)
    return m


def arm() -> art.Mechanism:
    return art.load("two_link")


# one run


def last_good_step(growth: float, damping: float) -> int:
    """Return the step at which v = growth^k, or the work of the damper, h c v^2 summed, passes the bound."""
    v, work, k = 1.0, 0.0, 0
    while max(abs(growth * v), work + 0.01 * damping * v**2) <= BOUND:
        v, work, k = growth * v, work + 0.01 * damping * v**2, k + 1
    return k


def test_too_large_a_step() -> None:
    """Euler on v' = -1000 v with h = 0.01 multiplies by -9 at every step."""
    with pytest.raises(NumericalError, match=r"run 0 failed at t = .* \(diverged\): ") as caught:
        art.simulate(slider(damping=2000.0), 1.0, v0=[1.0], step=0.01, method="euler")
    run, failure = caught.value.result, caught.value.result.failures[0]
    steps = last_good_step(-9.0, 2000.0)
    assert failure.time == pytest.approx(0.01 * steps)
    assert failure.code == Cause.DIVERGED
    assert (
        "time constant of 0.001 s, the step is 0.01 s: a smaller step or an implicit method" in failure.reason
    )
    assert run.status == RunStatus.FAILED
    assert run.t[-1] == failure.time
    assert np.allclose(run.v[:, 0], (-9.0) ** np.arange(steps + 1), rtol=1e-12)
    assert np.array_equal(failure.v, run.v[-1])


@pytest.mark.parametrize("method", ["rk4", "ab4", "dormand_prince", "cvodes", "newmark"])
def test_controller_that_gives_no_number(method: str) -> None:
    """The run holds everything up to there; the reason names the controller and what it gave."""

    def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([np.nan if t > 0.495 else 1.0])

    with pytest.raises(
        NumericalError, match=r"failed at t = 0\.5 s .*Python controller gave \[nan\]"
    ) as caught:
        art.simulate(slider(), 1.0, step=0.01, controller=law, method=method)
    run = caught.value.result
    assert run.t[-1] == pytest.approx(0.5)
    assert np.isfinite(run.q).all()
    assert run.q[-1, 0] == pytest.approx(0.5**3 / 2, rel=1e-6)
    assert run.failures[0].code == Cause.COMPONENT


def test_law_that_gives_no_number() -> None:
    """A root of a negative number in the native code of the loop."""
    t = ca.SX.sym("t")
    law = ca.Function("law", [t], [ca.sqrt(0.5055 - t)], ["t"], ["u"])
    with pytest.raises(NumericalError, match=r"failed at t = 0\.5 s \(not finite\)") as caught:
        art.simulate(slider(), 1.0, step=0.01, controller=law)
    assert np.isfinite(caught.value.result.q).all()
    sampled = Expression(law, period=0.01)
    with pytest.raises(NumericalError, match=r"failed at t = 0\.51 s"):
        art.simulate(slider(), 1.0, step=0.01, controller=sampled)


def test_adaptive_method_says_why() -> None:
    """x'' = x^3 runs off to infinity in finite time; the method's own words come through."""
    q = ca.SX.sym("q")
    law = ca.Function("law", [q], [2 * q**3], ["q"], ["u"])
    with pytest.raises(NumericalError, match=r"run 0 failed at t = .*dormand_prince: .*at t = ") as caught:
        art.simulate(slider(), 10.0, q0=[2.0], v0=[2.0], step=0.1, method="dormand_prince", controller=law)
    assert 0 < caught.value.result.failures[0].time < 1.0


def test_user_function_that_raises() -> None:
    """The user's own exception comes through, with a note that says where."""

    def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > 0.2:
            raise ZeroDivisionError("my own fault")
        return np.zeros(1)

    with pytest.raises(ZeroDivisionError, match="my own fault") as caught:
        art.simulate(slider(), 1.0, step=0.1, controller=PythonController(law, name="mine"))
    assert caught.value.__notes__ == ["raised by the controller 'mine' at t = 0.3 s"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.zeros(3), r"returned shape \(3,\); expected \(1,\)"),
        (1.0, r"returned shape \(\); expected \(1,\)"),
        ("full", r"returned: found 'full'; expected numbers"),
        (None, r"returned shape \(\)"),
    ],
)
def test_wrong_commands(value: object, text: str) -> None:
    with pytest.raises(InputError, match=f"controller 'python' at t = 0 s {text}"):
        art.simulate(slider(), 1.0, step=0.1, controller=lambda t, q, v: value)


# a batch


@pytest.mark.parametrize("method", ["euler", "dormand_prince"])
def test_a_row_fails_alone(method: str) -> None:
    """The rows with too much gain end, each with step, time and reason; the others are single runs to the last bit."""
    gain = art.Parameter("gain", 1.0)
    q = ca.SX.sym("q")
    settings = {"step": 0.01, "sample": 0.1, "method": method}
    if method == "euler":
        loop = {"controller": PD(0.0, gain)}
        gains, bad = np.array([1.0, 2000.0, 3.0, 800.0, 2.0]), [1, 3]
    else:
        loop = {"controller": [PD(0.0, gain), ca.Function("f", [q], [2 * q**3], ["q"], ["u"])]}
        gains, bad = np.array([100.0, 0.0, 100.0, 100.0, 0.0]), [1, 4]
    start = {"q0": np.full((5, 1), 1.0), "v0": np.full((5, 1), 1.5)}
    run = art.rollout(slider(), 3.0, **start, params={"gain": gains}, **loop, **settings)
    assert run.failed.tolist() == bad
    assert [f.run for f in run.failures] == bad
    assert np.array_equal(run.status == RunStatus.COMPLETE, ~np.isin(np.arange(5), bad))
    for failure in run.failures:
        assert 0 < failure.time < 3.0
        after = run.t > failure.time
        assert np.isnan(run.q[failure.run, after]).all()
        assert np.isfinite(run.q[failure.run, ~after]).all()
        assert len(failure.reason) > 20
    for i in sorted({0, 1, 2, 3, 4} - set(bad)):
        alone = art.simulate(
            slider(), 3.0, [1.0], [1.5], params={"gain": float(gains[i])}, **loop, **settings
        )
        assert np.array_equal(run.q[i], alone.q)
    with pytest.raises(NumericalError, match=f"run {bad[0]} failed at t = "):
        run.raise_if_failed()


def test_all_rows_fail() -> None:
    """The run ends where the last row ended, and says so for each."""
    run = art.rollout(
        slider(damping=art.Parameter("c", 1.0)), 5.0, v0=[1.0], step=0.01, sample=0.05, method="euler",
        params={"c": [2000.0, 1000.0, 4000.0]},
    )  # fmt: skip
    assert run.failed.tolist() == [0, 1, 2]
    assert run.t[-1] == pytest.approx(max(f.time for f in run.failures))
    expected = [0.01 * last_good_step(1 - c / 200, c) for c in (2000.0, 1000.0, 4000.0)]
    assert np.allclose([f.time for f in run.failures], expected)


# arguments


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"t_end": 1.005},
            r"t_end - t0: found 1\.005 s, 100\.5 steps of 0\.01 s; expected a whole number of steps",
        ),
        ({"t_end": -1.0}, r"t_end - t0: found -1\.0; expected a positive time"),
        ({"t_end": np.nan}, "t_end: found nan; expected a finite number"),
        ({"t_end": "x"}, "t_end: found 'x'; expected a finite number"),
        ({"t_end": True}, "t_end: found True; expected a finite number"),
        ({"t0": None}, "t0: found None; expected a finite number"),
        ({"step": 0.0}, r"step: found 0\.0; expected a positive time"),
        ({"step": "fast"}, "step: found 'fast'; expected a finite number"),
        ({"step": 1e-320}, "t_end - t0: found 1 s, inf steps of .* s; expected a whole number"),
        ({"seed": 1.5}, r"seed: found 1\.5; expected a whole number, not below 0"),
        ({"seed": -1}, "seed: found -1; expected a whole number, not below 0"),
        ({"rtol": "x"}, "rtol: found 'x'; expected a finite number"),
        ({"atol": -1e-9}, "atol: found -1e-09; expected a tolerance, not below 0"),
        ({"checkpoint": 5}, "path: found 5; expected the path of a file"),
        (
            {"checkpoint": "nowhere/a.ckpt"},
            r"nowhere/a\.ckpt: cannot be written \(No such file or directory\)",
        ),
        ({"checkpoint": "."}, r"found a folder; expected the path of a checkpoint file"),
        ({"checkpoint_interval": np.nan}, "checkpoint_interval: found nan"),
        ({"checkpoint_interval": -5}, "checkpoint_interval: found -5; expected a time"),
        ({"q0": np.ma.array([1.0], mask=[True])}, "q0: found a masked array"),
        ({"q0": [10**400]}, "q0: found .*; expected numbers"),
        ({"events": [5]}, "events: found 5; expected events"),
        ({"components": 5}, "components: found 5; expected a list"),
        ({"outputs": "tau"}, "outputs: found 'tau'; expected a list"),
        ({"params": [1.0]}, r"params: found \[1\.0\]; expected a dict"),
        ({"method": None}, "no integration method 'None'"),
        ({"sample": 0.025}, r"sample: found 0\.025 s, 2\.5 steps"),
        ({"q0": [1.0, 2.0]}, r"q0: found shape \(2,\); expected \(1,\)"),
        ({"q0": [[1.0]]}, r"q0: found shape \(1, 1\); expected \(1,\)"),
        ({"v0": [np.inf]}, "v0: found a value that is not finite"),
        ({"q0": ["a"]}, r"q0: found \['a'\]; expected numbers"),
        ({"method": "rk44"}, "no integration method 'rk44'; did you mean 'rk4'"),
        ({"outputs": ["enery"]}, "outputs: no signal 'enery'; did you mean 'energy'"),
        ({"params": {"mas": 1.0}}, "params: no parameter 'mas'; there are none"),
        ({"controller": 3}, "controller: found 3; expected a component"),
        ({"components": [3]}, "found 3; expected a sensor, controller, actuator or disturbance"),
        ({"components": [Torque("y")]}, "found 'y'; expected the name of a joint. valid names: x"),
        ({"components": [Torque("x"), Torque("x")]}, "'x_torque': found the name a second time"),
        ({"controller": PD(1.0, 1.0, joints=("z",))}, "'pd', joint: found 'z'; expected the name of a joint"),
    ],
)
def test_arguments(arguments: dict, text: str) -> None:
    given = {"mechanism": slider(), "t_end": 1.0, "step": 0.01, **arguments}
    with pytest.raises(InputError, match=text):
        art.simulate(**given)


def test_arguments_of_a_rollout() -> None:
    m = slider(damping=art.Parameter("friction", 1.0))
    with pytest.raises(InputError, match=r"rollout: found batches of \[2, 3\] runs; expected one size"):
        art.rollout(m, 1.0, q0=np.zeros((2, 1)), v0=np.zeros((3, 1)))
    with pytest.raises(InputError, match="params: no parameter 'fricton'; did you mean 'friction'"):
        art.rollout(m, 1.0, params={"fricton": [1.0]})
    with pytest.raises(InputError, match=r"params: 'friction' = .* expected finite numbers"):
        art.rollout(m, 1.0, params={"friction": [1.0, np.nan]})
    with pytest.raises(InputError, match="q0: found an empty batch"):
        art.rollout(m, 1.0, q0=np.zeros((0, 1)))
    with pytest.raises(InputError, match="expected a Mechanism, for example"):
        art.rollout("puma600", 1.0)


def test_too_large_a_log() -> None:
    """A hundred thousand runs with ten thousand samples each: refused before anything is computed."""
    with pytest.raises(
        InputError, match=r"the log would take .* GiB; expected at most 4\. Give a longer `sample`"
    ):
        art.rollout(slider(), 10.0, q0=np.zeros((100_000, 1)), sample=0.001)


def test_accelerations_fed_back() -> None:
    """A force that rests on the acceleration it makes has no order of computation."""
    a = ca.SX.sym("a", 3)
    law = Expression(ca.Function("law", [a], [a[0]]), inputs=("accelerometer.linear",))
    with pytest.raises(
        InputError, match=r"feeds accelerations back without delay; expected a sampled controller"
    ):
        art.simulate(
            slider(), 1.0, controller=law, components=[FrameAcceleration("mass", name="accelerometer")]
        )
