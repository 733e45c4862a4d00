"""`Loop`: the same runs and linear models as by `simulate`, without a run where none is needed."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
import closed_zoo
from articulus.linear import LinearModels
from articulus.simulation.loop.components import (
    PD,
    PID,
    JointSensor,
    Measured,
    PrescribedForce,
    RateGyro,
    Torque,
)

ARM = art.load("two_link")
START = np.array([0.4, 0.2])


def test_a_loop_runs_as_simulate_and_rollout_do() -> None:
    servo = PD(kp=30.0, kd=3.0)
    loop = art.Loop(ARM, controller=servo)
    single = art.simulate(ARM, 0.1, START, controller=servo)
    np.testing.assert_array_equal(loop.simulate(0.1, START).q, single.q)
    batch = np.array([START, -START])
    many = art.rollout(ARM, 0.1, batch, controller=servo, sample=0.05)
    np.testing.assert_array_equal(loop.rollout(0.1, batch, sample=0.05).q, many.q)


@pytest.mark.parametrize("period", [None, 0.01])
def test_the_linear_model_is_that_of_a_run_about_its_start(period: float | None) -> None:
    """Continuous and sampled; on a loop too, whose start is closed first."""
    for mechanism, q, v in (
        (ARM, START, np.array([0.3, -0.1])),
        (closed_zoo.four_bar(), np.array([0.3, -0.3, 0.3]), np.array([0.8, -0.8, 0.8])),
    ):
        loop = art.Loop(mechanism, PD(kp=30.0, kd=3.0, period=period), [RateGyro(mechanism.body_names[-1])])
        ours, theirs = loop.linearize(q, v), loop.simulate(0.01, q, v).linearize(at=0.0)
        assert (ours.states, ours.inputs, ours.outputs, ours.period) == (
            theirs.states,
            theirs.inputs,
            theirs.outputs,
            theirs.period,
        )
        for name in "ABCD":
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-12)


def test_outputs_of_the_linear_model_can_be_chosen() -> None:
    model = art.Loop(ARM, PD(kp=30.0, kd=3.0)).linearize(outputs=["tau"])
    assert model.outputs == ("tau.joint1", "tau.joint2")


def test_entries_of_signals_are_inputs_and_outputs() -> None:
    """The same rows and columns as of the whole signals, in the order asked for."""
    loop, v = art.Loop(ARM, PD(kp=30.0, kd=3.0), [JointSensor(name="angles")]), np.array([0.3, -0.1])
    whole = loop.linearize(START, v, inputs=["tau", "u"], outputs=["q", "angles.v"])
    part = loop.linearize(START, v, inputs=["u.joint2", "tau.joint1"], outputs=["angles.v.1", "q.joint2"])
    assert (part.inputs, part.outputs) == (("u.joint2", "tau.joint1"), ("angles.v.1", "q.joint2"))
    for name in "ABCD":
        expected = getattr(whole.select(part.inputs, part.outputs), name)
        np.testing.assert_allclose(getattr(part, name), expected, atol=1e-12)
    run = loop.simulate(0.01, START)
    assert run.linearize(inputs="u.joint2", outputs="angles.v.1").outputs == ("angles.v.1",)
    for outputs, message in (
        (["angles.v.2"], r"no entry 'angles\.v\.2'; did you mean 'angles\.v\.[01]'"),
        (["anlges.v"], r"'anlges\.v' is no signal; did you mean 'angles\.v'"),
        (["energy"], "'energy' has no derivative"),
    ):
        with pytest.raises(art.InputError, match=message):
            loop.linearize(START, v, outputs=outputs)
    with pytest.raises(art.InputError, match=r"no entry 'tau\.joint3'; did you mean"):
        loop.linearize(START, v, inputs=["tau.joint3"])


def test_the_loop_gain_is_what_closes_the_loop() -> None:
    """Cut at the commands: from an input there back to what the controller asks is -L; closed it is -L (1 + L)^-1."""
    loop, w = art.Loop(ARM, PD(kp=30.0, kd=3.0)), np.array([0.5, 3.0, 20.0])
    given = {"q": START, "v": np.array([0.3, -0.1]), "inputs": ["u"], "outputs": ["u"]}
    gain = -loop.linearize(**given, opened=["u"]).response(w)[:, -2:]
    closed = loop.linearize(**given).response(w)[:, -2:]
    np.testing.assert_allclose(closed, -gain @ np.linalg.inv(np.eye(2) + gain), atol=1e-12)


def test_inputs_at_commands_signals_noise_and_parameters() -> None:
    """Commands are joint forces here; a sensor's error acts through the gain; parameters against differences of the rates."""
    sensor = Measured(JointSensor(name="angles"), noise=0.1)
    loop = art.Loop(
        ARM, PD(kp=art.Parameter("kp", 30.0), kd=3.0, measured=("angles.q", "angles.v")), [sensor]
    )
    u = loop.trim(START).u
    model = loop.linearize(START, u=u, inputs=["tau", "u", "angles.q", "w", "p.kp"])
    assert model.inputs[4:6] == ("angles.q.0", "angles.q.1")
    tau, u, angles, noise, by_kp = np.split(model.B, [2, 4, 6, 10], axis=1)
    np.testing.assert_allclose(u, tau, atol=1e-14)
    np.testing.assert_allclose(angles, -30.0 * tau, atol=1e-12)
    np.testing.assert_allclose(noise, 0.1 * np.hstack([angles, -3.0 * tau]), atol=1e-12)
    rhs, c, step = loop.function("rhs"), loop.system.c0.copy(), 1e-4
    c[loop.system.places["q"]] = START
    w = np.zeros(loop.system.nw)
    above, below = (
        np.array(rhs(c, [], [30.0 + d], w, 0.0, 1e-3)).ravel()[:4] for d in (step, -step)
    )  # u is linear: no part in it
    np.testing.assert_allclose(by_kp[:, 0], (above - below) / (2 * step), atol=1e-8)


def test_the_rhs_is_the_rate_of_the_states() -> None:
    """Against forward dynamics with the torques of the law."""
    loop = art.Loop(ARM, PD(kp=art.Parameter("kp", 30.0), kd=3.0))
    assert loop.parameters == ("kp",)
    v, rhs, places = np.array([0.3, -0.1]), loop.function("rhs"), loop.system.places
    c = np.zeros(rhs.numel_in(0))
    c[places["q"]], c[places["v"]] = START, v
    rate = np.array(rhs(c, [], [20.0], [], 0.0, 1e-3)).ravel()
    np.testing.assert_allclose(rate[places["q"]], v, rtol=1e-15)
    wanted = ARM.forward_dynamics(START, v, -20.0 * START - 3.0 * v)
    np.testing.assert_allclose(rate[places["v"]], wanted, rtol=1e-12)


def test_its_signals_are_those_of_a_run() -> None:
    loop = art.Loop(ARM, components=[Torque("joint1"), RateGyro("link2")])
    assert list(loop.signals) == list(loop.simulate(0.01).signals)


def test_mistakes_are_named() -> None:
    t = ca.SX.sym("t")
    with pytest.raises(art.InputError, match="no setting 'stp'; did you mean 'step'"):
        art.Loop(ARM).simulate(0.1, stp=0.01)
    with pytest.raises(art.InputError, match="expected a Mechanism"):
        art.Loop("two_link")
    with pytest.raises(art.InputError, match="components: found"):
        art.Loop(ARM, components=PD(kp=1.0, kd=1.0))
    with pytest.raises(art.InputError, match="no input 'taw'; did you mean 'tau'"):
        art.Loop(ARM).linearize(inputs=["taw"])
    with pytest.raises(art.InputError, match="opened at 'u'; expected one of the inputs"):
        art.Loop(ARM).linearize(opened=["u"])
    with pytest.raises(art.InputError, match=r"nothing reads the signal 'gyro\.rate'"):
        art.Loop(ARM, components=[RateGyro("link2", name="gyro")]).linearize(inputs=["gyro.rate"])
    with pytest.raises(art.InputError, match="no function 'rsh'; did you mean 'rhs'"):
        art.Loop(ARM).function("rsh")
    with pytest.raises(art.UnsupportedOperation, match="nothing to correct"):
        art.Loop(ARM).function("correction")
    with pytest.raises(art.UnsupportedOperation, match="Python controller"):
        art.Loop(ARM, controller=lambda t, q, v: 0 * v).linearize()
    late = art.events.Crossing(ca.Function("late", [t], [t - 1], ["t"], ["y"]))
    with pytest.raises(art.InputError, match="'ab4' looks back over steps"):
        art.Loop(ARM).rollout(0.1, method="ab4", events=[late])


# rest


def pendulum(mass: float = 2.0) -> art.Mechanism:
    """A rod of 1 m, its center half way, that hangs down at q = 0."""
    m = art.Mechanism("pendulum").body("rod", mass=mass, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    return m.joint("hinge", art.Revolute(axis=(0, 1, 0)), parent="ground", child="rod")


G = -pendulum().gravity_vector[2]


@pytest.mark.parametrize("period", [None, 0.01])
def test_a_servo_rests_where_its_torque_balances_gravity(period: float | None) -> None:
    """kp (target - q) = m g l sin q, continuous and sampled; PD alone stays off its target."""
    m, kp, target = pendulum(), 30.0, 0.8
    found = art.Loop(m, PD(kp=kp, kd=3.0, target=target, period=period)).equilibrium([0.5])
    (q,) = found.q
    assert abs(kp * (target - q) - 2.0 * G * 0.5 * np.sin(q)) < 1e-8
    assert found.stable


@pytest.mark.parametrize("period", [None, 0.005])
def test_integral_action_rests_on_its_target(period: float | None) -> None:
    """The integrator's state carries gravity: ki times it is m g l sin(target). A run that starts there stays there."""
    target = 0.8
    pid = PID(kp=30.0, ki=20.0, kd=6.0, target=target, period=period)
    found = art.Loop(pendulum(), pid, [Torque("hinge")]).equilibrium([0.3])
    np.testing.assert_allclose(found.q, [target], atol=1e-9)
    load = 2.0 * G * 0.5 * np.sin(target)
    assert any(
        np.allclose(x, load / 20.0, rtol=1e-8) or np.allclose(x, load, rtol=1e-8)
        for x in found.states.values()
    )
    assert found.stable


def test_the_upright_pendulum_is_no_stable_rest() -> None:
    found = art.Loop(pendulum()).equilibrium([3.0])
    np.testing.assert_allclose(found.q, [np.pi], atol=1e-9)
    assert not found.stable
    growth = np.sqrt(2.0 * G * 0.5 / (0.1 + 2.0 * 0.25))
    np.testing.assert_allclose(found.model.poles.real.max(), growth, rtol=1e-9)


def test_rest_of_a_closed_mechanism_is_that_of_its_forces() -> None:
    """Under the force of its servo, a four-bar linkage rests where `equilibrium` of the mechanism finds it."""
    four_bar = closed_zoo.four_bar()
    servo = PD(kp=200.0, kd=2.0, target=0.4, joints=(four_bar.joint_names[0],))
    found = art.Loop(four_bar, servo, [Torque(four_bar.joint_names[0])]).equilibrium([0.3, -0.3, 0.3])
    tau = np.zeros(3)
    tau[0] = 200.0 * (0.4 - found.q[0])
    alone = art.equilibrium(four_bar, found.q, tau)
    np.testing.assert_allclose(alone.q, found.q, atol=1e-8)
    assert np.abs(four_bar.constraint_residual(found.q)).max() < 1e-9


def test_a_loop_without_rest_says_so() -> None:
    """A constant torque beyond the largest moment of gravity turns the pendulum for ever."""
    push = PrescribedForce("hinge", 30.0)
    with pytest.raises(art.NumericalError, match=r"out of balance by .* most in v'\.hinge"):
        art.Loop(pendulum(), components=[push]).equilibrium([0.3])


@pytest.mark.parametrize("period", [None, 0.01])
def test_linear_models_about_many_states_are_those_about_each(period: float | None) -> None:
    """Of a loop with a controller and actuators; native code and the CasADi virtual machine differ by rounding."""
    loop = art.Loop(ARM, PD(kp=20.0, kd=2.0, period=period), [Torque(name) for name in ARM.joint_names])
    q, v = 0.5 * np.random.default_rng(2).normal(size=(2, 4, 2))
    models = loop.linearize(q, v, inputs=("tau", "u"), outputs=("u",))
    assert isinstance(models, LinearModels)
    assert models.shape == (4,)
    for k in range(4):
        one = loop.linearize(q[k], v[k], inputs=("tau", "u"), outputs=("u",))
        for name in "ABCD":
            np.testing.assert_allclose(getattr(models[k], name), getattr(one, name), rtol=1e-10, atol=1e-12)
        assert (models[k].states, models[k].inputs, models[k].outputs) == (
            one.states,
            one.inputs,
            one.outputs,
        )
        assert models[k].period == one.period == period


def test_a_mechanism_keeps_the_equations_of_its_loops():
    """The same loop is not derived again; a change of the mechanism, and its end, drop them."""
    m = art.load("two_link")
    pd = art.components.PD(kp=1.0, kd=1.0)
    kept = art.Loop(m, pd).system
    assert art.Loop(m, art.components.PD(kp=1.0, kd=1.0)).system is kept
    assert art.Loop(art.load("two_link"), pd).system is not kept
    m.frame("more", "ground", (0, 0, 0))
    assert art.Loop(m, pd).system is not kept
