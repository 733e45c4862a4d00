"""Servo constraints in time: motors of chosen joints against the same constraints held by ideal reactions."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.cases.servo_constraints.case import START, arm, joint_directions, motion
from articulus.errors import InputError, NumericalError
from articulus.model.mechanism import Lock, Polynomial, Prescribed, PrescribedPoint
from articulus.simulation.loop.components import PrescribedForce, ServoConstraints, Torque
from articulus.simulation.loop.events import Switch
from closed_zoo import four_bar

LINE = PrescribedPoint("line", "tip", x=Polynomial((1.9088, -1.0)), y=Polynomial((0.9893,)))


def free_arm() -> art.Mechanism:
    """Return Ider's arm of three links without its constraint."""
    m = arm(0.0)
    d = m.description
    free = art.Mechanism("arm", gravity=(0, 0, 0))
    for body, joint in zip(d.bodies, d.connections):
        free.body(body.name, body.mass, body.com, body.inertia)
        free.joint(joint.name, joint.joint, joint.parent, joint.child, at=joint.at)
    return free.frame("tip", "link3", at=(1.0, 0, 0))


def test_two_motors_lead_the_tip_along_its_line() -> None:
    """Against the equations of the source integrated by themselves (case `servo_constraints`, RK4 with 4 ms).

    Tolerance: RK4 at 1 ms against 4 ms, and a start 4e-5 m off the line that the printed digits leave.
    """
    J = free_arm().jacobian("tip", START)[3:5]
    rates = np.insert(np.linalg.solve(J[:, [0, 2]], [-1.0, 0.0]), 1, 0.0)
    law = ServoConstraints(LINE, ("j2", "j3"), frequency=0.0)
    run = art.simulate(free_arm(), 1.0, START, rates, controller=law, sample=0.1)
    q, v, moments = motion(arm(0.0), joint_directions(arm(0.0).description, ["j2", "j3"]), rates)
    assert np.abs(run.q[-1] - q).max() < 1e-7
    assert np.abs(run.v[-1] - v).max() < 1e-6
    np.testing.assert_allclose(run["tau"][[0, -1]], moments, rtol=1e-6, atol=1e-6)
    assert np.abs(run["tau"][:, 0]).max() == 0.0
    assert np.abs(run["energy.balance"]).max() < 1e-7


def driven(motor: str, form: str = "mobility", **options: object) -> tuple[art.Run, art.Run]:
    """Return the four-bar with its crank on a course: held by a reaction in the default form, and by a motor."""
    t = ca.SX.sym("t")
    course = Prescribed("course", "crank_pin", ca.Function("course", [t], [3.0 + 0.4 * ca.sin(2 * t)]))
    held = four_bar().constrain(course)
    start = art.assemble(held, np.array([3.0, -3.0, 3.0]), np.array([0.8, -0.8, 0.8]))
    ideal = art.simulate(held, 1.0, start.q, start.v, sample=0.1)
    law = ServoConstraints(course, (motor,), frequency=20.0, form=form)
    return ideal, art.simulate(four_bar(), 1.0, start.q, start.v, controller=law, sample=0.1, **options)


def test_a_motor_within_a_loop_makes_the_motion_of_the_ideal_constraint() -> None:
    """As many constraints as degrees of freedom: the motion does not depend on who holds them, the power put in neither.

    Tolerance: RK4's drift off the course, which the motor takes back with 20 rad/s.
    """
    ideal, by_rocker = driven("rocker_pin")
    assert np.abs(by_rocker.q - ideal.q).max() < 1e-8
    assert np.abs(by_rocker["energy.input"] - ideal["energy.input"]).max() < 1e-6
    assert np.abs(by_rocker["tau"][:, :2]).max() == 0.0
    assert np.abs(by_rocker["tau"][:, 2]).max() > 1.0


@pytest.mark.parametrize("form", ["augmented", "null_space"])
def test_the_augmented_forms_hold_loops_too(form: str) -> None:
    """Equations 17 and 18 with the rows of the loop, of which some depend on others: same motion, no force elsewhere."""
    ideal, found = driven("rocker_pin", form)
    assert np.abs(found.q - ideal.q).max() < 1e-8
    assert np.abs(found["tau"][:, :2]).max() == 0.0
    with pytest.raises(
        InputError, match="form: found 'schur'; expected one of mobility, augmented, null_space"
    ):
        driven("rocker_pin", "schur")


def test_loops_in_another_form_and_actuators() -> None:
    ideal, by_crank = driven("crank_pin", loops="minimal", components=[Torque("crank_pin")])
    assert np.abs(by_crank.q - ideal.q).max() < 1e-8
    np.testing.assert_allclose(by_crank["servo.force"], by_crank["tau"][:, :1])


def test_what_others_do_to_the_program_dies_out() -> None:
    """A force that the motor does not know bends the course by its acceleration over w^2 and no more."""
    pushed = {"components": [PrescribedForce("coupler_pin", 0.5)]}
    ideal, found = driven("crank_pin", **pushed)
    off = np.abs(found.q - ideal.q).max()
    assert 1e-5 < off < 0.5 / 400


def test_a_batch_is_its_runs() -> None:
    frequency = art.Parameter("w", 5.0)
    law = ServoConstraints(Prescribed("course", "j1", Polynomial((0.1, 0.2))), "j1", frequency=frequency)
    both = art.rollout(free_arm(), 0.2, controller=law, params={"w": np.array([5.0, 20.0])})
    for k, w in enumerate((5.0, 20.0)):
        alone = art.simulate(free_arm(), 0.2, controller=law, params={"w": w})
        assert np.abs(both.q[k, -1] - alone.q[-1]).max() < 1e-13


def test_motors_that_cannot_make_the_motion_are_told() -> None:
    with pytest.raises(
        NumericalError, match=r"the motors j2, j2 cannot produce the motion.*line\.x, line\.y"
    ):
        art.simulate(free_arm(), 0.1, START, controller=ServoConstraints(LINE, ("j2", "j2")))
    with pytest.raises(InputError, match="found 1; expected 2, one motor for each row of the program"):
        art.simulate(free_arm(), 0.1, START, controller=ServoConstraints(LINE, ("j2",)))
    with pytest.raises(InputError, match="program: found 'line'; expected a constraint"):
        ServoConstraints("line", ("j2",))  # type: ignore[arg-type]


def test_a_brake_within_a_loop_closes_without_impact() -> None:
    """The crank goes along a s^3 + b s^4, s = T - t, by its motor, and the loop stays closed.

    Tolerances: rtol 1e-10; gains bounded 3.5e-4 s before T leave a speed of some 1e-6 rad/s.
    """
    brake, T = Lock("brake", "crank_pin", (3.3,)), 0.5
    m = four_bar().constrain(brake)
    start = art.assemble(four_bar(), np.array([3.0, -3.0, 3.0]), np.array([0.8, -0.8, 0.8]))
    law = ServoConstraints(brake, ("crank_pin",), frequency=1e4, arrival=T)
    given = {"method": "dormand_prince", "rtol": 1e-10, "atol": 1e-11, "step": 0.01}
    closing = Switch("t", "brake", level=T, direction=1)
    run = art.simulate(m, 0.6, start.q, start.v, controller=law, events=[closing], **given)
    g, speed, s = start.q[0] - 3.3, start.v[0], T - run.t[run.t <= T]
    a, b = np.linalg.solve([[T**3, T**4], [-3 * T**2, -4 * T**3]], [g, speed])
    assert run.q[: s.size, 0] == pytest.approx(3.3 + a * s**3 + b * s**4, abs=1e-8)
    assert run.q[-1, 0] == pytest.approx(3.3, abs=1e-12)
    assert run["energy.dissipated"][-1] < 1e-10 * run["energy.kinetic"][0]
    assert not run["tau"][run.t > T].any()
    with pytest.raises(InputError, match="frequency: found 0; expected a finite number above 0"):
        ServoConstraints(brake, ("crank_pin",), frequency=0.0, arrival=T)
