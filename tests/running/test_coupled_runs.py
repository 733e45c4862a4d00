"""Runs of mechanisms with coupled joints: every method, every form of loops, components at coupled joints."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import articulus as art
import coupled_zoo
from articulus.dynamics.loops.forms import FORMS
from articulus.simulation.integrate import ALL_METHODS

C = art.components
ORDER_ONE = ("euler", "semi_implicit_euler")
"""Methods whose error is h t |vdot| / 2 and more: 2e-4 with 0.2 ms and accelerations of 20 rad/s^2; 2 ms for the others."""
REFUSED = ("operator", "absolute", "multiple_chains")
"""Forms that go along the joints of the tree."""


@pytest.fixture(scope="module")
def gripper() -> art.Mechanism:
    """A motor, a rack that follows it, and a finger that follows the rack by a parabola; springs and friction in all."""
    m = art.Mechanism("gripper")
    m.body("rotor", mass=0.5, inertia=(0.01, 0.01, 0.01), com=(0.02, 0, 0))
    m.body("rack", mass=0.4, inertia=(0.01, 0.01, 0.01))
    m.body("finger", mass=0.3, inertia=(0.002, 0.002, 0.002), com=(0.1, 0, 0))
    m.joint("motor", art.Revolute(axis=(0, 1, 0)), "ground", "rotor", damping=0.02)
    m.joint("rack", art.Prismatic(axis=(0, 0, 1)), "ground", "rack", damping=0.5, stiffness=20.0)
    m.joint("finger", art.Revolute(axis=(0, 1, 0)), "rack", "finger", coulomb=0.02, coulomb_speed=0.5)
    return m.couple("rack", to="motor", ratio=0.1).couple("finger", to="rack", polynomial=(0.2, 3.0, 5.0))


@pytest.fixture(scope="module")
def exact(gripper) -> art.Run:
    return art.simulate(gripper, 0.1, v0=[2.0], method="dormand_prince", rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("method", [m.name for m in ALL_METHODS if m.kind != "residual"])
def test_every_method_moves_it_alike(gripper, exact, method):
    coarse = method in ORDER_ONE
    run = art.simulate(gripper, 0.1, v0=[2.0], method=method, step=2e-4 if coarse else 2e-3)
    assert_allclose(run.q[-1], exact.q[-1], atol=6e-4 if coarse else 1e-4)


def test_energy_is_accounted_for_and_coupled_joints_are_reported(exact, gripper):
    """Friction in coupled joints is part of what is dissipated; the coupling holds to rounding at every sample."""
    assert np.abs(exact["energy.balance"]).max() < 1e-9
    assert exact.signals["coupled"].columns == ("coupled.rack", "coupled.finger")
    assert exact.signals["coupled"].units == ("m", "rad")
    x = 0.1 * exact.q[:, 0]
    assert_allclose(exact["coupled.rack"], x, atol=1e-15)
    assert_allclose(exact["coupled.finger"], 0.2 + 3 * x + 5 * x**2, atol=1e-14)


def test_batches_are_single_runs(gripper):
    v0 = np.array([[1.0], [2.0], [-1.0]])
    batch = art.rollout(gripper, 0.05, v0=v0, step=1e-3)
    alone = art.simulate(gripper, 0.05, v0=v0[1], step=1e-3)
    assert_allclose(batch.q[1, -1], alone.q[-1], rtol=1e-12)


@pytest.fixture(scope="module")
def linkage() -> tuple[art.Mechanism, np.ndarray, np.ndarray]:
    m = coupled_zoo.linkage().coupled
    at = art.assemble(m, [0.3, 0.2, 0.1], [1.0, 0.0, 0.0], fixed=["crank"])
    return m, at.q, at.v


@pytest.mark.parametrize("form", [f.name for f in FORMS])
def test_loops_with_coupled_joints(linkage, form):
    """All forms agree to their own accuracy; penalty and park violate rows by 1e-6 and less."""
    m, q, v = linkage
    if form in REFUSED:
        with pytest.raises(art.UnsupportedOperation, match=f"'{form}'"):
            art.simulate(m, 0.01, q0=q, v0=v, step=1e-3, loops=form)
        return
    run = art.simulate(m, 0.1, q0=q, v0=v, step=1e-3, loops=form)
    assert np.abs(run["energy.balance"]).max() < 1e-5
    assert np.abs(run.signals["constraint"].values).max() < 1e-5


def test_a_motor_at_a_coupled_joint_acts_through_the_ratio(gripper):
    """A force F on the rack is the torque 0.1 F on the motor, and does the same work."""
    at_rack = art.simulate(gripper, 0.1, step=1e-3, components=[C.PrescribedForce("rack", force=4.0)])
    at_motor = art.simulate(gripper, 0.1, step=1e-3, components=[C.PrescribedForce("motor", force=0.4)])
    assert_allclose(at_rack.q, at_motor.q, rtol=1e-12)
    assert_allclose(at_rack["energy.input"], at_motor["energy.input"], rtol=1e-10, atol=1e-15)


def test_a_sensor_sees_a_coupled_joint(gripper, exact):
    run = art.simulate(gripper, 0.1, v0=[2.0], step=1e-3, components=[C.JointSensor("finger", name="eye")])
    assert_allclose(run["eye.q"][-1], exact["coupled.finger"][-1], atol=1e-8)
    x, xdot = 0.1 * run.q[:, 0], 0.1 * run.v[:, 0]
    assert_allclose(run["eye.v"].ravel(), (3 + 10 * x) * xdot, rtol=1e-12)


def test_linear_model_of_a_run_is_that_of_the_mechanism(gripper):
    q = art.equilibrium(gripper, [0.1]).q
    run = art.simulate(gripper, 0.01, q0=q, step=1e-3)
    assert_allclose(run.linearize(0.0).A, gripper.linearize(q, tau=[0.0]).A, rtol=1e-8, atol=1e-8)


def test_inverse_kinematics_reaches_with_coupled_joints(gripper):
    goal = gripper.pose("finger", [0.3])
    found = art.inverse_kinematics(gripper, "finger", goal, [0.0])
    assert found.ok
    assert_allclose(found.q, [0.3], atol=1e-6)


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: art.simulate(m, 0.1, events=[art.events.Bounce("rack", 0.0)]),
        lambda m: art.assemble(m, [0.0], fixed=["finger"]),
        lambda m: m.q(rack=0.1),
        lambda m: m.with_locked({"rack": 0.1}),
    ],
)
def test_what_needs_a_coordinate_names_the_joint_that_has_one(gripper, ask):
    with pytest.raises(art.InputError, match=r"coupled joint that follows 'motor'.*such as 'motor'"):
        ask(gripper)


@pytest.mark.parametrize(
    ("argument", "ask"),
    [
        ("tau", lambda m: m.forward_dynamics([0.0], [0.0], {"rack": 1.0})),
        ("v", lambda m: m.forward_dynamics([0.0], {"rack": 1.0}, [0.0])),
        ("vdot", lambda m: m.inverse_dynamics([0.0], [0.0], {"rack": 1.0})),
        ("q", lambda m: m.forward_dynamics({"rack": 1.0}, [0.0], [0.0])),
        ("v0", lambda m: art.simulate(m, 0.1, v0={"rack": 1.0})),
        ("tau", lambda m: art.equilibrium(m, [0.0], {"rack": 1.0})),
    ],
)
def test_a_message_names_the_argument_with_the_coupled_joint(gripper, argument, ask):
    with pytest.raises(art.InputError, match=rf"^{argument}: found 'rack', a coupled joint"):
        ask(gripper)


def test_a_program_of_a_coupled_joint_is_driven_by_the_motor(gripper):
    """Servo constraints see the finger follow a sine; the one motor keeps it to the accuracy of the step."""
    program = art.Prescribed("course", "finger", art.Harmonic(0.1, 5.0, offset=0.2))
    servo = C.ServoConstraints(program, ["motor"], frequency=20.0)
    run = art.simulate(gripper, 0.5, v0=[0.5 / 0.3], step=1e-3, components=[servo])
    assert_allclose(run["coupled.finger"], 0.2 + 0.1 * np.sin(5 * run.t), atol=1e-9)
