"""Sampled components, delays, controllers in Python, noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError
from articulus.simulation.loop import Component, Controller, PythonController
from articulus.simulation.loop.components import PD, Expression, JointSensor, Measured, WhiteNoise
from articulus.simulation.loop.events import Bounce

KP, KD, MASS = 30.0, 4.0, 2.0


def slider() -> art.Mechanism:
    """Return a mass on a level slide: q'' = u / m."""
    m = art.Mechanism("slider")
    m.body("mass", MASS, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "mass")
    return m


def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return KP * (1.0 - q) - KD * v


def recursion(period: float, count: int, delay: int = 0) -> np.ndarray:
    """Return x, v at the instants of a sampled loop: exact, as the force is constant in between.

    x+ = x + T v + T^2/2 u/m,  v+ = v + T u/m,  u from the state `delay` instants ago (the first one until then).
    """
    x, v, out = 0.0, 0.0, [(0.0, 0.0)]
    for k in range(count):
        x_m, v_m = out[max(k - delay, 0)]
        u = (KP * (1.0 - x_m) - KD * v_m) / MASS
        x, v = x + period * v + period**2 / 2 * u, v + period * u
        out.append((x, v))
    return np.array(out)


@pytest.mark.parametrize(
    "method",
    ["rk4", "ab4", "am4", "central_difference", "lie_rk4", "dormand_prince", "cvodes", "newmark", "hht"],
)
def test_sampled_pd_is_the_exact_recursion(method: str) -> None:
    """Methods of order two and more are exact for a constant force, also those that look back; cvodes to its tolerance."""
    run = art.simulate(
        slider(), 2.0, controller=PD(KP, KD, target=1.0, period=0.05), method=method, step=0.01, sample=0.05,
        rtol=1e-9, atol=1e-12,
    )  # fmt: skip
    tolerance = 1e-7 if method == "cvodes" else 1e-12
    expected = recursion(0.05, 40)
    assert np.abs(run.q[:, 0] - expected[:, 0]).max() < tolerance
    assert np.abs(run.v[:, 0] - expected[:, 1]).max() < 10 * tolerance


def test_commands_are_held() -> None:
    """Between two instants the command stays; at an instant it is that of the state there."""
    run = art.simulate(slider(), 1.0, controller=PD(KP, KD, target=1.0, period=0.05), step=0.01)
    instants = run.q[::5], run.v[::5]
    expected = np.repeat(KP * (1 - instants[0]) - KD * instants[1], 5, axis=0)[: len(run.t)]
    assert np.allclose(run.u, expected, rtol=1e-13, atol=1e-13)
    assert np.ptp(run.u) > 1


@pytest.mark.parametrize("delay", [1, 3])
def test_delay(delay: int) -> None:
    """A measurement that comes `delay` periods late, until then the first one, against the recursion with memory."""
    sensor = Measured(JointSensor(), period=0.02, delay=delay)
    pd = PD(KP, KD, target=1.0, period=0.02, measured=("joints.q", "joints.v"))
    run = art.simulate(slider(), 0.6, controller=pd, components=[sensor], step=0.01, sample=0.02)
    assert np.allclose(np.hstack([run.q, run.v]), recursion(0.02, 30, delay), rtol=1e-11, atol=1e-12)


@dataclass(frozen=True)
class Outer(Controller):
    """Slow loop: wanted speed from the position."""

    period: float | None = 0.1
    name: str = "outer"
    type_name = "outer"

    def work(self, s) -> None:
        s.write("speed", 2.0 * (1.0 - s.read("q")))
        s.write("count", s.memory("count", 0.0) + 1.0)
        s.remember("count", s.memory("count", 0.0) + 1.0)


@dataclass(frozen=True)
class Inner(Controller):
    """Fast loop: force from wanted and present speed."""

    period: float | None = 0.001
    name: str = "inner"
    type_name = "inner"

    def work(self, s) -> None:
        s.command(50.0 * (s.read("outer.speed") - s.read("v")))


def test_two_rates() -> None:
    """10 Hz outside, 1 kHz inside: at a common instant the outer loop works first and the inner one reads its new value."""
    run = art.simulate(slider(), 0.5, controller=[Outer(), Inner()], step=0.001)
    x, v, speed, out = 0.0, 0.0, 0.0, []
    for k in range(501):
        if k % 100 == 0:
            speed = 2.0 * (1.0 - x)
        out.append((x, v, speed))
        u = 50.0 * (speed - v) / MASS
        x, v = x + 1e-3 * v + 0.5e-6 * u, v + 1e-3 * u
    expected = np.array(out)
    assert np.allclose(np.hstack([run.q, run.v, run["outer.speed"]]), expected, rtol=1e-11, atol=1e-12)
    assert np.array_equal(run["outer.count"][:, 0], np.arange(501) // 100 + 1)


def test_order_of_components() -> None:
    """A controller that reads a later one's signal is told so, by name."""
    with pytest.raises(InputError, match=r"component 'inner': no signal 'outer\.speed' so far"):
        art.simulate(slider(), 0.1, controller=[Inner(), Outer()], step=0.001)


# Python controllers


@pytest.mark.parametrize("method", ["rk4", "ab4", "dormand_prince"])
@pytest.mark.parametrize("period", [0.01, 0.04])
def test_python_controller_is_the_sampled_law(method: str, period: float) -> None:
    """The same law as a Python function and as a sampled CasADi function: rounding of the law only."""
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    function = ca.Function("law", [q, v], [KP * (1.0 - q) - KD * v], ["q", "v"], ["u"])
    settings = {"method": method, "step": 0.01}
    python = art.simulate(slider(), 0.8, controller=PythonController(law, period), **settings)
    native = art.simulate(slider(), 0.8, controller=Expression(function, period=period), **settings)
    for name in ("q", "v", "u", "tau", "energy"):
        assert np.allclose(python[name], native[name], rtol=1e-14, atol=1e-14), name


def test_plain_function_is_called_at_every_step() -> None:
    seen: list[float] = []

    def watching(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        seen.append(t)
        return [float(x) for x in law(t, q, v)]

    run = art.simulate(slider(), 0.2, controller=watching, step=0.01, t0=0.1)
    assert np.allclose(seen, 0.1 + 0.01 * np.arange(11), atol=1e-15)  # at the end for the last sample
    assert np.allclose(run.u[-1], law(0, run.q[-1], run.v[-1]), atol=1e-14)


def test_python_controller_in_a_rollout() -> None:
    """It is called once for all rows; rows are single runs, to the last bit."""
    q0 = np.linspace(-1, 1, 5)[:, None]
    batch = art.rollout(slider(), 0.3, q0=q0, controller=PythonController(law, 0.02), step=0.01, sample=0.1)
    for i in range(5):
        run = art.simulate(
            slider(), 0.3, q0=q0[i], controller=PythonController(law, 0.02), step=0.01, sample=0.1
        )
        assert np.array_equal(batch.q[i], run.q)


def test_commands_add_up() -> None:
    """Two controllers and a Python function together give the sum of their commands."""
    zero = ca.Function("one", [ca.SX.sym("t")], [ca.SX(1.0)], ["t"], ["u"])
    run = art.simulate(slider(), 0.1, controller=[zero, lambda t, q, v: np.array([2.0])], step=0.1)
    assert np.array_equal(run.u, [[3.0], [3.0]])


# periods


@pytest.mark.parametrize("period", [0.015, 0.005, 0.0101])
def test_periods_are_whole_numbers_of_steps(period: float) -> None:
    with pytest.raises(
        InputError, match=r"component 'pd', period: found .*; expected a whole number of steps"
    ):
        art.simulate(slider(), 0.3, controller=PD(KP, KD, period=period), step=0.01)
    with pytest.raises(InputError, match=r"controller period: found .* expected a whole number of steps"):
        art.simulate(slider(), 0.3, controller=PythonController(law, period), step=0.01)


def test_wrong_kinds_of_states() -> None:
    @dataclass(frozen=True)
    class Wrong(Controller):
        sampled: bool
        name: str = "wrong"
        type_name = "wrong"

        @property
        def period(self):  # type: ignore[override]
            return 0.1 if self.sampled else None

        def work(self, s) -> None:
            if self.sampled:
                s.rate("x", s.state("x", 0.0))
            else:
                s.remember("x", s.memory("x", 0.0))

    with pytest.raises(InputError, match=r"'wrong': found a continuous state in a sampled component"):
        art.simulate(slider(), 0.1, controller=Wrong(True), step=0.1)
    with pytest.raises(InputError, match=r"'wrong': found a memory in a continuous component"):
        art.simulate(slider(), 0.1, controller=Wrong(False), step=0.1)


# noise


def noisy(**settings) -> list[Component]:
    return [Measured(JointSensor(), noise=(0.1, 0.3), **settings)]


def measured(seed: int, **settings) -> art.Run:
    return art.simulate(slider(), 20.0, components=noisy(**settings), step=0.01, seed=seed)


@pytest.mark.parametrize("period", [None, 0.01])
def test_noise_has_its_variance(period: float | None) -> None:
    """2001 samples of a mass at rest: mean within four and deviation within four standard errors, entries independent."""
    y = np.hstack([measured(5, period=period)[f"joints.{name}"] for name in "qv"])
    n = len(y)
    assert np.all(np.abs(y.mean(axis=0)) < 4 * np.array([0.1, 0.3]) / np.sqrt(n))
    assert np.allclose(y.std(axis=0), [0.1, 0.3], rtol=4 / np.sqrt(2 * n))
    assert abs(np.corrcoef(y.T)[0, 1]) < 4 / np.sqrt(n)
    assert abs(np.corrcoef(y[1:, 0], y[:-1, 0])[0, 1]) < 4 / np.sqrt(n)


def test_seeds() -> None:
    first, again, other = (measured(seed, period=0.05)["joints.q"] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.any(first == other)


def test_continuous_noise_is_what_the_controller_saw() -> None:
    """The reported measurement is the one that was fed back: u = -k y at every sample."""
    y = ca.SX.sym("y")
    feedback = Expression(ca.Function("f", [y], [-3.0 * y]), inputs=("joints.q",))
    run = art.simulate(slider(), 1.0, controller=feedback, components=noisy(), step=0.01, seed=3, sample=0.05)
    assert np.allclose(run.u, -3.0 * run["joints.q"], rtol=1e-14)
    assert np.std(run["joints.q"] - run.q) > 0.05


@pytest.mark.parametrize("method", ["rk4", "dormand_prince"])
def test_noise_of_rows_does_not_depend_on_the_batch(method: str) -> None:
    """Run i has the i-th stream of the seed, in any batch; different runs have different noise."""
    settings = {
        "components": [WhiteNoise(0.1, joint="x")],
        "method": method,
        "step": 0.01,
        "sample": 0.1,
        "seed": 9,
    }
    runs = [art.rollout(slider(), 0.5, q0=np.zeros((rows, 1)), **settings).q for rows in (1, 2, 5)]
    assert np.array_equal(runs[0], runs[2][:1])
    assert np.array_equal(runs[1], runs[2][:2])
    assert len(np.unique(runs[2][:, -1])) == 5


def test_white_noise_makes_a_random_walk() -> None:
    """dv = noise / m: the variance of v after T is S T / m^2, over 400 runs within four standard errors."""
    runs = art.rollout(
        slider(), 1.0, q0=np.zeros((400, 1)), components=[WhiteNoise(0.5, joint="x")], step=0.02
    )
    variance = runs.v[:, -1].var()
    assert variance == pytest.approx(0.5 / MASS**2, rel=4 * np.sqrt(2 / 400))


def test_noise_does_not_change_with_events() -> None:
    """An event that takes a step apart leaves the noise of that step as it is: the same path up to the event."""
    settings = {"components": [WhiteNoise(0.5, joint="x")], "step": 0.02, "seed": 4, "v0": [1.0]}
    free = art.simulate(slider(), 1.0, **settings)
    stopped = art.simulate(slider(), 1.0, **settings, events=[Bounce("x", 0.4, 1, 0.5)])
    at = stopped.events[0].time
    before = free.t < at
    assert np.allclose(stopped.q[before], free.q[before], rtol=0, atol=1e-13)
    k = int(before.sum())
    rate = (free.v[k] - free.v[k - 1]) / 0.02  # held over the whole step
    there = stopped.q[k - 1] + (at - free.t[k - 1]) * free.v[k - 1] + (at - free.t[k - 1]) ** 2 / 2 * rate
    assert there[0] == pytest.approx(0.4, abs=1e-12)


@pytest.mark.parametrize("batch", [None, 3])
def test_a_python_controller_has_arrays_of_its_own(batch: int | None) -> None:
    """Arrays that it keeps stay as they were, and it cannot change the run through them."""
    kept: list[tuple[np.ndarray, np.ndarray]] = []

    def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        kept.append((q, v))
        with pytest.raises(ValueError, match="read-only"):
            q += 1.0
        with pytest.raises(ValueError, match="read-only"):
            v[...] = 0.0
        return np.zeros(1)

    m = slider()
    if batch is None:
        run = art.simulate(m, 0.5, v0=[1.0], step=0.1, controller=law)
        free = art.simulate(m, 0.5, v0=[1.0], step=0.1)
    else:
        v0 = np.arange(3.0)[:, None]
        run = art.rollout(m, 0.5, v0=v0, step=0.1, sample=0.1, controller=law)
        free = art.rollout(m, 0.5, v0=v0, step=0.1, sample=0.1)
    assert np.array_equal(run.q, free.q)
    for name, held in zip("qv", zip(*kept)):
        assert np.array_equal(np.stack(held, axis=-2), run[name])


def test_a_regulator_that_its_period_makes_unstable_is_named() -> None:
    """A gain designed for continuous time, held over a period that is too long: the cause is the period, not the step of the method."""
    arm = art.load("puma600")
    q = arm.q(joint2=-0.5, joint3=1.2)
    plant = arm.linearize(q=q)
    state = {"x0": [*q, *np.zeros(6)], "u0": arm.gravity(q)}
    start = q + 0.01

    def run(design: Any, period: float) -> art.Run:
        hold = art.components.StateFeedback(K=design.gain, period=period, **state)
        return art.simulate(arm, 1.0, q0=start, controller=hold)

    with pytest.raises(art.NumericalError, match=r"a period of 0\.03 s multiplies a motion by .*lqrd"):
        run(art.control.lqr(plant, 1.0, 0.01), 0.03)
    assert run(art.control.lqr(plant, 1.0, 1.0), 0.001).ok
    assert run(art.control.lqrd(plant, 1.0, 0.01, 0.03), 0.03).ok


def test_an_unstable_plant_beside_a_sampled_sensor_is_no_fault_of_sampling() -> None:
    """Joints that fall are not blamed on the sampled sensor that watches them, and a stiff spring not on a sampled command of nothing."""
    arm = art.load("two_link")
    gyro = art.components.Measured(art.components.RateGyro("tip"), noise=0.0, period=0.01)
    stiff = art.components.PD(kp=1e9, kd=0.0)
    with pytest.raises(art.NumericalError, match="a smaller step") as caught:
        art.simulate(arm, 1.0, q0=[0.5, 0.5], controller=stiff, components=[gyro])
    assert "multiplies" not in str(caught.value)


def test_a_single_number_may_be_one_period_late() -> None:
    """A shift register of one entry."""
    q = ca.SX.sym("q")
    late = Expression(ca.Function("law", [q], [-3.0 * q], ["q"], ["u"]), period=0.01, delays=(1,))
    m = slider()
    run = art.simulate(m, 0.1, q0=[0.3], v0=[0.2], controller=late)
    u = -3.0 * run.q[::10, 0]
    np.testing.assert_allclose(run["u"][::10, 0], np.append(u[0], u[:-1]), rtol=1e-12)
