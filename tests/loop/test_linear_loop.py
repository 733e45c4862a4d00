"""Linear models of whole loops against models derived by hand, other programs, and the runs themselves."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import control
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.signal import cont2discrete

import articulus as art
from articulus import structure
from articulus.errors import InputError, NumericalError, UnsupportedOperation
from articulus.simulation.loop import Controller, Scope
from articulus.simulation.loop.components import (
    PD,
    PID,
    ComputedTorque,
    Expression,
    FirstOrderActuator,
    FrameAcceleration,
    FramePose,
    FrameVelocity,
    FrameWrench,
    JointSensor,
    Measured,
    Motor,
    Torque,
    WhiteNoise,
)
from articulus.simulation.loop.events import Switch

MASS, KP, KD = 2.0, 30.0, 4.0
ROD_INERTIA, ROD_WEIGHT = 1 / 3, 9.81 / 2  # slender rod of 1 m and 1 kg about its end; m g l/2


def slider() -> art.Mechanism:
    """Return a mass on a level slide: q'' = u / m."""
    m = art.Mechanism("slider")
    m.body("mass", MASS, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "mass")
    return m


def rod() -> art.Mechanism:
    return art.load("pendulum_chain", n=1)


def same_poles(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Compare two sets of poles whatever their order; `tolerance` is relative to the largest."""
    assert len(found) == len(expected)
    left, size = list(found), np.abs(expected).max()
    for pole in expected:
        nearest = int(np.argmin(np.abs(np.array(left) - pole)))
        assert abs(left.pop(nearest) - pole) < tolerance * size


# continuous loops


def test_pendulum_with_pd_has_the_poles_of_its_equation() -> None:
    """I a'' = -m g l/2 sin a - kp a - kd a' + u, about a = 0."""
    run = art.simulate(rod(), 0.1, controller=PD(KP, KD))
    model = run.linearize()
    stiffness = ROD_WEIGHT + KP
    same_poles(model.poles, np.roots([ROD_INERTIA, KD, stiffness]), 1e-12)
    omega = np.array([0.0, 0.5, 3.0, 40.0])
    found = model.between("tau.hinge1", "q.hinge1").response(omega)[:, 0, 0]
    s = 1j * omega
    np.testing.assert_allclose(found, 1 / (ROD_INERTIA * s**2 + KD * s + stiffness), rtol=1e-12)
    assert model.states == ("q.hinge1", "v.hinge1")
    assert (model.period, model.t, model.input_units) == (None, 0.1, ("N m",))


def test_wrench_on_a_frame_to_its_pose_and_rate() -> None:
    """About rest: B = M^-1 J' for the wrench, rows J of C for displacements and rates of the frame."""
    arm, q = art.load("two_link"), np.array([0.4, -0.9])
    parts = [
        FramePose("tip", name="pose"),
        FrameVelocity("tip", name="rate"),
        FrameWrench("tip", [0.0] * 6, name="push"),
    ]
    loop = art.Loop(arm, components=parts)
    model = loop.trim(q).linearize(inputs=["push.wrench"], outputs=["pose.position", "rate.linear"])
    J = arm.jacobian("tip", q)
    np.testing.assert_allclose(model.B[2:], np.linalg.solve(arm.mass_matrix(q), J.T), atol=1e-12)
    assert model.outputs == tuple(
        f"{name}.{k}" for name in ("pose.position", "rate.linear") for k in range(3)
    )
    np.testing.assert_allclose(model.C, np.block([[J[3:], 0 * J[3:]], [0 * J[3:], J[3:]]]), atol=1e-12)


def test_the_model_is_that_of_the_state_at_the_time() -> None:
    """A free pendulum: poles^2 = -(m g l/2) cos(a) / I at every angle a of its fall."""
    run = art.simulate(rod(), 1.0, q0=[3.0], step=1e-3, sample=0.1)
    for at in (0.0, 0.4, 0.75):
        row = int(at / 0.1 + 1e-9)
        expected = np.sqrt(complex(-ROD_WEIGHT / ROD_INERTIA * np.cos(run.q[row, 0])))
        same_poles(run.linearize(at=at).poles, np.array([expected, -expected]), 1e-12)


def test_computed_torque_makes_double_integrators() -> None:
    """In any state of any arm the poles are those of s^2 + kd s + kp, exactly."""
    law = ComputedTorque(kp=[25.0, 64.0], kd=[6.0, 20.0], target=[0.3, -0.8])
    run = art.simulate(art.load("two_link"), 0.5, q0=[0.6, -0.2], controller=law)
    expected = np.concatenate([np.roots([1, 6, 25]), np.roots([1, 20, 64])])
    for at in (0.0, 0.2, 0.5):
        same_poles(run.linearize(at=at).poles, expected, 1e-12)


def test_motor_behind_a_lag_is_the_hand_transfer_function() -> None:
    """Lag w/(s+w), winding 1/(L s + R), back-EMF, mass: from a disturbing force to position, with PD voltages."""
    N, kt, R, L, w = 20.0, 0.05, 0.8, 2e-3, 150.0
    motor = FirstOrderActuator(
        Motor("x", ratio=N, torque_constant=kt, resistance=R, inductance=L), bandwidth=w
    )
    run = art.simulate(slider(), 0.01, controller=PD(KP, KD), components=[motor], step=1e-4)
    model = run.linearize()
    lag, winding = np.poly1d([1, w]), np.poly1d([L, R])
    below = lag * winding * np.poly1d([MASS, 0, 0]) + lag * np.poly1d([(N * kt) ** 2, 0])
    below += w * N * kt * np.poly1d([KD, KP])
    same_poles(model.poles, below.roots, 1e-10)
    omega = np.geomspace(0.1, 1e3, 30)
    found = model.between("tau.x", "q.x").response(omega)[:, 0, 0]
    s = 1j * omega
    np.testing.assert_allclose(found, lag(s) * winding(s) / below(s), rtol=1e-10)
    assert "x_motor.current" in model.outputs
    assert model.output_units[model.outputs.index("x_motor.current")] == "A"


def test_response_and_object_of_python_control() -> None:
    model = art.simulate(art.load("two_link"), 0.1, controller=PD(900.0, 300.0)).linearize()
    system = model.to_control()
    assert system.dt == 0
    omega = np.geomspace(0.1, 100, 25)
    expected = np.moveaxis(system(1j * omega), -1, 0)
    np.testing.assert_allclose(model.response(omega), expected, rtol=1e-9, atol=1e-12)
    assert system.input_labels == ["tau_joint1", "tau_joint2"]
    same_poles(model.poles, system.poles(), 1e-10)


def test_an_accelerometer_feels_a_force_at_once() -> None:
    """y = q'' + g-free: D of acceleration from force is 1/m; of the force of the law zero."""
    run = art.simulate(
        slider(), 0.1, controller=PD(KP, KD), components=[FrameAcceleration("mass", name="acc")]
    )
    model = run.linearize()
    direct = model.D[model.outputs.index("vdot.x"), 0]
    assert direct == pytest.approx(1 / MASS, rel=1e-12)
    assert model.D[model.outputs.index("tau.x"), 0] == 0.0


# what is no state of motion


def test_a_free_body_has_twelve_states() -> None:
    body = art.Mechanism("body", gravity=(0, 0, 0))
    body.body("hull", 3.0, (0.1, 0, 0), (1.0, 2.0, 3.0))
    body.joint("base", art.Free(), "ground", "hull")
    q0 = [np.cos(0.3), 0.0, np.sin(0.3), 0.0, 1.0, 2.0, 3.0]
    model = art.simulate(body, 0.1, q0=q0, step=1e-2).linearize()
    assert model.A.shape == (12, 12)
    assert len(model.outputs[:7]) == 7
    assert np.abs(model.poles).max() < 1e-4  # twelve zeros in chains of two: roots of rounding
    linear = body.linearize(q=q0)
    np.testing.assert_allclose(model.A, linear.A, atol=1e-12)
    np.testing.assert_allclose(model.B, linear.B, atol=1e-12)


def test_a_spinning_body_is_linearize() -> None:
    """Displacements in the axes of the body turn with it; poles of torque-free spin about a principal axis by Euler."""
    body = art.Mechanism("top", gravity=(0, 0, 0))
    body.body("hull", 3.0, (0, 0, 0), (1.0, 2.0, 3.0))
    body.joint("base", art.Spherical(), "ground", "hull")
    spin = 4.0
    model = art.simulate(body, 1e-3, v0=[0.0, 0.0, spin]).linearize(at=0.0)
    euler = spin * np.sqrt(complex((3.0 - 2.0) * (1.0 - 3.0) / (1.0 * 2.0)))
    same_poles(model.poles, np.array([0, 0, spin * 1j, -spin * 1j, euler, -euler]), 1e-7)


def test_four_bars_have_the_minimal_model_of_the_mechanism() -> None:
    """In motion; regularized closure forces against the exact ones of `linearize`."""
    bars = art.load("n_four_bar", n=3)
    assembled = art.assemble(bars, 0.3 * np.ones(bars.nq), 10.5 * np.ones(bars.nv))
    assert np.abs(assembled.v).max() > 0.5
    run = art.simulate(bars, 1e-3, q0=assembled.q, v0=assembled.v)
    model = run.linearize(at=0.0)
    linear = bars.linearize(q=run.q[0], v=run.v[0], tau=np.zeros(bars.nv))
    assert model.A.shape == (2, 2)
    same_poles(model.poles, linear.poles, 1e-7)
    omega = np.array([0.3, 2.0, 20.0])
    expected = linear.response(omega)
    assert model.states == linear.states
    np.testing.assert_allclose(model.A, linear.A, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(
        model.response(omega)[:, : 2 * bars.nv], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max()
    )


def test_a_linkage_of_unequal_bars_in_motion() -> None:
    """The ratio of its speeds changes with position, so that displacements alone change velocities."""
    bars = art.Mechanism("linkage")
    for name, length in (("crank", 0.3), ("coupler", 1.0), ("rocker", 0.8)):
        bars.body(name, 1.0, (0.2, 0, 0), (0.01, 0.1, 0.1)).frame(f"{name}_end", name, (length, 0, 0))
    y = art.Revolute((0, 1, 0))
    bars.joint("a", y, "ground", "crank").joint("b", y, "crank", "coupler", at=(0.3, 0, 0))
    bars.joint("c", y, "ground", "rocker", at=(1.0, 0, 0))
    bars.constrain(art.PointOnPoint("closure", "coupler_end", "rocker_end"))
    start = art.assemble(bars, [-1.0, 0.3, -1.4], [5.0, -3.0, 2.0])
    run = art.simulate(bars, 1e-3, q0=start.q, v0=start.v)
    model = run.linearize(at=0.0)
    linear = bars.linearize(q=run.q[0], v=run.v[0], tau=np.zeros(3))
    assert np.abs(linear.A[1, 1]) > 0.1
    np.testing.assert_allclose(model.A, linear.A, rtol=1e-7)
    np.testing.assert_allclose(model.B, linear.B, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.C[:6], linear.C, rtol=1e-9, atol=1e-12)


def test_four_bars_with_pd_are_the_projected_closed_loop() -> None:
    bars = art.load("n_four_bar", n=2)
    q0 = art.assemble(bars, 0.3 * np.ones(bars.nq)).q
    servo = PD(kp=40.0, kd=5.0, target=q0)
    model = art.simulate(bars, 1e-3, q0=q0, controller=servo).linearize(at=0.0)
    plant = bars.linearize(q=q0, tau=np.zeros(bars.nv))
    n = bars.nv
    gain = np.hstack([-40.0 * np.eye(n), -5.0 * np.eye(n)])
    same_poles(model.poles, np.linalg.eigvals(plant.A + plant.B @ gain @ plant.C), 1e-7)


def test_a_switched_constraint_counts_while_it_holds() -> None:
    """Two masses on one rail, springs and dampers in both joints, the second locked until t = 0.5 s."""
    train = slider()
    train.body("trailer", 3.0, (0, 0, 0), (0.1, 0.1, 0.1)).joint(
        "y", art.Prismatic((1, 0, 0)), "mass", "trailer"
    )
    train.constrain(art.Lock("coupling", "y", (0.0,)))
    t = ca.SX.sym("t")
    release = Switch(ca.Function("time", [t], [t - 0.5], ["t"], ["f"]), "coupling", active=False)
    run = art.simulate(train, 1.0, controller=PD(KP, KD), events=[release], step=0.01)
    held = run.linearize(at=0.2)
    assert held.states == ("q.x", "v.x")
    same_poles(held.poles, np.roots([MASS + 3.0, KD, KP]), 1e-7)
    inverse = np.linalg.inv([[MASS + 3.0, 3.0], [3.0, 3.0]])
    loose = np.block([[np.zeros((2, 2)), np.eye(2)], [-KP * inverse, -KD * inverse]])
    np.testing.assert_allclose(run.linearize().A, loose, atol=1e-9)


def test_flexible_arm_is_the_plant_with_its_feedback() -> None:
    link = structure.beam_body(0.8, EI=120.0, mass_per_length=1.0, modes=2, damping=0.01)
    arm = art.Mechanism("arm", gravity=(0, 0, 0))
    arm.flexible("upper", link).flexible("fore", link)
    arm.joint("shoulder", art.Revolute(axis=(0, 0, 1)), parent="ground", child="upper")
    arm.joint("elbow", art.Revolute(axis=(0, 0, 1)), parent="upper", child="fore", node="tip")
    servo = PD(kp=20.0, kd=3.0, joints=("shoulder", "elbow"), name="servo")
    hands = [Torque("shoulder"), Torque("elbow")]
    model = art.simulate(arm, 1e-3, controller=servo, components=hands, step=1e-4).linearize()
    plant = arm.linearize()
    assert model.inputs == ("tau.shoulder", "tau.elbow")
    joints = [arm.v_names.index(name) for name in ("shoulder", "elbow")]
    gain = np.zeros((arm.nv, 2 * arm.nv))
    gain[joints, joints] = -20.0
    gain[joints, [arm.nv + k for k in joints]] = -3.0
    closed = plant.A + plant.B @ gain
    np.testing.assert_allclose(model.A, closed, atol=1e-9 * np.abs(closed).max())
    np.testing.assert_allclose(model.B, plant.B[:, joints], atol=1e-9 * np.abs(plant.B).max())


# sampled loops


def test_sampled_pd_is_the_discrete_closed_loop() -> None:
    """x+ = Ad x + Bd (u - K x), from `cont2discrete` with a zero-order hold; poles are logarithms."""
    period = 0.05
    model = art.simulate(slider(), 1.0, controller=PD(KP, KD, period=period), step=0.01).linearize()
    plant = (np.eye(2, k=1), np.array([[0.0], [1 / MASS]]), np.eye(2), np.zeros((2, 1)))
    Ad, Bd, *_ = cont2discrete(plant, period)
    closed = Ad - Bd @ [[KP, KD]]
    assert model.period == pytest.approx(period)
    assert model.states == ("q.x", "v.x")
    np.testing.assert_allclose(model.A, closed, atol=1e-13)
    np.testing.assert_allclose(model.B, Bd, atol=1e-13)
    same_poles(model.poles, np.log(np.linalg.eigvals(closed).astype(complex)) / period, 1e-11)
    omega = np.geomspace(0.1, np.pi / period, 20)
    expected = control.StateSpace(closed, Bd, [[1, 0]], [[0]], period)(np.exp(1j * omega * period))
    # at the last frequency the response is zero but for rounding, that of terms of 1e-3 that cancel
    found = model.between("tau.x", "q.x").response(omega)[:, 0, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-3 * np.finfo(float).eps)
    assert model.to_control().dt == model.period


def test_a_delay_adds_its_shift_register() -> None:
    """The measurement comes two periods late: x+ = Ad x - Bd K x_2, x_1+ = x, x_2+ = x_1."""
    period = 0.05
    sensor = Measured(JointSensor(name="encoder"), period=period, delay=2, name="encoder")
    servo = PD(KP, KD, measured=("encoder.q", "encoder.v"), period=period)
    model = art.simulate(slider(), 1.0, controller=servo, components=[sensor], step=0.01).linearize()
    plant = (np.eye(2, k=1), np.array([[0.0], [1 / MASS]]), np.eye(2), np.zeros((2, 1)))
    Ad, Bd, *_ = cont2discrete(plant, period)
    zero, one = np.zeros((2, 2)), np.eye(2)
    closed = np.block([[Ad, zero, -Bd @ [[KP, KD]]], [one, zero, zero], [zero, one, zero]])
    expected = np.linalg.eigvals(closed).astype(complex)
    slow = np.log(expected[np.abs(expected) > 1e-3]) / period
    same_poles(model.poles[: len(slow)], slow, 1e-9)


def test_several_rates_are_what_the_run_does() -> None:
    """Everything is linear, so the model over the common period of 60 ms is the run itself, to rounding."""
    fast = PD(KP, KD, joints=("x",), period=0.02, name="fast")
    slow = PID(5.0, 1.0, 3.0, joints=("x",), period=0.03, name="slow")
    run = art.simulate(slider(), 1.2, q0=[1.0], v0=[-0.5], controller=[fast, slow], step=0.01)
    model = run.linearize()
    assert model.period == pytest.approx(0.06)
    x = np.zeros(len(model.states))
    x[:2] = 1.0, -0.5
    place = [model.outputs.index(name) for name in ("q.x", "v.x", "tau.x")]
    for k in range(0, 121, 6):
        found = model.C[place] @ x
        np.testing.assert_allclose(found, [run.q[k, 0], run.v[k, 0], run.tau[k, 0]], atol=1e-11)
        x = model.A @ x


@dataclass(frozen=True)
class Felt(Controller):
    """A sampled force against the acceleration of the instant, which rests on the force held until then."""

    gain: float
    period: float | None = 0.05
    name: str = "felt"
    type_name = "felt"

    def work(self, s: Scope) -> None:
        s.command(-self.gain * s.vdot)


def test_sampled_accelerations_feel_forces_at_once() -> None:
    """u+ = -k (u + w) / m, v+ = v + T (u+ + w) / m: the held force is a state, and w acts on it within the instant."""
    gain, period = 0.5, 0.05
    model = art.simulate(slider(), 0.1, controller=Felt(gain), step=0.01).linearize()
    assert model.states == ("q.x", "v.x", "felt.command")
    k = gain / MASS
    expected = [[1, period, -k * period**2 / 2 / MASS], [0, 1, -k * period / MASS], [0, 0, -k]]
    np.testing.assert_allclose(model.A, expected, atol=1e-14)
    np.testing.assert_allclose(
        model.B[:, 0], [(1 - k) * period**2 / 2 / MASS, (1 - k) * period / MASS, -k], atol=1e-14
    )
    assert model.poles[-1] == pytest.approx((np.log(k) + 1j * np.pi) / period)


def test_noise_stands_still() -> None:
    quiet = art.simulate(slider(), 0.1, controller=PD(KP, KD, period=0.02), step=0.01).linearize()
    noise = WhiteNoise(1e-3, joint="x", period=0.01)
    noisy = art.simulate(
        slider(), 0.1, controller=PD(KP, KD, period=0.02), components=[noise], step=0.01
    ).linearize()
    np.testing.assert_allclose(noisy.A, quiet.A, atol=1e-14)


# the runs themselves


@pytest.mark.parametrize("period", [None, 0.02])
def test_small_departures_follow_the_model(period: float | None) -> None:
    """The error of the prediction shrinks with the square of the departure: by 100 when this shrinks by 10."""
    arm, rest = art.load("two_link"), np.array([0.4, -0.7])
    servo = ComputedTorque(kp=30.0, kd=5.0, target=rest, model=heavier(arm), period=period)
    hold = Expression(ca.Function("hold", [ca.SX.sym("t")], [ca.DM(balance(arm, rest))], ["t"], ["u"]))
    start = np.concatenate([rest, np.zeros(2)])
    controllers = [servo, hold]

    def end(departure: np.ndarray) -> art.Run:
        x = start + departure
        return art.simulate(arm, 0.4, q0=x[:2], v0=x[2:], controller=controllers, step=1e-3)

    still = end(np.zeros(4))
    assert np.abs(still.v).max() < 1e-9
    model = still.linearize()
    assert len(model.states) == 4
    step = expm(model.A * 0.4) if period is None else np.linalg.matrix_power(model.A, 20)
    direction = np.array([1.0, -0.6, 0.8, 0.5])
    errors = []
    for size in (1e-2, 1e-3):
        run = end(size * direction)
        reached = np.concatenate([run.q[-1], run.v[-1]]) - start
        errors.append(np.abs(reached - step @ (size * direction)).max())
    assert 60 < errors[0] / errors[1] < 160


def heavier(arm: art.Mechanism) -> art.Mechanism:
    """Return what the controller believes: another arm."""
    other = art.Mechanism("model", gravity=(0, 0, -9.80665))
    other.body("link1", 12.0, (0, 0, -1), (20, 20, 0.2)).body("link2", 9.0, (0, 0, -1), (20, 20, 0.2))
    other.joint("joint1", art.Revolute((0, 1, 0)), "ground", "link1")
    return other.joint("joint2", art.Revolute((0, 1, 0)), "link1", "link2", at=art.Pose((0, 0, -2)))


def balance(arm: art.Mechanism, rest: np.ndarray) -> np.ndarray:
    """Return the force that the controller's model lacks for rest."""
    still = np.zeros(2)
    return arm.bias(rest, still) - heavier(arm).bias(rest, still)


def test_runs_of_a_batch_have_their_own_models() -> None:
    kp = np.array([10.0, 30.0, 90.0])
    servo = PD(art.Parameter("kp", 1.0), KD)
    run = art.rollout(slider(), 1.0, controller=servo, params={"kp": kp})
    for k, stiffness in enumerate(kp):
        same_poles(run.linearize(run=k).poles, np.roots([MASS, KD, stiffness]), 1e-12)


# what cannot be


def test_messages() -> None:
    run = art.simulate(slider(), 0.1, controller=lambda t, q, v: -q)
    with pytest.raises(UnsupportedOperation, match="Python controller 'python' has no derivatives"):
        run.linearize()
    good = art.simulate(slider(), 0.1, controller=PD(KP, KD))
    with pytest.raises(InputError, match="no sample up to t = -1 s"):
        good.linearize(at=-1.0)
    with pytest.raises(InputError, match="found run 2; expected 0 to 0"):
        good.linearize(run=2)
    with pytest.raises(InputError, match=r"no input 'tau\.y'; did you mean 'tau\.x'"):
        good.linearize().between("tau.y", "q.x")
    q = ca.SX.sym("q", 1)
    root = ca.Function("root", [q], [-ca.sqrt(q)], ["q"], ["u"])
    with pytest.raises(NumericalError, match=r"the rate of v has no finite derivative at t = 0 s"):
        art.simulate(slider(), 0.1, controller=root).linearize(at=0.0)
