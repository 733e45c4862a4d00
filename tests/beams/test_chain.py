"""The planar chain: conserved energy, frequencies, joints, gravity."""

import casadi as ca
import numpy as np
import pytest

from articulus.errors import InputError
from articulus.simulation.exact_beams import BeamChain, ChainElement

TWO = BeamChain(
    ((ChainElement(0.3, 5.0, 2.0),) * 2, (ChainElement(0.2, 3.0, 1.0),) * 2),
    points={2: 0.5, 5: 0.3},
    inertias={3: 0.02},
    gravity=(0.0, -9.81),
)


def test_energy_is_kept():
    theta0 = np.array([0.3, 0.32, 0.33, -0.5, -0.5, -0.5])
    drifts = []
    for steps in (400, 800):
        _, theta, rates = TWO.simulate(0.5, steps, theta0, rho_inf=1.0)
        total = sum(TWO.energy(theta, rates))
        drifts.append(np.abs(total - total[0]).max() / np.ptp(TWO.energy(theta, rates)[0]))
    assert drifts[1] < 1e-4
    assert drifts[0] / drifts[1] > 3.5


def test_power_of_the_joint_torques():
    """d(energy)/dt = sum tau_k (rate of the joint), integrated by the trapezoidal rule."""

    def torque(t, theta, rates):
        return [2.0 * ca.cos(3 * t), -0.3 * (rates[3] - rates[2])]

    t, theta, rates = TWO.simulate(1.0, 2000, torque=torque, rho_inf=1.0)
    relative = rates[:, 3] - rates[:, 2]
    power = 2.0 * np.cos(3 * t) * rates[:, 0] - 0.3 * relative**2
    work = np.sum((power[1:] + power[:-1]) / 2) * (t[1] - t[0])
    total = sum(TWO.energy(theta, rates))
    np.testing.assert_allclose(total[-1] - total[0], work, rtol=2e-3)


def test_tangents_are_derivatives():
    problem = TWO.mechanical(
        lambda t, theta, rates: [t * theta[0], -(rates[3] ** 2)], hub=lambda t: ca.sin(t)
    )
    rng = np.random.default_rng(0)
    q, v, vdot = rng.normal(size=(3, 5))

    def residual(q, v):
        return problem.mass(0.7, q) @ vdot - problem.force(0.7, q, v)

    step = 1e-6
    for k, d in enumerate(np.eye(5) * step):
        by_q = (residual(q + d, v) - residual(q - d, v)) / (2 * step)
        by_v = (residual(q, v + d) - residual(q, v - d)) / (2 * step)
        np.testing.assert_allclose(problem.stiffness(0.7, q, v, vdot, None)[:, k], by_q, atol=1e-7)
        np.testing.assert_allclose(problem.damping(0.7, q, v)[:, k], by_v, atol=1e-7)
    np.testing.assert_allclose(problem.mass(0.7, q), problem.mass(0.7, q).T, atol=1e-15)


def test_stiff_link_is_a_pendulum():
    """A bar on a hinge, released level: w^2 = 3 g sin / L; and the position is on the circle."""
    bar = BeamChain.uniform(1.0, 1, 1e6, 2.0, gravity=(0.0, -9.81))
    _, theta, rates = bar.simulate(0.4, 400, rho_inf=0.6)
    tip = bar.position(theta)[-1, -1]
    np.testing.assert_allclose(np.hypot(*tip), 1.0, atol=1e-6)
    np.testing.assert_allclose(rates[-1, 0] ** 2, 3 * 9.81 * -tip[1], rtol=1e-3)


def test_frequencies_of_a_cantilever():
    """Error of order 2: 0.194 (h/L)^2 in the first frequency."""
    exact = 1.8751040687**2
    errors = [BeamChain.uniform(1.0, n, 1.0, 1.0).modes([0])[0][0] / exact - 1 for n in (8, 16, 32)]
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, atol=0.05)
    assert errors[2] < 2e-4


def test_free_joints_are_modes_of_zero_frequency():
    w, _ = TWO.modes()
    assert np.sum(w < 1e-5 * w[2]) == 2


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (lambda: BeamChain(()), "without elements"),
        (lambda: BeamChain(((),)), "without elements"),
        (lambda: BeamChain.uniform(1.0, 2, 1.0, 1.0, points={3: 1.0}), "nodes 0 to 2"),
        (lambda: BeamChain.uniform(1.0, 2, -1.0, 1.0), "positive length and stiffness"),
        (lambda: TWO.mechanical(lambda t, theta, rates: [1.0]), "1 joint torques; expected 2"),
        (lambda: TWO.simulate(1.0, 10, theta0=[0.0]), "initial states"),
    ],
)
def test_mistakes_are_named(mistake, text):
    with pytest.raises(InputError, match=text):
        mistake()
