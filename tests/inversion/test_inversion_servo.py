"""Servo constraints before a run: motors that cannot, zeros of what is left free, the solution that is not causal."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.cases.ider_flexible_arm.case import MOTORS, POSE, arm, at, line
from articulus.control import tzero
from articulus.errors import DoubtfulResult, InputError, NumericalError
from articulus.model.mechanism import Prescribed
from articulus.motion.inversion import servo_plan
from articulus.simulation.loop.components import ServoConstraints
from closed_zoo import four_bar

PROGRAM = line("A", *arm(0).pose("A", POSE)[:2, 3])


def test_zeros_of_the_plan_are_those_of_the_linear_model() -> None:
    """Transmission zeros from the moments to the place of A by `tzero`, a method of its own."""
    mechanism = arm(2, damping=0.02)
    plan = servo_plan(mechanism, PROGRAM, MOTORS, q=at(POSE, 2))
    q = at(POSE, 2)
    model = mechanism.linearize(q)
    C = np.hstack([mechanism.jacobian("A", q)[3:5], np.zeros((2, mechanism.nv))])
    B = model.B[:, :2]
    zeros = tzero((model.A, B, C, np.zeros((2, 2)))).transmission
    found, expected = (sorted(z, key=lambda x: (round(x.real, 6), x.imag)) for z in (plan.zeros, zeros))
    assert found == pytest.approx(expected, rel=1e-5)
    assert plan.unstable.real == pytest.approx([74.0], abs=0.1)
    assert "unstable: 74.00" in str(plan)


def test_a_plan_that_diverges_is_refused_and_told() -> None:
    plan = servo_plan(arm(2), PROGRAM, MOTORS, q=at(POSE, 2))
    with pytest.raises(NumericalError, match=r"zeros 68\.69\d rad/s are unstable.*plan\.noncausal"):
        plan.component()
    law = ServoConstraints(PROGRAM, MOTORS)
    with (
        pytest.warns(DoubtfulResult, match=r"zero at 68\.7 rad/s.*servo_plan.*noncausal"),
        pytest.raises(NumericalError, match="diverged"),
    ):
        art.simulate(arm(2), 0.25, at(POSE, 2), controller=law, step=5e-4, outputs=[])
    with pytest.raises(NumericalError, match=r"zeros on or next to the imaginary axis.*23\.8.*damping"):
        plan.noncausal(0.0, 1.0)


def test_a_stable_plan_gives_its_component() -> None:
    """A rigid arm has no zeros: as many rows as degrees of freedom."""
    plan = servo_plan(arm(0), PROGRAM, MOTORS, q={"j1": POSE[0], "j2": POSE[1]})
    assert not len(plan.zeros)
    run = art.simulate(arm(0), 0.2, POSE, controller=plan.component(form="null_space"), outputs=[])
    place = arm(0).pose("A", run.q)[:, 1, 3]
    assert np.abs(place - place[0]).max() < 1e-6


def test_motors_that_cannot_are_named() -> None:
    straight = np.zeros(2)
    program = line("A", 2.8, 0.0)
    with pytest.raises(NumericalError, match=r"motors j1, j2 cannot produce the motion line\.x, line\.y"):
        servo_plan(arm(0), program, MOTORS, q=straight)
    with pytest.raises(InputError, match="a loop with a controller"):
        servo_plan(art.Loop(arm(0), ServoConstraints(PROGRAM, MOTORS)), PROGRAM, MOTORS)


def test_loops_are_looked_at_too() -> None:
    """A crank on its course within a four-bar: one row, one degree of freedom, no zeros, any motor but one in a dead position."""
    t = ca.SX.sym("t")
    course = Prescribed("course", "crank_pin", ca.Function("course", [t], [3.0 + 0.4 * ca.sin(2 * t)]))
    start = art.assemble(four_bar(), np.array([3.0, -3.0, 3.0]), np.zeros(3))
    plan = servo_plan(four_bar(), course, ["rocker_pin"], q=start.q)
    assert plan.ok
    assert not len(plan.unstable)
    assert plan.rows == ("course",)
