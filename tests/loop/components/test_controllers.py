"""Controllers against closed forms, and against python-control."""

from __future__ import annotations

import dataclasses

import casadi as ca
import control
import numpy as np
import pytest
import scipy.linalg

import articulus as art
from articulus.errors import InputError
from articulus.simulation.loop.components import (
    PD,
    PID,
    ComputedTorque,
    Expression,
    JointRate,
    JointSensor,
    Measured,
    Observer,
    PrescribedForce,
    ResolvedRate,
    StateFeedback,
    Table,
    Thruster,
    Torque,
)
from closed_zoo import closed, four_bar

from .support import Loop, function_of_time, slider

ARM = art.load("puma600")


# PD


def test_pd_with_one_gain_for_all_or_one_each() -> None:
    q, v = np.random.default_rng(1).uniform(-1, 1, (2, 6))
    kp, kd = np.arange(1.0, 7.0), 0.5
    loop = Loop(ARM, PD(kp=kp, kd=kd, target=0.2)).put(q=q, v=v)
    assert loop.signal("u") == pytest.approx(kp * (0.2 - q) - kd * v)


def test_pd_follows_a_function_and_its_derivative() -> None:
    target = function_of_time(lambda t: ca.sin(3 * t))
    loop = Loop(slider(), PD(kp=10.0, kd=2.0, target=target)).put(q=0.3, v=-0.1)
    loop.t = 0.7
    assert loop.signal("u") == pytest.approx(10 * (np.sin(2.1) - 0.3) + 2 * (3 * np.cos(2.1) + 0.1))


def test_pd_follows_a_table_with_its_slope() -> None:
    loop = Loop(slider(), PD(kp=10.0, kd=2.0, target=Table([0, 1, 3], [0.0, 2.0, 1.0])))
    loop.t = 2.0
    assert loop.signal("u") == pytest.approx(10 * 1.5 + 2 * -0.5)


@pytest.mark.parametrize("extra", [0, 40], ids=["written out", "searched"])
def test_a_table_has_at_a_node_the_slope_to_its_right(extra: int) -> None:
    times = np.concatenate([[0.0, 0.2, 0.5], np.arange(1, 1 + extra)])
    values = np.concatenate([[0.0, 0.3, -0.6], np.full(extra, -0.6)])
    loop = Loop(slider(), PD(kp=0.0, kd=1.0, target=Table(times, values)))
    for t, slope in ((-0.1, 0.0), (0.0, 1.5), (0.1, 1.5), (0.2, -3.0), (0.3, -3.0), (0.5, 0.0), (60.0, 0.0)):
        loop.t = t
        assert loop.signal("u") == pytest.approx(slope, abs=1e-12)


def test_pd_on_named_joints_finds_their_actuators_among_others() -> None:
    """Piezos and thrusters beside the motors of the joints do not take part in joint feedback."""
    names = ARM.joint_names
    others = [
        Torque(names[5]),
        Thruster("tool" if "tool" in ARM.frame_names else ARM.body_names[-1], axis=(0, 0, 1), upper=1.0),
    ]
    chosen = (names[3], names[1])
    loop = Loop(
        ARM,
        PD(kp=(2.0, 5.0), kd=0.0, joints=chosen),
        others[0],
        Torque(names[1]),
        others[1],
        Torque(names[3]),
    )
    loop.put(q=np.arange(6.0))
    assert loop.signal("u") == pytest.approx([0, -5.0, 0, -6.0])
    none = Loop(ARM, PD(kp=2.0, kd=0.0, joints=(names[2],))).put(q=np.arange(6.0))
    assert none.signal("tau") == pytest.approx([0, 0, -4.0, 0, 0, 0])
    with pytest.raises(InputError, match="found a command of 1 elements; expected 2"):
        Loop(ARM, PD(kp=2.0, kd=0.0, joints=(names[2],)), Torque(names[0]), Torque(names[1]))


def test_pd_on_named_joints_drives_their_actuators() -> None:
    names = ARM.joint_names
    chosen = (names[3], names[0])
    q = np.arange(6.0)
    loop = Loop(ARM, PD(kp=(2.0, 5.0), kd=0.0, joints=chosen), *(Torque(j) for j in chosen)).put(q=q)
    assert loop.signal("tau") == pytest.approx([0, 0, 0, -6.0, 0, 0])  # -2 q_3 and -5 q_0, q_0 = 0
    assert loop.put(q=q + 1).signal("tau") == pytest.approx([-5, 0, 0, -8.0, 0, 0])


def test_pd_on_measured_signals() -> None:
    pd = PD(kp=10.0, kd=2.0, measured=("joints.q", "joints.v"))
    loop = Loop(slider(), Measured(JointSensor(), bias=(0.1, 0.0)), pd).put(q=0.3, v=1.0)
    assert loop.signal("u") == pytest.approx(-10 * 0.4 - 2.0)


def test_pd_gains_may_be_parameters() -> None:
    loop = Loop(slider(), PD(kp=art.Parameter("gain", 4.0), kd=0.0)).put(q=1.0)
    assert [p.name for p in loop.network.parameters] == ["gain"]
    assert loop.signal("u") == -4.0
    loop.p = np.array([7.0])
    assert loop.signal("u") == -7.0


# PID


def test_pid_closed_form() -> None:
    """m q'' = kp (r - q) + ki int(r - q) - kd q' with a constant load: a linear system with an exact solution."""
    kp, ki, kd, m, load, r = 40.0, 60.0, 14.0, 2.0, -3.0, 0.5
    loop = Loop(slider(m), PID(kp=kp, ki=ki, kd=kd, target=r), PrescribedForce("lift", load))
    found = loop.run(3.0, 0.01, "pid.integral")
    A = np.array([[0, 1, 0], [-kp / m, -kd / m, ki / m], [-1, 0, 0]])
    b = np.array([0, (kp * r + load) / m, r])
    steady = np.linalg.solve(A, -b)
    exact = np.array([steady + scipy.linalg.expm(A * t) @ -steady for t in found["t"]])
    assert found["q"].ravel() == pytest.approx(exact[:, 0], abs=1e-7)
    assert found["pid.integral"].ravel() == pytest.approx(exact[:, 2], abs=1e-7)


def test_sampled_pid_sums_after_use_and_stops_at_its_limit() -> None:
    stuck = slider(mass=1e12)
    loop = Loop(stuck, PID(kp=0.0, ki=1.0, kd=0.0, target=2.0, limit=0.1, period=0.02))
    found = loop.run(0.1, 0.01, "u")["u"].ravel()
    assert found == pytest.approx([0, 0, 0.04, 0.04, 0.08, 0.08, 0.1, 0.1, 0.1, 0.1, 0.1])


def test_continuous_pid_does_not_wind_up() -> None:
    target = Table([0.0, 1.0], [1.0, -1.0], hold=True)
    loop = Loop(slider(mass=1e12), PID(kp=0.0, ki=1.0, kd=0.0, target=target, limit=0.25))
    found = loop.run(1.1, 0.01, "u")["u"].ravel()
    assert found[20] == pytest.approx(0.2)
    assert found[99] == pytest.approx(0.25, abs=0.011)  # passed by a step at most
    assert found[-1] == pytest.approx(found[99] - 0.1, abs=0.011)  # leaves the limit at once


# computed torque

COURSE = function_of_time(lambda t: ca.vertcat(*(ca.sin((i + 1) * t) for i in range(6))))


def test_computed_torque_makes_the_error_linear() -> None:
    """vdot = a_d + kd (v_d - v) + kp (q_d - q) exactly, on every state."""
    rng = np.random.default_rng(2)
    kp, kd = rng.uniform(1, 100, (2, 6))
    loop = Loop(ARM, ComputedTorque(kp=kp, kd=kd, target=COURSE))
    i = np.arange(1, 7)
    for t in (0.0, 0.4):
        q, v = rng.uniform(-2, 2, (2, 6))
        loop.t = t
        wanted = -(i**2) * np.sin(i * t) + kd * (i * np.cos(i * t) - v) + kp * (np.sin(i * t) - q)
        assert loop.put(q=q, v=v).signal("vdot") == pytest.approx(wanted, rel=1e-8, abs=1e-8)


def test_computed_torque_with_a_wrong_model() -> None:
    wrong = slider(mass=3.0, gravity=-10.0)
    loop = Loop(slider(mass=2.0, gravity=-10.0), ComputedTorque(kp=4.0, kd=4.0, target=1.0, model=wrong))
    assert loop.signal("tau") == pytest.approx(3.0 * (4.0 + 10.0))
    assert loop.signal("vdot") == pytest.approx(3.0 * 14.0 / 2.0 - 10.0)


def test_computed_torque_takes_rates_and_accelerations_as_given() -> None:
    loop = Loop(
        slider(mass=2.0), ComputedTorque(kp=0.0, kd=1.0, target=COURSE_1, rate=7.0, acceleration=11.0)
    )
    assert loop.signal("tau") == pytest.approx(2.0 * (11.0 + 7.0))
    loop = Loop(slider(mass=2.0), ComputedTorque(kp=0.0, kd=0.0, rate=function_of_time(lambda t: 3 * t)))
    assert loop.signal("tau") == pytest.approx(6.0)  # the rate of the rate


COURSE_1 = function_of_time(lambda t: ca.sin(t))


# expression


def test_expression_reads_signals_by_name() -> None:
    v, x = ca.SX.sym("v"), ca.SX.sym("x")
    law = ca.Function("law", [v, x], [2 * v - 3 * x], ["v", "x"], ["u"])
    loop = Loop(slider(), Measured(JointSensor(), bias=(1.0, 0.0)), Expression(law, inputs=("v", "joints.q")))
    assert loop.put(q=2.0, v=5.0).signal("u") == 10.0 - 9.0


def test_expression_of_matrix_symbols_is_expanded() -> None:
    q = ca.MX.sym("q", 6)
    law = ca.Function("law", [q], [-ca.MX(np.diag(np.arange(6.0))) @ q], ["q"], ["u"])
    assert Loop(ARM, Expression(law)).put(q=np.ones(6)).signal("u") == pytest.approx(-np.arange(6.0))


# state feedback and observers


def test_state_feedback_places_the_poles_of_the_mechanism() -> None:
    system = ARM.linearize(q=np.full(6, 0.3))
    wanted = -np.arange(2.0, 14.0)
    K = control.place(system.A, system.B, wanted)
    point = np.concatenate([np.full(6, 0.3), np.zeros(6)])
    u0 = ARM.gravity(point[:6])
    loop = Loop(ARM, StateFeedback(K, x0=point, u0=u0)).put(q=point[:6])
    assert loop.signal("vdot") == pytest.approx(np.zeros(6), abs=1e-8)
    c = ca.SX.sym("c", loop.system.nc)
    _, d, p, w, t, h = loop._arguments()
    rates = loop.system.rhs(c, d, p, w, t, h)[:12]
    A = ca.Function("A", [c], [ca.jacobian(rates, c[:12])])(loop.c)
    # multiple roots close together: 1e-4 of 13
    assert np.sort(np.linalg.eigvals(np.array(A)).real) == pytest.approx(np.sort(wanted), rel=1e-4)


PLANT = slider(mass=2.0)
POSITION = np.array([[1.0, 0.0]])


def lqg(period: float | None) -> tuple[control.StateSpace, np.ndarray, np.ndarray]:
    """Return model, feedback gain and Kalman gain of the slider whose position is measured."""
    system = PLANT.linearize()
    system = control.ss(system.A, system.B, POSITION, 0)
    noise = np.diag([0.1]), np.diag([0.01])
    if period is None:
        L, _, _ = control.lqe(system, *noise)
        K, _, _ = control.lqr(system, np.eye(2), np.eye(1))
        return system, K, L
    system = control.c2d(system, period)
    L, _, _ = control.dlqe(system.A, system.B, system.C, *noise)
    K, _, _ = control.dlqr(system, np.eye(2), np.eye(1))
    return system, K, L


def test_continuous_observer_equals_the_matrices_of_control() -> None:
    system, K, L = lqg(None)
    feedback = StateFeedback(K, observer=Observer.of(system, L, ("joints.q",)))
    loop = Loop(PLANT, JointSensor(), feedback)
    A = np.block([[system.A, -system.B @ K], [L @ system.C, system.A - system.B @ K - L @ system.C]])
    rng = np.random.default_rng(3)
    for _ in range(3):
        x, estimate = rng.normal(size=(2, 2))
        loop.put(q=x[0], v=x[1], state_feedback__estimate=estimate)
        found = np.concatenate([loop.rate("q"), loop.rate("v"), loop.rate("state_feedback.estimate")])
        assert found == pytest.approx(A @ [*x, *estimate])


def test_sampled_observer_equals_control_in_time() -> None:
    period = 0.1
    system, K, L = lqg(period)
    feedback = StateFeedback(K, observer=Observer.of(system, L, ("q",), initial=(0.2, 0.0)), period=period)
    loop = Loop(PLANT, feedback).put(q=1.0)
    found = loop.run(2.0, 0.05, "state_feedback.estimate")
    A = np.block([[system.A, -system.B @ K], [L @ system.C, system.A - system.B @ K - L @ system.C]])
    z = np.array([1.0, 0.0, 0.2, 0.0])
    for k in range(20):
        at = 2 * k
        assert [found["q"][at, 0], found["v"][at, 0], *found["state_feedback.estimate"][at]] == pytest.approx(
            z
        )
        z = A @ z


def test_observer_hears_other_commands_and_knows_its_operating_point() -> None:
    system, K, L = lqg(None)
    heavy = slider(mass=2.0, gravity=-10.0)
    observer = Observer.of(system, L, ("q",), y0=0.4)
    push = Expression(ca.Function("push", [ca.SX.sym("t")], [ca.SX(3.0)], ["t"], ["u"]), name="push")
    loop = Loop(heavy, push, StateFeedback(K, x0=(0.4, 0.0), u0=20.0, observer=observer)).put(q=0.4)
    assert loop.rate("state_feedback.estimate") == pytest.approx([0, 3.0 / 2.0])  # as the plant
    assert loop.rate("v") == pytest.approx(3.0 / 2.0)
    assert loop.signal("state_feedback.estimate") == pytest.approx([0.4, 0.0])


# operator modes


def test_joint_rate_sums_its_command() -> None:
    loop = Loop(slider(mass=1e12), JointRate(0.5, kp=2.0, kd=3.0, period=0.02)).put(q=1.0)
    found = loop.run(0.1, 0.01, "u", "joint_rate.wanted")
    k = np.arange(11) // 2
    assert found["joint_rate.wanted"].ravel() == pytest.approx(1.0 + 0.01 * k)
    assert found["u"].ravel() == pytest.approx(3.0 * 0.5 + 2.0 * 0.01 * k)


def test_joint_rate_differences_the_position() -> None:
    loop = Loop(slider(mass=2.0), JointRate(0.0, kp=0.0, kd=4.0, period=0.01)).put(v=1.0)
    assert loop.run(0.01, 0.01, "u")["u"].ravel() == pytest.approx([0.0, -4.0])


def test_resolved_rate_moves_the_end_point_as_commanded() -> None:
    digger = art.load("cat215b")
    asked = np.array([0.3, 0.2, -0.1, 0.05])
    law = ResolvedRate(asked, kp=0.0, kd=1.0, period=0.01, point="wrist", tool="bucket")
    q = np.array([0.4, 0.6, -2.5, -0.2])
    rates = Loop(digger, law).put(q=q).update().signal("u")  # u = kd x wanted rates at the first instant
    d = 1e-6
    (x0, y0, z0), (x1, y1, z1) = (digger.pose("wrist", q + s * d * rates)[:3, 3] for s in (-1, 1))
    r0, r1 = np.hypot(x0, y0), np.hypot(x1, y1)
    arc = (np.arctan2(y1, x1) - np.arctan2(y0, x0)) * (r0 + r1) / 2
    assert np.array([r1 - r0, arc, z1 - z0]) / (2 * d) == pytest.approx(asked[:3], abs=1e-8)
    plane = np.cos(np.arctan2(y1, x1) - q[0])  # the arm stands 0.16 m beside the radial plane
    assert rates[1:].sum() * plane == pytest.approx(asked[3], abs=1e-6)


# wrong numbers and names


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: PD(kp=(1.0, 2.0), kd=0.0), "PD 'pd', kp: found 2 numbers; expected 1 or 6"),
        (
            lambda: PD(kp=1.0, kd=0.0, joints=["nojoint"]),
            "PD 'pd', joint: found 'nojoint'; expected the name of a joint",
        ),
        (
            lambda: PD(kp=1.0, kd=0.0, target=Table([0, 1], [0, 1])),
            "found 1 numbers at every time; expected 6",
        ),
        (lambda: PD(kp=1.0, kd=0.0, measured=("a.q", "a.v")), "no signal 'a.q'"),
        (
            lambda: ComputedTorque(kp=1.0, kd=0.0, model=slider()),
            "'slider' without the joint 'joint1'; expected the driven joints of",
        ),
        (lambda: StateFeedback(np.ones((6, 3))), "K: found 6 x 3 numbers; expected 6 x 12"),
        (
            lambda: ResolvedRate(0.0, 1.0, 1.0, 0.1, point="tip", tool="x"),
            "found 6 degrees of freedom; expected 4",
        ),
        (
            lambda: Expression(ca.Function("f", [ca.SX.sym("q", 2)], [ca.SX(6, 1)], ["q"], ["u"])),
            "input 'q': found a signal of 6 numbers; expected 2",
        ),
    ],
)
def test_wrong_in_a_loop(make: object, text: str) -> None:
    with pytest.raises(art.InputError) as caught:
        Loop(ARM, make())  # type: ignore[operator]
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: PD(kp="a", kd=0.0), "PD.kp: expected a number"),
        (lambda: PD(kp=1.0, kd=0.0, period=0.0), "period: found 0; expected a finite number above 0"),
        (lambda: PD(kp=1.0, kd=0.0, period=art.Parameter("h", 0.1)), "expected a plain number"),
        (lambda: PID(1.0, 1.0, 1.0, limit=-1.0), "limit: found -1; expected at least 0"),
        (
            lambda: Observer(np.eye(2), np.eye(2), np.eye(2), np.eye(3), ("q",)),
            "Observer.L: found 3 x 3; expected 2 x 2",
        ),
        (lambda: Expression(3.0), "expected a casadi.Function with one column"),
        (
            lambda: PD(1.0, 1.0, target=ca.Function("f", [ca.SX.sym("x", 2)], [ca.SX(1)])),
            "expected a function from t",
        ),
    ],
)
def test_wrong_by_itself(make: object, text: str) -> None:
    with pytest.raises(art.InputError) as caught:
        make()  # type: ignore[operator]
    assert text in str(caught.value)


def test_controllers_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PD(1.0, 1.0).kp = 2.0  # type: ignore[misc]


# computed torque on closed loops


@pytest.mark.parametrize("driven", [False, True], ids=["every joint", "one motor"])
@pytest.mark.parametrize("joint", ["crank_pin", "rocker_pin"])
def test_computed_torque_keeps_its_error_law_on_a_loop(joint, driven) -> None:
    """The law of the driven joint holds exactly, far from the target and at speed; redundant rows do no harm."""
    m, kp, kd = four_bar(), 30.0, 11.0
    k = m.joint_names.index(joint)
    course = function_of_time(lambda t: 0.4 * ca.sin(2 * t))
    motors = [Torque(joint)] if driven else []
    loop = Loop(m, ComputedTorque(kp=kp, kd=kd, target=course, joints=joint), *motors)
    for t, angle, speed in ((0.0, 0.7, 1.5), (0.6, -0.5, -2.0)):
        q, v = angle * np.array([1.0, -1.0, 1.0]), speed * np.array([1.0, -1.0, 1.0])
        loop.t = t
        vdot = loop.put(q=q, v=v).signal("vdot")
        law = -1.6 * np.sin(2 * t) + kd * (0.8 * np.cos(2 * t) - v[k]) + kp * (0.4 * np.sin(2 * t) - q[k])
        assert vdot == pytest.approx(law * np.array([1.0, -1.0, 1.0]), rel=1e-8)
        tau = loop.signal("tau")
        assert tau[[i for i in range(3) if i != k]] == pytest.approx(0.0)
        assert tau == pytest.approx(m.inverse_dynamics(q, v, vdot, actuators=joint), rel=1e-7)


def test_computed_torque_on_a_spatial_loop_with_two_motors() -> None:
    """The error of a run dies out as e'' + kd e' + kp e = 0 says, in closed form."""
    c = closed(11, [art.Universal], bodies=3)
    m, joint = c.mechanism, c.mechanism.joint_names[0]
    state = art.assemble(m, c.q)
    target = state.q[m.description.q_slices[joint]] + np.array([0.1, -0.05])
    law = ComputedTorque(kp=25.0, kd=10.0, target=target, joints=joint)
    run = art.simulate(m, 0.5, q0=state.q, components=[law], step=0.005)
    error = target - run.q[:, m.description.q_slices[joint]]
    exact = np.array([0.1, -0.05]) * ((1 + 5 * run.t) * np.exp(-5 * run.t))[:, None]
    assert error == pytest.approx(exact, abs=1e-6)


def test_computed_torque_refuses_what_would_break_its_law() -> None:
    m = four_bar()
    with pytest.raises(
        art.InputError, match=r"joints: found none; expected joints with as many as .* leave, 1"
    ):
        Loop(m, ComputedTorque(kp=1.0, kd=1.0))
    with pytest.raises(
        art.InputError, match=r"with 2 degrees of freedom; expected joints with as many as .*, 1"
    ):
        Loop(m, ComputedTorque(kp=1.0, kd=1.0, joints=("crank_pin", "rocker_pin")))
    with pytest.raises(art.InputError, match="one with constraints just as 'four-bar'"):
        Loop(m, ComputedTorque(kp=1.0, kd=1.0, joints="crank_pin", model=m.tree))


def test_laws_that_know_no_loops_say_so() -> None:
    m = four_bar()
    m.body("extra", 1.0, inertia=(1, 1, 1)).joint("extra", art.Revolute(), "rocker", "extra")
    with pytest.raises(art.InputError, match="mechanism: found constraints; expected none"):
        Loop(m, ResolvedRate(command=0.0, kp=1.0, kd=0.0, period=0.01, point="extra", tool="extra"))

    class Blind(PD):
        def work(self, s):
            s.command(s.ask("inverse_dynamics", s.q, s.v, s.v))

    with pytest.raises(art.InputError, match=r"component '.*': 'inverse_dynamics' of a .*tree=True"):
        Loop(four_bar(), Blind(kp=1.0, kd=1.0))


@pytest.mark.filterwarnings(
    "ignore:(?s).*over its length"
)  # the source's step bends its link by 0.14 of the length
def test_computed_torque_of_a_flexible_arm_pushes_joints_alone() -> None:
    """The joints obey e'' + 20 e' + 100 e = 0 in closed form (poles -10, -10) while the links vibrate, and no force acts on a mode.

    10 degree steps of both joints, as in King 1988, example 4.6.
    """
    arm = art.load("king_arm")
    step, joints = np.deg2rad(10.0), [arm.v_slice(j).start for j in arm.joint_names]
    modes = [k for k in range(arm.nv) if k not in joints]
    run = art.simulate(arm, 0.6, controller=ComputedTorque(kp=100.0, kd=20.0, target=(step, step)), step=1e-4)
    exact = step * (1 + 10 * run.t) * np.exp(-10 * run.t)
    assert step - run.q[:, joints] == pytest.approx(np.stack([exact, exact], axis=1), abs=1e-7 * step)
    assert not run["u"][:, modes].any()
    assert np.abs(run.q[:, modes]).max() > 1e-5


def test_computed_torque_with_a_passive_joint() -> None:
    """On a tree the named joint follows the closed form, and no force acts on the other."""
    arm = art.load("two_link")
    first, second = arm.joint_names
    law = ComputedTorque(kp=25.0, kd=10.0, target=0.3, joints=second)
    run = art.simulate(arm, 0.5, controller=law, step=1e-3)
    error = 0.3 - run.q[:, arm.q_slice(second).start]
    assert error == pytest.approx(0.3 * (1 + 5 * run.t) * np.exp(-5 * run.t), abs=1e-8)
    assert not run["u"][:, arm.v_slice(first)].any()


def test_computed_torque_of_a_rigid_model_on_a_flexible_arm() -> None:
    """Forces of the rigid model at the joints' state: its own inverse dynamics, whatever the modes do."""
    arm = art.load("king_arm")
    rigid = _rigid(arm)
    law = ComputedTorque(kp=100.0, kd=20.0, target=0.1, model=rigid)
    loop = art.Loop(arm, law)
    q, v = np.array([0.2, 0.003, -0.4, 0.002]), np.array([0.5, 0.1, -0.3, 0.2])
    run = loop.simulate(1e-4, q, v, step=1e-4)
    at = [0, 2]
    vdot = 100.0 * (0.1 - q[at]) - 20.0 * v[at]
    assert run["u"][0, at] == pytest.approx(rigid.inverse_dynamics(q[at], v[at], vdot), rel=1e-12)
    with pytest.raises(
        art.InputError, match=r"model: found .* with \['link1', 'link2'\]; expected joints and modes of"
    ):
        art.Loop(rigid, ComputedTorque(kp=1.0, kd=1.0, model=arm)).simulate(1e-3)


def _rigid(arm: art.Mechanism) -> art.Mechanism:
    d = arm.description
    bodies = tuple(
        dataclasses.replace(b, modes=None, massless="", mass=1.0 + k, inertia=(0.1, 0.2, 0.3, 0, 0, 0))
        for k, b in enumerate(d.bodies)
    )
    frames = tuple(dataclasses.replace(f, node="") for f in d.frames)
    joints = tuple(dataclasses.replace(c, node="") for c in d.connections)
    return art.Mechanism.from_description(
        dataclasses.replace(d, bodies=bodies, frames=frames, connections=joints)
    )


@pytest.mark.parametrize("law", [PD(kp=50.0, kd=5.0, target=0.1), PID(kp=50.0, ki=1.0, kd=5.0, target=0.1)])
def test_feedback_without_joints_leaves_modes_alone(law) -> None:
    arm = art.load("king_arm")
    run = art.simulate(arm, 0.05, controller=law, step=1e-4)
    modes = [k for k in range(arm.nv) if k not in [arm.v_slice(j).start for j in arm.joint_names]]
    assert not run["u"][:, modes].any()
    assert np.abs(run["u"]).max() > 1.0
    sensed = art.simulate(arm, 0.01, components=[JointSensor()], step=1e-4)
    assert sensed["joints.q"].shape[-1] == 2
