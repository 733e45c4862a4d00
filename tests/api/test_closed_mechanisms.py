"""Mechanisms with constraints through the public class: what methods return, what they refuse, linear models."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import articulus as art
from closed_zoo import closed, four_bar

Q, V = np.array([0.4, -0.4, 0.4]), np.array([1.0, -1.0, 1.0])
TAU = np.array([1.0, 2.0, 3.0])


def test_shapes_and_batches():
    m, rows = four_bar(), 5
    q, v, tau = (np.tile(x, (2, 4, 1)) for x in (Q, V, TAU))
    t = np.linspace(0, 1, 4)
    assert m.constraint_names == ("pin.x", "pin.y", "pin.z", "pin.tilt_x", "pin.tilt_y")
    assert m.constraint_residual(Q).shape == (rows,)
    assert m.constraint_residual(q, t).shape == (2, 4, rows)
    assert m.constraint_rate(q, v, t).shape == (2, 4, rows)
    assert m.constraint_jacobian(q, t).shape == (2, 4, rows, 3)
    vdot, multipliers = m.closed_dynamics(q, v, tau, t)
    assert (vdot.shape, multipliers.shape) == ((2, 4, 3), (2, 4, rows))
    assert m.reactions(q, v, vdot, multipliers, t).shape == (2, 4, 3, 6)
    assert "1 constraint>" in repr(m)


def test_forward_dynamics_obeys_the_constraints():
    m = four_bar()
    vdot = m.forward_dynamics(Q, V, TAU)
    assert_allclose(vdot, m.closed_dynamics(Q, V, TAU)[0], rtol=0)
    forces, _ = m.constraint_forces(Q, V, TAU)
    assert_allclose(m.tree.inverse_dynamics(Q, V, vdot), TAU + forces, rtol=1e-9)
    for ask in (m.function, m.kernel):
        with pytest.raises(art.InputError, match="closed_dynamics"):
            ask("forward_dynamics")


def test_power_of_constraint_forces_is_zero():
    m = four_bar()
    forces, _ = m.constraint_forces(Q, V, TAU)
    assert np.abs(forces).max() > 1
    assert abs(forces @ V) < 1e-9


def test_wrenches_reach_closed_mechanisms():
    m = four_bar()
    vdot = m.forward_dynamics(Q, V, TAU, wrenches={"coupler": np.array([0, 0, 0, 0, 0, 5.0])})
    plain = m.forward_dynamics(Q, V, TAU)
    power = m.jacobian("coupler", Q)[5] @ V * 5.0
    # one degree of freedom: the change of acceleration times the inertia along V is the power of the wrench
    assert_allclose((vdot - plain) @ m.mass_matrix(Q) @ V, power, rtol=1e-9)


def test_prescribed_motion_in_time():
    """A driven crank has the acceleration of the function that drives it, whatever the torque."""
    m = four_bar().constrain(art.Prescribed("drive", "crank_pin", art.Harmonic(0.3, 2.0)))
    for t in (0.0, 0.4):
        angle, speed, acceleration = 0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t)
        q, v = angle * np.array([1, -1, 1]), speed * np.array([1, -1, 1])
        assert_allclose(m.constraint_residual(q, t), 0, atol=1e-14)
        assert_allclose(m.constraint_rate(q, v, t), 0, atol=1e-14)
        assert_allclose(m.forward_dynamics(q, v, TAU, t), acceleration * np.array([1, -1, 1]), atol=1e-9)


def test_reactions_need_multipliers():
    m = four_bar()
    with pytest.raises(art.InputError, match="multipliers"):
        m.reactions(Q, V, V)


def test_a_rolling_disc_loses_no_energy():
    """No slip and contact do no work: the power of gravity is that of the kinetic energy."""
    m = (
        art.Mechanism("disc")
        .body("disc", 2.0, inertia=(0.05, 0.1, 0.05))
        .joint("j", art.Free(), "ground", "disc")
    )
    m.constrain(art.Touching("on", "disc", 0.3)).constrain(art.NoSlip("roll", "disc", 0.3))
    estimate = np.array([np.cos(0.2), np.sin(0.2), 0.0, 0.0, 0.1, 0.2, 0.28])
    state = art.assemble(m, estimate, [0.5, 4.0, 0.3, 0, 0, 0])
    assert (state.rank, state.dofs) == (3, 3)
    vdot = m.forward_dynamics(state.q, state.v, np.zeros(6))
    M, weight = m.mass_matrix(state.q), m.tree.gravity(state.q)
    gyroscopic = m.bias(state.q, state.v) - weight
    assert abs(vdot @ M @ state.v + gyroscopic @ state.v + weight @ state.v) < 1e-9


# linear models


def test_linear_model_of_a_four_bar_is_that_of_a_pendulum():
    """A rhombus four-bar with its coupler level: T = I w^2 / 2 and U = (c) cos(angle), by hand."""
    model = four_bar().linearize(q=np.zeros(3))
    assert model.A.shape == (2, 2)
    # crank 1 kg, rocker 1.5 kg with I = m/12 + m/4 about their pins; the coupler of 2 kg moves with the crank's tip
    inertia = 2.5 * (1 / 12 + 1 / 4) + 2.0
    stiffness = -9.81 * (2.5 * 0.5 + 2.0)
    assert_allclose(np.sort(model.poles.real), np.array([-1, 1]) * np.sqrt(-stiffness / inertia), rtol=1e-12)


@pytest.mark.parametrize("kind", [art.Revolute, art.Spherical], ids=lambda k: k.type_name)
def test_linear_model_against_differences(kind):
    """The model's derivative is the change of the nonlinear motion from one admissible state to its neighbor."""
    c = closed(40, [kind], bodies=3, joints=[art.Spherical, art.Revolute, art.Universal])
    m = c.mechanism
    v = art.assemble(m, c.q, np.random.default_rng(1).normal(size=m.nv)).v
    model = m.linearize(c.q, v, c.tau)
    n = m.nv - len(m.constraint_names)
    assert len(model.states) == 2 * n
    rng = np.random.default_rng(2)
    h = 1e-6
    for _ in range(3):
        x, du = rng.normal(size=2 * n), rng.normal(size=m.nv)
        change = model.C @ x
        ends = []
        for sign in (1, -1):
            near = art.assemble(
                m, m.integrate_position(c.q, sign * h * change[: m.nv]), v + sign * h * change[m.nv :]
            )
            ends.append(m.forward_dynamics(near.q, near.v, c.tau + sign * h * du))
        found = (ends[0] - ends[1]) / (2 * h)
        independent = [m.v_names.index(s.removeprefix("v.")) for s in model.states[n:]]
        expected = (model.A @ x + model.B @ du)[n:]
        # the projections of `assemble` move the state by h^2: differences are good to about 1e-5
        assert_allclose(found[independent], expected, atol=1e-4 * max(1, np.abs(expected).max()))


def test_linear_models_of_a_four_bar_about_many_states():
    """Each is the model about its state, in the free coordinates of the first one."""
    m = four_bar()
    q = np.array([art.assemble(m, [angle, 0.0, 0.0], fixed=["crank_pin"]).q for angle in (0.3, 0.4, 0.5)])
    models = m.linearize(q)
    assert models.shape == (3,)
    for k in range(3):
        one = m.linearize(q[k])
        assert_allclose(np.sort(models[k].poles), np.sort(one.poles), rtol=1e-9)
        gain, alone = models[k].response([1.0]), one.response([1.0])
        assert_allclose(gain, alone, rtol=1e-9, atol=1e-12)
    with pytest.raises(art.InputError, match="no operating point"):
        m.linearize(np.zeros((0, 3)))


def test_linear_model_needs_a_closed_state():
    with pytest.raises(art.InputError, match=r"'pin\.\w' open by .*assemble"):
        four_bar().linearize(q=[0.3, 0.0, 0.0])
    with pytest.raises(art.InputError, match="velocity leaves"):
        four_bar().linearize(q=Q, v=[1.0, 0.0, 0.0])
